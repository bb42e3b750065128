"""Deadlines of jobs (durations, debug holds) on one heap and one loop timer. Nothing ticks while nothing is due.

Invariant: at most one pending loop timer, set for the earliest deadline. A deadline is replaced by setting it again.
"""

import asyncio
import heapq
import logging
from collections.abc import Callable
from typing import Final

log = logging.getLogger("trainmaster.timers")

SPARE: Final = 64
"""Entries of the heap that may be out of date before it is made anew, besides as many as there are deadlines."""


class Timers:
    """Calls `due(key)` in the loop when the clock reaches a key's deadline. O(log n) per change."""

    def __init__(self, clock: Callable[[], float], due: Callable[[str], None]) -> None:
        self._clock, self._due = clock, due
        self._at: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        self._timer: asyncio.TimerHandle | None = None

    def set(self, key: str, at: float | None) -> None:
        """Set (or with None remove) the deadline of `key`, seconds since the epoch."""
        if at is None:
            self._at.pop(key, None)
            return
        self._at[key] = at
        heapq.heappush(self._heap, (at, key))
        if len(self._heap) > 2 * len(self._at) + SPARE:  # deadlines of ended jobs may lie a year ahead
            self._heap = [(at, key) for key, at in self._at.items()]
            heapq.heapify(self._heap)
        self._arm()

    def drop(self, key: str) -> None:
        """Forget `key`."""
        self._at.pop(key, None)

    def close(self) -> None:
        """Cancel the loop timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        self.close()
        if self._heap:
            wait = max(0.0, self._heap[0][0] - self._clock())
            self._timer = asyncio.get_running_loop().call_later(min(wait, 3600.0), self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._clock()
        while self._heap and self._heap[0][0] <= now:
            at, key = heapq.heappop(self._heap)
            if self._at.get(key) == at:
                del self._at[key]
                try:
                    self._due(key)
                except Exception:  # one job's mistake must not keep the others from their end
                    log.exception("the deadline %s could not be acted on", key)
        self._arm()
