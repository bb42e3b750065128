"""A list ordered by a metric knows what jobs logged last, also those that ended just before a server did (R200)."""

import asyncio

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.core.errors import InvalidSpec
from trainmaster.service.upkeep import results
from trainmaster.store.jobs.job_query import JobQuery

PATTERN = r"acc=(?P<acc>[\d.]+|nan)"


async def submitted(stage: Stage, *values: str) -> str:
    text = "; ".join(f"echo acc={value}" for value in values)
    return await stage.submit(spec("job", text, metrics=[{"pattern": PATTERN}]))


async def by(stage: Stage, order: str) -> list[str]:
    return [job.id for job in (await stage.platform.jobs(JobQuery(order=order), 50, None, ADMIN)).items]


async def until(stage: Stage, order: str, wanted: list[str]) -> None:
    async with asyncio.timeout(60):
        while await by(stage, order) != wanted:
            await asyncio.sleep(0.05)


async def test_jobs_are_ordered_by_what_they_logged_last(stage: Stage) -> None:
    good, bad = await submitted(stage, "0.1", "0.9"), await submitted(stage, "0.8", "0.2")
    none, odd = await stage.submit(spec("silent")), await submitted(stage, "0.5", "nan")
    for job in (good, bad, none, odd):
        await stage.ended(job)
    await until(stage, "-metric:acc", [good, bad, odd, none])
    assert await by(stage, "metric:acc") == [bad, good, none, odd], "what is no number is none"
    await stage.platform.marking.tag(bad, ADMIN, ["a"])
    await stage.platform.marking.tag(none, ADMIN, ["b"])
    assert await by(stage, "tags") == [bad, none, good, odd]
    for order in ("metric:", "accuracy"):
        with pytest.raises(InvalidSpec, match="order"):
            await by(stage, order)


async def test_what_a_server_did_not_come_to_the_next_one_does(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FIRST_S", 1000.0)
    bad, good = await submitted(stage, "0.2"), await submitted(stage, "0.9")
    for job in (bad, good):
        await stage.ended(job)
    assert await by(stage, "metric:acc") == [bad, good], "by number"
    await stage.restart()
    await until(stage, "-metric:acc", [good, bad])
