"""How much of the server one person may have at a time: requests that take work or room wait for the same person's
others.

A body is read into memory only up to SMALL bytes before it has its turn, so that memory is bounded by persons, not by
requests; what takes more than a moment to answer has a turn of its own, of which there are few in all, so that the rest
of the server is answered beside it. What only looks has turns of its own: a page of many logs stops no submit. Who
takes much of the server's own time waits before large requests while others are there (`Allowance`); what is small,
such as a stop, never waits for that. Invariant: waiting costs nothing but a place, of which a person has PLACES of each
kind; who asks for more is told to wait.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from starlette.types import Message, Receive

from trainmaster.core.errors import RateLimited, TooLarge
from trainmaster.messages.server import requests
from trainmaster.service.helpers.meter import Meter

SMALL: Final = 64 * 1024
"""Bytes of a body that are read without a turn."""
LARGE: Final = 4096
"""Bytes of a body that may take much of the server's own time."""
EACH: Final = 2
"""Turns of one person, of each kind."""
ALL: Final = 4
"""Requests of a kind that are worked at side by side, whosever they are."""
PLACES: Final = 64
"""Requests of one person and kind that may have a turn or wait for one."""


SHARE: Final = 0.1
"""Of the server's own time, what one person may take for long while others are there."""
CREDIT_S: Final = 0.5
"""What they may take at once."""
DEBT_S: Final = 1.5
"""What is remembered of what they took beyond that."""
AROUND_S: Final = 5.0
"""Who asked for something in that time is there."""


class PersonTurns:
    """The turns of one kind that one person has. `refusal`: what is said to too many."""

    def __init__(self, refusal: Callable[[], RateLimited]) -> None:
        self._refusal = refusal
        self._free = asyncio.Semaphore(EACH)
        self.here = 0
        """Requests that have a turn or wait for one."""

    async def take(self) -> None:
        """Wait for a turn. Raises RateLimited when too many wait; then there is nothing to give back."""
        if self.here >= PLACES:
            raise self._refusal()
        self.here += 1
        try:
            await self._free.acquire()
        except BaseException:
            self.here -= 1
            raise

    def give(self) -> None:
        """Give a turn back."""
        self.here -= 1
        self._free.release()


class Allowance:
    """The seconds of the server's own time that one person may take, as they come back with time."""

    def __init__(self) -> None:
        self._left, self._at = CREDIT_S, time.monotonic()
        self.waiting = 0

    def take(self, seconds: float) -> None:
        """Count what a request took."""
        self._left = max(self._now() - seconds, -DEBT_S)

    async def wait(self, others: Callable[[], bool]) -> None:
        """Return when there is something left, or no others are there. Raises RateLimited when too many wait."""
        if self._now() > 0 or not others():
            return
        if self.waiting >= PLACES:
            raise _much_work()
        self.waiting += 1
        try:
            while (left := self._now()) <= 0 and others():
                await asyncio.sleep(min(AROUND_S, 0.001 - left / SHARE))
        finally:
            self.waiting -= 1

    def _now(self) -> float:
        now = time.monotonic()
        self._left, self._at = min(CREDIT_S, self._left + (now - self._at) * SHARE), now
        return self._left


def _much_work() -> RateLimited:
    return RateLimited(requests.too_much_work(PLACES))


def _many_looks() -> RateLimited:
    return RateLimited(requests.too_many_looks(PLACES))


class Person:
    """The turns of one person: who watches many logs can still submit, and who submits much can still look."""

    def __init__(self) -> None:
        self.bodies, self.works, self.looks = PersonTurns(_much_work), PersonTurns(_much_work), PersonTurns(_many_looks)
        self.allowance = Allowance()
        self.seen = 0.0

    @property
    def here(self) -> int:
        """Return how many requests have a turn or wait for one."""
        return self.bodies.here + self.works.here + self.looks.here


class Desk:
    """One object per application; used in the loop's thread."""

    def __init__(self) -> None:
        self._persons: defaultdict[str, Person] = defaultdict(Person)
        self._works, self._looks = asyncio.Semaphore(ALL), asyncio.Semaphore(ALL)

    def of(self, name: str) -> Person:
        """Return the turns of the person called `name`. As many are kept as there are persons who may come in."""
        return self._persons[name]

    def comes(self, name: str) -> Person:
        """Return the turns of the person called `name`, who asks for something."""
        person = self._persons[name]
        person.seen = time.monotonic()
        return person

    async def work(self, person: Person, work: Coroutine[Any, Any, None], large: bool) -> None:
        """Work at a request of `person`; a `large` one may have to wait. Raises RateLimited."""
        try:
            if large:
                await person.allowance.wait(lambda: self._others(person))
        except BaseException:
            work.close()
            raise
        meter = Meter()
        try:
            await meter.count(work)
        finally:
            person.allowance.take(meter.spent)

    def _others(self, person: Person) -> bool:
        since = time.monotonic() - AROUND_S
        return any(other.seen > since for other in self._persons.values() if other is not person)

    def working(self, name: str) -> AbstractAsyncContextManager[None]:
        """Work at a request of `name` that takes more than a moment. Raises RateLimited."""
        return _turn(self.of(name).works, self._works)

    def looking(self, name: str) -> AbstractAsyncContextManager[None]:
        """Read for `name` what lies in files. Raises RateLimited."""
        return _turn(self.of(name).looks, self._looks)


@asynccontextmanager
async def _turn(own: PersonTurns, everybodys: asyncio.Semaphore) -> AsyncIterator[None]:
    await own.take()
    try:
        async with everybodys:
            yield
    finally:
        own.give()


class Intake:
    """Reads one body: not more than `limit` bytes, and no more than SMALL of them without a turn of `person` (None:
    nobody's).

    Raises TooLarge at once when `announced`, what Content-Length says, is above the limit.
    """

    def __init__(self, receive: Receive, announced: int | None, limit: int, person: Person | None) -> None:
        self._receive, self._limit, self._person = receive, limit, person
        self._taken = 0
        self._held = False
        if announced is not None and announced > limit:
            raise self._too_large()

    async def receive(self) -> Message:
        """Return the next piece. Raises TooLarge, RateLimited."""
        if self._taken > SMALL and not self._held and self._person is not None:
            await self._person.bodies.take()
            self._held = True
        message = await self._receive()
        self._taken += len(message.get("body", b""))
        if self._taken > self._limit:
            raise self._too_large()
        return message

    def done(self) -> None:
        """Give the turn back: the request is answered."""
        if self._held and self._person is not None:
            self._held = False
            self._person.bodies.give()

    def _too_large(self) -> TooLarge:
        most = f"{self._limit // 1024} KiB" if self._limit < 2**20 else f"{self._limit // 2**20} MiB"
        return TooLarge(requests.body_too_large(most))
