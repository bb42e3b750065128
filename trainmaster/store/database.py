"""Opens the database: SQLite in a file or PostgreSQL, its schema stamp, its one writer and its readers.

Invariant: at most one open Database leads a store. SQLite: a lock on a file beside it. PostgreSQL: an advisory lock
held by the write connection (`leading`) and an epoch in `meta`, checked in every transaction, so that a server which
lost its connection while another led can never write again.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from trainmaster.core.errors import Conflict, StorageFailed, Unavailable
from trainmaster.messages.said import Said
from trainmaster.messages.server import ledger
from trainmaster.store import leading, tables
from trainmaster.store.finding import index
from trainmaster.store.finding.filler import Filler
from trainmaster.store.past import Keeper, Past
from trainmaster.store.trouble import cause_of, from_below, is_damage, not_read
from trainmaster.store.writer import Handler, Item, Writer, call

T = TypeVar("T")
_log: Final = logging.getLogger(__name__)

_POOL: Final[dict[str, Any]] = {"pool_size": 4, "pool_use_lifo": True}
"""The readers' connections: the one used last comes first, since SQLite keeps what it read for each."""
_CONNECTION: Final = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""Seconds (the last: ms) that a connection to a database server has, where the address says nothing of it: to be there,
and until it is noticed that the other machine is gone, whether we wait for it or it for us (libpq)."""
_SQLITE_PRAGMAS: Final = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=10000",
    "cache_size=-16384",
    "wal_autocheckpoint=8000",
    "recursive_triggers=ON",  # or REPLACE goes past what keeps the audit
)
_READERS: Final = ("busy_timeout=10000", "query_only=ON", "cache_size=-3072")
"""Of each connection, of which there are as many as have ever asked at once: 8 MiB each were 40 MiB of a server with
10,000 jobs. What is not kept is read again from the file, which the system keeps: lists, counts and searches over
100,000 jobs took as long with 2 MiB each as with 8."""


class Database:
    """One open store. Readers: `read()` from any thread. Writers: `write(fn)`, or the ledger through `put`."""

    def __init__(self, url: URL, lock: int | None) -> None:
        self._url = url
        self._lock = lock
        self._epoch = self._address = ""
        self.lost = False
        """Another server has led the store since: this one can write no more."""
        self.sqlite = url.get_backend_name() == "sqlite"
        self._writing = _engine(url, self._fence)
        self.readers = _engine(url, None)
        self._writer: Writer | None = None
        self._before_migration: Callable[[], None] = lambda: None
        self._keeper: Keeper | None = None
        self._filler: Filler | None = None
        self._patience_s = leading.LEAD_S

    @classmethod
    def open(
        cls,
        url: str,
        *,
        backup_dir: str,
        past: Past | None = None,
        before_migration: Callable[[], None] = lambda: None,
        address: str = "",
        patience_s: float = leading.LEAD_S,
    ) -> "Database":
        """Open the store at `url` (``sqlite:////path/file.db`` or ``postgresql://...``), creating or migrating its
        schema.

        An older SQLite store is first copied into `backup_dir`; before that, `before_migration` is called and may
        raise. `past`: what is known of it elsewhere. `address`: where servers that follow reach this one, once it says
        so (`announce`). `patience_s`: how long it waits for the one before to end. Raises Unavailable when it is
        damaged, Conflict when another server leads this store, when it was written by a newer version, is less than its
        past, or when `url` names another kind of database; StorageFailed when it cannot be opened.
        """
        parsed = _parse(url)
        lock = leading.lock_file(parsed, past) if parsed.get_backend_name() == "sqlite" else None
        database = cls(parsed, lock)
        try:
            database._before_migration = before_migration
            database._patience_s, database._address = patience_s, address
            database._start(backup_dir, past)
        except BaseException as error:
            database.close()
            if isinstance(error, SQLAlchemyError) and is_damage(error) and "not a database" not in str(error):
                raise not_read(error) from error
            if isinstance(error, SQLAlchemyError | OSError):
                raise StorageFailed(ledger.database_not_opened(str(error))) from error
            raise
        return database

    @classmethod
    def follow(cls, url: str) -> "Database":
        """Open the store at `url`, which another server leads, for reading.

        Raises Conflict for SQLite, which one server uses, and for another schema than ours; Unavailable when there are
        no tables yet, or it cannot be read.
        """
        parsed = _parse(url)
        if parsed.get_backend_name() == "sqlite":
            raise Conflict(ledger.only_postgresql_is_shared())
        database = cls(parsed, None)
        try:
            with database.read() as connection:
                stamp = _stamp(connection)
            if stamp is None:
                raise Unavailable(ledger.nobody_leads())
            if stamp != tables.SCHEMA:
                raise Conflict(ledger.leader_has_other_schema(stamp, tables.SCHEMA))
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend a connection for reading: ``with database.read() as c``. Thread-safe; sees everything acknowledged
        before.

        Raises Unavailable, there or from what is asked within, where the store cannot be read.
        """
        try:
            with self.readers.connect() as connection:
                yield connection
        except Exception as error:  # SQLAlchemy's or the driver's error becomes ours; the caller's own goes on
            if not from_below(error):
                raise
            _log.error("the ledger could not be read: %s", cause_of(error))
            raise not_read(error) from error

    def write(self, work: Callable[[Connection], T]) -> "Future[T]":
        """Run `work` on the writer thread in a transaction of its own; the future has its result once it is durable.

        It fails with Conflict for a broken uniqueness, with StorageFailed when it cannot be stored, else with what
        `work` raised.
        """
        return self.put(call, Item(work))

    def put(self, handler: Handler, item: Item[Any]) -> "Future[Any]":
        """Queue `item` for `handler` on the writer thread."""
        if self._writer is None:  # opened by `follow`: read only
            item.future.set_exception(Unavailable(ledger.another_server_leads()))
            return item.future
        return self._writer.put(handler, item)

    @property
    def server_id(self) -> str:
        """A random name given to this store when it was created."""
        with self.read() as connection:
            return _read_note(connection, "server_id")

    @property
    def dialect(self) -> Any:
        """The SQLAlchemy dialect, for compiling statements."""
        return self._writing.dialect

    @property
    def leads(self) -> bool:
        """Whether this process leads the store, as far as it knows: what belongs to the leader is another's if not."""
        return self._writer is not None and not self._writer.closed and not self.lost

    def grew(self) -> None:
        """Hear that there are more jobs, which are to be found."""
        if self._filler is not None:
            self._filler.moved()

    def announce(self) -> None:
        """Tell servers that follow where this one answers; nothing after the first time. Blocking. Raises
        StorageFailed, Unavailable.
        """
        if self._address:
            self.write(lambda connection: note(connection, "leader", self._address)).result()
            self._address = ""

    def leader(self) -> str | None:
        """Return where the server answers that leads, "" until it has said so, None while nobody leads. PostgreSQL
        only.
        """
        with self.read() as connection:
            return _read_note(connection, "leader") if leading.is_led(connection) else None

    def fenced(self) -> bool:
        """Return whether another server has led since this one began to. PostgreSQL only."""
        if not self.lost:
            with self.read() as connection:
                self.lost = _read_note(connection, "epoch") != self._epoch
        return self.lost

    def close(self) -> None:
        """Write what is queued and let go of everything, leadership included. May be called twice."""
        if self._filler is not None:
            self._filler.close()
        if self._writer is not None:
            self._writer.close()
        if self._keeper is not None:
            self._keeper.close()
        self.readers.dispose()
        self._writing.dispose()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def last_seq(self) -> int:
        """Return the highest event number ever given, 0 before the first."""
        with self.read() as connection:
            return last_seq(connection)

    def _start(self, backup_dir: str, past: Past | None) -> None:
        connection = self._connect()
        try:
            self._settle_schema(connection, backup_dir, past)
            with connection.begin():
                index.prepare(connection)
            if past is not None:
                with connection.begin():
                    _hold_to(past, connection)
            if not self.sqlite:
                with connection.begin():
                    epoch = leading.next_epoch(connection)
                    note(connection, "leader", "")
                self._epoch = epoch
        except BaseException:
            connection.close()
            raise
        self._writer = Writer(self._connect, connection)
        self._filler = Filler(self.write)
        if self.sqlite or past is not None:
            file = str(self._url.database) if self.sqlite else ""
            self._keeper = Keeper(file, past, self.server_id, self.last_seq)
            self._writer.wrote = self._keeper.moved

    def _settle_schema(self, connection: Connection, backup_dir: str, past: Past | None) -> None:
        with connection.begin():
            stamp = _stamp(connection)
            if stamp is None:
                if past is not None:
                    past.refuse_empty(_database_name(self._url))
                _create(connection)
        if stamp is None or stamp == tables.SCHEMA:
            return
        if stamp > tables.SCHEMA:
            raise Conflict(ledger.database_too_new(stamp, tables.SCHEMA))
        from trainmaster.store import migrate  # noqa: PLC0415 - Alembic costs 150 ms and is rarely needed

        self._before_migration()
        migrate.run(connection, stamp, backup_dir)

    def _connect(self) -> Connection:
        """Return the write connection; with PostgreSQL it leads."""
        connection = self._writing.connect()
        if not self.sqlite:
            try:
                self._lead(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _lead(self, connection: Connection) -> None:
        patience = 0 if self._epoch else self._patience_s
        give_up = time.monotonic() + patience
        while not (leads := leading.try_to_lead(connection)) and time.monotonic() < give_up:
            time.sleep(0.05)  # nothing tells us when the other session ends: try again
        if not leads:
            self.lost = bool(self._epoch)
            problem = Unavailable if self.lost else leading.AnotherLeads  # lost the lead, or never had it
            raise problem(ledger.another_server_leads())
        if "tcp_keepalives" not in str(self._url.query.get("options", "")):
            leading.let_go_soon(connection)

    def _fence(self, connection: Connection) -> None:
        """Raise unless the epoch is still ours. Begins every transaction of PostgreSQL's writer; the lock on the epoch
        lasts until the commit.
        """
        if not self._epoch:
            return
        now = connection.exec_driver_sql("SELECT value FROM meta WHERE key = 'epoch' FOR SHARE").scalar()
        if now != self._epoch:
            connection.connection.rollback()
            self.lost = True
            raise Unavailable(ledger.another_server_led())


def _parse(url: str) -> URL:
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database == ":memory:":
        raise Conflict(ledger.database_not_usable(parsed.render_as_string()))
    return parsed.set(drivername="sqlite+pysqlite")


def _database_name(url: URL) -> Said | str:
    """Return how people know the database at `url`."""
    return str(url.database) if url.get_backend_name() == "sqlite" else ledger.in_database(str(url.database))


def _engine(url: URL, begin: Callable[[Connection], None] | None) -> Engine:
    """Return the engine of the writer (`begin` runs first in each of its transactions) or, without it, of the
    readers.
    """
    if url.get_backend_name() == "postgresql":
        patience = {key: value for key, value in _CONNECTION.items() if key not in url.query}
        if begin is None:
            return create_engine(url, **_POOL, isolation_level="REPEATABLE READ", connect_args=patience)
        engine = create_engine(url, poolclass=NullPool, connect_args=patience)
        event.listen(engine, "begin", begin)
        return engine
    arguments = {"check_same_thread": False, "isolation_level": None}
    if begin is not None:
        engine = create_engine(url, poolclass=NullPool, connect_args=arguments)
    else:
        engine = create_engine(url, poolclass=QueuePool, **_POOL, connect_args=arguments)
    pragmas = _SQLITE_PRAGMAS if begin is not None else _READERS
    how = "BEGIN IMMEDIATE" if begin is not None else "BEGIN"
    event.listen(engine, "connect", lambda driver, _: [driver.execute(f"PRAGMA {pragma}") for pragma in pragmas])
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(how))
    return engine


def _stamp(connection: Connection) -> int | None:
    """Return the schema number the store was written with, None for an empty one."""
    if not inspect(connection).has_table("meta"):
        return None
    return int(connection.scalar(select(tables.meta.c.value).where(tables.meta.c.key == "schema")) or 0)


def _create(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        tables.add_postgresql()
    tables.META.create_all(connection, checkfirst=False)
    rows = {
        "schema": str(tables.SCHEMA),
        "server_id": os.urandom(16).hex(),
        "epoch": "0",
        "created_at": str(time.time()),
    }
    connection.execute(insert(tables.meta), [{"key": key, "value": value} for key, value in rows.items()])


def last_seq(connection: Connection) -> int:
    """Return the highest event number ever given, 0 before the first."""
    meta = tables.meta
    floor = connection.scalar(select(meta.c.value).where(meta.c.key == "floor"))
    columns = (tables.event.c.seq, tables.deleted.c.last_event)
    return max(int(floor or 0), *(connection.scalar(select(func.max(column))) or 0 for column in columns))


def _hold_to(past: Past, connection: Connection) -> None:
    """Compare the ledger with its past. Numbers that were given before a loss that was accepted are not given again."""
    meta = tables.meta
    name = str(connection.scalar(select(meta.c.value).where(meta.c.key == "server_id")))
    seq = last_seq(connection)
    above = past.refuse_behind(name, seq)
    if above > seq:
        _log.warning(
            "the ledger ends at event %d and has been at %d: what came after it is lost, as accepted", seq, above
        )
        note(connection, "floor", str(above))


def probe(connection: Connection) -> None:
    """Write one row, which fails on a full disk or without a server. For `Database.write`."""
    note(connection, "probe", os.urandom(4).hex())


def note(connection: Connection, name: str, text: str) -> None:
    """Keep a text about the store as a whole, instead of the one before."""
    meta = tables.meta
    if connection.execute(update(meta).where(meta.c.key == name).values(value=text)).rowcount == 0:
        connection.execute(insert(meta).values(key=name, value=text))


def _read_note(connection: Connection, name: str) -> str:
    return str(connection.scalar(select(tables.meta.c.value).where(tables.meta.c.key == name)) or "")
