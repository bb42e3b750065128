"""Whom a sign-in provider means, as rows: an account by issuer and subject, and what the groups of that person gave.

An account is never found by a name or an address that the provider tells. Every change brings the audit events that
tell of it, which are stored with it (`store.audit`). Methods block until durable or read: call them from a worker
thread.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import sign_in
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import User
from trainmaster.store.people.invitations import Invitation, use_up
from trainmaster.store.people.members import Member
from trainmaster.store.tables import identity, member, sessions, users


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody's groups give: administrator of the platform or not, and a role in each of some workspaces."""

    admin: bool = False
    roles: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderIdentity:
    """Somebody as a provider knows them, and what their groups gave at the last sign-in."""

    issuer: str
    subject: str
    user: str
    linked_at: float
    given: Given = field(default_factory=Given)


@dataclass(frozen=True, slots=True)
class Coming:
    """What a sign-in makes of somebody. `new`: the account that it begins with; `role`: on the platform, None: as it
    is; `joins`, `leaves`: memberships; `voids_password`: a one-time password that nobody needs any more.
    """

    identity: ProviderIdentity
    new: User | None = None
    role: str | None = None
    joins: Sequence[Member] = ()
    leaves: Sequence[Member] = ()
    voids_password: bool = False


class IdentityRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, issuer: str, subject: str) -> ProviderIdentity | None:
        """Return whom a provider means by `subject`."""
        return self._first(identity.c.issuer == issuer, identity.c.subject == subject)

    def of_user(self, issuer: str, user: str) -> ProviderIdentity | None:
        """Return as whom a provider knows an account."""
        return self._first(identity.c.issuer == issuer, identity.c.user == user)

    def _first(self, *where: Any) -> ProviderIdentity | None:
        with self._database.read() as connection:
            row = connection.execute(select(identity).where(*where)).first()
        return _identity(row) if row else None

    def comes(
        self, coming: Coming, audit_events: Iterable[AuditEvent], invited: tuple[Invitation, Member] | None = None
    ) -> None:
        """Store what a sign-in makes of somebody, who uses an invitation up where they are `invited`. Raises Conflict
        where the account is another person's by now, or the invitation was used.
        """
        one = coming.identity

        def work(connection: Connection) -> None:
            values = _values(one)
            same = (identity.c.issuer == one.issuer) & (identity.c.subject == one.subject)
            if coming.new is not None:
                connection.execute(insert(users).values(asdict(coming.new)))
                connection.execute(insert(identity).values(values))
            elif connection.execute(update(identity).where(same).values(given=values["given"])).rowcount != 1:
                raise Conflict(sign_in.not_linked_any_more())
            _apply(connection, coming)
            if invited is not None:
                use_up(connection, *invited)
            audit.write(connection, audit_events)

        self._database.write(work).result()

    def link(self, one: ProviderIdentity, audit_event: AuditEvent) -> None:
        """Let a provider's person be an account; a one-time password of it opens nothing any more. Raises Conflict
        where either is linked already.
        """

        def work(connection: Connection) -> None:
            either = ((identity.c.subject == one.subject) | (identity.c.user == one.user)) & (
                identity.c.issuer == one.issuer
            )
            taken = connection.execute(select(identity).where(either)).first()
            if taken is not None:
                raise Conflict(sign_in.linked_already(taken.user, taken.subject))
            connection.execute(insert(identity).values(_values(one)))
            unused = users.c.must_change_password.is_(True)
            nothing = {"password_hash": "", "must_change_password": False}
            connection.execute(update(users).where(users.c.name == one.user, unused).values(nothing))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def unlink(self, issuer: str, user: str, audit_event: AuditEvent) -> None:
        """Let an account be no provider's person any more, and end its sessions. Raises NotFound."""

        def work(connection: Connection) -> None:
            mine = (identity.c.issuer == issuer) & (identity.c.user == user)
            if connection.execute(delete(identity).where(mine)).rowcount != 1:
                raise NotFound(sign_in.not_linked(user))
            connection.execute(delete(sessions).where(sessions.c.user == user))
            audit.write(connection, [audit_event])

        self._database.write(work).result()


def _apply(connection: Connection, coming: Coming) -> None:
    """Change the account and its memberships."""
    user = coming.identity.user
    values: dict[str, Any] = {} if coming.role is None else {"role": coming.role}
    if coming.voids_password:
        values |= {"password_hash": "", "must_change_password": False}
    if values:
        connection.execute(update(users).where(users.c.name == user).values(values))
    for one in (*coming.leaves, *coming.joins):
        connection.execute(delete(member).where(member.c.workspace == one.workspace, member.c.user == user))
    for one in coming.joins:
        connection.execute(insert(member).values(asdict(one)))


def _values(one: ProviderIdentity) -> dict[str, Any]:
    given = {"admin": one.given.admin, "roles": one.given.roles}
    return {**asdict(one), "given": json.dumps(given, sort_keys=True)}


def _identity(row: Row[Any]) -> ProviderIdentity:
    """Return a row as a record; what cannot be read of the groups was never given."""
    try:
        told = json.loads(row.given)
        given = Given(bool(told["admin"]), {str(name): str(role) for name, role in told["roles"].items()})
    except (ValueError, TypeError, KeyError, AttributeError):
        given = Given()
    return ProviderIdentity(row.issuer, row.subject, row.user, row.linked_at, given)
