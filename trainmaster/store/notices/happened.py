"""What happened to jobs, read from the ledger's events behind a place that is kept with what was told of them.

Costs what the events behind that place cost, however many jobs ended before. Methods block: in a worker thread.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, and_, select

from trainmaster.core.events import NOBODY, Kind
from trainmaster.core.records import Verdict, verdict_from_json
from trainmaster.core.states import TERMINAL, JobState, Why
from trainmaster.store import tables
from trainmaster.store.database import Database, last_seq, note
from trainmaster.store.jobs import rows

PLACE: Final = "notices_upto"
"""Under this name the store notes up to which event everybody was told."""
PAGE: Final = 500
_EVENT, _JOB, _ATTEMPT = tables.event, tables.job, tables.attempt
_KINDS: Final = (Kind.REAPED.value, Kind.STOP_REQUESTED.value, Kind.EXPIRED.value)
_OVER: Final = frozenset(state.value for state in TERMINAL)


@dataclass(frozen=True, slots=True)
class JobFact:
    """That a job ended (`state`: how), or was preempted and is queued again (`state` queued). `by`: the person who
    stopped it, "" where nobody did; `limit_s`: its time limit.
    """

    seq: int
    at: float
    attempt: int
    job: str
    name: str
    owner: str
    workspace: str
    state: JobState
    started_at: float | None
    by: str = ""
    verdict: Verdict | None = None
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class FactPage:
    """Facts in the order of the ledger, and up to which event they are all. `more`: there may be more behind it."""

    facts: tuple[JobFact, ...]
    before: int
    upto: int
    more: bool


class HappenedRows:
    """Reads what happened since."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self) -> bool:
        """Begin at the last event where no place is kept yet; return whether that was so: what was before is told to
        nobody.
        """

        def work(connection: Connection) -> bool:
            if _place(connection) is not None:
                return False
            note(connection, PLACE, str(last_seq(connection)))
            return True

        return self._database.write(work).result()

    def page(self) -> FactPage:
        """Return what happened behind the place, at most PAGE events of it."""
        with self._database.read() as connection:
            before = _place(connection) or 0
            newest = last_seq(connection)
            if newest <= before:
                return FactPage((), before, before, False)
            found = connection.execute(_statement(before, newest)).all()
            facts = [fact for row in found if (fact := _fact(connection, row)) is not None]
        more = len(found) == PAGE
        return FactPage(tuple(facts), before, found[-1].seq if more else newest, more)


def move(connection: Connection, before: int, upto: int) -> bool:
    """Move the place within the transaction that tells what stood before it; return whether it was still there."""
    if _place(connection) != before:
        return False
    note(connection, PLACE, str(upto))
    return True


def _place(connection: Connection) -> int | None:
    meta = tables.meta
    found = connection.scalar(select(meta.c.value).where(meta.c.key == PLACE))
    return None if found is None else int(found)


def _statement(before: int, newest: int) -> Any:
    job, of_attempt = _JOB.c, and_(_ATTEMPT.c.job == _EVENT.c.job, _ATTEMPT.c.number == _EVENT.c.attempt)
    columns = (job.id, job.name, job.owner, job.workspace, job.state, job.started_at, job.ended_at, job.record)
    return (
        select(_EVENT.c.seq, _EVENT.c.kind, _EVENT.c.at, _EVENT.c.attempt, _EVENT.c.job, *columns, _ATTEMPT.c.why)
        .join(_JOB, _JOB.c.seq == _EVENT.c.job)
        .outerjoin(_ATTEMPT, of_attempt)
        .where(_EVENT.c.seq > before, _EVENT.c.seq <= newest, _EVENT.c.kind.in_(_KINDS))
        .order_by(_EVENT.c.seq)
        .limit(PAGE)
    )


def _fact(connection: Connection, row: Any) -> JobFact | None:
    over = row.state in _OVER and row.ended_at == row.at
    if not over and (row.kind, row.why) != (Kind.REAPED.value, Why.PREEMPTED.value):
        return None
    state = JobState(row.state) if over else JobState.QUEUED
    by, verdict, limit_s = "", None, None
    if over:
        by = _who_stopped(connection, row.job) if state is JobState.STOPPED else ""
        try:
            verdict = verdict_from_json(rows.decode(row.record).get("verdict"))
            limit_s = rows.limit_of(row.record)
        except (ValueError, TypeError, KeyError, AttributeError):
            pass  # a damaged record: that it ended is told all the same
    return JobFact(
        row.seq, row.at, row.attempt, row.id, row.name, row.owner, row.workspace, state, row.started_at, by, verdict,
        limit_s,
    )  # fmt: skip


def _who_stopped(connection: Connection, job: int) -> str:
    asked = select(_EVENT.c.actor).where(_EVENT.c.job == job, _EVENT.c.kind == Kind.STOP_REQUESTED.value)
    found = connection.scalar(asked.order_by(_EVENT.c.seq.desc()).limit(1))
    return "" if found is None or found in NOBODY else str(found)
