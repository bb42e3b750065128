"""What administrators decided about the cluster, as rows: one per pool, virtual cluster, workspace, flavor, node,
policy.

A row is the JSON of one record under (kind, name), with who changed it last and when; what was changed before is told
by the audit events stored with it (`store.audit`), in the same transaction. Knows nothing of their fields.
Methods that read block; writes return a future that resolves once they are durable.
"""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from trainmaster.core.events import AuditEvent
from trainmaster.store import audit
from trainmaster.store.assets.subscriptions import close_to_others
from trainmaster.store.assets.templates import close_workspace
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.money.entries import close_balance
from trainmaster.store.notices.settings import forget_workspace
from trainmaster.store.tables import cluster_setting, invitation, member, saved_view, secret, storage_connection

PRIVACY: Final = "privacy"
"""The name of the policy that says what people are told of one another."""
OWNERS_TOLD: Final = "owners_told"
"""Of that policy: whether people are told whose the jobs are that they may not see; told, unless somebody said no."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One stored record. `at`: seconds since the epoch."""

    kind: str
    name: str
    record: Any
    at: float
    by: str


def _record(text: str) -> Any:
    try:
        return rows.decode(text)
    except ValueError:
        return None


class ClusterSettings:
    """Reads all, writes one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Setting]:
        """Return every setting, by kind and name; the record of one that is no JSON is None."""
        table = cluster_setting
        statement = select(table).order_by(table.c.kind, table.c.name)
        with self._database.read() as connection:
            return [Setting(**{**row._mapping, "record": _record(row.record)}) for row in connection.execute(statement)]

    def put(self, setting: Setting, audit_event: AuditEvent) -> "Future[None]":
        """Store one, in place of what was there under its kind and name, and what was done. The future fails with
        StorageFailed.
        """
        values = {"record": rows.encode(setting.record), "at": setting.at, "by": setting.by}

        def work(connection: Connection) -> None:
            table = cluster_setting
            same = (table.c.kind == setting.kind) & (table.c.name == setting.name)
            if connection.execute(update(table).where(same).values(values)).rowcount == 0:
                connection.execute(insert(table).values(kind=setting.kind, name=setting.name, **values))
            audit.write(connection, [audit_event])

        return self._database.write(work)

    def drop(self, kind: str, name: str, audit_event: AuditEvent) -> "Future[None]":
        """Remove one, and store what was done; nothing happens when it is not there. The future fails with
        StorageFailed.
        """
        table = cluster_setting

        def work(connection: Connection) -> None:
            if kind == "workspace":  # or whoever makes another one of this name finds its members in it
                connection.execute(delete(member).where(member.c.workspace == name))
                forget_workspace(connection, name)
                connection.execute(delete(invitation).where(invitation.c.workspace == name))
                connection.execute(delete(secret).where(secret.c.workspace == name))
                connection.execute(delete(storage_connection).where(storage_connection.c.workspace == name))
                connection.execute(update(saved_view).where(saved_view.c.workspace == name).values(workspace=""))
                close_workspace(connection, name)
                close_to_others(connection, name)
                connection.execute(delete(table).where(table.c.kind == "budget", table.c.name == name))
                close_balance(connection, name, audit_event.at, audit_event.by.name)
            if connection.execute(delete(table).where(table.c.kind == kind, table.c.name == name)).rowcount:
                audit.write(connection, [audit_event])

        return self._database.write(work)


def where_closed(connection: Connection) -> frozenset[str]:
    """Return the workspaces in which nothing may be shared; for whoever decides without what is in memory."""
    table = cluster_setting
    wanted = select(table.c.name, table.c.record).where(table.c.kind == "workspace")
    found = ((row.name, _record(row.record)) for row in connection.execute(wanted))
    return frozenset(name for name, record in found if isinstance(record, dict) and record.get("sharing") == "off")


def are_owners_told(connection: Connection) -> bool:
    """Return whether people are told whose the jobs are that they may not see; for whoever decides without what is in
    memory.
    """
    table = cluster_setting
    record = connection.scalar(select(table.c.record).where(table.c.kind == "policy", table.c.name == PRIVACY))
    return record is None or told_by(_record(record))


def told_by(record: Any) -> bool:
    """Return what the record of that policy says. One that cannot be read hides them: it was made to."""
    return isinstance(record, dict) and record.get(OWNERS_TOLD) is True
