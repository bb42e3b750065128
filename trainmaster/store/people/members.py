"""Who is a member of which workspace, as rows. Every change brings the audit event that tells of it, which is stored
with it (`store.audit`).

Methods block until durable or read: call them from a worker thread.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from trainmaster.core.errors import NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import people
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.tables import member


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a workspace. `role`: a key of `access.roles.WORKSPACE_ROLES`; `since`: seconds since the epoch."""

    workspace: str
    user: str
    role: str
    since: float


class MemberRows:
    """Reads some, writes one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_workspace(self, name: str) -> list[Member]:
        """Return the members of a workspace by name."""
        return self._read(member.c.workspace == name)

    def all(self) -> list[Member]:
        """Return every membership, by workspace and user."""
        return self._read()

    def find(self, workspace: str, user: str) -> Member | None:
        """Return the membership of a user in a workspace."""
        found = self._read(member.c.workspace == workspace, member.c.user == user)
        return found[0] if found else None

    def _read(self, *where: ColumnElement[bool]) -> list[Member]:
        statement = select(member).where(*where).order_by(member.c.workspace, member.c.user)
        with self._database.read() as connection:
            return [Member(**row._mapping) for row in connection.execute(statement)]

    def put(self, one: Member, audit_event: AuditEvent) -> None:
        """Store a membership; of who is a member already, the role alone."""

        def work(connection: Connection) -> None:
            same = (member.c.workspace == one.workspace) & (member.c.user == one.user)
            if connection.execute(update(member).where(same).values(role=one.role)).rowcount == 0:
                connection.execute(insert(member).values(asdict(one)))
            audit.write(connection, [audit_event])

        self._write(work)

    def drop(self, workspace: str, user: str, audit_event: AuditEvent) -> None:
        """Remove a membership. Raises NotFound."""

        def work(connection: Connection) -> None:
            same = (member.c.workspace == workspace) & (member.c.user == user)
            if connection.execute(delete(member).where(same)).rowcount != 1:
                raise NotFound(people.not_a_member(user, workspace))
            audit.write(connection, [audit_event])

        self._write(work)

    def _write(self, work: Callable[[Connection], None]) -> None:
        self._database.write(work).result()
