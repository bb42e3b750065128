"""The machine's clock is set while jobs wait, run and are held: nothing ends by it, and no shown duration changes
(B10).
"""

import time
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.scenario.stage import ADMIN, Stage, check_fold, spec
from trainmaster import answers
from trainmaster.core.errors import StorageFailed
from trainmaster.core.events import Kind
from trainmaster.service.upkeep import dates
from trainmaster.store.jobs.ledger import Ledger

WAITS = "while [ ! -e /workspace/outputs/go ]; do sleep 0.05; done"
HOURS_S = [7200.0, -7200.0]
SHORT_S = 600.0
"""No story here takes so long: what was set is twelve times as much."""


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server looks at the machine's clock all the time."""
    monkeypatch.setattr(dates, "LOOK_S", 0.05)


async def noticed(stage: Stage, job: str) -> answers.JobDetail:
    """Return the job's view once its dates have moved."""
    await stage.until(job, lambda _: "clock_set" in stage.kinds(job), "the clock to be noticed")
    return await stage.view(job)


def machine(stage: Stage) -> float:
    """Return what the machine's clock shows."""
    return time.time() + stage.set_by


@pytest.mark.parametrize("by_s", HOURS_S)
async def test_a_running_job_keeps_its_time_when_the_clock_is_set(stage: Stage, by_s: float) -> None:
    """Neither ended at once nor let run on; dates are the machine's again, durations what has passed."""
    runs = await stage.submit(spec("runs", WAITS, duration=3600, resources={"cpu": 3}, model={"save": False}))
    held = await stage.submit(spec("held", "exit 7", debug_hold=3600, resources={"cpu": 3}))
    await stage.running(runs)
    await stage.state(held, "retained")
    waits = await stage.submit(spec("waits", "true", replicas=2, resources={"cpu": 4}))
    processes = stage.processes(runs)
    stage.set_by = by_s
    view = await noticed(stage, runs)
    assert view.state == "running"
    assert 0 <= view.run_s < SHORT_S
    assert abs(machine(stage) - view.started_at) < SHORT_S
    assert abs(view.expires_at - machine(stage) - 3600) < SHORT_S
    assert processes.keys() & stage.processes(runs).keys()
    kept = (await stage.view(held)).attempt_list[-1].retained_until
    assert abs(kept - machine(stage) - 3600) < SHORT_S
    assert 0 <= (await stage.view(waits)).wait_s < SHORT_S
    later = await stage.submit(spec("later", "true", duration=60, resources={"cpu": 0.5}))
    assert (await stage.ended(later)).run_s < SHORT_S
    stage.output(runs, "go").touch()
    ended = await stage.ended(runs)
    assert (ended.state, ended.run_s < SHORT_S) == ("succeeded", True)
    [task] = ended.task_list
    assert 0 <= task.ended_at - task.started_at < SHORT_S
    assert (await stage.view(held)).state == "retained"
    await stage.platform.release(held, ADMIN)
    assert (await stage.ended(waits)).state == "succeeded"


async def test_a_limit_is_reached_when_that_much_has_passed_though_the_clock_was_set_back(stage: Stage) -> None:
    """It expires by what the kernel has counted."""
    job = await stage.submit(spec("short", "sleep 300", duration=2, grace=1))
    await stage.running(job)
    stage.set_by = -7200.0
    view = await stage.ended(job)
    assert (view.state, 2 <= view.run_s < SHORT_S) == ("expired", True)


@pytest.mark.parametrize("by_s", HOURS_S)
async def test_a_clock_that_is_set_while_no_server_runs_changes_no_duration(stage: Stage, by_s: float) -> None:
    """The agent stamps what it sees by the kernel's count, and the ledger knows where the server's clock stood."""
    goes_on = await stage.submit(spec("goes-on", WAITS, duration=3600, model={"save": False}))
    ends = await stage.submit(spec("ends", WAITS, duration=3600, model={"save": False}))
    for job in (goes_on, ends):
        await stage.running(job)
    await stage.platform.close()
    stage.output(ends, "go").touch()
    stage.set_by = by_s
    stage.platform = stage._build()
    await stage.platform.start()
    ended = await stage.ended(ends)
    assert (ended.state, 0 <= ended.run_s < SHORT_S) == ("succeeded", True)
    view = await noticed(stage, goes_on)
    assert (view.state, 0 <= view.run_s < SHORT_S) == ("running", True)
    stage.output(goes_on, "go").touch()
    assert (await stage.ended(goes_on)).state == "succeeded"


async def test_dates_that_cannot_be_stored_move_later_and_once(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock and the times move together on disk, or neither does: tried again, never twice."""
    document = spec("runs", duration=3600)
    document["roles"][0]["command"] = "sleep infinity"
    job = await fake.submit(document)
    await fake.running(job)
    inner, failures = Ledger._write, ["The disk is full"]

    def poor(ledger: Ledger, connection: Connection, items: list[Any]) -> None:
        kinds = {event.kind for item in items for change in item.work.changes for event in change.events}
        if Kind.CLOCK_SET in kinds and failures:
            failure = failures.pop()
            for item in items:
                item.future.set_exception(StorageFailed(failure))
        else:
            inner(ledger, connection, items)

    monkeypatch.setattr(Ledger, "_write", poor)
    fake.set_by = 7200.0
    view = await noticed(fake, job)
    assert failures == []
    assert 0 <= view.run_s < SHORT_S
    assert abs(machine(fake) - view.started_at) < SHORT_S
    assert fake.kinds(job).count("clock_set") == 1
    await fake.platform.context.master.durable()
    check_fold(job, fake.platform.context.records)
