"""Who did what to what: the audit events of people as rows, and the one reader of them.

An audit event is written in the transaction of the change that it tells of, by whoever makes that change (`write`); of
what people do to jobs, the ledger writes it beside the event (`write_events`), as which it is kept. Invariant: nothing
here is edited, so that neither it nor the event can say anything else than the other; when the job is deleted its
events go, and this stays.
"""

import base64
import binascii
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.events import NOBODY, AuditEvent, Event, Kind, Subject
from trainmaster.messages.jobs import jobs as said_of_lists
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit as said
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.jobs.rows import MalformedRow

_log: Final = logging.getLogger(__name__)
_AUDIT: Final = tables.audit
_KINDS: Final = frozenset(Kind)
NO_PERSON: Final = frozenset(NOBODY)
"""Actors whose events of jobs are not told here. Nor are submits: the list of jobs tells them, by owner and time."""


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What is looked for (empty: everything). `subject_kind` with or without the `subject`'s name; `after` < when <=
    `before`.
    """

    subject_kind: str = ""
    subject: str = ""
    by: str = ""
    kind: str = ""
    after: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did. `kind`: the code of what is said, or the kind of a job's event, whose `data` is told
    instead.
    """

    id: str
    at: float
    by: str
    subject: Subject
    kind: str
    said: Said | None = None
    data: dict[str, Any] | None = None


def write(connection: Connection, audit_events: Iterable[AuditEvent]) -> None:
    """Store audit events, within the transaction of what they tell of."""
    values = [
        {
            "at": audit_event.at,
            "by": audit_event.by,
            "subject_kind": audit_event.subject.kind,
            "subject": audit_event.subject.name,
            "kind": audit_event.said.code,
            "data": rows.encode(audit_event.said.to_json()["args"]),
        }
        for audit_event in audit_events
    ]
    if values:
        connection.execute(insert(_AUDIT), values)


def write_events(connection: Connection, events: Iterable[Event]) -> None:
    """Store what people did to jobs, within the transaction of these events."""
    values = [
        {
            "at": event.at,
            "by": event.actor,
            "subject_kind": "job",
            "subject": event.job,
            "kind": event.kind.value,
            "data": rows.encode(event.data),
        }
        for event in events
    ]
    if values:
        connection.execute(insert(_AUDIT), values)


class AuditReader:
    """What people may ask of it. Takes what the person may see first, like every reader: all of it, or nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, visible: Visible, query: AuditQuery, limit: int = 50, cursor: str | None = None) -> Page[AuditEntry]:
        """Return one page, newest first. Raises InvalidSpec for a cursor that is none of these.

        O(limit) for everything, for a subject and for a person; `kind` alone walks all that people did until it has
        found enough.
        """
        behind = [] if cursor is None else [_behind(_read_cursor(cursor))]
        if not visible.everything:
            return Page([], None)
        found = select(_AUDIT).where(*_conditions(query), *behind).order_by(_AUDIT.c.at.desc(), _AUDIT.c.seq.desc())
        with self._database.read() as connection:
            page = connection.execute(found.limit(limit + 1)).all()
        following = _write_cursor((page[limit - 1].at, page[limit - 1].seq)) if len(page) > limit else None
        return Page([_entry(row) for row in page[:limit]], following)


def _conditions(query: AuditQuery) -> list[ColumnElement[bool]]:
    wanted = {"subject_kind": query.subject_kind, "subject": query.subject, "by": query.by, "kind": query.kind}
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
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        problem = problem_of("cursor", said_of_lists.not_a_cursor_here())
        raise InvalidSpec(said_of_lists.cursor_of_another_list(), problems=(problem,)) from None
    return mark


def _entry(row: Any) -> AuditEntry:
    """Return an entry; for one whose arguments cannot be read stands that it cannot."""
    subject, id_ = Subject(row.subject_kind, row.subject), str(row.seq)
    try:
        data = rows.decoded(row.data, dict)
        if subject.kind == "job" and row.kind in _KINDS:
            return AuditEntry(id_, row.at, row.by, subject, row.kind, data=data)
        kept = rows.said_of({"code": row.kind, "args": data})
    except MalformedRow as error:
        _log.warning("the entry %s of the audit cannot be read: %s", id_, error)
        kept = said.audit_event_unreadable(id_)
    return AuditEntry(id_, row.at, row.by, subject, row.kind, said=kept)
