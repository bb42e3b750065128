"""Secrets of workspaces, as rows: names, and values that are sealed (service/secrets/vault.py). Every change brings the
audit event that tells of it, which is stored with it.

Methods block until durable or read: call them from a worker thread.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, delete, func, insert, select, update

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import secrets as said
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.tables import secret


@dataclass(frozen=True, slots=True)
class SecretRow:
    """A secret. `key`: which key of the server seals it. Times are seconds since the epoch; `used_at` None: never."""

    workspace: str
    name: str
    key: str
    sealed: str = field(repr=False)
    created_at: float
    changed_at: float
    changed_by: str
    used_at: float | None = None


class SecretRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_workspace(self, workspace: str) -> list[SecretRow]:
        """Return the secrets of a workspace by name."""
        mine = select(secret).where(secret.c.workspace == workspace).order_by(secret.c.name)
        with self._database.read() as connection:
            return [SecretRow(**row._mapping) for row in connection.execute(mine)]

    def put(self, one: SecretRow, audit_event: AuditEvent, most: int) -> SecretRow:
        """Store a secret, or another value of one, and return it as it is then. Raises Conflict where its workspace has
        `most`.
        """

        def work(connection: Connection) -> SecretRow:
            same = (secret.c.workspace == one.workspace) & (secret.c.name == one.name)
            before = connection.execute(select(secret).where(same)).first()
            changed = {"key": one.key, "sealed": one.sealed, "changed_at": one.changed_at, "changed_by": one.changed_by}
            if before is not None:
                connection.execute(update(secret).where(same).values(changed))
            else:
                count = select(func.count()).select_from(secret).where(secret.c.workspace == one.workspace)
                if (connection.scalar(count) or 0) >= most:
                    raise Conflict(said.too_many_secrets(most))
                connection.execute(insert(secret).values(asdict(one)))
            audit.write(connection, [audit_event])
            return one if before is None else SecretRow(**{**before._mapping, **changed})

        return self._database.write(work).result()

    def drop(self, workspace: str, name: str, audit_event: AuditEvent) -> None:
        """Remove a secret. Raises NotFound."""

        def work(connection: Connection) -> None:
            same = (secret.c.workspace == workspace) & (secret.c.name == name)
            if connection.execute(delete(secret).where(same)).rowcount != 1:
                raise NotFound(said.no_such_secret(name, workspace))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def used(self, workspace: str, names: Collection[str], now: float) -> None:
        """Note that secrets are used; returns before that is stored."""
        mine = (secret.c.workspace == workspace) & secret.c.name.in_(names)
        self._database.write(
            lambda connection: connection.execute(update(secret).where(mine).values(used_at=now)).close()
        )
