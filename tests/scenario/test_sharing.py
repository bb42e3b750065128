"""Jobs that are shared in their workspace: what others see of them and may do, and for how long (R57, R223 to R228)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare, Shown
from trainmaster.service.control.feed import FeedItem
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.store.jobs.job_query import JobQuery

ANN, BOB = person("ann", "vision"), person("bob", "vision")
LEAD, EVE = person("lead", "vision", role="owner"), person("eve", "vision", role="viewer")
STRANGER = person("stranger", "speech")


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def submitted(stage: Stage, who: Principal, **fields: Any) -> str:
    document = {**fake_spec("shared", "sleep infinity"), "workspace": "vision", **fields}
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def listed(stage: Stage, who: Principal) -> tuple[list[str], dict[Shown, int]]:
    """Return what somebody sees in the list: ids and counts."""
    page = await stage.platform.jobs(JobQuery(), 50, None, who)
    return [job.id for job in page.items], page.counts


async def test_a_job_is_private_until_it_is_shared(vision: Stage) -> None:
    """R228."""
    job = await submitted(vision, ANN)
    for other in (BOB, EVE, STRANGER):
        assert await listed(vision, other) == ([], {})
        with pytest.raises(NotFound):
            await vision.platform.job(job, other)
    assert (await vision.platform.job(job, ANN)).may == ["write", "share"]


async def test_who_may_read_looks_and_clones_and_changes_nothing(vision: Stage) -> None:
    """R226: chosen at the submit; what is refused says why, for the job is seen."""
    job = await submitted(vision, ANN, share="read")
    for other in (BOB, EVE):
        ids, counts = await listed(vision, other)
        assert (ids, sum(counts.values())) == ([job], 1)
        seen = await vision.platform.job(job, other)
        assert (seen.share, seen.may) == ("read", [])
        for refused in (vision.platform.stop(job, other), vision.platform.change(job, other, priority="urgent")):
            with pytest.raises(Forbidden) as why:
                await refused
            assert (why.value.code, why.value.said.args) == ("only_shared_to_read", {"owner": "ann"})
        with pytest.raises(Forbidden) as why:
            await vision.platform.share(job, other, JobShare.READ_WRITE)
        assert why.value.code == "not_yours_to_share"
    assert (await listed(vision, STRANGER))[0] == []
    cloned = await vision.platform.clone(job, BOB, {"name": "mine"})
    assert (cloned.owner, cloned.may) == ("bob", ["write", "share"])
    outcome = await vision.platform.many("stop", Chosen((job,)), BOB)
    assert [one.code for one in outcome.refused] == ["only_shared_to_read"]


async def test_who_may_write_acts_like_the_owner_and_does_not_share_it_on(vision: Stage) -> None:
    """R227."""
    job = await submitted(vision, ANN, share="read-write")
    assert (await vision.platform.job(job, BOB)).may == ["write"]
    assert (await vision.platform.job(job, EVE)).may == []
    await vision.platform.change(job, BOB, duration_s=3600.0)
    with pytest.raises(Forbidden):
        await vision.platform.share(job, BOB, JobShare.NONE)
    with pytest.raises(Forbidden):
        await vision.platform.stop(job, EVE)
    await vision.platform.stop(job, BOB)
    await vision.state(job, "stopped")
    await vision.platform.delete(job, BOB)
    with pytest.raises(NotFound):
        await vision.platform.job(job, ANN)


async def test_it_is_shared_and_hidden_again_also_after_its_end(vision: Stage) -> None:
    """Lists, counts and look-ups agree at once; the audit tells who did it."""
    job = await submitted(vision, ANN)
    await vision.platform.share(job, ANN, JobShare.READ)
    assert await listed(vision, BOB) == ([job], {(await vision.platform.job(job, BOB)).state: 1})
    await vision.platform.stop(job, ANN)
    await vision.state(job, "stopped")
    await vision.platform.share(job, LEAD, JobShare.NONE)
    assert await listed(vision, BOB) == ([], {})
    assert await listed(vision, ANN) == ([job], {Shown.STOPPED: 1})
    await asyncio.gather(*(vision.platform.share(job, ANN, share) for share in (JobShare.READ, JobShare.READ_WRITE)))
    assert await listed(vision, BOB) == ([job], {Shown.STOPPED: 1})
    assert (await vision.platform.share(job, ANN, JobShare.READ)).share == "read"
    told = (await vision.platform.auditing.page(ADMIN, AuditFilters(subject=f"job:{job}", kind="shared"))).items
    assert [(one.by, one.args["share"]["code"], one.args["before"]["code"]) for one in told][-2:] == [
        ("lead", "share_nothing", "share_read"),
        ("ann", "share_read", "share_nothing"),
    ]
    await vision.platform.delete(job, ANN)
    with pytest.raises(NotFound):
        await vision.platform.share(job, ANN, JobShare.NONE)


async def test_counts_stay_right_when_an_ended_job_is_shared_while_it_is_deleted(vision: Stage) -> None:
    """Nobody changes a row that another removes, whoever comes first."""
    for _ in range(5):
        job = await submitted(vision, ANN)
        await vision.platform.stop(job, ANN)
        await vision.state(job, "stopped")
        done = await asyncio.gather(
            vision.platform.share(job, ANN, JobShare.READ),
            vision.platform.delete(job, ANN),
            vision.platform.share(job, ANN, JobShare.READ_WRITE),
            return_exceptions=True,
        )
        assert all(one is None or not isinstance(one, BaseException) or isinstance(one, NotFound) for one in done)
        assert await listed(vision, ADMIN) == ([], {})
        assert await listed(vision, BOB) == ([], {})


async def test_an_administrator_turns_sharing_off_for_a_workspace_and_on_again(vision: Stage) -> None:
    """R225: only "none" is possible then, and what was shared is hidden; nothing is forgotten."""
    job = await submitted(vision, ANN, share="read-write")
    await vision.platform.administer.put_workspace(Workspace("vision", sharing="off"), ADMIN)
    with pytest.raises(InvalidSpec) as refused:
        await submitted(vision, ANN, share="read")
    assert [(one.path, one.code) for one in refused.value.problems] == [("share", "sharing_off")]
    with pytest.raises(InvalidSpec):
        await vision.platform.share(job, ANN, JobShare.READ)
    closed = Principal("bob", memberships=BOB.memberships)
    with pytest.raises(NotFound):
        await vision.platform.job(job, closed)
    assert (await vision.platform.job(job, ANN)).share == "read-write"
    await submitted(vision, ANN, share="none")
    await submitted(vision, ANN)


async def test_a_workspace_may_ask_that_every_job_says_how_it_is_shared(vision: Stage) -> None:
    """R57."""
    await vision.platform.administer.put_workspace(Workspace("vision", sharing="required"), ADMIN)
    with pytest.raises(InvalidSpec) as refused:
        await submitted(vision, ANN)
    [problem] = refused.value.problems
    assert (problem.path, problem.code) == ("share", "share_required")
    assert "read-write" in problem.remedy
    await submitted(vision, ANN, share="none")
    with pytest.raises(InvalidSpec) as refused:
        await submitted(vision, ANN, share="everybody")
    assert [one.path for one in refused.value.problems] == ["share"]


async def test_what_is_hidden_again_leaves_the_lists_of_those_who_watch(vision: Stage) -> None:
    """The feed says that it is gone, to whom it was shared and to nobody else."""
    job = await submitted(vision, ANN, share="read")
    await vision.platform.context.master.durable()
    seq = vision.platform.feed.seq

    async def next_of(who: Principal) -> FeedItem | None:
        visible = decide(who, "jobs:read").demand()
        feed: AsyncIterator[FeedItem] = vision.platform.feed.subscribe(visible, seq, idle_s=0.2)
        async with aclosing(feed) as items:  # type: ignore[type-var]
            async for item in items:
                if item.job_id == job or item.event == "idle":
                    return item if item.job_id == job else None
        return None

    await vision.platform.share(job, ANN, JobShare.NONE)
    found = {who.name: await next_of(who) for who in (ANN, BOB, STRANGER)}
    assert {name: item and item.event for name, item in found.items()} == {
        "ann": "job",
        "bob": "deleted",
        "stranger": None,
    }
