"""The only way a job's rows change: events and the rows they lead to, in one transaction, in groups, answered when
durable. What an attempt used is charged in the transaction that ends it (`store.money`).

Invariants. `fold(reduce, events) == rows` for every job: a change names the events that lead from the stored version
of its job to the new one, and is refused when the stored version is another. All of a batch is stored or nothing of
it. A batch that cannot be stored fails alone; whatever was computed from it is refused by the version rule.
"""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.events import AuditEvent, Event, Kind
from trainmaster.core.records import Attempt, Job
from trainmaster.core.states import JobState
from trainmaster.messages.server import ledger as saying
from trainmaster.store import audit, tables
from trainmaster.store.database import Database, note
from trainmaster.store.finding import index
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.statements import FORGET, Statements
from trainmaster.store.sweeps.sweeps import Sweep, add_sweeps, forget_empty
from trainmaster.store.trouble import not_stored
from trainmaster.store.writer import Item


@dataclass(frozen=True, slots=True)
class Change:
    """One job after one or more events. At most one of them starts an attempt, and only the first may when others
    went before.
    """

    events: tuple[Event, ...]
    job: Job  # as after the last of them


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """The answer once given to a request with `key` (B4): the jobs it made; `body_digest` tells another body apart."""

    workspace: str
    key: str
    body_digest: str
    jobs: tuple[str, ...]
    created_at: float


@dataclass(slots=True)
class Batch:
    """What is stored together or not at all. `specs` maps digest to document; `deleted` are ids of ended jobs,
    `audit_events` say who did that. `seq` is the highest number given away in this batch: deletions have one, too,
    though no event. `notes` are of the store as a whole, by name; each replaces the one before.
    """

    changes: list[Change] = field(default_factory=list)
    specs: dict[str, str] = field(default_factory=dict)
    keys: list[IdempotencyRecord] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    seq: int = 0
    notes: dict[str, str] = field(default_factory=dict)
    audit_events: list[AuditEvent] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)


_TASK_KINDS: Final = frozenset({Kind.TASK_RUNNING, Kind.TASK_EXITED, Kind.TASK_LOST})


class Ledger:
    """Commits batches. Event and job numbers (`seq`) are given by the caller, rising."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._statements = Statements(database.dialect)

    def commit(self, batch: Batch) -> "Future[None]":
        """Queue `batch`; the future resolves once it is durable. Thread-safe, returns at once; batches keep their
        order.

        It fails with Conflict (a number, slug or idempotency key that exists, a change on another version than the
        stored one, a live job to delete) or StorageFailed (disk full...); nothing of the batch is stored then.
        """
        return self._database.put(self._write, Item(batch))

    def close(self) -> None:
        """Return once everything queued so far is durable or has failed. The database stays open."""
        self._database.write(lambda _: None).exception()

    def _write(self, connection: Connection, items: list[Item[Batch]]) -> None:
        """Handler: all batches in one transaction; when that fails, one by one, so that only the guilty fail."""
        try:
            self._transact(connection, [item.work for item in items])
        except Exception as error:
            if len(items) == 1:
                items[0].future.set_exception(not_stored(error))
                return
            for item in items:
                self._write(connection, [item])
            return
        for item in items:
            item.future.set_result(None)
        self._database.grew()

    def _transact(self, connection: Connection, batches: list[Batch]) -> None:
        sql = self._statements
        with connection.begin():
            cursor = connection.connection.cursor()
            specs = dict(spec for batch in batches for spec in batch.specs.items())
            sql.add_spec.run(cursor, list(specs.items()))
            gathered = _Gathered(specs)
            for batch in batches:
                for change in batch.changes:
                    gathered.add(change)
            before = index.before(connection, gathered.found_otherwise)
            gathered.write(cursor, sql)
            index.again(connection, before)
            sql.add_audit.run(cursor, gathered.told)
            sql.add_key.run(cursor, [_key_row(key) for batch in batches for key in batch.keys])
            cursor.close()
            for batch in batches:
                add_sweeps(connection, batch.sweeps)
                if batch.deleted:
                    _forget(connection, batch.deleted, batch.seq)
                if batch.audit_events:
                    audit.write(connection, batch.audit_events)
                for name, text in batch.notes.items():
                    note(connection, name, text)


def _key_row(key: IdempotencyRecord) -> rows.Row:
    return (key.workspace, key.key, key.body_digest, rows.encode(key.jobs), key.created_at)


@dataclass(slots=True)
class _Pending:
    """The net change of one job in this transaction. `base` is the version of its stored row, 0 when there is none."""

    base: int
    job: Job
    attempts: dict[int, Attempt] = field(default_factory=dict)
    placed: set[int] = field(default_factory=set)  # attempts whose every task row is written
    touched: dict[int, set[tuple[int, int]]] = field(default_factory=dict)  # attempt -> (role, index) of changed tasks
    used: list[rows.Row] = field(default_factory=list)  # what its attempts that ended are charged for


class _Gathered:
    """Folds the changes of a transaction to one row per job, attempt and task, then writes them table by table."""

    def __init__(self, specs: dict[str, str]) -> None:
        self._specs = specs
        self._events: list[rows.Row] = []
        self.told: list[rows.Row] = []
        self._jobs: dict[str, _Pending] = {}
        self.found_otherwise: set[int] = set()  # numbers of jobs of which people said something
        self._clock_set: dict[str, Job] = {}  # jobs whose times moved: fixed columns have to be written, too

    def add(self, change: Change) -> None:
        job, events = change.job, change.events
        base = job.version - len(events)
        pending = self._jobs.get(job.id)
        if pending is None:
            pending = self._jobs[job.id] = _Pending(base, job)
        elif pending.job.version != base:
            raise _stale(job)
        else:
            pending.job = job
        for event in events:  # one loop for all: it runs for every event that there is
            self._events.append(rows.event_row(job.seq, event))
            if audit.is_told(event):
                self.told.append(audit.event_values(event, job))
            if event.kind in (Kind.SHARED, Kind.ANNOTATED):
                self.found_otherwise.add(job.seq)
            elif event.kind is Kind.CLOCK_SET:
                self._clock_set[job.id] = job
            elif event.kind is Kind.REAPED and job.attempt is not None and job.attempt.ended_at is not None:
                pending.used.extend(rows.use_rows(job, job.attempt.ended_at))
        if job.attempt is not None:
            self._note_attempt(pending, job.attempt, events)

    @staticmethod
    def _note_attempt(pending: _Pending, attempt: Attempt, events: tuple[Event, ...]) -> None:
        number = attempt.number
        pending.attempts[number] = attempt
        for position, event in enumerate(events):
            if event.kind is Kind.PLACED and event.attempt == number:
                if position and number > 1 and attempt.created_at == event.at:
                    raise Conflict(saying.change_spans_attempts(pending.job.id))
                pending.placed.add(number)
            elif event.kind is Kind.CLOCK_SET or (event.kind is Kind.STARTED and "placement" in event.data):
                pending.placed.add(number)
            elif event.kind in _TASK_KINDS and number not in pending.placed:
                pending.touched.setdefault(number, set()).add((event.data["role"], event.data["index"]))

    def write(self, cursor: Any, sql: Statements) -> None:
        fresh: list[rows.Row] = []
        changed: list[rows.Row] = []
        attempts: list[rows.Row] = []
        tasks: list[rows.Row] = []
        task_changes: list[rows.Row] = []
        used: list[rows.Row] = []
        for pending in self._jobs.values():
            job = pending.job
            used.extend(pending.used)
            if pending.base == 0:
                document = self._specs.get(job.spec_digest)
                fresh.append(rows.job_fixed(job) + rows.job_moving(job) + rows.job_found(job, document))
            else:
                changed.append((*rows.job_moving(job), job.seq, pending.base))
            for number, attempt in pending.attempts.items():
                attempts.append(rows.attempt_fixed(job.seq, attempt) + rows.attempt_moving(attempt))
                if number in pending.placed or pending.base == 0:
                    tasks.extend(_task_rows(job.seq, attempt))
                elif number in pending.touched:
                    task_changes.extend(_task_changes(job.seq, attempt, pending.touched[number]))
        sql.add_event.run(cursor, self._events)
        sql.add_job.run(cursor, fresh)
        if sql.change_job.run(cursor, changed) != len(changed):
            raise _stale(next(iter(self._jobs.values())).job)
        sql.put_attempt.run(cursor, attempts)
        sql.put_task.run(cursor, tasks)
        sql.change_task.run(cursor, task_changes)
        sql.add_use.run(cursor, used)
        for job in self._clock_set.values():
            sql.date_job.run(cursor, [(job.submitted_at, job.seq)])
            if job.attempt is not None:
                sql.date_attempt.run(cursor, [(job.attempt.created_at, job.seq, job.attempt.number)])


def _task_rows(job: int, attempt: Attempt) -> list[rows.Row]:
    pairs = zip(attempt.placement, attempt.tasks, strict=True)
    return [
        rows.task_placed(job, attempt.number, position, place) + rows.task_moving(task)
        for position, (place, task) in enumerate(pairs)
    ]


def _task_changes(job: int, attempt: Attempt, touched: set[tuple[int, int]]) -> list[rows.Row]:
    return [
        (*rows.task_moving(task), job, attempt.number, position)
        for position, task in enumerate(attempt.tasks)
        if (task.role, task.index) in touched
    ]


def _stale(job: Job) -> StorageFailed:
    return StorageFailed(saying.change_is_stale(job.id))


def _forget(connection: Connection, jobs: list[str], seq: int) -> None:
    """Remove jobs that ended, with all that is known of them but a tombstone; specs that nobody else uses go too."""
    job, event, spec = tables.job, tables.event, tables.spec
    for id_ in jobs:
        asked = select(job.c.seq, job.c.state, job.c.spec_digest, job.c.sweep).where(job.c.id == id_)
        row = connection.execute(asked).first()
        if row is None:
            continue  # deleted already, or set aside
        if row.state in (JobState.QUEUED.value, JobState.ACTIVE.value):
            raise Conflict(saying.job_not_ended(id_))
        last = connection.scalar(select(func.max(event.c.seq)).where(event.c.job == row.seq)) or 0
        connection.execute(insert(tables.deleted).values(job=id_, seq=row.seq, last_event=max(last, seq)))
        index.remove(connection, index.before(connection, [row.seq]))
        connection.execute(delete(job).where(job.c.id == id_))
        for statement in FORGET:
            connection.execute(statement, {"seq": row.seq})
        if row.sweep is not None:
            forget_empty(connection, row.sweep)
        used = select(job.c.id).where(job.c.spec_digest == row.spec_digest).exists()
        connection.execute(delete(spec).where(spec.c.digest == row.spec_digest, ~used))
