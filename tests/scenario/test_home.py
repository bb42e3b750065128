"""Home: what one person is shown first, of their own and of the workspaces that they administer, and no more."""

import asyncio
from typing import Any

import msgspec

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.answers import HomeView
from trainmaster.core.cluster import DEFAULT, Budget, Limit, Pool, Workspace
from trainmaster.store.jobs.read_jobs import _first_page

ANN, BOB = person("ann"), person("bob")
LEAD = person("lead", role="admin")
CANARY = "canary-of-bob"


def job(name: str, gpu: int = 0, command: str = "sleep infinity", **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": command, "resources": {"cpu": 0.5, "memory": 256, "gpu": gpu}, **fields}


async def submitted(stage: Stage, document: dict[str, Any], who: Principal = ANN) -> str:
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def home(stage: Stage, who: Principal = ANN) -> HomeView:
    return await stage.platform.home.of(who)


async def test_who_has_nothing_is_told_what_is_free(fake: Stage) -> None:
    seen = await home(fake)
    assert (seen.any, seen.running, seen.waiting, seen.failed, seen.did, seen.workspaces) == (False, [], [], [], [], [])
    [pool] = seen.free
    [cards] = pool.cards
    assert (pool.pool, pool.nodes, cards.total, cards.free, cards.most) == (DEFAULT, 2, 4, 4, 2)
    assert pool.cpu_free == pool.cpu > 0
    assert (seen.use.machine_s, len(seen.use.days) >= 28) == (0, True)


async def test_it_says_what_runs_waits_and_failed_and_what_one_did(fake: Stage) -> None:
    runs = [await submitted(fake, job(name, 2)) for name in "ab"]
    for one in runs:
        await fake.running(one)
    waits = await submitted(fake, job("c", 2))
    await fake.until(waits, lambda view: view.reason is not None, "its reason")
    failed = await submitted(fake, job("bad", command="exit 3"))
    await fake.ended(failed)
    await fake.platform.stop(runs[0], ANN)
    await fake.ended(runs[0])
    await fake.running(waits)
    await submitted(fake, job("d", 2))
    seen = await home(fake)
    assert seen.any
    assert ([one.name for one in seen.running], seen.running_total) == (["c", "b"], 2)
    assert ([one.name for one in seen.waiting], seen.waiting_total) == (["d"], 1)
    assert seen.waiting[0].reason is not None
    [wrong] = seen.failed
    assert (wrong.name, wrong.verdict.code, wrong.may) == ("bad", "exit_code", ["write", "share"])
    assert {one.kind for one in seen.did} >= {"submitted", "stop_requested"}
    assert seen.free[0].cards[0].free == 0


async def test_of_others_nothing_is_shown_but_what_they_leave_free(fake: Stage) -> None:
    theirs = [await submitted(fake, job(f"{CANARY}-{n}", 2), BOB) for n in range(3)]
    await fake.running(theirs[0])
    bad = await submitted(fake, job(f"{CANARY}-bad", command=f"exit 3 # {CANARY}"), BOB)
    await fake.ended(bad)
    seen = await home(fake)
    text = msgspec.json.encode(seen).decode()
    assert CANARY not in text
    assert not any(one in text for one in (*theirs, bad))
    assert '"bob"' not in text
    assert (seen.any, seen.running_total, seen.waiting_total) == (False, 0, 0)
    assert (seen.free[0].waiting, seen.free[0].running) == (1, 2)
    assert CANARY in msgspec.json.encode(await home(fake, LEAD)).decode(), "who administers the workspace sees it"


async def test_an_admin_of_a_workspace_sees_how_it_stands(fake: Stage) -> None:
    admin = fake.platform.administer
    await admin.put_workspace(Workspace(DEFAULT, quotas={DEFAULT: {"gpu": Limit(3)}}), ADMIN)
    await admin.put_workspace(Workspace("speech"), ADMIN)
    await fake.platform.balances.set_budget(Budget(DEFAULT, monthly=5_000_000), ADMIN)
    await admin.put_pool(Pool(DEFAULT, price_cpu=1_000_000), ADMIN)
    first = await submitted(fake, job("a", 2))
    await fake.running(first)
    await submitted(fake, job("b", 2), BOB)
    [seen] = (await home(fake, LEAD)).workspaces
    assert (seen.name, seen.running, seen.waiting, seen.budget) == (DEFAULT, 1, 1, "5.00")
    assert [(one.name, one.running, one.waiting, one.gpu) for one in seen.people] == [
        ("ann", 1, 0, 2),
        ("bob", 0, 1, 0),
    ]
    assert [one.owner for one in seen.next] == ["bob"]
    assert [(one.resource, one.used) for quota in seen.quotas for one in quota.share] == [("gpu", 2)]
    assert [one.name for one in (await home(fake, ADMIN)).workspaces] == [DEFAULT, "speech"]
    assert (await home(fake, BOB)).workspaces == []


async def test_limits_and_pools_are_those_one_may_use(fake: Stage) -> None:
    admin = fake.platform.administer
    await admin.put_workspace(Workspace("speech", per_person={DEFAULT: {"gpu": 1}}), ADMIN)
    await admin.put_workspace(Workspace(DEFAULT, per_person={DEFAULT: {"gpu": 2, "jobs": 4}}), ADMIN)
    await admin.put_pool(Pool("lab", "dedicated", ("speech",)), ADMIN)
    await fake.running(await submitted(fake, job("a", 1)))
    seen = await home(fake)
    assert [one.pool for one in seen.free] == [DEFAULT]
    assert [(one.workspace, one.resource, one.used, one.limit) for one in seen.limits] == [
        (DEFAULT, "gpu", 1, 2),
        (DEFAULT, "jobs", 1, 4),
    ]
    assert [one.pool for one in (await home(fake, person("eve", "speech"))).free] == [DEFAULT, "lab"]


async def test_what_was_used_is_added_up_once_for_all(fake: Stage) -> None:
    """One's own is one's own; who asks within a minute is told the same, who asks later brings a new sum."""
    first = await submitted(fake, job("a"))
    await fake.running(first)
    await fake.platform.stop(first, ANN)
    await fake.ended(first)
    mine, theirs = (await home(fake)).use, (await home(fake, BOB)).use
    assert mine.machine_s > 0
    assert sum(day.machine_s for day in mine.days) == mine.machine_s
    assert (theirs.machine_s, theirs.at) == (0, mine.at)
    fake.set_by += 61.0
    while (await home(fake)).use.at == mine.at:
        await asyncio.sleep(0.01)


async def test_who_looks_again_asks_the_store_the_same(fake: Stage) -> None:
    """The statements of lists are kept by what is asked: a moment in it would push out those of everybody."""
    await home(fake)
    before = _first_page.cache_info().misses
    for _ in range(3):
        fake.let_pass(1)
        await home(fake)
    assert _first_page.cache_info().misses <= before + 2, "an hour may have begun: two statements"
