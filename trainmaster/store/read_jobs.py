"""Reads jobs, events and what belongs to them, from any thread; each call is one consistent look at the store.

Changes nothing, with one exception: a record that cannot be read is moved to `quarantine` (through the writer) and
reported, so that one broken row never stops a list, a start or the loop.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, TextClause, bindparam, delete, func, insert, select, text

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import Event
from trainmaster.core.records import Attempt, Job, Role
from trainmaster.core.states import Shown
from trainmaster.messages import jobs as said
from trainmaster.store import rows, tables
from trainmaster.store.database import Database
from trainmaster.store.job_query import JobQuery, Page, at_its_moment, filters, page_keys, write_cursor
from trainmaster.store.ledger import IdempotencyRecord
from trainmaster.store.rows import MalformedRow, Quarantined

__all__ = ["JobQuery", "JobReader", "Page", "Quarantined"]

_log: Final = logging.getLogger(__name__)
_JOB, _ATTEMPT, _TASK, _EVENT = tables.job, tables.attempt, tables.task, tables.event
_PREFIX_MIN: Final = 4


class JobReader:
    """The questions that can be asked about jobs. Every method may block on the disk: call it from a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.on_set_aside: Callable[[Quarantined], None] = lambda found: None

    # ------------------------------------------------------------------------------------------------------- start-up

    def live_jobs(self) -> tuple[list[Job], list[Quarantined]]:
        """Return all queued and active jobs by number, and the malformed ones, which are set aside on the way. O(live
        tasks).
        """
        with self._database.read() as connection:
            jobs, broken = _LIVING.load(connection)
        return [jobs[seq] for seq in sorted(jobs)], [self._set_aside(*one) for one in broken]

    def last_seq(self) -> int:
        """Return the highest event number ever given, 0 before the first."""
        return self._database.last_seq()

    def clock(self) -> tuple[str | None, float]:
        """Return where the platform's clock stood when that was noted last, None when it never was, and the time of the last event."""
        meta = tables.meta
        with self._database.read() as connection:
            stand = connection.scalar(select(meta.c.value).where(meta.c.key == "clock"))
            newest = connection.scalar(select(_EVENT.c.at).order_by(_EVENT.c.seq.desc()).limit(1))
        return stand, newest or 0.0

    def next_job_seq(self) -> int:
        """Return a job number higher than any ever given."""
        return self._highest(_JOB.c.seq, tables.deleted.c.seq, tables.quarantine.c.seq) + 1

    def _highest(self, *columns: ColumnElement[int]) -> int:
        with self._database.read() as connection:
            return max(connection.scalar(select(func.max(column))) or 0 for column in columns)

    # ----------------------------------------------------------------------------------------------------------- jobs

    def get_job(self, id_: str) -> Job | None:
        """Return the job with this id, None when there is none (or its record is malformed)."""
        found = self._jobs(_BY_ID, wanted=id_)
        return found[0] if found else None

    def find(self, text: str, workspace: str = "default") -> Job:
        """Return the job that `text` names: an id, a slug in `workspace`, or the beginning (4 or more characters) of
        one id.

        Raises NotFound, or Conflict when several ids begin so.
        """
        if found := self._jobs(_BY_ID, wanted=text) or self._jobs(_BY_SLUG, wanted=text, place=workspace):
            return found[0]
        if len(text) >= _PREFIX_MIN:
            with self._database.read() as connection:
                range_ = (_JOB.c.id >= text, _JOB.c.id < text + "~")  # ids are of hex digits, "~" is above them all
                ids = connection.scalars(select(_JOB.c.id).where(*range_).order_by(_JOB.c.id).limit(4)).all()
            if len(ids) > 1:
                raise Conflict(said.several_jobs(repr(text), [*ids[:3], *["..." for _ in ids[3:]]]))
            if ids and (found := self._jobs(_BY_ID, wanted=ids[0])):
                return found[0]
        raise NotFound(said.no_such_job(repr(text)))

    def list_jobs(self, query: JobQuery, limit: int = 50, cursor: str | None = None) -> Page[Job]:
        """Return one page. Raises InvalidSpec for an unknown order or a cursor of another list.

        O(limit) however many jobs are stored, unless a filter other than state, owner or time is rare in the order
        asked for.
        """
        query = at_its_moment(query, cursor)
        with self._database.read() as connection:
            keys = connection.execute(page_keys(query, limit + 1, cursor)).all()
            jobs, broken = _BY_SEQ.load(connection, wanted=[row.seq for row in keys[:limit]])
        for one in broken:
            self._set_aside(*one)
        more = len(keys) > limit
        following = write_cursor(query, keys[limit - 1].key, keys[limit - 1].seq) if more else None
        return Page([jobs[row.seq] for row in keys[:limit] if row.seq in jobs], following)

    def set_aside_spec(self, digest: str, error: str) -> None:
        """Move a document that is not what was stored to `quarantine`: the same one can then be stored again."""
        at = time.time()

        def work(connection: Connection) -> None:
            same = tables.spec.c.digest == digest
            rows_ = [dict(row) for row in connection.execute(select(tables.spec).where(same)).mappings()]
            connection.execute(delete(tables.spec).where(same))
            if rows_:
                values = {"job": digest, "at": at, "seq": 0, "error": error, "raw": rows.encode({"spec": rows_})}
                connection.execute(insert(tables.quarantine).values(values))

        self._database.write(work).result()
        _log.error("the document %s is not what was stored and is set aside: %s", digest, error)

    def counts(self, query: JobQuery) -> dict[Shown, int]:
        """Return how many jobs match `query` in each shown state (its own states do not count as a filter). O(jobs),
        one index.
        """
        statement = select(_JOB.c.shown, func.count()).where(*filters(query)).group_by(_JOB.c.shown)
        with self._database.read() as connection:
            known = {state.value for state in Shown}
            return {Shown(shown): count for shown, count in connection.execute(statement) if shown in known}

    def counts_by_owner(self) -> dict[tuple[str, str], int]:
        """Return how many jobs there are by (owner, shown state). O(jobs): asked once, at start."""
        statement = select(_JOB.c.owner, _JOB.c.shown, func.count()).group_by(_JOB.c.owner, _JOB.c.shown)
        with self._database.read() as connection:
            return {(owner, shown): count for owner, shown, count in connection.execute(statement)}

    def history(self, id_: str) -> tuple[list[Attempt], list[Event]]:
        """Return all attempts of a job, first to last, but for those whose rows cannot be read, and all `events`, of one moment."""
        with self._database.read() as connection:
            return _attempts(connection, id_), _events(connection, _EVENTS_OF_JOB, wanted=id_, after=0)

    def ran_last(self, most: int) -> list[tuple[str, float, float | None]]:
        """Return (owner, seconds its last attempt held its place, limit or None) of the jobs that ended last, oldest first.

        O(most), however many jobs there are.
        """
        ended = func.coalesce(_JOB.c.ended_at, text("0.0"))
        newest = (
            select(_JOB.c.seq, _JOB.c.owner, _JOB.c.record, _JOB.c.attempts_used)
            .where(ended > 0).order_by(ended.desc(), _JOB.c.seq.desc()).limit(most).subquery()
        )  # fmt: skip
        last = (_ATTEMPT.c.job == newest.c.seq) & (_ATTEMPT.c.number == newest.c.attempts_used)
        columns = (newest.c.owner, newest.c.record, _ATTEMPT.c.created_at, _ATTEMPT.c.ended_at)
        with self._database.read() as connection:
            found = connection.execute(select(*columns).join(_ATTEMPT, last).order_by(_ATTEMPT.c.ended_at)).all()
        ran = []
        for row in found:
            with suppress(MalformedRow):
                if row.ended_at is not None:
                    ran.append((row.owner, row.ended_at - row.created_at, rows.limit_of(row.record)))
        return ran

    def asked_last(self, most: int) -> list[tuple[Role, ...]]:
        """Return the roles of the jobs that were submitted last, oldest first; malformed records are passed over. O(most)."""
        newest = select(_JOB.c.record).order_by(_JOB.c.seq.desc()).limit(most)
        found = []
        with self._database.read() as connection:
            for record in connection.scalars(newest):
                with suppress(MalformedRow):
                    found.append(rows.roles_of(record))
        return found[::-1]

    def _jobs(self, whole: "_Whole", **values: Any) -> list[Job]:
        with self._database.read() as connection:
            jobs, broken = whole.load(connection, **values)
        for one in broken:
            self._set_aside(*one)
        return [jobs[seq] for seq in sorted(jobs)]

    # --------------------------------------------------------------------------------------------------------- events

    def events(self, id_: str, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return the events of a job with a number above `after`, oldest first. For one that cannot be read a note stands, which
        says so.
        """
        with self._database.read() as connection:
            wanted = _EVENTS_OF_JOB if limit is None else _EVENTS_OF_JOB.limit(limit)
            return _events(connection, wanted, wanted=id_, after=after)

    def events_after(self, seq: int, limit: int) -> list[Event]:
        """Return the next `limit` events of all jobs with a number above `seq`, oldest first: the feed."""
        with self._database.read() as connection:
            return _events(connection, _EVENTS.limit(limit), after=seq)

    # -------------------------------------------------------------------------------------------- what belongs to jobs

    def spec(self, digest: str) -> str | None:
        """Return the document with this digest."""
        with self._database.read() as connection:
            return connection.scalar(select(tables.spec.c.document).where(tables.spec.c.digest == digest))

    def idempotency(self, workspace: str, key: str) -> IdempotencyRecord | None:
        """Return what a request with this key was answered (B4)."""
        table = tables.idempotency
        with self._database.read() as connection:
            row = connection.execute(select(table).where(table.c.workspace == workspace, table.c.key == key)).first()
        if row is None:
            return None
        try:
            jobs = tuple(map(str, rows.decoded(row.jobs, list)))
        except MalformedRow as error:
            _log.error("what was answered under the key %r cannot be read: %s", key, error)
            raise Conflict(said.answer_under_key_unreadable()) from error
        return IdempotencyRecord(workspace, key, row.body_digest, jobs, row.created_at)

    def quarantined(self) -> list[Quarantined]:
        """Return all records that are set aside, newest first."""
        table = tables.quarantine
        with self._database.read() as connection:
            found = connection.execute(select(table).order_by(table.c.at.desc())).all()
        return [_quarantined(row.job, row.at, row.error, _raw(row.raw)) for row in found]

    def _set_aside(self, seq: int, id_: str, error: MalformedRow) -> Quarantined:
        at = time.time()
        raw = self._database.write(lambda connection: _quarantine(connection, seq, id_, at, str(error))).result()
        _log.error("the record of job %s cannot be read and is set aside: %s", id_, error)
        found = _quarantined(id_, at, str(error), raw)
        if raw[_JOB.name]:
            self.on_set_aside(found)
        return found


def _raw(text: str) -> dict[str, Any]:
    """Return what was set aside, by table; nothing where that cannot be read either."""
    try:
        return dict(rows.decoded(text, dict))
    except MalformedRow:
        return {}


def _quarantined(id_: str, at: float, error: str, raw: dict[str, Any]) -> Quarantined:
    try:
        last = max((int(attempt["number"]) for attempt in raw.get(_ATTEMPT.name, ())), default=0)
        row = next(iter(raw.get(_JOB.name, ())), {"owner": "", "shown": ""})
        return Quarantined(id_, at, error, last, row["owner"], row["shown"])
    except (TypeError, ValueError, KeyError, AttributeError):
        return Quarantined(id_, at, error)


class _Whole:
    """Reads whole jobs under one condition. The statements are made once: to make one takes longer than to ask it."""

    def __init__(self, condition: ColumnElement[bool] | TextClause) -> None:
        last = (_ATTEMPT.c.job == _JOB.c.seq) & (_ATTEMPT.c.number == _JOB.c.attempts_used)
        placed = (_TASK.c.job == _JOB.c.seq) & (_TASK.c.attempt == _JOB.c.attempts_used)
        self._jobs = select(_JOB).where(condition)
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


_LIVING: Final = _Whole(tables.LIVE)
_BY_ID: Final = _Whole(_JOB.c.id == bindparam("wanted"))
_BY_SLUG: Final = _Whole((_JOB.c.workspace == bindparam("place")) & (_JOB.c.slug == bindparam("wanted")))
_BY_SEQ: Final = _Whole(_JOB.c.seq.in_(bindparam("wanted", expanding=True)))
_ITS_SEQ: Final = select(_JOB.c.seq).where(_JOB.c.id == bindparam("wanted")).scalar_subquery()
_ATTEMPTS: Final = select(_ATTEMPT).where(_ATTEMPT.c.job == _ITS_SEQ).order_by(_ATTEMPT.c.number)
_TASKS: Final = select(_TASK).where(_TASK.c.job == _ITS_SEQ).order_by(_TASK.c.position)
_EVENTS: Final = (
    select(_EVENT, _JOB.c.id).join(_JOB, _JOB.c.seq == _EVENT.c.job)
    .where(_EVENT.c.seq > bindparam("after")).order_by(_EVENT.c.seq)
)  # fmt: skip
_EVENTS_OF_JOB: Final = _EVENTS.where(_EVENT.c.job == _ITS_SEQ)


def _attempts(connection: Connection, id_: str) -> list[Attempt]:
    found = connection.execute(_ATTEMPTS, {"wanted": id_}).mappings().all()
    tasks: dict[int, list[Any]] = defaultdict(list)
    for task in connection.execute(_TASKS, {"wanted": id_}).mappings():
        tasks[task["attempt"]].append(task)
    whole = []
    for row in found:
        try:
            whole.append(rows.attempt_of(row, tasks[row["number"]]))
        except MalformedRow as error:
            _log.error("attempt %s of job %s cannot be read and is left out: %s", row["number"], id_, error)
    return whole


def _events(connection: Connection, statement: Select[Any], **values: Any) -> list[Event]:
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
    if raw["job"]:  # else somebody was faster
        values = {"job": id_, "at": at, "seq": seq, "error": error, "raw": rows.encode(raw)}
        connection.execute(insert(tables.quarantine).values(values))
    return raw
