"""When a waiting job starts, as people see it: learnt from what ended, kept over a restart, shown with its age."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage
from trainmaster import answers
from trainmaster.cli.showing.waiting import expected_start
from trainmaster.core.cluster import Limit, VirtualCluster, Workspace
from trainmaster.queue.forecasting.forecast import MOST

ANN = person("ann")
SOON_S = 30.0
"""A refresh that something brought has come by then, one that age alone brings has not."""
Found = TypeVar("Found")


def card(name: str, command: str = "sleep infinity", **fields: Any) -> dict[str, Any]:
    resources = {"cpu": 0.5, "memory": 256, "gpu": 2}
    return {"name": name, "command": command, "resources": resources, **fields}


async def soon(look: Callable[[], Found | None]) -> Found:
    """Return what `look` finds as soon as it finds something."""
    limit = time.monotonic() + PATIENCE_S
    while (found := look()) is None:
        assert time.monotonic() < limit, "waited in vain"
        await asyncio.sleep(0.02)
    return found


async def forecast(stage: Stage, job: str, good: Callable[[answers.ForecastView], bool]) -> answers.ForecastView:
    """Wait for a forecast of this kind, and see that queue page and explanation tell the same."""

    def found() -> answers.ForecastView | None:
        page = stage.platform.queueing.page(ADMIN)
        return next((one.forecast for one in page.items if one.job == job and good(one.forecast)), None)

    told, explained = await soon(found), (await stage.platform.explain(job, ADMIN)).forecast
    while explained.made_at != told.made_at:  # another one was made meanwhile
        told, explained = await soon(found), (await stage.platform.explain(job, ADMIN)).forecast
    assert explained.when == told.when
    return told


async def test_a_waiting_job_is_foreseen_and_shown_on_the_timeline(fake: Stage) -> None:
    """B1: without limits and without a past nothing is known; with limits, or once something ended, there is a
    range.
    """
    running = [await fake.submit(card(name)) for name in "ab"]
    for job in running:
        await fake.running(job)
    waits = await fake.submit(card("c"))
    unknown = await forecast(fake, waits, lambda one: one.made_at is not None or one.when == "unknown")
    assert unknown.when == "unknown"
    assert unknown.why.zh
    assert unknown.why.en
    for job in running:
        await fake.platform.change(job, ADMIN, duration_s=600)
    about = await forecast(fake, waits, lambda one: one.when == "about")
    now = fake.platform.context.clock()
    assert now <= about.low <= about.at <= min(about.high, now + 600)
    bars = [bar for bar in fake.platform.queueing.timeline(ADMIN).bars if bar.kind == "forecast"]
    assert [(bar.job, bar.node in ("n1", "n2"), bar.cards, bar.gpu) for bar in bars] == [(waits, True, [], 2)]


async def test_who_stands_behind_all_that_are_foreseen_is_told_when_at_the_earliest(fake: Stage) -> None:
    """B1: a burst of one person leaves nobody without an answer, neither in the queue nor before a submit."""
    for name in "ab":
        await fake.running(await fake.submit(card(name, duration="100s")))
    burst = [{"spec": card("burst", duration="100s")} for _ in range(MOST + 5)]
    jobs = [one.id for one in (await fake.platform.submit_batch(burst, ADMIN, None)).items]
    first = await forecast(fake, jobs[0], lambda one: one.when == "about")

    async def explained(job: str) -> answers.ForecastView:
        found = (await fake.platform.explain(job, ADMIN)).forecast
        assert found is not None
        return found

    while (last := await explained(jobs[-1])).when != "after":
        assert last.when == "unknown"
        await asyncio.sleep(0.02)
    assert (last.at, last.high) == (None, None)
    assert last.low > first.at, "200 jobs for two nodes are ahead of it"
    assert str(MOST) in last.why.zh
    assert str(MOST) in last.why.en
    told = await fake.platform.queueing.would_start({"spec": card("late", duration="100s")}, ADMIN)
    assert (told.forecast.when, told.forecast.low > first.at) == ("after", True)
    assert expected_start(last).startswith("after 20")


async def test_a_job_that_is_not_submitted_is_foreseen_behind_the_others(fake: Stage) -> None:
    for name in "ab":
        await fake.running(await fake.submit(card(name, duration="100s")))
    await fake.submit(card("c", duration="100s"))
    told = await fake.platform.queueing.would_start({"spec": card("d", duration="100s")}, ANN)
    now = fake.platform.context.clock()
    assert (told.when, told.forecast.when) == ("queue", "about")
    assert now < told.forecast.at <= now + 200
    assert len(fake.platform.context.scheduling.queue) == 1
    same = await fake.platform.queueing.would_start({"spec": card("d", duration="100s")}, ADMIN)
    first = await fake.platform.queueing.would_start({"spec": card("d", duration="100s", priority="urgent")}, ADMIN)
    assert (same.position, first.position) == (2, 1)
    view, _ = await fake.platform.submit({"spec": card("d", duration="100s")}, ANN, None)
    placed = await soon(
        lambda: next((one for one in fake.platform.queueing.page(ANN).items if one.job == view.id), None)
    )
    assert told.position == placed.position == 1, "who has used nothing yet comes a little earlier"


async def test_whatever_decides_when_a_job_starts_brings_a_new_forecast(
    fake: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines, quotas, shares, the policy, a priority: none of them is a change of state of a job."""
    monkeypatch.setattr("trainmaster.service.scheduling.forecasts.EVERY_S", 0.0)
    for name in "ab":
        await fake.running(await fake.submit(card(name, duration="100s")))
    waits = await fake.submit(card("c", duration="100s"))
    admin, queueing = fake.platform.administer, fake.platform.queueing
    changes: dict[str, Callable[[], Awaitable[object]]] = {
        "cordon": lambda: admin.cordon("n2", "a fan", ADMIN),
        "uncordon": lambda: admin.uncordon("n2", ADMIN),
        "quota": lambda: admin.put_workspace(Workspace("default", quotas={"default": {"gpu": Limit(3)}}), ADMIN),
        "share": lambda: admin.put_virtual_cluster(VirtualCluster("vc", "default", {"gpu": Limit(1)}), ADMIN),
        "policy": lambda: queueing.set_policy({"backfill": "none"}, ADMIN),
        "priority": lambda: fake.platform.change(waits, ADMIN, priority="urgent"),
    }
    job, stale = fake.platform.context.master.live[waits], set(changes)
    await forecast(fake, waits, lambda one: one.when == "about")
    for what, change in changes.items():
        changed_at = fake.platform.context.clock()
        await change()
        with suppress(TimeoutError):
            async with asyncio.timeout(SOON_S):
                while (fake.platform.context.forecasts.view(job, changed_at).made_at or 0.0) < changed_at:
                    await asyncio.sleep(0.01)
                stale.remove(what)
    assert not stale


async def test_the_past_is_read_again_after_a_restart(fake: Stage) -> None:
    ended = await fake.submit(card("past", "true"))
    await fake.ended(ended)
    ((owner, run_s, limit_s),) = fake.platform.context.records.ran_last(10)
    assert (owner, limit_s, run_s >= 0) == ("admin", None, True)
    await fake.restart()
    for name in "abc":
        await fake.submit(card(name))
    await soon(lambda: len(fake.platform.context.forecasts.history._all.run_s) or None)
