"""The clock was set: every time of a live job moves, and no duration changes (B10)."""

from dataclasses import fields
from typing import Any

import pytest

from tests.fixtures.histories import History, new_job
from trainmaster.core.actions import Hold, Watch
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Attempt, Job, Policy, Task, replace
from trainmaster.core.reduce import reduce
from trainmaster.core.shift import shifted


def times(record: Any) -> dict[str, float | None]:
    """Return every field of a record that is a time, by name."""
    return {one.name: getattr(record, one.name) for one in fields(record) if one.name.endswith("_at")}


def full(job: Job) -> Job:
    """Return `job` with every time set that there is: a new one is moved as well, or the test below says which was
    forgotten.
    """
    attempt = job.attempt
    assert attempt is not None
    at = 5000.0
    tasks = tuple(replace(task, **dict.fromkeys(times(task), at)) for task in attempt.tasks)
    return replace(
        job,
        attempt=replace(attempt, tasks=tasks, **dict.fromkeys(times(attempt), at)),
        **{name: at for name in times(job) if name != "expires_at"},
    )


@pytest.mark.parametrize("by_s", [7200.0, -7200.0])
def test_every_time_there_is_moves(by_s: float) -> None:
    """Of the job, its attempt and its tasks."""
    job = History(1).submit(new_job(1)).start().job
    assert job is not None
    before = full(job)
    after = shifted(before, by_s)
    assert isinstance(after.attempt, Attempt)
    assert after.attempt.tasks
    for record in (after, after.attempt, *after.attempt.tasks):
        assert set(times(record).values()) == {5000.0 + by_s}
    assert shifted(after, -by_s) == before
    assert times(Task(0, 0)) and "submitted_at" in times(before)  # noqa: PT018 - the test looks at something


@pytest.mark.parametrize("by_s", [7200.0, -7200.0])
def test_what_is_waited_for_is_set_again(by_s: float) -> None:
    """The end of the duration and of a debug hold come as long after as they would have."""
    history = History(1).submit(new_job(1, policy=Policy(duration_s=60.0, debug_hold_s=600.0))).start()
    assert history.job is not None
    expires_at = history.job.expires_at
    assert expires_at is not None
    job, actions = reduce(history.job, Event(history.job.id, Kind.CLOCK_SET, 1.0, data={"by_s": by_s}))
    assert actions == (Watch(job.id, 1, expires_at + by_s),)
    history.tasks(Kind.TASK_EXITED, exit_code=3)
    held = history.job
    assert held.attempt is not None
    assert held.attempt.retained_at is not None
    _, actions = reduce(held, Event(held.id, Kind.CLOCK_SET, 1.0, data={"by_s": by_s}))
    assert actions[1] == Hold(held.id, 1, held.attempt.retained_at + 600.0 + by_s)


def test_what_has_ended_keeps_its_dates() -> None:
    """They were told to people, and are no longer counted with."""
    history = History(1).submit(new_job(1)).start().succeed()
    assert history.job is not None
    job, actions = reduce(history.job, Event(history.job.id, Kind.CLOCK_SET, 1.0, data={"by_s": 7200.0}))
    assert (replace(job, version=0), actions) == (replace(history.job, version=0), ())
