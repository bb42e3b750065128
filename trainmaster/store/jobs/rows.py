"""Job, Attempt, Task and Event to and from rows. Pure; the one place that knows which field lies in which column.

Invariant: `job_of(rows of job) == job`, exactly, for every job `reduce` can make. A field that a later version adds
to a record lands in `record` by itself and needs no new column. Raises MalformedRow for a row that is not one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import RowMapping

from trainmaster.core.events import Event, Kind
from trainmaster.core.money.metering import uses
from trainmaster.core.records import Assignment, Attempt, Job, Role, Task, replace
from trainmaster.messages.jobs import jobs
from trainmaster.messages.said import Said, said_from_json, said_in
from trainmaster.store.finding import named
from trainmaster.store.jobs import labels, search

Row = tuple[Any, ...]
"""Values in the order of one statement's parameters."""

_encode: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode
decode: Final[Callable[[str], Any]] = msgspec.json.Decoder().decode


def encode(value: Any) -> str:
    """Return `value` (records, dicts, lists, scalars) as compact JSON."""
    return _encode(value).decode()


class MalformedRow(ValueError):
    """A stored row is not what this version (or any) wrote."""


# Names of columns, in table order. The value of a column is the field of the same name, but for the few noted.
JOB_FIXED: Final = (
    "seq", "id", "name", "slug", "workspace", "owner", "pool", "framework", "dialect", "description", "labels",
    "spec_digest", "submitted_at", "family", "family_version", "sweep", "sweep_index",
)  # fmt: skip
JOB_MOVING: Final = (
    "state", "shown", "priority", "started_at", "ended_at", "attempts_used", "model", "version", "record", "gpus",
    "share", "tags", "remarks",
)  # fmt: skip
JOB_FOUND: Final = ("search", "named")
ATTEMPT_FIXED: Final = ("job", "number", "cause", "created_at")
ATTEMPT_MOVING: Final = ("phase", "why", "started_at", "draining_at", "retained_at", "ended_at", "record")
TASK_FIXED: Final = ("job", "attempt", "position", "role", "idx")
TASK_PLACE: Final = ("node", "host", "place")
TASK_MOVING: Final = ("phase", "exit_code", "signal", "started_at", "ended_at", "record")
EVENT: Final = ("seq", "job", "attempt", "kind", "at", "actor", "data")
USE: Final = (
    "at", "kind", "workspace", "amount", "start_ms", "end_ms", "owner", "by", "pool", "job", "attempt", "role",
    "flavor", "machines", "gpu_milli", "price", "note",
)  # fmt: skip


def _rest(record: type, columns: Iterable[str], elsewhere: Iterable[str]) -> tuple[str, ...]:
    """Return the fields of `record` that have neither a column nor a table of their own."""
    taken = {*columns, *elsewhere}
    return tuple(field.name for field in fields(record) if field.name not in taken)


JOB_DERIVED: Final = frozenset({"shown", "record", "gpus", "remarks"})
"""Columns that say what others say, in a form to be asked for."""

JOB_REST: Final = _rest(Job, JOB_FIXED + JOB_MOVING, ("attempt",))
ATTEMPT_REST: Final = _rest(Attempt, ATTEMPT_FIXED + ATTEMPT_MOVING, ("placement", "tasks"))
PLACE_REST: Final = _rest(Assignment, ("role", "node", "host"), ("index",))
TASK_REST: Final = _rest(Task, ("role", *TASK_MOVING), ("index",))


def limit_of(record: str) -> float | None:
    """Return the longest that a job may run, in seconds, from the `record` column of its row; None without a limit.

    Raises MalformedRow.
    """
    try:
        limit: float | None = decode(record)["policy"]["duration_s"]
        return None if limit is None else float(limit)
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


class _Gang(msgspec.Struct):
    roles: tuple[Role, ...]


_gang: Final = msgspec.json.Decoder(_Gang).decode

# Made here, by one thread: msgspec keeps what it finds out of a class while it is still finding it out, and where two
# threads read their first jobs at the same time, the process ends (segmentation fault).
_READY: Final = (msgspec.json.Decoder(Job), msgspec.json.Decoder(Attempt))


def roles_of(record: str) -> tuple[Role, ...]:
    """Return the roles of a job, from the `record` column of its row. Raises MalformedRow."""
    try:
        return _gang(record).roles
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


def job_fixed(job: Job) -> Row:
    """Return the values of JOB_FIXED."""
    return (
        job.seq,
        job.id,
        job.name,
        job.slug,
        job.workspace,
        job.owner,
        job.pool,
        job.framework,
        job.dialect,
        job.description,
        labels.written(job.labels),
        job.spec_digest,
        job.submitted_at,
        job.family,
        job.family_version,
        job.sweep,
        job.sweep_index,
    )


def job_moving(job: Job) -> Row:
    """Return the values of JOB_MOVING."""
    return (
        job.state.value,
        job.shown.value,
        int(job.priority),
        job.started_at,
        job.ended_at,
        job.attempts_used,
        job.model,
        job.version,
        encode({name: getattr(job, name) for name in JOB_REST}),
        gpus_of(job.roles),
        job.share.value,
        labels.tags_written(job.tags),
        search.remarks(job.tags, job.note),
    )


def job_found(job: Job, document: str | None) -> Row:
    """Return the values of JOB_FOUND; `document`: what it was submitted as."""
    texts = (job.name, job.slug, job.id, job.description, job.owner)
    return (search.written(texts, job.labels, document), named.written(job.id, job.name, document))


def gpus_of(roles: Iterable[Role]) -> float:
    """Return how many cards all replicas take together; of shared ones their parts, which are told in thousandths."""
    return sum(role.resources.gpu * role.resources.gpu_milli * role.replicas for role in roles) / 1000


def attempt_fixed(job: int, attempt: Attempt) -> Row:
    """Return the values of ATTEMPT_FIXED; `job` is the job's number, as in all tables below `job`."""
    return (job, attempt.number, attempt.cause, attempt.created_at)


def attempt_moving(attempt: Attempt) -> Row:
    """Return the values of ATTEMPT_MOVING."""
    return (
        attempt.phase.value,
        attempt.why.value if attempt.why is not None else None,
        attempt.started_at,
        attempt.draining_at,
        attempt.retained_at,
        attempt.ended_at,
        encode({name: getattr(attempt, name) for name in ATTEMPT_REST}),
    )


def task_placed(job: int, attempt: int, position: int, place: Assignment) -> Row:
    """Return the values of TASK_FIXED + TASK_PLACE: where the replica at `position` of the placement runs."""
    rest = encode({name: getattr(place, name) for name in PLACE_REST})
    return (job, attempt, position, place.role, place.index, place.node, place.host, rest)


def task_moving(task: Task) -> Row:
    """Return the values of TASK_MOVING; `record` is null while the fields without a column have nothing to say."""
    rest = {name: getattr(task, name) for name in TASK_REST}
    record = encode(rest) if any(value is not None for value in rest.values()) else None
    return (task.phase.value, task.exit_code, task.signal, task.started_at, task.ended_at, record)


def event_row(job: int, event: Event) -> Row:
    """Return the values of EVENT."""
    data = encode(event.data) if event.data else "{}"
    return (event.seq, job, event.attempt, event.kind.value, event.at, event.actor, data)


def use_rows(job: Job, ended_at: float) -> list[Row]:
    """Return the values of USE: what the attempt of `job`, which has ended, is charged for, one for each role."""
    return [
        (
            ended_at,
            "use",
            use.workspace,
            -use.amount,
            use.start_ms,
            use.end_ms,
            use.owner,
            "",
            use.pool,
            use.job,
            use.attempt,
            use.role,
            use.rate.flavor,
            use.machines,
            use.rate.gpu_milli,
            use.rate.price,
            "",
        )
        for use in uses(job, ended_at)
    ]


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A stored record that could not be read, why, and since when it is set aside. `attempt`: the number of its last;
    `owner`, `workspace`, `share`, `shown`: what its row says, in which anything may stand.
    """

    job: str
    at: float
    error: str
    attempt: int = 0
    owner: str = ""
    workspace: str = ""
    share: str = ""
    shown: str = ""


# ------------------------------------------------------------------------------------------------------------ reading

Mapped = Mapping[str, Any] | RowMapping


def job_of(row: Mapped, attempt: Mapped | None, tasks: Iterable[Mapped]) -> Job:
    """Return the Job of its row, the row of its last attempt and that attempt's task rows in order of position."""
    try:
        data = {name: row[name] for name in JOB_FIXED + JOB_MOVING if name not in JOB_DERIVED}
        data = _object(row["record"]) | data  # a column wins: records of an older version also hold the labels
        data["labels"] = labels.read(row["labels"])
        data["tags"] = labels.tags_read(row["tags"])
        data["attempt"] = _attempt_json(attempt, tasks) if attempt is not None else None
        job = _judged(msgspec.convert(data, Job), data)
        if job.attempt is not None and (judged := _attempt_judged(job.attempt, data["attempt"])) is not job.attempt:
            job = replace(job, attempt=judged)
        if (job.attempt.number if job.attempt else 0) != job.attempts_used:
            raise MalformedRow(f"the row of attempt {job.attempts_used} is missing")
        return job
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


def attempt_of(row: Mapped, tasks: Iterable[Mapped]) -> Attempt:
    """Return the Attempt of its row and its task rows in order of position."""
    try:
        data = _attempt_json(row, tasks)
        return _attempt_judged(msgspec.convert(data, Attempt), data)
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


def event_of(job: str, row: Mapped) -> Event:
    """Return the Event of its row and the id of its job."""
    try:
        return Event(
            job=job,
            kind=Kind(row["kind"]),
            at=row["at"],
            actor=row["actor"],
            attempt=row["attempt"],
            data=_object(row["data"]),
            seq=row["seq"],
        )
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


def unreadable_event(job: str, row: Mapped) -> Event:
    """Return what stands for an event whose row is malformed: a note that says so."""
    at = row["at"] if isinstance(row["at"], int | float) else 0.0
    attempt = row["attempt"] if isinstance(row["attempt"], int) else 0
    data = {"code": "malformed", "said": jobs.event_unreadable().to_json()}
    return Event(job=job, kind=Kind.NOTED, at=at, attempt=attempt, data=data, seq=row["seq"])


def decoded(text: str, kind: type[Any]) -> Any:
    """Return the JSON of a column, which has to be a `kind`. Raises MalformedRow."""
    try:
        value = decode(text)
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error
    if not isinstance(value, kind):
        raise MalformedRow(f"{type(value).__name__} where a {kind.__name__} was expected")
    return value


def said_of(kept: Mapping[str, Any]) -> Said:
    """Return what was said, of its code and arguments. Raises MalformedRow."""
    try:
        return said_from_json(kept)
    except _UNREADABLE as error:
        raise MalformedRow(f"{type(error).__name__}: {error}") from error


_UNREADABLE: Final = (TypeError, KeyError, ValueError, AttributeError, msgspec.MsgspecError)


def _object(text: str) -> dict[str, Any]:
    value = decode(text)
    if not isinstance(value, dict):
        raise MalformedRow("a JSON object was expected")
    return value


R = TypeVar("R", Job, Attempt, Task)


def _judged(record: R, data: Mapping[str, Any]) -> R:
    """Return the record that was made of `data` with what its verdict says: things said may stand inside one
    another.
    """
    if record.verdict is None:
        return record
    return replace(record, verdict=replace(record.verdict, said=said_in(data["verdict"])))


def _attempt_judged(attempt: Attempt, data: Mapping[str, Any]) -> Attempt:
    judged = _judged(attempt, data)
    if all(task.verdict is None for task in attempt.tasks):
        return judged
    tasks = tuple(_judged(task, told) for task, told in zip(attempt.tasks, data["tasks"], strict=True))
    return replace(judged, tasks=tasks)


def _attempt_json(row: Mapped, tasks: Iterable[Mapped]) -> dict[str, Any]:
    data = {name: row[name] for name in ATTEMPT_FIXED + ATTEMPT_MOVING if name not in ("job", "record")}
    placement, states = [], []
    for task in tasks:
        where = {"role": task["role"], "index": task["idx"]}
        placement.append({**where, "node": task["node"], "host": task["host"], **_object(task["place"])})
        states.append({**where, **_task_json(task)})
    return {**data, **_object(row["record"]), "placement": placement, "tasks": states}


def _task_json(row: Mapped) -> dict[str, Any]:
    data = {name: row[name] for name in TASK_MOVING if name != "record"}
    return {**data, **(_object(row["record"]) if row["record"] else dict.fromkeys(TASK_REST))}
