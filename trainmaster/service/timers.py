"""Deadlines of jobs (durations, debug holds) on one heap and one loop timer. Nothing ticks while nothing is due.

Invariant: at most one pending loop timer, set for the earliest deadline. A deadline is replaced by setting it again.
"""

import asyncio
import heapq
from collections.abc import Callable


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
                self._due(key)
        self._arm()
