"""Passes that are wanted again soon: a timer of less than a millisecond is another kind of thing in uvloop."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from trainmaster.service.control.feed import Feed
from trainmaster.service.control.master import Master, Planned


class Again:
    """Followers that want another pass in a tenth of a millisecond, three times."""

    def __init__(self) -> None:
        self.planned = 0

    def plan(self, now: float) -> Planned:
        self.planned += 1
        return Planned(again_s=1e-4 if self.planned < 4 else None)


@pytest.mark.parametrize("loop_factory", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_pass_is_wanted_again_within_a_millisecond(
    loop_factory: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> int:
        nothing: Any = None
        again: Any = Again()
        master = Master(nothing, Feed(nothing), lambda: 0.0, again)
        master.wake()
        async with asyncio.timeout(60):
            while again.planned < 4:
                master.wake()  # something else wakes it between
                await asyncio.sleep(0.001)
        return int(again.planned)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        assert runner.run(run()) >= 4
    assert not caplog.records
