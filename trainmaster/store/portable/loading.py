"""Makes a database of the rows of a backup: an SQLite file under a name that no server opens, or the tables of an empty
PostgreSQL database in one transaction.

Invariant: until `keep`, nothing of it is there for anybody else; whatever ends before that leaves nothing.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Protocol

from sqlalchemy import Connection, create_engine, inspect, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from trainmaster.core.errors import Conflict, StorageFailed, Unavailable
from trainmaster.messages.server import backup, ledger
from trainmaster.store import leading
from trainmaster.store.portable.dumping import demand_whole
from trainmaster.store.trouble import cause_of, from_below, from_driver

_FORGOTTEN = frozenset({"leader", "probe"})
"""Notes on the store that hold for the server that wrote them."""


class Loading(Protocol):
    """A database that is being made."""

    def make(self, statements: Mapping[str, Sequence[str]]) -> None:
        """Make its tables."""

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows. Raises Conflict where it cannot hold one."""

    def counts(self, names: Sequence[str]) -> dict[str, int]:
        """Return how many rows these tables have."""

    def keep(self) -> None:
        """Let it be there from now on, durably."""


def _kept(table: str, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    return [row for row in rows if row[0] not in _FORGOTTEN] if table == "meta" else rows


class _File:
    """SQLite: the file `path` is made as `path`.restoring."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path, self._at = path, connection

    def make(self, statements: Mapping[str, Sequence[str]]) -> None:
        """Make its tables."""
        for one in statements["sqlite"]:
            self._at.execute(one)

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows."""
        names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
        try:
            self._at.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', _kept(table, rows))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
            if "disk" in str(error):
                raise StorageFailed(ledger.database_file_not_opened(str(error))) from error
            raise Conflict(backup.row_not_restored(table, str(error))) from error

    def counts(self, names: Sequence[str]) -> dict[str, int]:
        """Return how many rows these tables have."""
        return {name: self._at.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}

    def keep(self) -> None:
        """Check every page, and give it its name."""
        self._at.execute("COMMIT")
        self._at.close()
        fresh = f"{self._path}.restoring"
        demand_whole(fresh)
        fd = os.open(fresh, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
        os.rename(fresh, self._path)
        with suppress(OSError):
            fd = os.open(os.path.dirname(self._path), os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)


@contextmanager
def _file(path: str) -> Iterator[Loading]:
    fresh = f"{path}.restoring"
    with suppress(FileNotFoundError):
        os.unlink(fresh)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # until it is kept, it is nothing
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            yield _File(path, connection)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(fresh)


class _Tables:
    """PostgreSQL: all in the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._at = connection

    def make(self, statements: Mapping[str, Sequence[str]]) -> None:
        """Make its tables."""
        for one in statements["postgresql"]:
            self._at.exec_driver_sql(one)

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows, by COPY."""
        names = ", ".join(f'"{name}"' for name in columns)
        driver: Any = self._at.connection.driver_connection
        try:
            with driver.cursor() as cursor, cursor.copy(f'COPY "{table}" ({names}) FROM STDIN'.encode()) as copy:
                for row in _kept(table, rows):
                    copy.write_row(row)
        except Exception as error:  # the driver's become ours; the rest goes on
            said = str(error).strip().partition("\n")[0]
            if isinstance(error, UnicodeError) or any(
                from_driver(error, one) for one in ("DataError", "IntegrityError")
            ):
                raise Conflict(backup.row_not_restored(table, said)) from error
            if from_below(error):
                raise StorageFailed(ledger.database_not_opened(said)) from error
            raise

    def counts(self, names: Sequence[str]) -> dict[str, int]:
        """Return how many rows these tables have."""
        return {name: int(self._at.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0) for name in names}

    def keep(self) -> None:
        """Let numbers go on behind the highest, and commit."""
        counted = self._at.execute(
            text(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'"
            )
        ).all()
        for table, column in counted:
            self._at.execute(
                text(
                    f'SELECT setval(pg_get_serial_sequence(:table, :column), coalesce(max("{column}"), 0) + 1, false)'
                    f' FROM "{table}"'
                ),
                {"table": f'"{table}"', "column": column},
            )
        self._at.commit()


@contextmanager
def _tables(url: str, again: str, names: Sequence[str], config: str) -> Iterator[Loading]:
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(parsed, poolclass=NullPool, connect_args={"connect_timeout": 10})
    try:
        with engine.connect() as connection:
            if not leading.try_to_lead(connection):
                raise leading.AnotherLeads(ledger.another_server_leads())
            _demand_empty(connection, again, names, config)
            yield _Tables(connection)
    except SQLAlchemyError as error:
        said = str(cause_of(error)).strip().splitlines()[0]
        raise Unavailable(ledger.database_unreachable(said)) from error
    finally:
        engine.dispose()


def _demand_empty(connection: Connection, again: str, names: Sequence[str], config: str) -> None:
    """Return when there is no table. What an interrupted restore of the store `again` kept is removed, in the same
    transaction: it has tables called `names`. Raises Conflict.
    """
    there = inspect(connection).get_table_names()
    if not there:
        return
    ours = bool(again) and set(there) <= set(names)
    if not ours or connection.scalar(text("SELECT value FROM meta WHERE key = 'server_id'")) != again:
        raise Conflict(backup.database_not_empty(str(connection.engine.url.database), config))
    for table in there:
        connection.exec_driver_sql(f'DROP TABLE "{table}" CASCADE')


@contextmanager
def loading(url: str, *, again: str = "", names: Sequence[str] = (), config: str = "") -> Iterator[Loading]:
    """Give the empty database at `url` to be filled; without `keep` nothing of it stays.

    `again`: the store whose restore was interrupted here before, with tables called `names`; `config`: the file in
    which people name a database. Raises Conflict where it is not empty or a server leads it, Unavailable, OSError.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        with _file(str(parsed.database)) as made:
            yield made
    else:
        with _tables(url, again, names, config) as made:
            yield made
