"""Invitations into workspaces, as rows: who has the link becomes a member, once. Every change brings the audit event
that tells of it, which is stored with it (`store.audit`).

Invariant: of any number who use one invitation at the same time exactly one becomes a member. Methods block until
durable or read: call them from a worker thread.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select, update

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import sign_in
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import User
from trainmaster.store.people.members import Member
from trainmaster.store.tables import invitation, member, users

KEPT_S: Final = 30 * 86400.0
"""How long one that is over is still listed."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link to a workspace, without its secret. `used_by`: who became a member by it, None while nobody did."""

    id: str
    workspace: str
    role: str
    made_by: str
    created_at: float
    expires_at: float
    used_at: float | None = None
    used_by: str | None = None


class InvitationRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, mark: str, one: Invitation, audit_event: AuditEvent) -> None:
        """Store an invitation under the mark of its secret; those that were over long ago are forgotten."""

        def work(connection: Connection) -> None:
            over = invitation.c.expires_at < one.created_at - KEPT_S
            connection.execute(delete(invitation).where(over))
            connection.execute(insert(invitation).values(secret_hash=mark, **asdict(one)))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def of_workspace(self, name: str) -> list[Invitation]:
        """Return the invitations to a workspace, newest first."""
        mine = select(invitation).where(invitation.c.workspace == name)
        with self._database.read() as connection:
            found = connection.execute(mine.order_by(invitation.c.created_at.desc(), invitation.c.id))
            return [_invitation(row) for row in found]

    def find(self, mark: str) -> Invitation | None:
        """Return the invitation whose secret has this mark, used or not."""
        with self._database.read() as connection:
            row = connection.execute(select(invitation).where(invitation.c.secret_hash == mark)).first()
        return _invitation(row) if row else None

    def drop(self, workspace: str, id_: str, audit_event: AuditEvent) -> None:
        """Revoke one. Raises NotFound."""

        def work(connection: Connection) -> None:
            same = (invitation.c.workspace == workspace) & (invitation.c.id == id_)
            if connection.execute(delete(invitation).where(same)).rowcount != 1:
                raise NotFound(sign_in.no_such_invitation(repr(id_), workspace))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def use(self, one: Invitation, joins: Member, audit_events: Iterable[AuditEvent], new: User | None = None) -> None:
        """Let somebody become a member by an invitation, `new` with an account of theirs. Raises Conflict where it was
        used, has expired or was revoked since, where the name is taken, or who uses it is a member already.
        """

        def work(connection: Connection) -> None:
            if new is not None:
                connection.execute(insert(users).values(asdict(new)))
            use_up(connection, one, joins)
            audit.write(connection, audit_events)

        self._database.write(work).result()


def use_up(connection: Connection, one: Invitation, joins: Member) -> None:
    """Let somebody become a member by an invitation, in a transaction that this is a part of. Raises Conflict."""
    mine = (invitation.c.id == one.id) & invitation.c.used_at.is_(None) & (invitation.c.expires_at > joins.since)
    used = update(invitation).where(mine).values(used_at=joins.since, used_by=joins.user)
    if connection.execute(used).rowcount != 1:
        raise Conflict(sign_in.invitation_over())
    connection.execute(insert(member).values(asdict(joins)))


def _invitation(row: Row[Any]) -> Invitation:
    return Invitation(**{name: row._mapping[name] for name in Invitation.__slots__})
