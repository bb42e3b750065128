"""Public keys of people, as rows. Every change brings the audit event that tells of it, which is stored with it.

A key belongs to one account. Methods block until durable or read: call them from a worker thread.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, func, insert, select

from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import sign_in
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.tables import audit as audit_table
from trainmaster.store.tables import ssh_key


@dataclass(frozen=True, slots=True)
class SshKey:
    """A public key. `key`: the line as SSH reads it, without the comment; `address`: from where it was added."""

    fingerprint: str
    user: str
    kind: str
    bits: int
    key: str
    comment: str
    created_at: float
    address: str


class SshKeyRows:
    """Reads and writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_user(self, user: str) -> list[SshKey]:
        """Return the keys of somebody, newest first."""
        mine = select(ssh_key).where(ssh_key.c.user == user)
        with self._database.read() as connection:
            found = connection.execute(mine.order_by(ssh_key.c.created_at.desc(), ssh_key.c.fingerprint))
            return [SshKey(**row._mapping) for row in found]

    def changed(self, user: str, kinds: Sequence[str]) -> tuple[float, str] | None:
        """Return when and from where keys of somebody were changed last, as audit events of these kinds tell."""
        told = audit_table.c
        mine = (told.subject_kind == "person", told.subject == user, told.kind.in_(kinds))
        newest = select(told.at, told.address).where(*mine).order_by(told.at.desc(), told.seq.desc()).limit(1)
        with self._database.read() as connection:
            row = connection.execute(newest).first()
        return (row.at, row.address) if row else None

    def add(self, one: SshKey, audit_event: AuditEvent, most: int = 2**31) -> None:
        """Store a key. Raises Conflict where it is stored already, whosever it is, or where its owner has `most`."""

        def work(connection: Connection) -> None:
            same = select(ssh_key.c.user).where(ssh_key.c.fingerprint == one.fingerprint)
            if connection.execute(same).first() is not None:
                raise Conflict(sign_in.key_known(one.fingerprint))
            if (connection.scalar(select(func.count()).where(ssh_key.c.user == one.user)) or 0) >= most:
                raise Conflict(sign_in.too_many_keys(most))
            connection.execute(insert(ssh_key).values(asdict(one)))
            audit.write(connection, [audit_event])

        self._database.write(work).result()

    def drop(self, user: str, fingerprint: str, audit_event: AuditEvent) -> None:
        """Remove a key of somebody. Raises NotFound."""

        def work(connection: Connection) -> None:
            mine = (ssh_key.c.user == user) & (ssh_key.c.fingerprint == fingerprint)
            if connection.execute(delete(ssh_key).where(mine)).rowcount != 1:
                raise NotFound(sign_in.no_such_key(fingerprint))
            audit.write(connection, [audit_event])

        self._database.write(work).result()
