"""Changes of several fields: both are stored, or neither is and the caller is told."""

from typing import Any

import pytest

from tests.fixtures.fakes.engine import FakeMachines
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.events import Kind
from trainmaster.store.jobs.ledger import Ledger


async def test_a_change_of_two_fields_is_one_commit(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """R170, R192: where the duration cannot be stored, the priority is not changed either."""
    job = await fake.submit(fake_spec("two", "sleep infinity"))
    await fake.running(job)
    inner, failing = Ledger._write, True

    def poor(ledger: Ledger, connection: Any, items: list[Any]) -> None:
        batches = [item.work for item in items]
        kinds = {event.kind for batch in batches for change in batch.changes for event in change.events}
        if failing and Kind.DURATION_CHANGED in kinds:
            for item in items:
                item.future.set_exception(StorageFailed("The disk is full"))
        else:
            inner(ledger, connection, items)

    monkeypatch.setattr(Ledger, "_write", poor)
    with pytest.raises(StorageFailed):
        await fake.platform.change(job, ADMIN, duration_s=3600.0, priority="urgent")
    failing = False
    view = await fake.until(job, lambda view: view.duration_s is None, "what the ledger holds")
    assert view.priority == "normal"
    await fake.until(job, lambda _: not fake.platform.context.master._blocked, "the ledger is back")
    view = await fake.platform.change(job, ADMIN, duration_s=3600.0, priority="urgent")
    assert (view.duration_s, view.priority) == (3600.0, "urgent")


async def test_a_change_of_a_job_that_ends_in_that_moment_is_refused(
    fake: Stage, machines: FakeMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R192: nobody is told that an ended job was changed."""
    job = await fake.submit(fake_spec("ends", "sleep infinity"))
    running = await fake.platform.resolve((await fake.running(job)).id, ADMIN)
    machines.end_task(f"{job}-1")
    await fake.ended(job)
    await fake.until(job, lambda _: job not in fake.platform.context.master.live, "forgotten by the loop")

    async def stale(*given: object) -> Any:
        return running

    monkeypatch.setattr(fake.platform._jobs, "resolve", stale)  # it was read a moment before its end
    with pytest.raises(Conflict):
        await fake.platform.change(job, ADMIN, duration_s=3600.0, priority="urgent")
