"""Who did what to what: the audit events of people as rows, and the one reader of them, which brings in what people did to jobs.

An audit event is written in the transaction of the change that it tells of, by whoever makes that change (`write`). What people did to a
job stands once, among the job's events; when the job is deleted it moves here (`keep_of_job`). Invariant: nothing here is edited.
"""

import base64
import binascii
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, insert, literal, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.events import AuditEvent, Kind, Subject
from trainmaster.messages.jobs import jobs as said_of_lists
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit as said
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.jobs.rows import MalformedRow

_log: Final = logging.getLogger(__name__)
_AUDIT, _EVENT, _JOB = tables.audit, tables.event, tables.job
_KINDS: Final = frozenset(Kind)
_OF_JOBS, _OF_ALL = 0, 1
"""Which of the two tables an entry stands in; of two of the same moment the one of the higher comes first."""


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What is looked for (empty: everything). `subject_kind` with or without the `subject`'s name; `after` < when <= `before`."""

    subject_kind: str = ""
    subject: str = ""
    by: str = ""
    kind: str = ""
    after: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did. `kind`: the code of what is said, or the kind of a job's event, whose `data` is told instead."""

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


def keep_of_job(connection: Connection, seq: int, id_: str) -> None:
    """Keep what people did to a job, whose events are about to be removed."""
    found = (
        select(_EVENT.c.at, _EVENT.c.actor, literal("job"), literal(id_), _EVENT.c.kind, _EVENT.c.data)
        .where(_EVENT.c.job == seq, tables.BY_PEOPLE).order_by(_EVENT.c.seq)
    )  # fmt: skip
    columns = ("at", "by", "subject_kind", "subject", "kind", "data")
    connection.execute(insert(_AUDIT).from_select(columns, found))


class AuditReader:
    """What people may ask of it. Takes what the person may see first, like every reader: all of it, or nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, visible: Visible, query: AuditQuery, limit: int = 50, cursor: str | None = None) -> Page[AuditEntry]:
        """Return one page, newest first. Raises InvalidSpec for a cursor that is none of these.

        O(limit) for everything, for a subject and for a person; `kind` alone walks all that people did until it has found enough.
        """
        mark = None if cursor is None else _read_cursor(cursor)
        if not visible.everything:
            return Page([], None)
        found: list[tuple[float, int, int, Any]] = []
        with self._database.read() as connection:
            for source, statement in _statements(connection, query):
                behind = () if mark is None else (_behind(source, mark),)
                at, seq = (_AUDIT.c.at, _AUDIT.c.seq) if source == _OF_ALL else (_EVENT.c.at, _EVENT.c.seq)
                ordered = statement.where(*behind).order_by(at.desc(), seq.desc()).limit(limit + 1)
                found += [(row.at, source, row.seq, row) for row in connection.execute(ordered)]
        found.sort(key=lambda one: one[:3], reverse=True)
        following = _write_cursor(found[limit - 1][:3]) if len(found) > limit else None
        return Page([_entry(source, row) for _, source, _, row in found[:limit]], following)


_Statement = tuple[int, Select[Any]]


def _statements(connection: Connection, query: AuditQuery) -> list[_Statement]:
    """Return the question to each table that may hold an answer."""
    asked = [(_OF_ALL, select(_AUDIT).where(*_conditions(query)))]
    if query.subject_kind not in ("", "job") or (query.kind and query.kind not in _KINDS):
        return asked
    columns = (
        _EVENT.c.seq,
        _EVENT.c.at,
        _EVENT.c.actor.label("by"),
        _JOB.c.id.label("subject"),
        _EVENT.c.kind,
        _EVENT.c.data,
    )
    events = select(*columns).join(_JOB, _JOB.c.seq == _EVENT.c.job)
    found = _between(_EVENT.c.at, query)
    if query.by:
        found.append(_EVENT.c.actor == query.by)
    if query.kind:
        found.append(_EVENT.c.kind == query.kind)
    if query.subject:
        number = connection.scalar(select(_JOB.c.seq).where(_JOB.c.id == query.subject))
        found.append(_EVENT.c.job == (-1 if number is None else number))
    return [*asked, (_OF_JOBS, events.where(tables.BY_PEOPLE, *found))]


def _conditions(query: AuditQuery) -> list[ColumnElement[bool]]:
    found = _between(_AUDIT.c.at, query)
    wanted = {"subject_kind": query.subject_kind, "subject": query.subject, "by": query.by, "kind": query.kind}
    return [*found, *(_AUDIT.c[name] == value for name, value in wanted.items() if value)]


def _between(at: ColumnElement[float], query: AuditQuery) -> list[ColumnElement[bool]]:
    after = [] if query.after is None else [at > query.after]
    return after if query.before is None else [*after, at <= query.before]


Mark = tuple[float, int, int]
"""When, which table, which number: the place of an entry in the order."""


def _behind(source: int, mark: Mark) -> ColumnElement[bool]:
    at, where, number = mark
    table = _AUDIT if source == _OF_ALL else _EVENT
    if source > where:
        return table.c.at < at
    if source < where:
        return table.c.at <= at
    return and_(table.c.at <= at, or_(table.c.at < at, table.c.seq < number))


def _write_cursor(mark: Mark) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(mark)).decode().rstrip("=")


def _read_cursor(cursor: str) -> Mark:
    try:
        written = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        mark: Mark = msgspec.json.decode(written, type=tuple[float, int, int])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        problem = problem_of("cursor", said_of_lists.not_a_cursor_here())
        raise InvalidSpec(said_of_lists.cursor_of_another_list(), problems=(problem,)) from None
    return mark


def _entry(source: int, row: Any) -> AuditEntry:
    """Return an entry; for one whose arguments cannot be read stands that it cannot."""
    subject = Subject("job" if source == _OF_JOBS else row.subject_kind, row.subject)
    id_ = f"{'e' if source == _OF_JOBS else 'd'}{row.seq}"
    try:
        data = rows.decoded(row.data, dict)
        if subject.kind == "job" and row.kind in _KINDS:
            return AuditEntry(id_, row.at, row.by, subject, row.kind, data=data)
        kept = rows.said_of({"code": row.kind, "args": data})
    except MalformedRow as error:
        _log.warning("the entry %s of the audit cannot be read: %s", id_, error)
        kept = said.audit_event_unreadable(id_)
    return AuditEntry(id_, row.at, row.by, subject, row.kind, said=kept)
