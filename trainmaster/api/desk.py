"""How much of the server one person may have at a time: requests that take work or room wait for the same person's others.

A body is read into memory only up to SMALL bytes before it has its turn, so that memory is bounded by persons, not by requests; what
takes more than a moment to answer has a turn of its own, of which there are few in all, so that the rest of the server is answered
beside it. Invariant: waiting costs nothing but a place, of which a person has PLACES; who asks for more is told to wait.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.types import Message, Receive

from trainmaster.core.errors import RateLimited, TooLarge

SMALL: Final = 64 * 1024
"""Bytes of a body that are read without a turn."""
EACH: Final = 2
"""Turns of one person at a time, of either kind."""
ALL: Final = 4
"""Requests that are worked at side by side, whosever they are."""
PLACES: Final = 64
"""Requests of one person that may wait for a turn."""


class Person:
    """The turns of one person."""

    def __init__(self) -> None:
        self.bodies, self.works = asyncio.Semaphore(EACH), asyncio.Semaphore(EACH)
        self.here = 0
        """Requests that have a turn or wait for one."""

    async def take(self, turns: asyncio.Semaphore) -> None:
        """Wait for a turn. Raises RateLimited when too many wait; then there is nothing to give back."""
        if self.here >= PLACES:
            raise RateLimited(
                f"{PLACES} of your requests are being worked at or wait already",
                remedy="Wait for their answers, then send further ones.",
            )
        self.here += 1
        try:
            await turns.acquire()
        except BaseException:
            self.here -= 1
            raise

    def give(self, turns: asyncio.Semaphore) -> None:
        """Give a turn back."""
        self.here -= 1
        turns.release()


class Desk:
    """One object per application; used in the loop's thread."""

    def __init__(self) -> None:
        self._persons: defaultdict[str, Person] = defaultdict(Person)
        self._works = asyncio.Semaphore(ALL)

    def of(self, name: str) -> Person:
        """Return the turns of the person called `name`. As many are kept as there are persons who may come in."""
        return self._persons[name]

    @asynccontextmanager
    async def working(self, name: str) -> AsyncIterator[None]:
        """Work at a request of `name` that takes more than a moment. Raises RateLimited."""
        person = self.of(name)
        await person.take(person.works)
        try:
            async with self._works:
                yield
        finally:
            person.give(person.works)


class Intake:
    """Reads one body: not more than `limit` bytes, and no more than SMALL of them without a turn of `person` (None: nobody's).

    Raises TooLarge at once when `announced`, the header Content-Length, is above the limit.
    """

    def __init__(self, receive: Receive, announced: bytes | None, limit: int, person: Person | None) -> None:
        self._receive, self._limit, self._person = receive, limit, person
        self._taken = 0
        self._held = False
        if announced is not None and announced.isdigit() and int(announced[:20]) > limit:
            raise self._too_large()

    async def receive(self) -> Message:
        """Return the next piece. Raises TooLarge, RateLimited."""
        if self._taken > SMALL and not self._held and self._person is not None:
            await self._person.take(self._person.bodies)
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
            self._person.give(self._person.bodies)

    def _too_large(self) -> TooLarge:
        most = f"{self._limit // 1024} KiB" if self._limit < 2**20 else f"{self._limit // 2**20} MiB"
        return TooLarge("The request is larger than this server accepts", remedy=f"Send at most {most}.")
