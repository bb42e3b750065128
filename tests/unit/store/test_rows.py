"""Rows hold every field of the records, once (design 7)."""

import subprocess
import sys
from dataclasses import fields

import pytest

from tests.fixtures.histories import life
from trainmaster.core.records import Assignment, Attempt, Job, Task
from trainmaster.store import tables
from trainmaster.store.jobs import rows


@pytest.mark.parametrize(
    ("record", "held", "elsewhere"),
    [
        (Job, [*rows.JOB_FIXED, *rows.JOB_MOVING, *rows.JOB_REST], {"attempt"}),
        (Attempt, [*rows.ATTEMPT_FIXED, *rows.ATTEMPT_MOVING, *rows.ATTEMPT_REST], {"placement", "tasks"}),
        (Task, ["role", "index", *rows.TASK_MOVING, *rows.TASK_REST], set()),
        (Assignment, ["role", "index", "node", "host", *rows.PLACE_REST], set()),
    ],
)
def test_every_field_lies_in_exactly_one_place(record: type, held: list[str], elsewhere: set[str]) -> None:
    """A field that somebody adds to a record is stored without a change here, and never twice."""
    names = {field.name for field in fields(record)}
    assert names - elsewhere <= set(held)
    assert not elsewhere & set(held)
    assert len(held) == len(set(held))


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (tables.job, rows.JOB_FIXED + rows.JOB_MOVING + rows.JOB_FOUND),
        (tables.attempt, rows.ATTEMPT_FIXED + rows.ATTEMPT_MOVING),
        (tables.task, rows.TASK_FIXED + rows.TASK_PLACE + rows.TASK_MOVING),
        (tables.event, rows.EVENT),
    ],
)
def test_every_column_is_written(table: object, columns: tuple[str, ...]) -> None:
    """No column is forgotten by the ledger."""
    assert tuple(table.c.keys()) == columns  # type: ignore[attr-defined]


def test_a_row_is_as_long_as_its_names() -> None:
    """The value functions and the name tables say the same."""
    history = life(1)
    job = history.job
    assert job is not None
    assert job.attempt is not None
    pairs = [
        (rows.job_fixed(job), rows.JOB_FIXED),
        (rows.job_moving(job), rows.JOB_MOVING),
        (rows.job_found(job, None), rows.JOB_FOUND),
        (rows.attempt_fixed(1, job.attempt), rows.ATTEMPT_FIXED),
        (rows.attempt_moving(job.attempt), rows.ATTEMPT_MOVING),
        (rows.task_placed(1, 1, 0, job.attempt.placement[0]), rows.TASK_FIXED + rows.TASK_PLACE),
        (rows.task_moving(job.attempt.tasks[0]), rows.TASK_MOVING),
        (rows.event_row(1, history.events[0]), rows.EVENT),
    ]
    assert all(len(values) == len(names) for values, names in pairs)


def test_what_msgspec_knows_of_records_is_complete_before_a_thread_reads_one() -> None:
    """Two threads that made a server's first lists at once ended it: it found out of `Job` in both."""
    code = (
        "from trainmaster.core.records import Attempt, Job; assert not hasattr(Job, '__msgspec_cache__');"
        "import trainmaster.store.jobs.rows; assert Job.__msgspec_cache__ and Attempt.__msgspec_cache__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
