"""Sweeps (R45, R48 to R50): many jobs of one document, a few at a time, stopped early, tried again, seen as jobs."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage, fake_spec, spec
from trainmaster.answers import SweepDetail, SweepEntryView
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import Shown
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.sweeps.acting import Sweeps
from trainmaster.store.jobs.job_query import JobQuery
from trainmaster.store.sweeps.sweeps import SweepQuery

PRINTS: Final = (
    "v=${1#--loss=}; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo step=$i loss=$v; "
    "if [ $i -ge 12 ] && [ -e /workspace/outputs/go ]; then exit 0; fi; sleep 0.05; done"
)
"""Its loss is its parameter from the first step on; the best entry ends once it is told to."""
PATTERN: Final = [{"pattern": r"step=(?P<step>\d+) loss=(?P<loss>[0-9.]+)"}]


def swept(name: str, sweep: dict[str, Any], command: str = "true", **fields: Any) -> dict[str, Any]:
    """Return a submission of a sweep for fake machines."""
    return {"spec": {**fake_spec(name, command, **fields), "sweep": sweep}}


def training(name: str, **sweep: Any) -> dict[str, Any]:
    """Return a submission whose entries print metrics."""
    document = spec(name, metrics=PATTERN, resources={"cpu": 0.25, "memory": 64})
    document["roles"][0]["command"] = ["/bin/sh", "-c", PRINTS, "sh"]
    return {"spec": {**document, "sweep": {"metric": "loss", **sweep}}}


async def submitted(stage: Stage, body: dict[str, Any], who: Any = ADMIN) -> SweepDetail:
    return (await stage.platform.sweeps.submit(body, who, None))[0]


async def entries(stage: Stage, sweep: str, order: str = "index", who: Any = ADMIN) -> list[SweepEntryView]:
    return (await stage.platform.sweeps.views.entries(sweep, who, order, (), 1000, 0)).items


async def until(stage: Stage, sweep: str, true: Callable[[list[SweepEntryView]], bool]) -> list[SweepEntryView]:
    limit = time.monotonic() + PATIENCE_S
    while not true(found := await entries(stage, sweep)):
        assert time.monotonic() < limit, found
        await asyncio.sleep(0.05)
    return found


def over(found: list[SweepEntryView]) -> bool:
    return all(one.state in ("succeeded", "failed", "stopped", "expired") for one in found)


async def test_all_entries_are_taken_in_and_are_jobs(fake: Stage) -> None:
    body = swept("digits", {"grid": {"lr": [0.1, 0.2], "batch": [16, 32]}}, labels={"for": "paper"})
    body["set"] = {"sweep.grid.lr": "[0.1, 0.3]"}
    made = await submitted(fake, body)
    found = await until(fake, made.id, over)
    assert [(one.index, one.name, one.parameters) for one in found] == [
        (1, "digits-1", {"lr": 0.1, "batch": 16}),
        (2, "digits-2", {"lr": 0.1, "batch": 32}),
        (3, "digits-3", {"lr": 0.3, "batch": 16}),
        (4, "digits-4", {"lr": 0.3, "batch": 32}),
    ]
    job = await fake.view(found[2].job)
    assert job.sweep is not None
    assert (job.sweep.id, job.sweep.name, job.sweep.index) == (made.id, "digits", 3)
    assert job.spec["roles"][0]["parameters"] == {"lr": 0.3, "batch": 16}
    assert "sweep" not in job.spec
    assert job.labels == {"for": "paper"}
    page = await fake.platform.jobs(JobQuery(sweep=made.id), 10, None, ADMIN)
    assert [one.name for one in page.items] == ["digits-4", "digits-3", "digits-2", "digits-1"]
    assert page.total == 4
    detail = await fake.platform.sweeps.views.detail("digits", ADMIN)
    assert (detail.counts, detail.parameters, detail.tries) == ({Shown.SUCCEEDED: 4}, ["lr", "batch"], 4)
    assert detail.spec["sweep"] == {"grid": {"lr": [0.1, 0.3], "batch": [16, 32]}}
    listed = await fake.platform.sweeps.views.page(ADMIN, SweepQuery(), 10)
    assert [(one.id, one.counts) for one in listed.items] == [(made.id, {Shown.SUCCEEDED: 4})]
    told = (await fake.platform.auditing.page(ADMIN, AuditFilters(subject=f"sweep:{made.id}"))).items
    assert [one.text.en for one in told] == ["Submitted sweep digits with 4 entries"]


async def test_a_key_makes_one_sweep_and_a_random_one_is_drawn_once(fake: Stage) -> None:
    body = swept("drawn", {"random": {"lr": {"min": 0.001, "max": 1, "log": True}}, "count": 5})
    sweeps = fake.platform.sweeps
    first, created = await sweeps.submit(body, ADMIN, "once")
    again, created_again = await sweeps.submit(body, ADMIN, "once")
    assert (first.id, created, created_again) == (again.id, True, False)
    seed = first.spec["sweep"]["seed"]
    assert isinstance(seed, int)
    with pytest.raises(Conflict):
        await sweeps.submit(swept("drawn", {"grid": {"lr": [1]}}), ADMIN, "once")
    same = await submitted(fake, swept("same", {**body["spec"]["sweep"], "seed": seed}))
    drawn = [[one.parameters for one in await entries(fake, id_)] for id_ in (first.id, same.id)]
    assert drawn[0] == drawn[1]
    assert len({one["lr"] for one in drawn[0]}) == 5


async def test_everything_wrong_is_said_at_once_and_nothing_is_taken_in(fake: Stage) -> None:
    grid = {"grid": {"lr": [*range(20)]}}
    bad = swept("x" * 29, {**grid, "metric": "wobble"}, "a | b", priority="high", pool="nowhere")
    with pytest.raises(InvalidSpec) as refused:
        await submitted(fake, bad)
    paths = {one.path for one in refused.value.problems}
    assert paths >= {"name", "sweep.goal", "roles.0.command", "priority"}
    with pytest.raises(InvalidSpec) as refused:
        await submitted(fake, swept("far", grid, pool="nowhere"))
    assert [one.path for one in refused.value.problems] == ["pool"]
    listed = {"list": [{"lr": 1}, {"command": "a && b"}, {"parameters": {"lr": 2}, "command": "x; y"}]}
    with pytest.raises(InvalidSpec) as refused:
        await submitted(fake, swept("rows", listed))
    assert [one.path for one in refused.value.problems] == ["entries.2.roles.0.command", "entries.3.roles.0.command"]
    for body in ({"spec": 5}, {"spec": {}, "more": 1}, {"spec": {"jobName": "pai"}}, swept("s", {}, slug="s")):
        with pytest.raises(InvalidSpec):
            await submitted(fake, body)
    with pytest.raises(InvalidSpec) as refused:  # a job is no sweep
        await fake.platform.submit(swept("one", grid), ADMIN, None)
    assert [one.code for one in refused.value.problems] == ["sweep_in_a_job"]
    assert fake.job_ids() == []
    assert (await fake.platform.sweeps.views.page(ADMIN, SweepQuery(), 10)).items == []


async def test_a_preview_says_what_would_be_and_changes_nothing(fake: Stage) -> None:
    body = swept("many", {"grid": {"lr": [*range(30)]}}, resources={"cpu": 2, "memory": 512, "gpu": 1})
    found = await fake.platform.sweeps.preview(body, ADMIN)
    assert (found.ok, found.entries, len(found.first)) == (True, 30, 20)
    assert (found.first[1].name, found.first[1].parameters) == ("many-2", {"lr": 1})
    assert found.asks is not None
    assert (found.asks.cpu, found.asks.memory_mib, found.asks.gpu) == (60.0, 15360, 30)
    assert found.job is not None
    assert found.job.roles[0].tasks[0].argv[-1] == "--lr=0"
    wrong = await fake.platform.sweeps.preview(swept("many", {"grid": {}}), ADMIN, "zh")
    assert (wrong.ok, [one.path for one in wrong.problems]) == (False, ["sweep.grid"])
    assert fake.job_ids() == []


async def test_so_many_run_at_a_time_also_after_a_restart(fake: Stage) -> None:
    made = await submitted(fake, swept("few", {"grid": {"n": [*range(6)]}, "most_at_once": 2}, "sleep infinity"))
    jobs = [one.job for one in await entries(fake, made.id)]
    for job in jobs[:2]:
        await fake.running(job)
    waiting = await fake.view(jobs[2])
    assert waiting.reason is not None
    assert (waiting.state, waiting.reason.code) == ("queued", "sweep_turn")
    assert waiting.reason.message.en == "At most 2 entries of the sweep run at a time"
    explained = await fake.platform.explain(jobs[2], ADMIN)
    assert explained.reason is not None
    assert explained.reason.code == "sweep_turn"
    await fake.restart()
    await asyncio.sleep(0.2)
    assert [one.state for one in await entries(fake, made.id)] == ["running"] * 2 + ["queued"] * 4
    await fake.platform.stop(jobs[0], ADMIN)
    await fake.running(jobs[2])
    await fake.platform.stop(jobs[4], ADMIN)  # while it waits
    await fake.platform.stop(jobs[1], ADMIN)
    await fake.running(jobs[3])
    assert [one.state for one in await entries(fake, made.id)][4:] == ["stopped", "queued"]
    await fake.platform.sweeps.stop("few", ADMIN, "enough")
    found = await until(fake, made.id, over)
    assert {one.state for one in found} == {"stopped"}
    assert "placed" not in fake.kinds(jobs[5])  # its turn did not come when the others were stopped


async def test_the_worst_are_stopped_early_whoever_serves(stage: Stage) -> None:
    """Asynchronous successive halving by what real programs print; a server that starts goes on where that was."""
    losses = [0.9, 0.1, 0.8, 0.7, 0.6, 0.5]
    early = {"rule": "halving", "after": 4, "factor": 3}
    made = await submitted(stage, training("early", grid={"loss": losses}, stop_early=early))
    found = await until(stage, made.id, lambda all_: sum(one.state == "stopped" for one in all_) >= 3)
    await stage.restart()
    found = await until(stage, made.id, lambda all_: sum(one.state == "stopped" for one in all_) >= 4)
    best = next(one for one in found if one.parameters["loss"] == 0.1)
    stopped = [one for one in found if one.state == "stopped"]
    for one in stopped:
        assert one.verdict is not None
        assert (one.verdict.code, one.verdict.fault) == ("stopped_early", "none")
        assert "only the best" in one.verdict.message.en
    assert best.state == "running"
    for one in found:
        if one.state == "running":
            stage.output(one.job, "go").touch()
    found = await until(stage, made.id, over)
    assert next(one for one in found if one.index == best.index).state == "succeeded"
    assert {one.state for one in found} == {"succeeded", "stopped"}  # and none has failed
    limit = time.monotonic() + PATIENCE_S
    while (detail := await stage.platform.sweeps.views.detail("early", ADMIN)).best is None:
        assert time.monotonic() < limit
        await asyncio.sleep(0.1)
    assert (detail.best.index, detail.best.value) == (best.index, 0.1)
    by_best = await entries(stage, made.id, "best")
    assert by_best[0].index == best.index
    events = stage.events(stopped[0].job)
    asked = next(event for event in events if event.kind.value == "stop_requested")
    assert (asked.actor, asked.data["code"]) == ("system", "stopped_early")
    assert {"value", "rank", "of", "step"} <= asked.data.keys()


async def test_what_failed_is_tried_again_under_its_number(fake: Stage) -> None:
    rows = [{"n": 1}, {"command": "exit 3"}, {"command": "exit 4"}, {"command": "sleep infinity"}]
    made = await submitted(fake, swept("again", {"list": rows, "most_at_once": 3}))
    before = await until(fake, made.id, lambda all_: sum(one.state == "failed" for one in all_) == 2)
    detail = await fake.platform.sweeps.retry("again", ADMIN)
    assert (detail.tries, sum(detail.counts.values())) == (6, 4)
    after = await until(fake, made.id, lambda all_: sum(one.state == "failed" for one in all_) == 2)
    assert [one.tries for one in after] == [1, 2, 2, 1]
    assert after[1].job != before[1].job
    assert after[1].name == before[1].name == "again-2"
    assert (await fake.view(before[1].job)).state == "failed"  # the first try is still there
    assert after[1].own == ["command"]
    with pytest.raises(Conflict):
        await fake.platform.sweeps.delete("again", ADMIN)
    await fake.platform.sweeps.stop("again", ADMIN)
    await until(fake, made.id, over)
    again = await fake.platform.sweeps.retry("again", ADMIN, stopped=True)
    assert again.tries == 9
    await fake.platform.sweeps.stop("again", ADMIN)
    await until(fake, made.id, over)
    told = (await fake.platform.auditing.page(ADMIN, AuditFilters(subject=f"sweep:{made.id}"))).items
    assert [one.kind for one in told] == [
        "sweep_stopped", "sweep_retried", "sweep_stopped", "sweep_retried", "sweep_submitted",
    ]  # fmt: skip
    await fake.platform.context.master.durable()
    await fake.platform.sweeps.delete("again", ADMIN)
    assert fake.job_ids() == []
    with pytest.raises(NotFound):
        await fake.platform.sweeps.views.detail(made.id, ADMIN)


async def test_it_goes_and_its_jobs_stay(fake: Stage) -> None:
    made = await submitted(fake, swept("kept", {"grid": {"n": [1, 2]}}))
    await until(fake, made.id, over)
    with pytest.raises(Conflict):
        await fake.platform.sweeps.retry("kept", ADMIN)
    await fake.platform.sweeps.delete("kept", ADMIN, keep_jobs=True)
    assert len(fake.job_ids()) == 2
    assert (await fake.platform.sweeps.views.page(ADMIN, SweepQuery(), 10)).items == []


async def test_who_sees_jobs_sees_the_sweep_and_who_writes_acts(fake: Stage) -> None:
    """R223, R226: as jobs; and a sweep that is not theirs to see is not there."""
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    ann, bob, eve = person("ann", "vision"), person("bob", "vision"), person("eve", "speech")
    viewer = person("sue", "vision", role="viewer")
    sweeps: Sweeps = fake.platform.sweeps
    body = swept("shared", {"grid": {"n": [1, 2]}}, "sleep infinity", workspace="vision")
    own = await submitted(fake, body, ann)
    body["spec"] |= {"share": "read", "name": "open"}
    read = await submitted(fake, body, ann)
    body["spec"] |= {"share": "read-write", "name": "both"}
    both = await submitted(fake, body, ann)
    for who, seen in ((ann, 3), (bob, 2), (viewer, 2), (eve, 0), (ADMIN, 3)):
        assert (await sweeps.views.page(who, SweepQuery(), 10)).total == seen, who.name
    for who in (bob, eve):
        with pytest.raises(NotFound):
            await sweeps.views.detail(own.id, who)
        with pytest.raises(NotFound):
            await sweeps.stop(own.id, who)
    assert [one.index for one in await entries(fake, read.id, who=bob)] == [1, 2]
    with pytest.raises(Forbidden):
        await sweeps.stop(read.id, bob)
    with pytest.raises(Forbidden):
        await sweeps.delete(both.id, viewer)
    with pytest.raises(Forbidden):
        await sweeps.retry(both.id, bob)
    stopped = await sweeps.stop(both.id, bob)
    await until(fake, both.id, over)
    assert stopped.may == ["write"]
    with pytest.raises(InvalidSpec):
        await submitted(fake, body, eve)


async def test_orders_of_entries(fake: Stage) -> None:
    rows = [{"a": 2, "b": "x"}, {"a": 10}, {"a": 1, "b": "y"}, {"b": True}]
    made = await submitted(fake, swept("rows", {"list": rows}))
    await until(fake, made.id, over)

    async def ordered(order: str) -> list[int]:
        return [one.index for one in await entries(fake, made.id, order)]

    assert await ordered("parameter:a") == [3, 1, 2, 4]
    assert await ordered("-parameter:a") == [2, 1, 3, 4]
    assert await ordered("parameter:b") == [4, 1, 3, 2]
    assert await ordered("-index") == [4, 3, 2, 1]
    for order in ("state", "run_s", "submitted_at", "best", "metric:loss", "-metric:loss"):
        assert sorted(await ordered(order)) == [1, 2, 3, 4]
    page = await fake.platform.sweeps.views.entries(made.id, ADMIN, "index", (Shown.SUCCEEDED,), 2, 1)
    assert ([one.index for one in page.items], page.total, page.parameters) == ([2, 3], 4, ["a", "b"])
    for order in ("", "owner", "parameter:", "metric:"):
        with pytest.raises(InvalidSpec):
            await ordered(order)
