"""When a waiting job starts, as people see it: learnt from what ended, kept over a restart, shown with its age."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.scenario.stage import ADMIN, PATIENCE_S, Stage
from trainmaster.access.roles import Principal

ANN = Principal("ann", "user")
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


async def forecast(stage: Stage, job: str, good: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait for a forecast of this kind, and see that queue page and explanation tell the same."""

    def found() -> dict[str, Any] | None:
        page = stage.platform.queueing.page(ADMIN)
        return next((one["forecast"] for one in page["items"] if one["job"] == job and good(one["forecast"])), None)

    told = await soon(found)
    explained = (await stage.platform.explain(job, ADMIN))["forecast"]
    assert (explained["when"], explained["made_at"]) == (told["when"], told["made_at"])
    return told


async def test_a_waiting_job_is_foreseen_and_shown_on_the_timeline(fake: Stage) -> None:
    """B1: without limits and without a past nothing is known; with limits, or once something ended, there is a range."""
    running = [await fake.submit(card(name)) for name in "ab"]
    for job in running:
        await fake.running(job)
    waits = await fake.submit(card("c"))
    unknown = await forecast(fake, waits, lambda one: one["made_at"] is not None or one["when"] == "unknown")
    assert unknown["when"] == "unknown"
    assert all(unknown["why"][language] for language in ("zh", "en"))
    for job in running:
        await fake.platform.change(job, ADMIN, duration_s=600)
    about = await forecast(fake, waits, lambda one: one["when"] == "about")
    now = fake.platform.context.clock()
    assert now <= about["low"] <= about["at"] <= about["high"] <= now + 600
    bars = [bar for bar in fake.platform.queueing.timeline(ADMIN)["bars"] if bar["kind"] == "forecast"]
    assert [(bar["job"], bar["node"] in ("n1", "n2"), bar["cards"], bar["gpu"]) for bar in bars] == [
        (waits, True, [], 2)
    ]


async def test_a_job_that_is_not_submitted_is_foreseen_behind_the_others(fake: Stage) -> None:
    for name in "abc":
        await fake.submit(card(name, duration="100s"))
    told = await fake.platform.queueing.would_start({"spec": card("d", duration="100s")}, ANN)
    now = fake.platform.context.clock()
    assert (told["when"], told["forecast"]["when"]) == ("queue", "about")
    assert now < told["forecast"]["at"] <= now + 200
    assert len(fake.platform.context.scheduling.queue) == 1
    first = await fake.platform.queueing.would_start({"spec": card("d", duration="100s", priority="urgent")}, ADMIN)
    assert (told["position"], first["position"]) == (2, 1)


async def test_the_past_is_read_again_after_a_restart(fake: Stage) -> None:
    ended = await fake.submit(card("past", "true"))
    await fake.ended(ended)
    ((owner, run_s, limit_s),) = fake.platform.context.reader.ran_last(10)
    assert (owner, limit_s, run_s >= 0) == ("admin", None, True)
    await fake.restart()
    for name in "abc":
        await fake.submit(card(name))
    await soon(lambda: len(fake.platform.context.forecasts.history._all.run_s) or None)
