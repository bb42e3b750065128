"""What the platform does about its own mistakes: records it cannot read, orders that break, files it left. One job pays
at most, and the loop goes on.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.fakes.engine import FakeMachines
from tests.scenario.stage import ADMIN, COUNTS, PATIENCE_S, Stage, fake_spec, spec
from trainmaster.core.errors import NotFound, StorageFailed
from trainmaster.store.jobs.job_query import JobQuery


async def test_a_malformed_record_is_set_aside_and_the_loop_goes_on(stage: Stage) -> None:
    """Issue: quarantined and reported; others go on; what ran of it is ended, because its room is given away."""
    good = await stage.submit(spec("good", COUNTS, model={"save": False}))
    bad = await stage.submit(spec("bad", COUNTS, resources={"cpu": 4}))
    await stage.running(good, "line 1")
    await stage.running(bad, "line 1")
    worse = await stage.submit(spec("worse", "true", replicas=2, resources={"cpu": 4}))
    database = stage.platform._life._database
    database.write(
        lambda c: c.exec_driver_sql(f"UPDATE job SET record = '{{\"roles\": 7' WHERE id IN ('{bad}', '{worse}')")
    ).result()
    await stage.restart()
    assert sorted(one.job for one in stage.platform.context.records.quarantined()) == sorted([bad, worse])
    for job in (bad, worse):
        with pytest.raises(NotFound):
            await stage.view(job)
    assert [item.id for item in (await stage.platform.jobs(JobQuery(), 50, None, ADMIN)).items] == [good]
    later = await stage.submit(spec("later", "echo fine", resources={"cpu": 4}))
    assert (await stage.ended(later)).state == "succeeded"
    stage.output(good, "go").touch()
    assert (await stage.ended(good)).state == "succeeded"
    await stage.until(good, lambda _: stage.processes(bad) == {}, "the end of what ran of it")


async def test_a_record_that_breaks_while_the_server_runs_does_not_stop_the_others(
    fake: Stage, machines: FakeMachines
) -> None:
    """The ledger refuses a change on a row that is not the one it knows; the server reads again and goes on."""
    bad, good = [await fake.submit(fake_spec(name, "sleep infinity")) for name in ("bad", "good")]
    for job in (bad, good):
        await fake.running(job)
    database = fake.platform._life._database
    database.write(lambda c: c.exec_driver_sql(f"DELETE FROM job WHERE id = '{bad}'")).result()
    with pytest.raises(StorageFailed):
        await fake.platform.change(bad, ADMIN, duration_s=60.0)
    await fake.until(good, lambda _: bad not in fake.platform.context.master.live, "the job is forgotten")
    await fake.platform.stop(good, ADMIN)
    assert (await fake.ended(good)).state == "stopped"
    machines.lose(f"{bad}-1")


@pytest.mark.parametrize(
    ("what", "kind"), [("launch", "launch_failed"), ("stage", "launch_failed"), ("save", "save_failed")]
)
async def test_an_order_that_nobody_foresaw_to_fail_fails_its_job(
    fake: Stage, monkeypatch: pytest.MonkeyPatch, what: str, kind: str
) -> None:
    """A mistake of the platform about one job must not hold that job's room for ever, nor make it impossible to end."""

    async def broken(*given: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(fake.platform._life._shell, "_" + what, broken)
    if what == "stage":
        monkeypatch.setattr(fake.platform._life._shell._launching, "must_stage", lambda job: True)
    job = await fake.ended(await fake.submit(fake_spec("mistake")))
    assert job.state == "failed"
    assert job.verdict.code == kind
    assert "RecursionError" in job.verdict.message.en


async def test_a_job_whose_spec_is_lost_fails_and_says_so(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot come back is not waited for."""

    async def lost(job: object) -> object:
        raise NotFound("The ledger holds no spec")

    monkeypatch.setattr(fake.platform._life._shell._launching, "gang", lambda job: None)
    monkeypatch.setattr(fake.platform._life._shell._launching, "gang_from_disk", lost)
    job = await fake.ended(await fake.submit(fake_spec("lost")))
    assert (job.state, job.verdict.code) == ("failed", "launch_failed")


async def test_a_queue_that_cannot_be_planned_keeps_nothing_from_the_disk(
    fake: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submits are answered, and running jobs end, while the planner fails; when it works again, what waits starts."""
    master = fake.platform.context.master

    def broken(now: float) -> list[Any]:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(fake.platform.context.scheduling, "schedule", broken)
        job = await asyncio.wait_for(fake.submit(fake_spec("waits")), PATIENCE_S)
        assert (await fake.view(job)).state == "queued"
    master.wake()
    assert (await fake.ended(job)).state == "succeeded"


async def test_files_that_a_deletion_left_are_removed_at_the_next_start(
    fake: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R202: the server may end between a deleted job's rows and its files."""
    job = await fake.submit(fake_spec("deleted"))
    await fake.ended(job)
    folder = Path(fake.platform.layout.job(job))
    (folder / "model").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(fake.platform.context.ended, "_remove_files", lambda job_id: None)
    await fake.platform.delete(job, ADMIN)
    assert folder.exists()
    monkeypatch.undo()
    await fake.restart()
    limit = time.monotonic() + PATIENCE_S
    while folder.exists():
        assert time.monotonic() < limit
        await asyncio.sleep(0.05)
