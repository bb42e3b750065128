"""Deadlines cost what is pending, not what ever was, and one job's mistake holds up no other's."""

import asyncio

from trainmaster.service.control.timers import SPARE, Timers


async def test_deadlines_that_were_dropped_or_moved_take_no_room() -> None:
    """A job with a year's duration that ends after a minute must not be remembered for a year."""
    timers = Timers(lambda: 0.0, lambda key: None)
    for number in range(10_000):
        timers.set(f"expire:{number}", 3e7)
        timers.drop(f"expire:{number}")
        timers.set("expire:kept", 3e7 + number)
    assert len(timers._heap) <= 2 + SPARE + 1
    timers.close()


async def test_a_deadline_that_fails_does_not_keep_the_next_from_coming() -> None:
    """R191: every duration that runs out is acted on."""
    came, last = list[str](), asyncio.Event()

    def due(key: str) -> None:
        came.append(key)
        if key == "last":
            last.set()
        if key == "bad":
            raise KeyError(key)

    timers = Timers(lambda: 10.0, due)
    timers.set("bad", 1.0)
    timers.set("good", 2.0)
    timers.set("last", 3.0)
    await asyncio.wait_for(last.wait(), 60)
    assert came == ["bad", "good", "last"]
