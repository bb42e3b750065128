"""The audit: who did what to what, and when. Reads; whatever changes something stores its own audit event with it.

What is kept are codes with arguments; here they become words in both languages, those of jobs from the events of the
jobs.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import AuditEventView, AuditPage, SubjectView
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.events import SUBJECTS, Data, Kind
from trainmaster.core.ids import task_name
from trainmaster.core.states import Priority
from trainmaster.messages.said import Said, said_in
from trainmaster.messages.server import audit
from trainmaster.service.language import both
from trainmaster.store.audit import AuditEntry, AuditQuery, AuditReader


class Auditing:
    """One object per server."""

    def __init__(self, reader: AuditReader) -> None:
        self._reader = reader

    async def page(
        self,
        who: Principal,
        *,
        subject: str = "",
        by: str = "",
        kind: str = "",
        after: float | None = None,
        before: float | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> AuditPage:
        """Return one page of what people did, newest first. `subject`: ``kind`` or ``kind:name``; `after` < when <=
        `before`.

        Raises Forbidden, InvalidSpec for a kind of subject that does not exist and for a foreign cursor.
        """
        visible = decide(who, "audit:read").demand()
        of, _, name = subject.partition(":")
        if of and of not in SUBJECTS:
            problem = problem_of("subject", audit.not_a_subject(", ".join(SUBJECTS)), subject)
            raise InvalidSpec(audit.audit_not_answerable(), problems=(problem,))
        query = AuditQuery(of, name, by, kind, after, before)
        page = await asyncio.to_thread(self._reader.page, visible, query, limit, cursor)
        return AuditPage(items=[_view(entry) for entry in page.items], next_cursor=page.next_cursor)


def _view(entry: AuditEntry) -> AuditEventView:
    said = entry.said or _of_job(entry.id, entry.kind, entry.data or {})
    return AuditEventView(
        id=entry.id,
        at=entry.at,
        by=entry.by,
        subject=SubjectView(kind=entry.subject.kind, name=entry.subject.name),
        kind=entry.kind,
        text=both(said),
        code=said.code,
        args=said.to_json()["args"],
    )


def _of_job(id_: str, kind: str, data: Data) -> Said:
    """Return what an event of a job says about who did it."""
    try:
        return _EVENTS[Kind(kind)](data) if kind in _EVENTS else audit.job_event(kind)
    except (KeyError, TypeError, ValueError, AttributeError):  # valid JSON, but not an event of ours
        return audit.audit_event_unreadable(id_)


def _stopped(data: Data) -> Said:
    said = said_in(data)
    return audit.job_stopped() if said is None else audit.job_stopped_because(said)


def _may_run(data: Data) -> Said:
    return audit.job_may_run_on() if data["duration_s"] is None else audit.job_may_run(float(data["duration_s"]))


def _entered(data: Data) -> Said:
    return audit.job_entered(task_name(data["role"], data["index"]), str(data["program"]))


_PRIORITIES: Final[dict[Priority, Said]] = {
    Priority.NORMAL: audit.priority_normal(),
    Priority.URGENT: audit.priority_urgent(),
    Priority.VERY_URGENT: audit.priority_very_urgent(),
}
_EVENTS: Final[dict[Kind, Callable[[Data], Said]]] = {
    Kind.STOP_REQUESTED: _stopped,
    Kind.RELEASED: lambda _: audit.job_released(),
    Kind.DURATION_CHANGED: _may_run,
    Kind.PRIORITY_CHANGED: lambda data: audit.job_priority_became(_PRIORITIES[Priority(data["priority"])]),
    Kind.ENTERED: _entered,
    Kind.SHARED: lambda data: audit.job_shared(str(data["share"]), str(data["before"])),
    Kind.PREEMPTED: lambda data: audit.job_sent_back(said_in(data) or ""),
}
"""What people can do to a job once it was submitted."""
