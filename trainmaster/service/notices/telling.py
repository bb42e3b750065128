"""Tells what happened: reads the ledger's events behind the place up to which everybody was told, and stores what is
told together with the new place.

A server that is killed goes on there, so nothing is told twice in the console and nothing is left out. Costs nothing
while nothing ends.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.control.feed import Feed, notices_changed
from trainmaster.service.notices.audience import Audience
from trainmaster.service.notices.facts import happening_of, is_worth_telling
from trainmaster.service.notices.kinds import Happening
from trainmaster.store.notices.happened import HappenedRows
from trainmaster.store.notices.rows import NoticeRows, ToTell

log = logging.getLogger("trainmaster.notices")

GATHER_S: Final = 0.25
"""What ends within this time is told in one transaction."""
AGAIN_S: Final = 5.0
MANY: Final = 10_000
"""Events without anything to tell, after which the place is noted all the same."""


class Teller:
    """One object per server; in the loop's thread. `sends` is called when there is something to send, `on_first` before
    anything is told on a store for the first time.
    """

    def __init__(
        self, happened: HappenedRows, rows: NoticeRows, audience: Audience, feed: Feed, clock: Callable[[], float]
    ) -> None:
        self._happened, self._rows, self._audience, self._feed, self._clock = happened, rows, audience, feed, clock
        self._woken = asyncio.Event()
        self.sends: Callable[[], None] = lambda: None
        self.on_first: Callable[[], Awaitable[None]] = _nothing

    def stored(self, changed: Iterable[Job]) -> None:
        """See what became durable, and look when something of it may be told. O(changed)."""
        if any(job.terminal or (job.state is JobState.QUEUED and job.next_cause == "preempted") for job in changed):
            self._woken.set()

    async def follow(self) -> None:
        """Tell, again and again."""
        while True:
            try:
                if await asyncio.to_thread(self._happened.begin):
                    await self.on_first()
                while await self.tell_new():
                    await asyncio.sleep(0)
            except TrainmasterError as error:
                log.warning("notifications could not be stored; tried again later: %s", error)
                await asyncio.sleep(AGAIN_S)
                continue
            await self._woken.wait()
            await asyncio.sleep(GATHER_S)
            self._woken.clear()

    async def tell_new(self) -> bool:
        """Tell one page of what happened; return whether there may be more. Raises StorageFailed, Unavailable."""
        page = await asyncio.to_thread(self._happened.page)
        if page.facts or page.upto - page.before > MANY:
            told = map(happening_of, filter(is_worth_telling, page.facts))
            found = {one.key: one for one in told}  # two events of one moment are one end
            await self._tell(list(found.values()), (page.before, page.upto))
        return page.more

    async def tell(self, one: Happening) -> bool:
        """Tell of what no event says, unless that was done; return whether it was now. Raises StorageFailed."""
        return await self._tell([one], None, one.key)

    async def _tell(self, happenings: list[Happening], place: tuple[int, int] | None, once: str = "") -> bool:
        now = self._clock()
        notices, deliveries = await asyncio.to_thread(self._audience.told, happenings, now)
        told = ToTell(tuple(notices), tuple(deliveries), place, once)
        people = await asyncio.to_thread(partial(self._rows.tell, told, now))
        for person in sorted(people or ()):
            self._feed.publish(notices_changed(self._feed.seq, person))
        if deliveries and people is not None:
            self.sends()
        return people is not None


async def _nothing() -> None:
    return None
