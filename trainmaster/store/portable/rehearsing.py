"""Upgrades a copy of a database as the next start of a server would, looks at what became of it, and undoes it.

SQLite: a file beside, which is removed. PostgreSQL: a schema of its own, made and filled in one transaction that is
rolled back, so that nothing is left even where this process is killed. The server goes on meanwhile.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, bindparam, create_engine, func, inspect, make_url, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from trainmaster.core.errors import Conflict, StorageFailed, Unavailable
from trainmaster.messages.server import backup, ledger
from trainmaster.store import tables
from trainmaster.store.finding.index import TABLE
from trainmaster.store.jobs.whole_jobs import WholeStatement
from trainmaster.store.portable.dumping import copy_file, demand_whole
from trainmaster.store.trouble import cause_of

_PLACE: Final = "trainmaster_rehearsal"
_SOME: Final = WholeStatement(tables.job.c.seq.between(bindparam("first"), bindparam("last")))
_AT_ONCE: Final = 1000


@dataclass(slots=True)
class Rehearsal:
    """What became of the copy. `stamp`: its schema before. `differs`: where it is not as this release's own tables are;
    `lost`: tables with fewer rows than before; `unread`: jobs that this release cannot read. `size`: bytes of the file.
    """

    stamp: int
    size: int = 0
    seconds: float = 0.0
    rows: int = 0
    jobs: int = 0
    differs: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    unread: int = 0


def rehearsed(url: str, scratch: str) -> Rehearsal:
    """Return what became of a copy of the database at `url`. `scratch`: where that of an SQLite file lies meanwhile.

    Raises Conflict where a newer release wrote it; StorageFailed for a migration that fails; as `copied`.
    """
    began = time.monotonic()
    with copied(url, scratch) as connection:
        stamp = stamp_of(connection)
        if stamp > tables.SCHEMA:
            raise Conflict(ledger.database_too_new(stamp, tables.SCHEMA))
        found = Rehearsal(stamp, os.path.getsize(scratch) if connection.dialect.name == "sqlite" else 0)
        before = counts(connection)
        if stamp < tables.SCHEMA:
            from trainmaster.store import migrate  # noqa: PLC0415 - Alembic costs 150 ms and is rarely needed

            try:
                migrate.bring(connection, stamp)
            except Exception as error:  # whatever it meets: the next start would meet it, too
                raise StorageFailed(ledger.migration_failed(stamp, tables.SCHEMA, str(error))) from error
        look(connection, before, found)
    found.seconds = round(time.monotonic() - began, 1)
    return found


def stamp_of(connection: Connection) -> int:
    """Return the schema of the store. Raises Conflict where there is none."""
    if not inspect(connection).has_table("meta"):
        raise Conflict(backup.nothing_to_back_up(str(connection.engine.url.database)))
    meta = tables.meta
    return int(connection.scalar(select(meta.c.value).where(meta.c.key == "schema")) or 0)


@contextmanager
def copied(url: str, scratch: str) -> Iterator[Connection]:
    """Give a connection, in a transaction, to a copy of the database at `url`, which is gone afterwards.

    Raises Conflict where it is damaged, Unavailable where it does not answer, OSError.
    """
    parsed = make_url(url)
    try:
        if parsed.get_backend_name() == "sqlite":
            copy_file(str(parsed.database), scratch)
            demand_whole(scratch)
            engine = create_engine(f"sqlite:///{scratch}", poolclass=NullPool)
        else:
            engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"), poolclass=NullPool, connect_args={"connect_timeout": 10}
            )
        with engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                _copy_tables(connection)
            yield connection
            connection.rollback()
    except SQLAlchemyError as error:
        raise Unavailable(ledger.database_unreachable(str(cause_of(error)).strip().splitlines()[0])) from error
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(scratch + end).unlink(missing_ok=True)


def _copy_tables(connection: Connection) -> None:
    """Make a copy of every table in a schema that is gone with the transaction, and look at nothing else."""
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    names = inspect(connection).get_table_names()
    home = str(connection.scalar(text("SELECT current_schema()")))
    connection.exec_driver_sql(f'CREATE SCHEMA "{_PLACE}"')
    for name in names:
        new, old = f'"{_PLACE}"."{name}"', f'"{home}"."{name}"'
        connection.exec_driver_sql(f"CREATE TABLE {new} (LIKE {old} INCLUDING DEFAULTS)")
        connection.exec_driver_sql(f"INSERT INTO {new} SELECT * FROM {old}")
    keys = connection.execute(
        text(
            "SELECT cls.relname, con.conname, pg_get_constraintdef(con.oid) FROM pg_constraint con"
            " JOIN pg_class cls ON cls.oid = con.conrelid JOIN pg_namespace ns ON ns.oid = cls.relnamespace"
            " WHERE ns.nspname = :home AND con.contype IN ('p', 'u')"
        ),
        {"home": home},
    ).all()
    for table, key, definition in keys:
        connection.exec_driver_sql(f'ALTER TABLE "{_PLACE}"."{table}" ADD CONSTRAINT "{key}" {definition}')
    others = {key for _, key, _ in keys}
    found = text("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = :home")
    for index, definition in connection.execute(found, {"home": home}).all():
        if index not in others:
            connection.exec_driver_sql(definition.replace(f" ON {home}.", f" ON {_PLACE}.", 1))
    connection.exec_driver_sql(f'SET LOCAL search_path TO "{_PLACE}"')


def counts(connection: Connection) -> dict[str, int]:
    """Return how many rows each table has; the index of texts is made of the others."""
    names = [name for name in inspect(connection).get_table_names() if not name.startswith(TABLE)]
    return {name: int(connection.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0) for name in names}


def look(connection: Connection, before: dict[str, int], found: Rehearsal) -> None:
    """Note in `found` whether the upgraded copy is what this release expects."""
    there = inspect(connection)
    names = set(there.get_table_names())
    for table in tables.META.sorted_tables:
        name = str(table.name)
        if name not in names:
            found.differs.append(name)
            continue
        columns = {one["name"] for one in there.get_columns(name)}
        found.differs += [f"{name}.{one.name}" for one in table.columns if one.name not in columns]
        key = there.get_pk_constraint(name)["constrained_columns"]
        if key != [one.name for one in table.primary_key.columns]:
            found.differs.append(f"{name}: {', '.join(key)}")
    after = counts(connection)
    found.rows = sum(after[name] for name in after if name in tables.META.tables)
    found.lost = [
        f"{name}: {count} > {after[name]}" for name, count in before.items() if after.get(name, count) < count
    ]
    if not found.differs:
        last = int(connection.scalar(select(func.max(tables.job.c.seq))) or 0)
        for first in range(0, last + 1, _AT_ONCE):
            jobs, broken = _SOME.load(connection, first=first, last=first + _AT_ONCE - 1)
            found.jobs, found.unread = found.jobs + len(jobs), found.unread + len(broken)
