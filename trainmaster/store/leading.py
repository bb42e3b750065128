"""Which of several servers leads a store. SQLite: a lock on a file beside it. PostgreSQL: a lock that dies with its
session, and an epoch that fences off who led before.

Invariant: at most one server holds the lock, and whoever takes it gives the store another epoch before it writes.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select, text, update
from sqlalchemy.engine import URL

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.messages.server import ledger
from trainmaster.store import tables
from trainmaster.store.past import Past

LEAD_S: Final = 2.0
"""How long a start waits to lead: PostgreSQL notices a moment later that the server before was killed."""
_LOCK: Final = 0x7472_6D73_7472_0001
"""The advisory lock of the leader: any number works that no other program uses in the same database."""
_IS_LED: Final = text("""
    SELECT EXISTS (
        SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE datname = current_database() AND locktype = 'advisory' AND granted
        AND classid = CAST(:high AS oid) AND objid = CAST(:low AS oid) AND objsubid = 1
    )
""")
"""PostgreSQL shows a lock of 64 bits as two halves, with 1 in objsubid."""


_NOTICE: Final = text("""
    SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
        set_config('tcp_keepalives_count', '3', false)
""")


class AnotherLeads(Conflict):
    """Another server leads this store."""


def try_to_lead(connection: Connection) -> bool:
    """Take the lock for the session of `connection`; return whether it has it."""
    with connection.begin():
        return bool(connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}))


def let_go_soon(connection: Connection) -> None:
    """Let PostgreSQL notice within half a minute that the machine at this end of `connection` is gone, and free its
    lock.
    """
    with connection.begin():
        connection.execute(_NOTICE)


def is_led(connection: Connection) -> bool:
    """Return whether some server has the lock."""
    return bool(connection.scalar(_IS_LED, {"high": _LOCK >> 32, "low": _LOCK & 0xFFFF_FFFF}))


def next_epoch(connection: Connection) -> str:
    """Give the store another epoch, in the transaction of `connection`."""
    meta = tables.meta
    old = connection.scalar(select(meta.c.value).where(meta.c.key == "epoch").with_for_update())
    epoch = str(int(old or 0) + 1)
    connection.execute(update(meta).where(meta.c.key == "epoch").values(value=epoch))
    return epoch


def lock_file(url: URL, past: Past | None) -> int:
    """Create the file of the database, readable by its owner only, and lock a file beside it; return the lock's
    descriptor. Raises Conflict when another server holds it, or when `past` says that the file has been there.
    """
    path = Path(str(url.database))
    if past is not None and (not path.exists() or path.stat().st_size == 0):
        past.refuse_empty(str(path))  # before SQLite makes an empty file: it would remove the -wal beside it
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StorageFailed(ledger.database_file_not_opened(str(error))) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise Conflict(ledger.another_server_uses(str(path))) from error
    return lock
