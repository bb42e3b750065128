"""Several servers on one home on PostgreSQL: one leads, the others stand by, and one of them takes its place when it is
gone.

The database says who leads (`store/database`: a lock that dies with its session, and an epoch that fences off whoever
led before). Nothing is handed over: who takes over does what every start does. Invariant: while this process does not
lead it writes nothing.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from trainmaster.core.config import Config
from trainmaster.core.errors import Conflict, TrainmasterError, Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server.ledger import only_postgresql_is_shared, standby_needs_address
from trainmaster.service.platform import Platform
from trainmaster.service.wiring import follow, lead
from trainmaster.store.leading import AnotherLeads

log = logging.getLogger("trainmaster.failover")

LOOK_S: Final = 1.0
"""Between two looks at who leads."""
START_S: Final = 30.0
"""How long a start waits for the tables that another one is just making."""


class Failover:
    """This process among those of a home; all methods in the loop's thread. `address`: where the others reach it, and
    are told to once it leads and answers.

    Raises Conflict where the ledger is not on PostgreSQL or there is no address, else like `wiring.lead` and
    `wiring.follow`.
    """

    def __init__(self, layout: Layout, config: Config, address: str, *, accept_loss: bool = False) -> None:
        if not config.server.shared:
            raise Conflict(only_postgresql_is_shared())
        if not address:
            raise Conflict(standby_needs_address(config.server.host))
        self._layout, self._config, self.address = layout, config, address
        self.leader: str | None = None
        """Where the server answers that leads, "" until it has said so; None while that is this one, or nobody."""
        self.on_change: list[Callable[[Platform], None]] = []
        """Told whenever another platform answers in this process, or the same one leads no more."""
        self.platform = self._first(accept_loss)
        """Who answers in this process now."""
        self._following: asyncio.Task[None] | None = None
        self._trouble = ""

    @property
    def leads(self) -> bool:
        """Whether this process leads."""
        return self.platform.context.leads

    async def start(self) -> None:
        """Begin, and go on with whatever becomes of the others. Raises Unavailable when this process leads and no
        engine can be used.
        """
        if self.leads:
            await self.platform.start()
            await self.platform.announce()
        else:
            await self._look()
            await self.platform.stand_by()
        self._following = asyncio.get_running_loop().create_task(self._follow())

    def leave(self) -> None:
        """Start nothing more."""
        self.platform.leave()

    async def close(self) -> None:
        """Let go of everything; the next one takes over at once."""
        if self._following is not None:
            self._following.cancel()
            with suppress(asyncio.CancelledError):
                await self._following
        await self.platform.close()

    def _first(self, accept_loss: bool) -> Platform:
        """Return a platform that leads, or one that follows whoever does."""
        give_up = time.monotonic() + START_S
        while True:
            try:
                return lead(self._layout, self._config, accept_loss=accept_loss, address=self.address)
            except AnotherLeads:
                pass
            try:
                return follow(self._layout, self._config)
            except Unavailable:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.2)  # the leader is still making the tables

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await (self._keep() if self.leads else self._wait())
            except TrainmasterError as error:
                if error.message != self._trouble:
                    log.warning("%s", error.message)
                self._trouble = error.message
            except Exception:  # go on looking: the lead may be free next time
                log.exception("who leads could not be looked at")
            else:
                self._trouble = ""

    async def _keep(self) -> None:
        """Step down once another one leads: what is in memory here is out of date."""
        if not await asyncio.to_thread(self.platform.context.records.database.fenced):
            await self.platform.announce()  # where that could not be said yet
            return
        log.warning("another server leads; this one stands by")
        try:
            await self.platform.step_down()
        finally:
            self._tell()
        await self._look()

    async def _wait(self) -> None:
        """Take over once nobody leads."""
        await self._look()
        if self.leader is not None:
            await self.platform.catch_up()
            return
        try:
            platform = await asyncio.to_thread(lead, self._layout, self._config, address=self.address, patience_s=0.0)
        except AnotherLeads:  # one more stood by, and was faster
            return
        log.warning("nobody led; this server leads now")
        await self._replace(platform)

    async def _look(self) -> None:
        leader = await asyncio.to_thread(self.platform.context.records.database.leader)
        self.leader = None if leader == self.address else leader

    async def _replace(self, platform: Platform) -> None:
        """Let `platform` lead once it has begun, and close the one before, which answers what it can meanwhile."""
        try:
            await platform.start()
        except BaseException:
            await platform.close()
            raise
        before, self.platform = self.platform, platform
        self.leader = None
        self._tell()
        try:
            await platform.announce()
        finally:
            await before.close()

    def _tell(self) -> None:
        for tell in self.on_change:
            try:
                tell(self.platform)
            except Exception:  # a listener's failure (full disk, closed terminal) must not decide who leads
                log.exception("that another server leads could not be told")
