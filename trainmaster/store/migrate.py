"""Brings an older store to the present schema with Alembic, after a copy. Imported only when the stamp is older.

Revision NNNN in migrations/versions leads to schema NNNN. Invariant: the change and its new stamp are one
transaction, so an interrupted migration leaves the old schema; and no SQLite store is touched before its copy is
complete.
"""

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect, update

from trainmaster.core.errors import StorageFailed
from trainmaster.messages.server import ledger
from trainmaster.store import tables

MIGRATIONS: Final = str(Path(__file__).parent / "migrations")


def run(connection: Connection, stamp: int, backup_dir: str) -> None:
    """Migrate from schema `stamp` to tables.SCHEMA. Raises StorageFailed when the copy or the migration fails."""
    try:
        if connection.dialect.name == "sqlite":
            backup(connection, stamp, backup_dir)
        with connection.begin():
            bring(connection, stamp)
    except Exception as error:
        raise StorageFailed(ledger.migration_failed(stamp, tables.SCHEMA, str(error))) from error


def backup(connection: Connection, stamp: int, backup_dir: str) -> str:
    """Copy the SQLite store behind `connection` into `backup_dir`, complete and synced; return the path of the copy."""
    folder = Path(backup_dir)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"schema{stamp}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db"
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT, 0o600))
    copy = sqlite3.connect(partial)
    try:
        source = connection.connection.driver_connection
        assert isinstance(source, sqlite3.Connection)
        source.backup(copy)
    finally:
        copy.close()
    partial.rename(path)
    return str(path)


def bring(connection: Connection, stamp: int) -> None:
    """Change the tables and their stamp, in the transaction that `connection` is in."""
    _upgrade(connection, stamp)
    meta = tables.meta
    connection.execute(update(meta).where(meta.c.key == "schema").values(value=str(tables.SCHEMA)))


def _upgrade(connection: Connection, stamp: int) -> None:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.attributes["connection"] = connection
    if not inspect(connection).has_table("alembic_version"):
        command.stamp(config, f"{stamp:04}")
    command.upgrade(config, f"{tables.SCHEMA:04}")
