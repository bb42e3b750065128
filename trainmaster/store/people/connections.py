"""Storage connections of workspaces, as rows: where each goes, and its keys, which are sealed
(service/objects/connections.py). Every change brings the audit event that tells of it, which is stored with it.

Methods block until durable or read: call them from a worker thread.
"""

from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, delete, func, insert, select, update

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import objects as said
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.tables import storage_connection as table


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection. `key`: which key of the server seals its keys. Times are seconds since the epoch; `used_at` None:
    never.
    """

    workspace: str
    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    key: str
    sealed: str = field(repr=False)
    created_at: float
    changed_at: float
    changed_by: str
    used_at: float | None = None


class ConnectionRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_workspace(self, workspace: str) -> list[ConnectionRow]:
        """Return the connections of a workspace by name."""
        mine = select(table).where(table.c.workspace == workspace).order_by(table.c.name)
        with self._database.read() as connection:
            return [ConnectionRow(**row._mapping) for row in connection.execute(mine)]

    def find(self, workspace: str, name: str) -> ConnectionRow | None:
        """Return a connection, None where there is none."""
        same = (table.c.workspace == workspace) & (table.c.name == name)
        with self._database.read() as connection:
            found = connection.execute(select(table).where(same)).first()
            return ConnectionRow(**found._mapping) if found is not None else None

    def put(self, one: ConnectionRow, audit_event: AuditEvent, most: int) -> ConnectionRow:
        """Store a connection, in place of the one of its name, and return it as it is then. Raises Conflict where its
        workspace has `most`.
        """

        def work(connection: Connection) -> ConnectionRow:
            same = (table.c.workspace == one.workspace) & (table.c.name == one.name)
            before = connection.execute(select(table).where(same)).first()
            values = asdict(one)
            if before is not None:
                values |= {"created_at": before.created_at, "used_at": before.used_at}
                connection.execute(update(table).where(same).values(values))
            else:
                count = select(func.count()).select_from(table).where(table.c.workspace == one.workspace)
                if (connection.scalar(count) or 0) >= most:
                    raise Conflict(said.too_many_connections(most))
                connection.execute(insert(table).values(values))
            audit.write(connection, [audit_event])
            return ConnectionRow(**values)

        return self._database.write(work).result()

    def drop(self, workspace: str, name: str, audit_event: AuditEvent) -> None:
        """Remove a connection. Raises NotFound."""

        def work(connection: Connection) -> None:
            same = (table.c.workspace == workspace) & (table.c.name == name)
            if connection.execute(delete(table).where(same)).rowcount != 1:
                raise NotFound(said.no_such_connection(name, workspace))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def used(self, workspace: str, name: str, now: float) -> None:
        """Note that a connection is used; returns before that is stored."""
        same = (table.c.workspace == workspace) & (table.c.name == name)
        self._database.write(
            lambda connection: connection.execute(update(table).where(same).values(used_at=now)).close()
        )
