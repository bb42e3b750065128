"""Who uses what of the nodes: sums as they are now, how much was held over time, and the nodes page by page."""

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster import answers
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Pool
from trainmaster.core.errors import NotFound
from trainmaster.service.use_cases import cluster_use
from trainmaster.service.use_cases.cluster_views import Wanted

ANN, BOB = person("ann"), person("bob")
HOUR_S = 3600.0


async def submitted(stage: Stage, who: Principal, name: str, gpu: int = 2, command: str = "sleep infinity") -> str:
    document = {"name": name, "command": command, "resources": {"cpu": 0.5, "memory": 256, "gpu": gpu}}
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def test_sums_by_person_and_by_workspace_follow_the_jobs(fake: Stage) -> None:
    """GPUs, cores and memory held, jobs running and queued, what the queued ones ask for; most GPUs first."""
    uses = fake.platform.uses
    empty = uses.use(ANN)
    assert (empty.people, empty.workspaces, empty.gpu) == ([], [], answers.Used(used=0, total=4))
    first = await submitted(fake, ANN, "a", 1)
    await fake.running(first)
    second = await submitted(fake, BOB, "b")
    await fake.running(second)
    await fake.state(await submitted(fake, ANN, "c"), "queued")
    use = uses.use(ANN, "default")
    shown = [
        (row.owner, row.running, row.waiting, row.gpu, row.cpu, row.memory_mib, row.gpu_asked) for row in use.people
    ]
    assert shown == [("bob", 1, 0, 2, 0.5, 256, 0), ("ann", 1, 1, 1, 0.5, 256, 2)]
    assert [(row.workspace, row.gpu, row.gpu_asked) for row in use.workspaces] == [("default", 3, 2)]
    assert (use.nodes, use.nodes_in_service, use.running, use.waiting) == (2, 2, 2, 1)
    assert (use.gpu, use.memory_mib) == (answers.Used(used=3, total=4), answers.Used(used=512, total=8192))
    await fake.platform.stop(second, BOB)
    await fake.ended(second)
    assert "bob" not in {row.owner for row in uses.use(ANN).people}
    with pytest.raises(NotFound):
        uses.use(ANN, "nope")


async def test_the_past_tells_what_was_held_when(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended attempts and running ones alike; a restart changes nothing, since it is read from the ledger."""
    ended = await submitted(fake, ANN, "a", 1)
    await fake.running(ended)
    fake.let_pass(2 * HOUR_S)
    await fake.platform.stop(ended, ANN)
    await fake.ended(ended)
    fake.let_pass(HOUR_S)
    await fake.running(await submitted(fake, BOB, "b"))
    fake.let_pass(HOUR_S)
    await fake.platform.context.master.durable()
    past = await fake.platform.uses.past(ANN, "day")
    assert (len(past.at), past.step_s, past.gpu_total, past.known_from) == (96, 900.0, 4.0, None)
    assert past.gpu[-3:] == pytest.approx([2.0, 2.0, 2.0])
    assert past.gpu[-7] == pytest.approx(0.0)
    assert past.gpu[-11:-9] == pytest.approx([1.0, 1.0])
    assert sum(past.gpu) * past.step_s == pytest.approx(2 * HOUR_S * 1 + HOUR_S * 2, abs=60)
    assert sum(past.cpu) * past.step_s == pytest.approx(3 * HOUR_S * 0.5, abs=60)
    assert await fake.platform.uses.past(ANN, "day") is past, "it is given again for a minute"
    week = await fake.platform.uses.past(BOB, "week", "default")
    assert (len(week.at), week.gpu[-1]) == (168, pytest.approx(2.0, abs=0.01))
    monkeypatch.setattr(cluster_use, "MOST_JOBS", 0)
    fake.let_pass(cluster_use.FRESH_S)
    bounded = await fake.platform.uses.past(ANN, "day")
    assert bounded.known_from == pytest.approx((await fake.view(ended)).ended_at)
    assert sum(bounded.gpu) * past.step_s == pytest.approx(HOUR_S * 2, abs=200), "what runs is always counted"


async def test_nodes_come_in_pages_and_are_searched(fake: Stage) -> None:
    """By name, GPU model and person; `total` says how many match, whatever the page."""
    resources = fake.platform.resources
    await fake.running(await submitted(fake, BOB, "b"))
    (used,) = [row.name for row in resources.resources(ANN, [], "default", wanted=Wanted(owner="bob")).nodes]
    page = resources.resources(ANN, [], "default", offset=1, limit=1)
    assert ([row.name for row in page.nodes], page.total) == (["n2"], 2)
    assert [row.name for row in resources.resources(ANN, [], "default", wanted=Wanted("N1")).nodes] == ["n1"]
    assert resources.resources(ANN, [], "default", wanted=Wanted(model="T4")).total == 0
    assert resources.resources(ANN, [], "default", wanted=Wanted(owner="ann")).total == 0
    await fake.platform.administer.put_pool(Pool("a-lab"), ADMIN)
    await fake.platform.administer.assign("n2", "a-lab", ADMIN)
    assert [row.name for row in resources.resources(ANN, [], "default").nodes] == ["n2", "n1"], "by pool"
    node = await fake.platform.node_use(used, ANN)
    assert [(task.owner, task.name, task.gpus) for task in node.tasks] == [("bob", None, [0, 1])]
    with pytest.raises(NotFound):
        await fake.platform.node_use("nope", ANN)
