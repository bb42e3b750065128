"""Who did what to what: the audit events of people as rows, and the one reader of them.

An audit event is written in the transaction of the change that it tells of, by whoever makes that change (`write`); of
what is done to jobs, the ledger writes it beside the event (`event_values`), as which it is kept. Invariant: nothing
here is edited, which the database refuses (`tables.AUDIT_KEPT`), so that neither it nor the event can say anything else
than the other; when the job is deleted its events go, and this stays.
"""

import base64
import binascii
import heapq
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.events import NOBODY, Actor, ActorKind, AuditEvent, Changes, Event, Kind, Subject
from trainmaster.core.records import Job
from trainmaster.messages.jobs import jobs as said_of_lists
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit as said
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.jobs.orders import LARGEST
from trainmaster.store.jobs.rows import MalformedRow
from trainmaster.store.seen import parts

_log: Final = logging.getLogger(__name__)
_AUDIT: Final = tables.audit
_KINDS: Final = frozenset(Kind)
NO_PERSON: Final = frozenset(NOBODY)
"""Actors whose events of jobs are not told here, but for OURS."""
OURS: Final = frozenset({Kind.EXPIRED, Kind.PREEMPTED})
"""What the platform does to a job that its owner would take for somebody's doing."""
_BEFORE: Final = {Kind.DURATION_CHANGED: "duration_s", Kind.PRIORITY_CHANGED: "priority", Kind.SHARED: "share"}
"""The key of an event's data that holds what is; `before` holds what was."""
COLUMNS: Final = (
    "at", "by", "subject_kind", "subject", "kind", "data", "actor", "address", "through", "workspace", "owner", "title",
    "changes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What is looked for (empty: everything). `subject_kind` with or without the `subject`'s name; `actor`: an
    ActorKind; `after` < when <= `before`.
    """

    subject_kind: str = ""
    subject: str = ""
    by: str = ""
    kind: str = ""
    workspace: str = ""
    actor: str = ""
    after: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did. `kind`: the code of what is said, or the kind of a job's event, whose `data` is told
    instead.
    """

    seq: int
    at: float
    by: Actor
    subject: Subject
    kind: str
    said: Said | None = None
    data: dict[str, Any] | None = None
    changes: Changes = ()


def write(connection: Connection, audit_events: Iterable[AuditEvent]) -> None:
    """Store audit events, within the transaction of what they tell of."""
    found = [dict(zip(COLUMNS, _values(audit_event), strict=True)) for audit_event in audit_events]
    if found:
        connection.execute(insert(_AUDIT), found)


def tells_any(connection: Connection, codes: Iterable[str]) -> bool:
    """Return whether anything of these codes was ever done and is still told. O(codes)."""
    ever = (connection.scalar(select(_AUDIT.c.seq).where(_AUDIT.c.kind == code).limit(1)) for code in codes)
    return any(one is not None for one in ever)


def _values(audit_event: AuditEvent) -> rows.Row:
    said, changes = audit_event.said, audit_event.changes
    data, was = rows.encode(said.to_json()["args"]), rows.encode(changes) if changes else ""
    return (audit_event.at, *_done(audit_event.by, audit_event.subject, said.code, data), was)


def event_values(event: Event, job: Job) -> rows.Row:
    """Return COLUMNS of what was done to `job`, to be stored within the transaction of the event."""
    data = {} if event.kind is Kind.SUBMITTED else event.data
    subject = Subject("job", job.id, job.workspace, job.owner, job.name)
    return (event.at, *_done(_actor(event), subject, event.kind.value, rows.encode(data) if data else "{}"), "")


def _done(by: Actor, subject: Subject, kind: str, data: str) -> rows.Row:
    place = (subject.workspace, subject.owner, subject.title)
    return (by.name, subject.kind, subject.name, kind, data, by.kind.value, by.address, by.through, *place)


def is_told(event: Event) -> bool:
    """Return whether the audit is told of this event of a job."""
    return event.actor not in NO_PERSON or event.kind in OURS


def _actor(event: Event) -> Actor:
    if event.by is not None:
        return event.by
    if event.actor not in NO_PERSON:
        return Actor(event.actor)
    for_job = str(event.data.get("by") or "") if event.kind is Kind.PREEMPTED else ""
    return Actor(event.actor, ActorKind.JOB if for_job else ActorKind.SYSTEM, through=for_job)


class AuditReader:
    """What people may ask of it. Takes what the person may see first, like every reader."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, visible: Visible, query: AuditQuery, limit: int = 50, cursor: str | None = None) -> Page[AuditEntry]:
        """Return one page, newest first. Raises InvalidSpec for a cursor that is none of these.

        O(limit) for everything, and for a subject, a person, a kind or a workspace alone; as often for who sees what is
        theirs and what lies in some workspaces. What is asked together walks the narrowest of these until it has found
        enough.
        """
        behind = [] if cursor is None else [_behind(_read_cursor(cursor))]
        wanted = [*_conditions(query), *behind]
        found = select(_AUDIT).order_by(_AUDIT.c.at.desc(), _AUDIT.c.seq.desc()).limit(limit + 1)
        with self._database.read() as connection:  # one walk for each part: together they would be sorted, all of them
            read = [connection.execute(found.where(*wanted, *part)).all() for part in parts(visible, _AUDIT)]
        page = list(_merged(read, limit + 1))
        following = _write_cursor((page[limit - 1].at, page[limit - 1].seq)) if len(page) > limit else None
        return Page([_entry(row) for row in page[:limit]], following)


def _merged(read: list[Any], limit: int) -> Iterator[Any]:
    """Yield the newest rows of several walks, each once."""
    seen = None
    for row in heapq.merge(*read, key=lambda row: (-row.at, -row.seq)):
        if row.seq != seen and limit > 0:
            seen, limit = row.seq, limit - 1
            yield row


def _conditions(query: AuditQuery) -> list[ColumnElement[bool]]:
    names = ("subject_kind", "subject", "by", "kind", "workspace", "actor")
    wanted = {name: getattr(query, name) for name in names}
    found: list[ColumnElement[bool]] = [_AUDIT.c[name] == value for name, value in wanted.items() if value]
    if query.after is not None:
        found.append(_AUDIT.c.at > query.after)
    if query.before is not None:
        found.append(_AUDIT.c.at <= query.before)
    return found


Mark = tuple[float, int]
"""When, and which number: the place of an entry in the order."""


def _behind(mark: Mark) -> ColumnElement[bool]:
    at, number = mark
    return and_(_AUDIT.c.at <= at, or_(_AUDIT.c.at < at, _AUDIT.c.seq < number))


def _write_cursor(mark: Mark) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(mark)).decode().rstrip("=")


def _read_cursor(cursor: str) -> Mark:
    try:
        written = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        mark: Mark = msgspec.json.decode(written, type=tuple[float, int])
        if abs(mark[1]) > LARGEST:
            raise ValueError("no number of ours")
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        problem = problem_of("cursor", said_of_lists.not_a_cursor_here())
        raise InvalidSpec(said_of_lists.cursor_of_another_list(), problems=(problem,)) from None
    return mark


def _entry(row: Any) -> AuditEntry:
    """Return an entry; for one whose arguments cannot be read stands that it cannot."""
    subject = Subject(row.subject_kind, row.subject, row.workspace, row.owner, row.title)
    seq, by = int(row.seq), Actor(row.by, _actor_kind(row.actor), row.address, row.through)
    try:
        data = rows.decoded(row.data, dict)
        changes = tuple(map(tuple, rows.decoded(row.changes, list))) if row.changes else ()
        if subject.kind == "job" and row.kind in _KINDS:
            return AuditEntry(seq, row.at, by, subject, row.kind, data=data, changes=_of_event(row.kind, data))
        kept = rows.said_of({"code": row.kind, "args": data})
    except MalformedRow as error:
        _log.warning("the entry %d of the audit cannot be read: %s", seq, error)
        return AuditEntry(seq, row.at, by, subject, row.kind, said=said.audit_event_unreadable())
    return AuditEntry(seq, row.at, by, subject, row.kind, said=kept, changes=changes)


def _of_event(kind: str, data: dict[str, Any]) -> Changes:
    name = _BEFORE.get(Kind(kind))
    return ((name, data.get("before"), data.get(name)),) if name is not None else ()


def _actor_kind(text: str) -> ActorKind:
    return ActorKind(text) if text in set(ActorKind) else ActorKind.PERSON
