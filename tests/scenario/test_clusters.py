"""Jobs on a cluster that has a queue of its own, from its hand-over to its end."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.fakes.cluster import FakeCluster, FakeClusterEngine
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_recovery import fake_spec
from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec, Problem
from trainmaster.core.launch import Asked
from trainmaster.core.records import Node
from trainmaster.engines.registry import Engines
from trainmaster.engines.slurm.messages import slurm_rules
from trainmaster.service.control import observe
from trainmaster.spec.problems import problem


@pytest.fixture
def cluster() -> FakeCluster:
    """Two nodes of four cards whose queue is held."""
    nodes = [Node(f"c{i}", f"10.1.0.{i}", 4.0, 4096, ("A100",) * 4, "alps") for i in (1, 2)]
    made = FakeCluster(nodes, WallClock())
    made.hold()
    return made


@pytest.fixture
async def stage(tmp_path: Path, cluster: FakeCluster) -> AsyncIterator[Stage]:
    """The platform on that cluster alone."""
    async with Stage(tmp_path / "home", engine=lambda: Engines([FakeClusterEngine(cluster, "alps")])) as stage:
        yield stage


async def test_a_job_waits_in_the_cluster_and_then_runs_where_the_cluster_put_it(
    stage: Stage, cluster: FakeCluster
) -> None:
    job = await stage.submit(fake_spec("a", "sleep 0.2", pool="alps", replicas=2, resources={"gpu": 3}))
    view = await stage.state(job, "pending")
    assert view.pai_state == "WAITING"
    assert view.started_at is None
    cluster.release()
    view = await stage.ended(job)
    assert view.state == "succeeded"
    assert view.nodes == ["c1", "c2"]
    assert [task.gpus for task in view.task_list] == [[0, 1, 2], [0, 1, 2]]
    assert stage.kinds(job)[3:6] == ["staged", "accepted", "started"]


async def test_a_restarted_server_learns_what_became_of_what_waited(stage: Stage, cluster: FakeCluster) -> None:
    """One started, one ended, one is lost, one was refused while the server was away."""
    stories = {"runs": "sleep infinity", "ends": "exit 3", "lost": "true", "refused": "true"}
    runs, ends, lost, refused = jobs = [await stage.submit(fake_spec(*story, pool="alps")) for story in stories.items()]
    for job in jobs:
        await stage.state(job, "pending")
    await stage.platform.close()
    cluster.lose(f"{lost}-1")
    cluster.refuse(f"{refused}-1", "launch_failed", "cancelled by its administrator")
    cluster.release()
    stage.platform = stage._build()
    await stage.platform.start()
    assert (await stage.ended(refused)).verdict.message.en == "cancelled by its administrator"
    assert (await stage.ended(ends)).task_list[0].exit_code == 3
    assert (await stage.running(runs)).attempts == 1
    again = await stage.ended(lost)
    assert (again.state, again.attempts) == ("succeeded", 2)
    assert "fault" in stage.kinds(lost)


async def test_what_the_cluster_forgets_while_it_waits_is_queued_again(
    stage: Stage, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else happens meanwhile that would let the server look; and the hand-over took its time."""
    monkeypatch.setattr(observe, "RECONCILE_S", 0.1)
    cluster.reachable = False
    job = await stage.submit(fake_spec("a", "true", pool="alps"))
    await stage.state(job, "initialising")
    cluster.reachable = True
    await stage.state(job, "pending")
    cluster.lose(f"{job}-1")
    await stage.until(job, lambda view: view.attempts == 2, "another attempt")
    cluster.release()
    assert (await stage.ended(job)).state == "succeeded"


async def test_far_more_than_fits_is_handed_over_but_no_more_than_may_wait_there(
    tmp_path: Path, cluster: FakeCluster
) -> None:
    """Two nodes of four cards; three may wait. An urgent job passes those that were not handed over yet."""

    def engines() -> Engines:
        return Engines([FakeClusterEngine(cluster, "alps")], most_pending={"alps": 3})

    async with Stage(tmp_path / "home", engine=engines) as stage:
        jobs = [
            await stage.submit(fake_spec(f"j{n}", "sleep infinity", pool="alps", resources={"gpu": 4}))
            for n in range(5)
        ]
        for job in jobs[:3]:
            await stage.state(job, "pending")
        assert (await stage.view(jobs[3])).reason.code == "cluster_full"
        urgent = await stage.submit(fake_spec("u", "sleep infinity", pool="alps", priority="urgent", replicas=2))
        cluster.start(f"{jobs[0]}-1")
        await stage.state(urgent, "pending")
        assert (await stage.view(jobs[3])).state == "queued"
        placed = (await stage.running(jobs[0])).task_list[0]
        assert (placed.node, placed.gpus) == ("c1", [0, 1, 2, 3])
        nodes = {node.name: node for node in (await stage.platform.cluster(ADMIN)).nodes}
        assert [[use.job for use in card.uses] for card in nodes["c1"].gpus] == [[jobs[0]]] * 4


async def test_the_cluster_is_told_what_is_asked_and_of_every_change(stage: Stage, cluster: FakeCluster) -> None:
    """R170, R191: before the start and after; also of a change during which the cluster was away."""
    job = await stage.submit(fake_spec("a", "sleep infinity", pool="alps", duration=600))
    await stage.state(job, "pending")
    assert cluster.asked(f"{job}-1") == Asked("alps", limit_s=600.0)
    cluster.reachable = False
    await stage.platform.change(job, ADMIN, duration_s=1200, priority="urgent")
    cluster.reachable = True
    wanted = Asked("alps", limit_s=1200.0, priority=1)
    await stage.until(job, lambda _: cluster.adjusted.get(f"{job}-1") == wanted, "the change")
    cluster.release()
    await stage.running(job)
    await stage.platform.change(job, ADMIN, duration_s=None)
    await stage.until(job, lambda _: cluster.adjusted[f"{job}-1"].limit_s is None, "the change")


async def test_a_stop_takes_a_job_out_of_the_clusters_queue(stage: Stage, cluster: FakeCluster) -> None:
    job = await stage.submit(fake_spec("a", "sleep infinity", pool="alps"))
    await stage.state(job, "pending")
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    cluster.release()
    assert not cluster.report(f"{job}-1").known


async def test_a_server_with_two_engines_runs_jobs_on_both_and_one_that_is_down_stops_only_its_own(
    tmp_path: Path, cluster: FakeCluster
) -> None:
    """The job names a pool; the pool lives on an engine."""
    here = FakeMachines([Node("n1", "10.0.0.1", 4.0, 4096)], WallClock())
    cluster.release()

    def engines() -> Engines:
        return Engines([FakeEngine(here, "local"), FakeClusterEngine(cluster, "alps")], {"alps": "alps"})

    async with Stage(tmp_path / "home", engine=engines) as stage:
        near, far = [await stage.submit(fake_spec(name, pool=name)) for name in ("default", "alps")]
        assert (await stage.ended(near)).nodes == ["n1"]
        assert (await stage.ended(far)).nodes == ["c1"]
        assert "accepted" in stage.kinds(far)
        assert "accepted" not in stage.kinds(near)
        cluster.reachable = False
        near, far = [await stage.submit(fake_spec(name, pool=name)) for name in ("default", "alps")]
        assert (await stage.ended(near)).state == "succeeded"
        view = await stage.until(far, lambda view: view.reason is not None, "why it is not handed over")
        assert (view.state, view.reason.decided_by) == ("initialising", "alps")
        assert view.reason.code == "unavailable"
        ready = await stage.platform.ready()
        assert ready.ok
        assert ready.checks["engine alps"] == "The fake machines do not answer"
        cluster.reachable = True
        assert (await stage.ended(far)).state == "succeeded"
        with pytest.raises(Conflict, match="alps manages its nodes"):
            await stage.platform.administer.cordon("c1", "", ADMIN)
        with pytest.raises(InvalidSpec):
            await stage.platform.administer.assign("n1", "alps", ADMIN)


async def test_the_cluster_says_why_it_lets_a_job_wait_and_when_it_may_start(
    stage: Stage, cluster: FakeCluster
) -> None:
    """Whose decision it was is told with it; after a restart it is asked again."""
    job = await stage.submit(fake_spec("a", "sleep infinity", pool="alps"))
    await stage.state(job, "pending")
    cluster.say(f"{job}-1", "Resources", "waiting for two nodes", starts_at=2_000_000_000.0)
    for _ in ("before", "after a restart"):
        view = await stage.view(job)
        assert view.reason.decided_by == "alps"
        assert (view.reason.code, view.reason.message.en) == ("Resources", "Waiting for two nodes")
        told = await stage.platform.explain(job, ADMIN)
        assert told.reason == view.reason
        assert (told.forecast.by, told.forecast.at) == ("alps", 2_000_000_000.0)
        await stage.restart()
    cluster.release()
    await stage.running(job)
    assert (await stage.view(job)).reason is None
    assert (await stage.platform.explain(job, ADMIN)).forecast is None


async def asked(stage: Stage, spec: dict[str, Any]) -> tuple[answers.PreviewView, answers.WouldStart]:
    """Return the preview of a document, and whether it would start."""
    body = {"spec": spec}
    return await stage.platform.preview(body, ADMIN), await stage.platform.queueing.would_start(body, ADMIN)


async def test_what_the_cluster_foresees_is_shown_as_its_word_before_a_submit(
    stage: Stage, cluster: FakeCluster
) -> None:
    """B8: the exact request, and when and where it would start; while it would wait, why."""
    cluster.release()
    for answer in await asked(stage, fake_spec("a", "true", pool="alps")):
        shown = getattr(answer, "fits", answer)
        assert (shown.when, shown.reason) == ("now", None)
        assert (shown.forecast.by, shown.forecast.nodes) == ("alps", ["c1"])
        assert not isinstance(answer, answers.PreviewView) or answer.native.kind == "fake"
    cluster.hold()
    for answer in await asked(stage, fake_spec("a", "true", pool="alps")):
        shown = getattr(answer, "fits", answer)
        assert (shown.when, shown.reason.decided_by, shown.forecast.when) == ("queue", "alps", "unknown")


async def test_what_the_cluster_would_refuse_is_a_problem_before_a_submit(stage: Stage, cluster: FakeCluster) -> None:
    preview, would = await asked(stage, fake_spec("a", "true", pool="alps", resources={"gpu": 5}))
    assert (preview.ok, preview.fits.when) == (False, "never")
    (problem,) = preview.problems
    assert problem.rule == "The cluster alps would refuse the job: no node has as many cards"
    assert problem.remedy
    assert (would.when, would.reason.decided_by) == ("never", "alps")


async def test_a_preview_works_while_the_cluster_does_not_answer_and_says_so(
    stage: Stage, cluster: FakeCluster
) -> None:
    cluster.reachable = False
    preview, would = await asked(stage, fake_spec("a", "true", pool="alps"))
    assert preview.ok
    assert preview.native is not None
    for shown in (preview.fits, would):
        assert (shown.when, shown.reason.code) == ("queue", "cluster_silent")
        assert shown.reason.message.en == "The fake machines do not answer"


async def test_what_is_not_handed_over_waits_here_whatever_the_cluster_foresees(
    tmp_path: Path, cluster: FakeCluster
) -> None:
    def engines() -> Engines:
        return Engines([FakeClusterEngine(cluster, "alps")], most_pending={"alps": 1})

    async with Stage(tmp_path / "home", engine=engines) as stage:
        await stage.state(await stage.submit(fake_spec("a", "true", pool="alps")), "pending")
        for answer in await asked(stage, fake_spec("b", "true", pool="alps")):
            shown = getattr(answer, "fits", answer)
            assert (shown.when, shown.reason.code) == ("queue", "cluster_full")
            assert shown.reason.decided_by is None


async def test_what_the_engine_objects_to_is_refused_at_submit_and_when_changed(
    stage: Stage, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine knows limits that no other part knows: here none runs for more than an hour."""
    job = await stage.submit(fake_spec("a", "sleep infinity", pool="alps", duration=600))

    def objections(self: FakeClusterEngine, roles: object, asked: Asked) -> tuple[Problem, ...]:
        too_long = asked.limit_s is not None and asked.limit_s > 3600
        return (problem("duration", slurm_rules.partition_time("p", 3600.0)),) if too_long else ()

    monkeypatch.setattr(FakeClusterEngine, "objections", objections)
    with pytest.raises(InvalidSpec) as refused:
        await stage.submit(fake_spec("b", "true", pool="alps", duration=7200))
    assert [one.path for one in refused.value.problems] == ["duration"]
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.change(job, ADMIN, duration_s=7200)
    assert [one.path for one in refused.value.problems] == ["duration_s"]
    await stage.platform.change(job, ADMIN, duration_s=3000)
