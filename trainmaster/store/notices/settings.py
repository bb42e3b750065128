"""What each person wants to be told and where, as one JSON record a person, and where mails of theirs go.

Knows nothing of kinds. A change is stored with the audit event that tells of it. Methods block: in a worker thread.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from trainmaster.core.events import AuditEvent
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.notices.tables import notice, notice_delivery, notice_setting, webhook

Record = dict[str, Any]
"""The settings of a person as JSON; empty: never set."""


class NoticeSettingRows:
    """Reads some, writes one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, users: Collection[str]) -> dict[str, Record]:
        """Return the settings of those of `users` who have any."""
        table = notice_setting
        with self._database.read() as connection:
            found = connection.execute(select(table).where(table.c.user.in_(list(users)))).all()
        return {row.user: record_of(row.record) for row in found}

    def put(self, user: str, record: Record, audit_events: Sequence[AuditEvent]) -> None:
        """Store the settings of a user, in place of those before."""
        text, table = rows.encode(record), notice_setting

        def work(connection: Connection) -> None:
            if connection.execute(update(table).where(table.c.user == user).values(record=text)).rowcount == 0:
                connection.execute(insert(table).values(user=user, record=text))
            audit.write(connection, audit_events)

        self._database.write(work).result()


def record_of(text: str) -> Record:
    """Return what a column holds as JSON, {} where that is damaged: who has more to read goes on."""
    try:
        found = rows.decode(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def forget_person(connection: Connection, user: str) -> None:
    """Remove what was told to somebody who is deleted, their address and their webhooks, within that transaction."""
    of_webhooks = select(webhook.c.id).where(webhook.c.owner == user)
    sent = notice_delivery.c
    connection.execute(delete(notice_delivery).where((sent.user == user) | sent.target.in_(of_webhooks)))
    for table, column in ((notice, notice.c.user), (notice_setting, notice_setting.c.user), (webhook, webhook.c.owner)):
        connection.execute(delete(table).where(column == user))


def forget_workspace(connection: Connection, workspace: str) -> None:
    """Remove the webhooks of a workspace that is removed, within that transaction."""
    of_webhooks = select(webhook.c.id).where(webhook.c.workspace == workspace)
    connection.execute(delete(notice_delivery).where(notice_delivery.c.target.in_(of_webhooks)))
    connection.execute(delete(webhook).where(webhook.c.workspace == workspace))
