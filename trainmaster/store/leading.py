"""Which of several servers leads a store on PostgreSQL: a lock that dies with its session, and an epoch that fences off
who led before.

Invariant: at most one server holds the lock, and whoever takes it gives the store another epoch before it writes.
"""

from typing import Final

from sqlalchemy import Connection, select, text, update

from trainmaster.core.errors import Conflict
from trainmaster.store import tables

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
