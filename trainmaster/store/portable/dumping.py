"""Reads a whole database as it was at one moment, beside the server that writes it. Changes nothing in it.

SQLite: a copy by its online backup API, whose every page is then checked. PostgreSQL: one transaction that sees what
was there when it began. Neither makes the server wait.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, func, inspect, make_url, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from trainmaster.core.errors import Conflict, Unavailable
from trainmaster.messages.server import backup, ledger
from trainmaster.store import tables
from trainmaster.store.database import last_seq
from trainmaster.store.portable.schema import LEFT_OUT
from trainmaster.store.trouble import cause_of

ROWS: Final = 5000
"""Rows that are held in memory at once."""


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """A database at one moment. `kind`: sqlite or postgresql; `schema`: its stamp; `size`: bytes, of a file."""

    connection: Connection
    kind: str
    schema: int
    server_id: str
    size: int = 0

    def last_seq(self) -> int:
        """Return the number of its last event."""
        return last_seq(self.connection)

    def counts(self) -> dict[str, int]:
        """Return how many rows of each table are written."""
        return {
            str(table.name): int(self.connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in tables.META.sorted_tables
            if table.name not in LEFT_OUT
        }

    def rows(self, name: str) -> Iterator[list[list[Any]]]:
        """Yield the rows of a table by its key, some at once, each as the list of its columns."""
        if name in LEFT_OUT:
            return
        table = tables.META.tables[name]
        asked = select(table).order_by(*table.primary_key.columns)
        for some in self.connection.execution_options(yield_per=ROWS).execute(asked).partitions():
            yield [list(row) for row in some]

    def column(self, name: str, column: str) -> Iterator[Any]:
        """Yield every value of one column."""
        asked = select(tables.META.tables[name].c[column])
        for row in self.connection.execution_options(yield_per=ROWS).execute(asked):
            yield row[0]


def file_of(url: str) -> str:
    """Return the file of the database at `url`, "" where it is none."""
    parsed = make_url(url)
    return str(parsed.database) if parsed.get_backend_name() == "sqlite" else ""


def shown(url: str) -> str:
    """Return how people know the database at `url`; without a password."""
    return file_of(url) or make_url(url).render_as_string(hide_password=True)


@contextmanager
def snapshot(url: str, scratch: str) -> Iterator[StoreSnapshot]:
    """Give the database at `url` as it is now. `scratch`: path for the copy of an SQLite file, removed at the end.

    Raises Conflict where it is damaged or no store; Unavailable where it does not answer, OSError.
    """
    parsed = make_url(url)
    is_file = parsed.get_backend_name() == "sqlite"
    try:
        if is_file:
            copy_file(str(parsed.database), scratch)
            demand_whole(scratch)
            engine = create_engine(f"sqlite:///{scratch}", poolclass=NullPool)
        else:
            engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                poolclass=NullPool,
                isolation_level="REPEATABLE READ",
                connect_args={"connect_timeout": 10},
            )
        with engine.connect() as connection:
            if not is_file:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            yield _seen(connection, scratch if is_file else "")
        engine.dispose()
    except SQLAlchemyError as error:
        raise Unavailable(ledger.database_unreachable(_first_line(error))) from error
    finally:
        Path(scratch).unlink(missing_ok=True)


def _seen(connection: Connection, file: str) -> StoreSnapshot:
    if not inspect(connection).has_table("meta"):
        raise Conflict(backup.nothing_to_back_up(file or str(connection.engine.url.database)))
    meta = tables.meta
    noted = {row.key: row.value for row in connection.execute(select(meta))}
    return StoreSnapshot(
        connection,
        connection.dialect.name,
        int(noted.get("schema", "0")),
        str(noted.get("server_id", "")),
        os.path.getsize(file) if file else 0,
    )


def copy_file(file: str, target: str) -> None:
    """Make `target` (0600) the SQLite database `file` as it is at one moment, whoever writes it. Raises Conflict where
    it cannot be read, OSError.
    """
    Path(target).unlink(missing_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=30.0)) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            copy.execute("PRAGMA synchronous=OFF")  # it is read once, and then removed
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as error:
        raise Conflict(backup.damaged_not_backed_up(str(error))) from error


def demand_whole(file: str) -> None:
    """Let SQLite look at every page of `file`. Raises Conflict where one is damaged."""
    with closing(sqlite3.connect(file)) as connection:
        try:
            found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(3)")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
    if found != ["ok"]:
        raise Conflict(backup.damaged_not_backed_up("; ".join(" ".join(line.split()) for line in found)))


def _first_line(error: BaseException) -> str:
    return str(cause_of(error)).strip().splitlines()[0]
