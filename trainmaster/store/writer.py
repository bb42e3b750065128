"""The one thread that writes. Owns the write connection; nothing else may change the database.

Work is queued without locks and taken in order; neighbours of the same kind that queued while a transaction was
running are handed over together, so that a busy server commits in groups and an idle one at once. Invariant: every
future that was given out is resolved, whatever happens, and never before its change is durable.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from sqlalchemy.engine import Connection

from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import ledger
from trainmaster.store.trouble import from_below, not_stored

T = TypeVar("T")

GROUP_LIMIT: Final = 4096
"""Items in one transaction at most: bounds the wait of the first and the memory of the write-ahead log."""


class Item(Generic[T]):
    """Something to write, and the future that says it is durable."""

    __slots__ = ("future", "work")

    def __init__(self, work: T) -> None:
        self.work = work
        self.future: Future[Any] = Future()


Handler = Callable[[Connection, list[Item[Any]]], None]
"""Writes the items in one or more transactions and resolves all their futures; an exception from it fails the rest."""


class Writer:
    """Runs handlers on its own thread over its own connection."""

    def __init__(self, connect: Callable[[], Connection], connection: Connection) -> None:
        self._connect = connect
        self._connection: Connection | None = connection  # `connect` replaces a lost one
        self._queue: SimpleQueue[tuple[Handler, Item[Any]] | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self.wrote: Callable[[], None] = lambda: None  # called after every group, durable or not
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    def put(self, handler: Handler, item: Item[Any]) -> Future[Any]:
        """Queue `item` for `handler`. Thread-safe; returns at once. After `close` the future fails with Unavailable."""
        with self._gate:  # nothing may be queued after the item that ends the thread
            if not self._closed:
                self._queue.put((handler, item))
                return item.future
        item.future.set_exception(Unavailable(ledger.ledger_closed()))
        return item.future

    @property
    def closed(self) -> bool:
        """Whether nothing is taken any more."""
        return self._closed

    def close(self) -> None:
        """Write everything queued so far, then end the thread and give the connection back."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            taken, open_ = self._take()
            for handler, group in groupby(taken, key=lambda pair: pair[0]):
                self._handle(handler, [item for _, item in group])
                self.wrote()
        self._drop()

    def _take(self) -> tuple[list[tuple[Handler, Item[Any]]], bool]:
        """Wait for one item and return it with all that have queued behind it; False once the end has come."""
        taken: list[tuple[Handler, Item[Any]]] = []
        entry = self._queue.get()
        try:
            while entry is not None:
                taken.append(entry)
                if len(taken) == GROUP_LIMIT:
                    return taken, True
                entry = self._queue.get_nowait()
        except Empty:
            return taken, True
        return taken, False

    def _handle(self, handler: Handler, items: list[Item[Any]]) -> None:
        try:
            if self._connection is None:
                self._connection = self._connect()
            handler(self._connection, items)
        except BaseException as error:  # tell the callers; the thread must go on
            told = not_stored(error)
            for item in items:
                if not item.future.done():
                    item.future.set_exception(told)
        if self._connection is not None and _broken(self._connection):
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            if _broken(connection):
                connection.invalidate()
            connection.close()


def _broken(connection: Connection) -> bool:
    """True when the connection cannot be used again (a PostgreSQL server went away)."""
    if connection.invalidated:
        return True
    driver = connection.connection.driver_connection
    return bool(getattr(driver, "closed", False) or getattr(driver, "broken", False))


def call(connection: Connection, items: list[Item[Callable[[Connection], Any]]]) -> None:
    """Handler of single functions: each in a transaction of its own, its result in its future."""
    for item in items:
        try:
            with connection.begin():
                result = item.work(connection)
        except Exception as error:  # the store failed, or `work` raised
            item.future.set_exception(not_stored(error) if from_below(error) else error)
        else:
            item.future.set_result(result)
