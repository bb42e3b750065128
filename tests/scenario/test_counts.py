"""The counts beside a list of jobs are those of the stored rows, whatever happens, and cost no look at them."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text

from tests.fixtures.seeing import ALL
from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_recovery import fake_spec
from trainmaster.access.roles import Principal
from trainmaster.core.errors import NotFound
from trainmaster.store.jobs.job_query import JobQuery

ANN = Principal("ann", "admin")


async def _counts(stage: Stage, owner: str = "") -> dict[str, int]:
    """Return the counts of a list, the same as the ledger's."""
    await stage.platform.context.master.durable()
    query = JobQuery(owner=owner)
    listed: dict[str, int] = (await stage.platform.jobs(query, 50, None, ADMIN)).counts
    stored = await asyncio.to_thread(stage.platform.context.reader.counts, ALL, query)
    assert listed == {shown.value: number for shown, number in stored.items()}
    return listed


async def test_counts_follow_the_ledger(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    done = [await fake.submit(fake_spec(f"done-{n}", "true")) for n in range(3)]
    view, _ = await fake.platform.submit({"spec": fake_spec("hers", "sleep infinity")}, ANN, None)
    waits = await fake.submit(fake_spec("waits", "true", replicas=8, resources={"cpu": 1.0}))
    for job in done:
        await fake.ended(job)
    await fake.state(view.id, "running")
    assert await _counts(fake) == {"succeeded": 3, "running": 1, "queued": 1}
    assert await _counts(fake, "ann") == {"running": 1}
    both = await asyncio.gather(*(fake.platform.delete(done[0], ADMIN) for _ in range(2)), return_exceptions=True)
    assert {type(one) for one in both} == {NotFound, type(None)}
    assert await _counts(fake) == {"succeeded": 2, "running": 1, "queued": 1}
    await fake.platform.stop(waits, ADMIN)
    await fake.restart()
    assert await _counts(fake) == {"succeeded": 2, "running": 1, "stopped": 1}
    write: Any = fake.platform._life._database.write
    await asyncio.wrap_future(write(lambda c: c.execute(text(f"UPDATE job SET record = '' WHERE id = '{done[1]}'"))))
    await fake.restart()  # a row that was shown is not read again
    await fake.platform.jobs(JobQuery(), 50, None, ADMIN)
    assert await _counts(fake) == {"succeeded": 1, "running": 1, "stopped": 1}
    monkeypatch.setattr(fake.platform.context.reader, "counts", None)
    for query in (JobQuery(), JobQuery(owner="ann", states=(), order="name")):
        await fake.platform.jobs(query, 50, None, ADMIN)
