"""How much of the server one person may have at a time: requests that take work or room wait for the same person's others.

A body is read into memory only up to SMALL bytes before it has its turn, so that memory is bounded by persons, not by requests; what
takes more than a moment to answer has a turn of its own, of which there are few in all, so that the rest of the server is answered
beside it. What only looks has turns of its own: a page of many logs stops no submit. Invariant: waiting costs nothing but a place,
of which a person has PLACES of each kind; who asks for more is told to wait.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from starlette.types import Message, Receive

from trainmaster.core.errors import RateLimited, TooLarge

SMALL: Final = 64 * 1024
"""Bytes of a body that are read without a turn."""
EACH: Final = 2
"""Turns of one person, of each kind."""
ALL: Final = 4
"""Requests of a kind that are worked at side by side, whosever they are."""
PLACES: Final = 64
"""Requests of one person and kind that may have a turn or wait for one."""


class Turns:
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


def _much_work() -> RateLimited:
    return RateLimited(
        f"{PLACES} of your requests are being worked at or wait already",
        remedy="Wait for their answers, then send further ones.",
    )


def _many_looks() -> RateLimited:
    return RateLimited(
        f"{PLACES} of your requests for logs and curves are being answered or wait already",
        remedy="Close pages that show logs or curves.",
    )


class Person:
    """The turns of one person: who watches many logs can still submit, and who submits much can still look."""

    def __init__(self) -> None:
        self.bodies, self.works, self.looks = Turns(_much_work), Turns(_much_work), Turns(_many_looks)

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

    def working(self, name: str) -> AbstractAsyncContextManager[None]:
        """Work at a request of `name` that takes more than a moment. Raises RateLimited."""
        return _turn(self.of(name).works, self._works)

    def looking(self, name: str) -> AbstractAsyncContextManager[None]:
        """Read for `name` what lies in files. Raises RateLimited."""
        return _turn(self.of(name).looks, self._looks)


@asynccontextmanager
async def _turn(own: Turns, everybodys: asyncio.Semaphore) -> AsyncIterator[None]:
    await own.take()
    try:
        async with everybodys:
            yield
    finally:
        own.give()


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
        return TooLarge("The request is larger than this server accepts", remedy=f"Send at most {most}.")
