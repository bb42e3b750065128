"""The audit: who did what to what, when and from where. Reads; whatever changes something stores its own audit event
with it.

What is kept are codes with arguments; here they become words in both languages, those of jobs from the events of the
jobs. Who reads of something because it is theirs, and for no other reason, is not told the addresses of others.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import ActorView, AuditEventView, AuditPage, FieldChange, SubjectView
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.events import SUBJECTS, ActorKind, Data, Kind
from trainmaster.core.ids import task_name
from trainmaster.core.states import Priority
from trainmaster.messages.said import Said, said_in
from trainmaster.messages.server import audit
from trainmaster.service.cluster.decided import label
from trainmaster.service.language import both
from trainmaster.service.secrets.seals import Seals
from trainmaster.store.audit import AuditEntry, AuditQuery, AuditReader

AT_ONCE: Final = 500
"""Entries that an export reads at a time."""


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """What is looked for (empty: everything). `subject`: ``kind`` or ``kind:name``; `actor`: an ActorKind; `after` <
    when <= `before`.
    """

    subject: str = ""
    by: str = ""
    kind: str = ""
    workspace: str = ""
    actor: str = ""
    after: float | None = None
    before: float | None = None


class Auditing:
    """One object per server."""

    def __init__(self, reader: AuditReader, seals: Seals) -> None:
        self._reader, self._seals = reader, seals

    async def page(self, who: Principal, wanted: AuditFilters, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Return one page of what was done, newest first. Raises Forbidden, InvalidSpec for a kind of subject or of
        actor that does not exist and for a foreign cursor.
        """
        visible, query = decide(who, "audit:read").demand(), _query(wanted)
        page = await asyncio.to_thread(self._reader.page, visible, query, limit, cursor)
        return AuditPage(items=self._views(page.items, visible, who), next_cursor=page.next_cursor)

    def export(self, who: Principal, wanted: AuditFilters) -> Iterator[list[AuditEventView]]:
        """Return all of what was done, newest first, in pieces; each blocks. Raises like `page`, at once."""
        visible, query = decide(who, "audit:read").demand(), _query(wanted)
        return self._pieces(who, visible, query)

    def _pieces(self, who: Principal, visible: Visible, query: AuditQuery) -> Iterator[list[AuditEventView]]:
        cursor: str | None = None
        while True:
            page = self._reader.page(visible, query, AT_ONCE, cursor)
            yield self._views(page.items, visible, who)
            if (cursor := page.next_cursor) is None:
                return

    def _views(self, entries: list[AuditEntry], visible: Visible, who: Principal) -> list[AuditEventView]:
        return [_view(entry, self._seals.id("audit", entry.seq), visible, who) for entry in entries]


def _query(wanted: AuditFilters) -> AuditQuery:
    of, _, name = wanted.subject.partition(":")
    found: list[Problem] = []
    if of and of not in SUBJECTS:
        found.append(problem_of("subject", audit.not_a_subject(", ".join(SUBJECTS)), wanted.subject))
    if wanted.actor and wanted.actor not in set(ActorKind):
        found.append(problem_of("actor", audit.not_an_actor(", ".join(ActorKind)), wanted.actor))
    if found:
        raise InvalidSpec(audit.audit_not_answerable(), problems=tuple(found))
    return AuditQuery(of, name, wanted.by, wanted.kind, wanted.workspace, wanted.actor, wanted.after, wanted.before)


def _view(entry: AuditEntry, id_: str, visible: Visible, who: Principal) -> AuditEventView:
    said, subject = entry.said or _of_job(entry.kind, entry.data or {}), entry.subject
    told = visible.everything or subject.workspace in visible.workspaces or entry.by.name in ("", who.name)
    if entry.by.kind is ActorKind.JOB:  # of another workspace, perhaps
        told = visible.everything
    return AuditEventView(
        id=id_,
        at=entry.at,
        by=entry.by.name,
        actor=ActorView(
            kind=entry.by.kind.value,
            address=(entry.by.address or None) if told else None,
            through=(entry.by.through or None) if told else None,
        ),
        subject=SubjectView(kind=subject.kind, name=subject.name, title=subject.title, workspace=subject.workspace),
        kind=entry.kind,
        text=both(said),
        code=said.code,
        args=said.to_json()["args"],
        changes=[
            FieldChange(field=field, label=both(label(field)), before=before, after=after)
            for field, before, after in entry.changes
        ],
    )


def _of_job(kind: str, data: Data) -> Said:
    """Return what an event of a job says about who did it."""
    try:
        return _EVENTS[Kind(kind)](data) if kind in _EVENTS else audit.job_event(kind)
    except (KeyError, TypeError, ValueError, AttributeError):  # valid JSON, but not an event of ours
        return audit.audit_event_unreadable()


def _stopped(data: Data) -> Said:
    said = said_in(data)
    return audit.job_stopped() if said is None else audit.job_stopped_because(said)


def _may_run(data: Data) -> Said:
    return audit.job_may_run_on() if data["duration_s"] is None else audit.job_may_run(float(data["duration_s"]))


def _entered(data: Data) -> Said:
    return audit.job_entered(task_name(data["role"], data["index"]), str(data["program"]))


def _annotated(data: Data) -> Said:
    if "tags" not in data:
        return audit.job_noted()
    return audit.job_tagged([*map(str, data["tags"])], [*map(str, data["before"]["tags"])])


def _sent_back(data: Data) -> Said:
    said = said_in(data)
    return audit.job_gave_way() if said is None else audit.job_sent_back(said)


_PRIORITIES: Final[dict[Priority, Said]] = {
    Priority.NORMAL: audit.priority_normal(),
    Priority.URGENT: audit.priority_urgent(),
    Priority.VERY_URGENT: audit.priority_very_urgent(),
}
_EVENTS: Final[dict[Kind, Callable[[Data], Said]]] = {
    Kind.SUBMITTED: lambda _: audit.job_submitted(),
    Kind.EXPIRED: lambda _: audit.job_expired(),
    Kind.STOP_REQUESTED: _stopped,
    Kind.RELEASED: lambda _: audit.job_released(),
    Kind.DURATION_CHANGED: _may_run,
    Kind.PRIORITY_CHANGED: lambda data: audit.job_priority_became(_PRIORITIES[Priority(data["priority"])]),
    Kind.ENTERED: _entered,
    Kind.SHARED: lambda data: audit.job_shared(str(data["share"]), str(data["before"])),
    Kind.ANNOTATED: _annotated,
    Kind.PREEMPTED: _sent_back,
    Kind.UPLOAD_ASKED: lambda _: audit.job_upload_asked(),
}
"""What is done to a job."""
