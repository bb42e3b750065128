"""Whole jobs out of their rows, for whoever reads them. Changes nothing, with one exception: a record that cannot be
read is moved to `quarantine` (through the writer) and reported, so that one broken row never stops a list, a start or
the loop. A server that does not lead leaves it to the one that does.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, TextClause, bindparam, delete, insert, select

from trainmaster.core.events import Event
from trainmaster.core.records import Job
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.rows import MalformedRow, Quarantined

_log: Final = logging.getLogger(__name__)
_JOB, _ATTEMPT, _TASK, _EVENT = tables.job, tables.attempt, tables.task, tables.event

EVENTS: Final = (
    select(_EVENT, _JOB.c.id)
    .join(_JOB, _JOB.c.seq == _EVENT.c.job)
    .where(_EVENT.c.seq > bindparam("after"))
    .order_by(_EVENT.c.seq)
)
"""All events above a number, oldest first."""


class WholeStatement:
    """Reads whole jobs under one condition. The statements are made once: to make one takes longer than to ask it."""

    def __init__(self, condition: ColumnElement[bool] | TextClause) -> None:
        last = (_ATTEMPT.c.job == _JOB.c.seq) & (_ATTEMPT.c.number == _JOB.c.attempts_used)
        placed = (_TASK.c.job == _JOB.c.seq) & (_TASK.c.attempt == _JOB.c.attempts_used)
        self._jobs = select(*(one for one in _JOB.c if one.name not in rows.JOB_FOUND)).where(condition)
        self._attempts = select(_ATTEMPT).join(_JOB, last).where(condition)
        self._tasks = select(_TASK).join(_JOB, placed).where(condition).order_by(_TASK.c.job, _TASK.c.position)

    def load(self, connection: Connection, **values: Any) -> tuple[dict[int, Job], list[tuple[int, str, MalformedRow]]]:
        """Return the jobs by number, and (number, id, error) of the malformed ones. `values`: the condition's."""
        found = connection.execute(self._jobs, values).mappings().all()
        attempts = connection.execute(self._attempts, values).mappings().all()
        tasks: dict[int, list[Any]] = defaultdict(list)
        for task in connection.execute(self._tasks, values).mappings():
            tasks[task["job"]].append(task)
        attempt_of_job = {row["job"]: row for row in attempts}
        jobs: dict[int, Job] = {}
        broken = []
        for row in found:
            seq = row["seq"]
            try:
                jobs[seq] = rows.job_of(row, attempt_of_job.get(seq), tasks[seq])
            except MalformedRow as error:
                broken.append((seq, row["id"], error))
        return jobs, broken


class WholeJobs:
    """Asks for whole jobs, from any thread. `on_set_aside` is told of each record that is moved away, in the thread
    that came upon it.
    """

    def __init__(self, database: Database, on_set_aside: Callable[[Quarantined], None] | None = None) -> None:
        self.database, self._on_set_aside = database, on_set_aside

    def jobs(self, whole: WholeStatement, **values: Any) -> list[Job]:
        """Return the jobs of `whole` by number; the malformed ones are set aside on the way."""
        with self.database.read() as connection:
            jobs, broken = whole.load(connection, **values)
        for one in broken:
            self.set_aside(*one)
        return [jobs[seq] for seq in sorted(jobs)]

    def set_aside(self, seq: int, id_: str, error: MalformedRow) -> Quarantined:
        """Move the rows of a job that cannot be read to `quarantine`, and report it; only report it while another
        server leads.
        """
        at = time.time()
        if not self.database.leads:
            _log.error("the record of job %s cannot be read and is left out: %s", id_, error)
            return Quarantined(id_, at, str(error))
        raw = self.database.write(lambda connection: _quarantine(connection, seq, id_, at, str(error))).result()
        _log.error("the record of job %s cannot be read and is set aside: %s", id_, error)
        found = quarantined(id_, at, str(error), raw)
        if raw[_JOB.name] and self._on_set_aside is not None:
            self._on_set_aside(found)
        return found


def raw_of(text: str) -> dict[str, Any]:
    """Return what was set aside, by table; nothing where that cannot be read either."""
    try:
        return dict(rows.decoded(text, dict))
    except MalformedRow:
        return {}


def quarantined(id_: str, at: float, error: str, raw: dict[str, Any]) -> Quarantined:
    """Return what is told of a job whose rows `raw` were set aside."""
    try:
        last = max((int(attempt["number"]) for attempt in raw.get(_ATTEMPT.name, ())), default=0)
        row = next(iter(raw.get(_JOB.name, ())), {"owner": "", "workspace": "", "share": "", "shown": ""})
        return Quarantined(id_, at, error, last, row["owner"], row["workspace"], row["share"], row["shown"])
    except (TypeError, ValueError, KeyError, AttributeError):
        return Quarantined(id_, at, error)


def events_of(connection: Connection, statement: Select[Any], **values: Any) -> list[Event]:
    """Return the events that `statement`, made of EVENTS, finds. For one that cannot be read a note stands, which says
    so.
    """
    found = []
    for row in connection.execute(statement, values).mappings():
        try:
            found.append(rows.event_of(row["id"], row))
        except MalformedRow as error:
            _log.warning("event %s of job %s cannot be read: %s", row["seq"], row["id"], error)
            found.append(rows.unreadable_event(row["id"], row))
    return found


def _quarantine(connection: Connection, seq: int, id_: str, at: float, error: str) -> dict[str, Any]:
    """Move the rows of a job, as they are, to `quarantine`; return them by table. Its events stay."""
    raw: dict[str, Any] = {}
    for table, column in ((_TASK, _TASK.c.job), (_ATTEMPT, _ATTEMPT.c.job), (_JOB, _JOB.c.seq)):
        raw[table.name] = [dict(row) for row in connection.execute(select(table).where(column == seq)).mappings()]
        connection.execute(delete(table).where(column == seq))
    if raw["job"]:  # else another reader was faster
        values = {"job": id_, "at": at, "seq": seq, "error": error, "raw": rows.encode(raw)}
        connection.execute(insert(tables.quarantine).values(values))
    return raw
