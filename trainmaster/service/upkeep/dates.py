"""Keeps dates true: takes up where the platform's clock stood, and follows the machine's clock when that was set.

Invariant: the clock, the times of all live jobs, and what the ledger holds of both move together, in one turn of the
loop and in one batch. If that cannot be stored, the recovery takes all of it back.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.queue.placing.packing import RECENT
from trainmaster.service.context import Context
from trainmaster.service.control.clock import Clock

log = logging.getLogger("trainmaster.dates")

LOOK_S: Final = 5.0
"""Between two looks at the machine's clock. Nothing goes wrong meanwhile: it is only that dates are the old ones."""


class Dates:
    """One object per server; all methods in the loop's thread."""

    def __init__(self, clock: Clock, context: Context) -> None:
        self._clock, self._ctx = clock, context
        self._resumed = False
        self._task: asyncio.Task[None] | None = None

    async def restore(self) -> None:
        """Let the clock go on from where the ledger says that it stood. Before anything that asks for the time."""
        stand, newest = await asyncio.to_thread(self._ctx.records.clock)
        before = self._clock()
        self._resumed = self._clock.resume(stand, newest)
        # After a failed commit: usage and forecasts had moved with times that were never stored.
        if self._task is not None:
            self._moved(self._clock() - before)

    def restored(self) -> None:
        """Note where the clock stands, after a start of the machine; from then on follow the machine's."""
        if not self._resumed:
            self._ctx.master.set_clock(0.0, self._clock.stand())
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def close(self) -> None:
        """Follow no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            with suppress(TrainmasterError):  # the ledger cannot be written: no time has moved
                await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Follow the machine's clock if it was set. Raises StorageFailed or Unavailable while the ledger is out of
        order.
        """
        if not self._clock.moved():
            return
        asked = await asyncio.to_thread(self._ctx.records.asked_last, RECENT)
        by_s, stood = self._clock.moved(), self._clock.stand()
        self._clock.follow(by_s)
        try:
            self._ctx.master.set_clock(by_s, self._clock.stand())
        except TrainmasterError:
            self._clock.resume(stood, 0.0)
            raise
        log.warning("the clock of this machine was set by %+.1f s; dates follow, durations do not change", by_s)
        self._moved(by_s)
        self._ctx.followers.restore(list(self._ctx.master.live.values()), asked)
        self._ctx.master.wake()

    def _moved(self, by_s: float) -> None:
        if by_s:
            self._ctx.scheduling.fair.clock_set(by_s)
            self._ctx.forecasts.clock_set(by_s)
