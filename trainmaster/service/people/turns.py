"""Slows guessing without turning anybody away for good: tries of one key wait for their turn, and failures move the
turns apart.

A try waits *before* its password is looked at, so that a right one is found however many wrong ones came before it, and
nobody learns anything by hanging up early. So many tries wait at most; the next one takes the place of any of them, so
that no one can keep all places. In memory, bounded. Invariant: between two tries of a key lie at least as many seconds
as its failures cost.
"""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from trainmaster.core.errors import RateLimited
from trainmaster.messages.server import people

FREE: Final = 5
"""Failures that cost no time."""
FIRST_S: Final = 0.25
FORGET_S: Final = 900.0
KEYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How far apart turns come to lie, in seconds, and how many tries wait for one: a try waits for their product at
    most.
    """

    longest_s: float
    seats: int


@dataclass(slots=True)
class _Line:
    failures: int = 0
    last: float = 0.0
    next_at: float = 0.0
    waiting: list["asyncio.Future[None]"] = field(default_factory=list)
    door: "asyncio.Task[None] | None" = None


class Turns:
    """One per server. `clock` returns monotonic seconds; `chance` chooses whose place is taken."""

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._chance = chance or random.SystemRandom()
        self._lines: OrderedDict[str, _Line] = OrderedDict()

    async def take(self, key: str, pace: Pace) -> None:
        """Return when it is this try's turn; it counts as failed until `succeeded`. Raises RateLimited when its place
        was taken.
        """
        line = self._line(key)
        if line.waiting or self._clock() < line.next_at:
            if len(line.waiting) >= pace.seats:
                place = line.waiting.pop(self._chance.randrange(len(line.waiting)))
                if not place.done():
                    place.set_exception(RateLimited(people.too_many_sign_ins()))
            seat: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            line.waiting.append(seat)
            if line.door is None:
                line.door = asyncio.create_task(self._let_in(line, pace))
            try:
                await seat
            finally:
                if seat in line.waiting:  # the caller hung up
                    line.waiting.remove(seat)
        else:
            self._count(line, pace)

    def succeeded(self, key: str) -> None:
        """Take back that the try counted as failed. What others failed before stays: their right password is not this
        one.
        """
        line = self._lines.get(key)
        if line is not None:
            line.failures = max(0, line.failures - 1)

    def forget(self, key: str) -> None:
        """Let the next tries be as the first."""
        line = self._lines.get(key)
        if line is not None:
            line.failures, line.next_at = 0, 0.0

    async def _let_in(self, line: _Line, pace: Pace) -> None:
        while line.waiting:
            await self._sleep(max(0.0, line.next_at - self._clock()))
            seat = line.waiting.pop(0) if line.waiting else None
            if seat is not None and not seat.done():  # `done`: the caller just hung up, and has not run yet
                self._count(line, pace)  # count it before its answer, or tries side by side would pass together
                seat.set_result(None)
        line.door = None

    def _count(self, line: _Line, pace: Pace) -> None:
        line.failures += 1
        line.last = self._clock()
        beyond = line.failures - FREE
        line.next_at = line.last + (0.0 if beyond < 0 else min(pace.longest_s, FIRST_S * 2.0 ** min(beyond, 30)))

    def _line(self, key: str) -> _Line:
        line = self._lines.get(key)
        if line is None or (not line.waiting and self._clock() - line.last > FORGET_S):
            line = self._lines[key] = _Line()
        self._lines.move_to_end(key)
        while len(self._lines) > KEYS:
            self._lines.popitem(last=False)  # tries that wait in it still get their turn
        return line
