"""Keeps what a crash may cost small, beside the writer and never in its way: the mark, and the database file itself.

Until a checkpoint copies it, what was stored lies in SQLite's -wal file alone. A thread of its own does that, a few seconds after
something was written, in the way that waits for nobody and lets nobody wait; and it writes down how far the ledger is
(`store.past`). It does nothing while nothing is written. Invariant: the mark is never ahead of what is durable.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final

from trainmaster.store.past import Mark, Past

_log: Final = logging.getLogger(__name__)

MARK_S: Final = 0.5
"""Between something stored and the mark that tells of it."""
CHECKPOINT_S: Final = 5.0
"""Between two checkpoints, while something is written."""


class Keeper:
    """A thread. `file`: the SQLite database, "" of another kind. `last_seq`: the number of the last durable event."""

    def __init__(self, file: str, past: Past | None, ledger: str, last_seq: Callable[[], int]) -> None:
        self._file, self._past, self._ledger, self._last_seq = file, past, ledger, last_seq
        self._marked = -1
        self._copied_at = time.monotonic()
        self._moved, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="ledger-keeper", daemon=True)
        self._thread.start()

    def moved(self) -> None:
        """Hear that something was written. Called by the writer after every group: costs nothing."""
        if not self._moved.is_set():
            self._moved.set()

    def close(self) -> None:
        """Write the mark a last time and end."""
        self._closing.set()
        self._moved.set()
        self._thread.join()

    def _run(self) -> None:
        self._tend()
        behind = False  # something was written that no checkpoint has copied
        while not self._closing.is_set():
            heard = self._moved.wait(max(0.0, self._copied_at + CHECKPOINT_S - time.monotonic()) if behind else None)
            if heard:
                self._closing.wait(MARK_S)
                self._moved.clear()
                self._tend()
                behind = bool(self._file)
            if behind and time.monotonic() >= self._copied_at + CHECKPOINT_S:
                self._checkpoint()
                behind = False
        self._tend()

    def _tend(self) -> None:
        if self._past is None:
            return
        try:
            seq = self._last_seq()
            if seq != self._marked:
                self._past.write(Mark(self._ledger, seq, time.time()))
                self._marked = seq
        except (
            Exception
        ) as error:  # a full disk, a database that is away: it is said there, and tried again with the next change
            _log.debug("how far the ledger is could not be written down: %s", error)

    def _checkpoint(self) -> None:
        self._copied_at = time.monotonic()
        try:
            with closing(sqlite3.connect(self._file, timeout=0)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            _log.debug("the ledger was not copied from its -wal: %s", error)
