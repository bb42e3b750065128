"""What is known of a ledger outside its database: how far it was, in one small file. A loss is then never silent.

A database file that is gone, or whose newest pages were lost, looks like a new or an older one to whoever opens it. The
mark says which ledger it was and the number of its last event, never a later one than is durable. Invariant: an opened
ledger is the marked one and not behind it, or somebody accepted the loss.

`Keeper` writes the mark, beside the writer and never in its way; and as until a checkpoint what was stored lies in
SQLite's -wal file alone, it does that, too, in the way that waits for nobody and lets nobody wait. It does nothing
while nothing is written.
"""

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.core.errors import Conflict
from trainmaster.messages.said import Said
from trainmaster.messages.server import ledger as saying

_log: Final = logging.getLogger(__name__)

MARK_S: Final = 0.5
"""Between something stored and the mark that tells of it."""
CHECKPOINT_S: Final = 5.0
"""Between two checkpoints, while something is written."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger was: its name, the number of its last event, and when that was written down."""

    ledger: str
    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class Past:
    """What a home knows of its ledger. `path`: the mark. `traces`: whether the home holds what only a ledger's jobs
    leave.

    `accept_loss`: somebody has said that what is missing is to be forgotten.
    """

    path: str
    traces: Callable[[], bool] = lambda: False
    accept_loss: bool = False

    def mark(self) -> Mark | None:
        """Return the mark, None where there is none, or none that can be read."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found: Any = json.load(file)
            return Mark(str(found["ledger"]), int(found["seq"]), float(found["at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, mark: Mark) -> None:
        """Replace the mark. Raises OSError."""
        fresh = f"{self.path}.new"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"ledger": mark.ledger, "seq": mark.seq, "at": mark.at}, file)
        os.replace(fresh, self.path)

    def refuse_empty(self, where: Said | str) -> None:
        """Return when the ledger at `where` may be empty. Raises Conflict where this home has had one."""
        if self.accept_loss:
            return
        mark = self.mark()
        if mark is not None:
            raise Conflict(saying.ledger_missing(where, mark.seq, mark.at))
        if self.traces():
            raise Conflict(saying.ledger_missing_beside_jobs(where))

    def refuse_behind(self, ledger: str, seq: int) -> int:
        """Return the number that the next event must be above, for a ledger that ends at event `seq`.

        Raises Conflict when the ledger is another one than the marked, or behind it.
        """
        mark = self.mark()
        if mark is None or (mark.ledger == ledger and mark.seq <= seq):
            return seq
        if self.accept_loss:
            return max(seq, mark.seq)
        if mark.ledger != ledger:
            raise Conflict(saying.another_ledger())
        raise Conflict(saying.ledger_behind(seq, mark.seq, mark.at))


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
        behind = False  # the -wal holds something that no checkpoint has copied
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
