"""A thread that brings the index by which jobs are found after the ledger, a little at a time, while the writer has
nothing better to do, and keeps it in one piece. Changes nothing else.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from sqlalchemy import Connection

from trainmaster.store.finding import index

_log: Final = logging.getLogger(__name__)

AT_ONCE: Final = 50
"""Jobs of one transaction: some 10 ms in which the writer does nothing else."""
_QUIET_S, _PATIENCE_S, _REST, _AGAIN_S = 1.0, 10.0, 3.0, 30.0
"""How long nothing has been written when it begins, and how long it waits for that at most; the pause behind a turn, as
a multiple of the turn; and after a failure.
"""


class Filler:
    """One object per leading database. `write` runs a function in the writer's thread."""

    def __init__(self, write: Callable[[Callable[[Connection], bool]], "Future[Any]"]) -> None:
        self._write = write
        self._moved, self._closing = threading.Event(), threading.Event()
        self._moved.set()  # what an earlier process did not come to
        self._thread = threading.Thread(target=self._run, name="ledger-filler", daemon=True)
        self._thread.start()

    def moved(self) -> None:
        """Hear that there are more jobs: costs nothing."""
        if not self._moved.is_set():
            self._moved.set()

    def close(self) -> None:
        """End; what is missing is added by the next server."""
        self._closing.set()
        self._moved.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._moved.wait()
            self._wait_until_quiet()
            more = True
            while more and not self._closing.is_set():
                began = time.monotonic()
                try:
                    more = self._write(_step).result()
                except Exception as error:  # a full disk, a database that is away: it is said there
                    _log.debug("the index of jobs was not brought up to date: %s", error)
                    self._closing.wait(_AGAIN_S)
                else:
                    self._closing.wait(_REST * (time.monotonic() - began) if more else 0)

    def _wait_until_quiet(self) -> None:
        """Return once nothing was written for a while, so that a storm of submits has the writer for itself."""
        began = time.monotonic()
        while self._moved.is_set() and time.monotonic() - began < _PATIENCE_S and not self._closing.is_set():
            self._moved.clear()
            self._closing.wait(_QUIET_S)
        self._moved.clear()


def _step(connection: Connection) -> bool:
    """Return whether there is more to do."""
    return index.fill(connection, AT_ONCE) == AT_ONCE or index.merge(connection)
