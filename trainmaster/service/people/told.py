"""What the audit is told beside the account itself when somebody comes or goes: in each workspace that it concerns."""

from trainmaster.core.events import AuditEvent, Changes, subject_of
from trainmaster.messages.server import audit
from trainmaster.store.people.accounts import User
from trainmaster.store.people.members import Member


def made(user: User) -> Changes:
    """Return what became of a user who is new."""
    return (("role", None, user.role),)


def joins(one: Member, when: AuditEvent) -> AuditEvent:
    """Return what the audit of a workspace is told of who became a member with `when`."""
    said = audit.member_added(one.user, one.workspace, one.role)
    changes = ((f"members.{one.user}", None, one.role),)
    return AuditEvent(subject_of("workspace", one.workspace), said, when.at, when.by, changes)


def leaves(one: Member, when: AuditEvent) -> AuditEvent:
    """Return what the audit of a workspace is told of a member who is none any more with `when`."""
    said = audit.member_removed(one.user, one.workspace)
    changes = ((f"members.{one.user}", one.role, None),)
    return AuditEvent(subject_of("workspace", one.workspace), said, when.at, when.by, changes)
