"""Clocks for the fake engine: real time, and time that a test turns by hand.

Invariant of the virtual clock: what is due is called in the order of its time, and of its asking when times are equal.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Where the fake's time comes from."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...

    def call_at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` once `when` has come."""
        ...


class WallClock:
    """Real time, by the running event loop."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def call_at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` once `when` has come."""
        asyncio.get_running_loop().call_later(max(0.0, when - time.time()), what)


class VirtualClock:
    """Time that passes only in `advance`: a day of training takes no time, and in the same order every time."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._now

    def call_at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` once `when` has come."""
        heapq.heappush(self._due, (max(when, self._now), next(self._number), what))

    async def advance(self, seconds: float = 0.0) -> None:
        """Let time pass: call what is due, in order, and let the event loop react after each."""
        await _react()
        until = self._now + seconds
        while self._due and self._due[0][0] <= until:
            self._now, _, what = heapq.heappop(self._due)
            what()
            await _react()
        self._now = until


async def _react() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
