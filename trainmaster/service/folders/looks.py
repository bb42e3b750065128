"""Looks at folders of users, whose file systems may hang (a network share whose server is gone), without waiting for
ever.

Each look has a thread of its own, which nobody can end while the file system hangs. Invariant: at most MOST such
threads exist, a place that hangs gets no further one, and neither the event loop nor the server's end waits for any.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, TypeVar

T = TypeVar("T")

LIMIT_S: Final = 5.0
MOST: Final = 8


class Looks:
    """One object per server; used in the loop's thread."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self.limit_s = limit_s
        self._room = asyncio.Semaphore(MOST)
        self._silent: set[str] = set()  # places whose last look timed out and still hangs

    async def look(self, place: str, work: Callable[[], T]) -> T:
        """Return what `work()` returns, from another thread. `place` names what it looks at.

        Raises TimeoutError after `limit_s`; at once while a look at the same place hangs, or while all that may be do.
        """
        if place in self._silent or len(self._silent) >= MOST:
            raise TimeoutError
        async with asyncio.timeout(self.limit_s):
            await self._room.acquire()
            found = self._begin(place, work)
            try:
                return await asyncio.shield(found)
            except asyncio.CancelledError:
                self._silent.add(place)
                raise

    def _begin(self, place: str, work: Callable[[], T]) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:
                answer.set_exception(error)
            with suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(self._back, place)

        threading.Thread(target=run, name="look", daemon=True).start()
        return asyncio.wrap_future(answer)

    def _back(self, place: str) -> None:
        self._silent.discard(place)
        self._room.release()
