"""Guesses wait for turns that lie further and further apart; a right password gets its turn, however many wrong ones
there are.
"""

import asyncio
import random
from collections.abc import Awaitable
from typing import Any

import pytest

from trainmaster.core.errors import RateLimited
from trainmaster.service.people.turns import FORGET_S, FREE, KEYS, Pace, Turns

PACE = Pace(longest_s=10.0, seats=3)


class Time:
    """A clock that goes on when everybody waits: nothing is slept, and the order is exact."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, len(self._sleepers), woken))
        await woken

    def wake(self) -> None:
        """Wake who sleeps longest already; they go on with the next turn of the loop."""
        due = self._sleepers.pop(0)
        self.now = due[0]
        due[2].set_result(None)

    async def run(self, *work: Awaitable[Any]) -> list[Any]:
        """Run all of `work` to its end, and wake who sleeps, the first first."""
        task = asyncio.gather(*work, return_exceptions=True)
        while not task.done():
            for _ in range(50):
                await asyncio.sleep(0)
            if self._sleepers and not task.done():
                due = min(self._sleepers)
                self._sleepers.remove(due)
                self.now = max(self.now, due[0])
                due[2].set_result(None)
        return task.result()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def turns(time: Time) -> Turns:
    return Turns(time.clock, time.sleep, random.Random(7))


async def fail(turns: Turns, time: Time, key: str, times: int) -> list[float]:
    """Fail so often, one after the other; return how long each had to wait."""
    waits = []
    for _ in range(times):
        before = time.now
        await time.run(turns.take(key, PACE))
        waits.append(time.now - before)
    return waits


async def test_the_first_failures_cost_nothing_and_the_next_more_and_more(turns: Turns, time: Time) -> None:
    waits = await fail(turns, time, "a", 14)
    assert waits[: FREE + 1] == [0, 0, 0, 0, 0, 0.25]
    assert waits[FREE + 1 :] == [0.5, 1, 2, 4, 8, 10, 10, 10]
    assert await fail(turns, time, "b", 1) == [0]


async def test_tries_side_by_side_are_no_faster_than_one_after_the_other(turns: Turns, time: Time) -> None:
    await fail(turns, time, "a", 12)
    began, turned = time.now, []

    async def guess() -> None:
        await turns.take("a", PACE)
        turned.append(time.now - began)

    await time.run(*(guess() for _ in range(PACE.seats)))
    assert turned == [10, 20, 30]


async def test_nobody_waits_longer_than_all_places_take(turns: Turns, time: Time) -> None:
    """Behind a proxy everybody has one address: who guesses all the time delays the others, and shuts nobody out."""
    await fail(turns, time, "a", 20)
    guessing = True

    async def guesser() -> None:
        while guessing:
            try:
                await turns.take("a", PACE)
            except RateLimited:
                await time.sleep(1.0)

    async def owner() -> float:
        nonlocal guessing
        began = time.now
        await turns.take("a", PACE)
        guessing = False
        return time.now - began

    *_, waited = await time.run(*(guesser() for _ in range(PACE.seats - 1)), owner())
    assert waited <= PACE.longest_s * PACE.seats


async def test_all_places_taken_one_is_given_to_the_next_so_that_none_is_kept_for_ever(
    turns: Turns, time: Time
) -> None:
    await fail(turns, time, "a", 12)
    results = await time.run(*(turns.take("a", PACE) for _ in range(PACE.seats + 5)))
    assert sum(isinstance(result, RateLimited) for result in results) == 5
    assert results[-1] is None  # whoever came last has a place
    assert sum(result is None for result in results) == PACE.seats


async def test_who_hangs_up_leaves_the_line(turns: Turns, time: Time) -> None:
    await fail(turns, time, "a", 12)
    gone = asyncio.ensure_future(turns.take("a", PACE))
    await asyncio.sleep(0)
    gone.cancel()
    assert await time.run(gone, turns.take("a", PACE)) != [None, None]
    assert not turns._line("a").waiting


async def test_who_hangs_up_when_it_is_their_turn_holds_up_nobody(turns: Turns, time: Time) -> None:
    """Their task is cancelled, and has not run yet, when the next one is let in, or takes a place."""
    await fail(turns, time, "a", 12)
    line = [asyncio.ensure_future(turns.take("a", PACE)) for _ in range(PACE.seats)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # the door waits now
    time.wake()
    line[0].cancel()
    assert [type(result) for result in await time.run(*line)] == [
        asyncio.CancelledError,
        *[type(None)] * (PACE.seats - 1),
    ]

    line = [asyncio.ensure_future(turns.take("a", PACE)) for _ in range(PACE.seats)]
    await asyncio.sleep(0)
    last = asyncio.ensure_future(turns.take("a", PACE))
    for gone in line:
        gone.cancel()
    assert (await time.run(last, *line))[0] is None


async def test_success_takes_back_only_its_own_try(turns: Turns, time: Time) -> None:
    """Who has an account of their own cannot buy free guesses at others with it."""
    await fail(turns, time, "a", 12)
    await time.run(turns.take("a", PACE))
    turns.succeeded("a")
    assert await fail(turns, time, "a", 1) == [10]
    turns.forget("a")
    assert await fail(turns, time, "a", FREE) == [0] * FREE


async def test_quiet_forgets_and_memory_is_bounded(turns: Turns, time: Time) -> None:
    await fail(turns, time, "a", 12)
    time.now += FORGET_S + 1
    assert await fail(turns, time, "a", FREE) == [0] * FREE
    for number in range(KEYS + 100):
        await turns.take(str(number), PACE)
    assert len(turns._lines) == KEYS
