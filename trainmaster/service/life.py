"""A server's life: it starts, goes on where every job is, recovers when the ledger failed, follows the machines, and
lets go.

There is no recovery mode: a start, and what follows a failed commit, read what is live from the ledger and repeat the
order of every phase. Invariant: orders are taken from what the ledger holds, before the loop can plan: nothing is acted
on that is not durable.
"""

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.engines.base import Engine
from trainmaster.queue.placing.packing import RECENT
from trainmaster.service.cluster.quotas import policy_of, rights_of
from trainmaster.service.context import Context
from trainmaster.service.control.feed import cluster_changed
from trainmaster.service.control.observe import Observer
from trainmaster.service.control.orders import OrderRunner
from trainmaster.service.control.timers import Timers
from trainmaster.service.people.people import People
from trainmaster.service.upkeep.pulse import Pulse
from trainmaster.service.upkeep.sweeping import Sweeper
from trainmaster.service.use_cases.readiness import Readiness
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Ledger

log = logging.getLogger("trainmaster.life")

MACHINES_S: Final = 15.0
"""Between two looks at the machines: nodes are drained, limits and drivers changed without anybody telling us."""
THREADS: Final = 32
"""Threads for what may block. Python's own choice is six on two cores: a few slow readings of charts, or models being
saved, would then hold up every list.
"""


class Life:
    """One per server; all methods in the loop's thread."""

    def __init__(
        self,
        context: Context,
        *,
        people: People,
        shell: OrderRunner,
        observer: Observer,
        pulse: Pulse,
        timers: Timers,
        sweeper: Sweeper,
        readiness: Readiness,
        database: Database,
        ledger: Ledger,
    ) -> None:
        self._ctx, self._people, self._shell, self._observer, self._pulse = context, people, shell, observer, pulse
        self._timers, self._sweeper, self._readiness = timers, sweeper, readiness
        self._database, self._ledger = database, ledger
        self._background: set[asyncio.Task[None]] = set()
        self._started = False

    async def stand_by(self) -> None:
        """Answer from rows and files while another server leads. Nothing is written, planned or asked of an engine."""
        _use_threads()
        await self._people.meet()
        await self._ctx.pools.start()
        await self.catch_up()

    async def catch_up(self) -> None:
        """Take in how far the ledger is: whoever lists here watches from there."""
        self._ctx.feed.start_at(await asyncio.to_thread(self._ctx.records.last_seq))

    async def start(self) -> None:
        """Read what is live, connect to the engines, and go on where every job is. Raises Unavailable when none can be
        used.
        """
        ctx = self._ctx
        _use_threads()
        self._started = True
        await self._people.start()
        await ctx.pools.start(self._decided)
        await ctx.shares.start()
        await ctx.images.start()
        await ctx.fetched.start()
        await ctx.engines.start(self._observer.report, self._engine_came)
        ctx.pools.take_machines(await ctx.engines.nodes())
        self._apply_rules()
        self._keep_doing(self._follow_machines())
        self._keep_doing(self._follow_disks())
        self._keep_doing(self._follow_failures())
        self._keep_doing(ctx.disks.follow())
        await self._restore()
        await self._observer.look()
        self._keep_doing(self._sweeper.follow())
        self._keep_doing(ctx.budgets.follow())
        self._keep_doing(ctx.results.follow())
        self._keep_doing(ctx.early.follow())
        self._keep_doing(ctx.folders.follow())
        self._keep_doing(ctx.volumes.follow())
        self._keep_doing(ctx.sending.follow())
        await ctx.notices.start(ctx)
        for follow in (ctx.notices.teller.follow, ctx.notices.sender.follow, ctx.notices.watch.follow):
            self._keep_doing(follow())

    async def announce(self) -> None:
        """Tell the other servers of the home where this one answers; nothing after the first time. Raises
        StorageFailed, Unavailable.
        """
        await asyncio.to_thread(self._database.announce)

    async def step_down(self) -> None:
        """Another server leads: act no more, let go of the ledger, and answer from rows and files like one that stands
        by. What does not stop as it should keeps nobody from leading.
        """
        ctx = self._ctx
        ctx.leads = self._started = False
        try:
            await self._stop()
        finally:
            ctx.master.live.clear()
            await asyncio.to_thread(self._database.close)  # ends the writer; readers open new connections
        await self.catch_up()

    def leave(self) -> None:
        """Start nothing more. What waits is the next server's."""
        self._ctx.followers.leaving = True

    async def close(self) -> None:
        """Let go of everything; user processes go on."""
        self.leave()
        ctx = self._ctx
        try:
            if self._started:
                await self._stop()
            ctx.metrics.close()
            await asyncio.to_thread(ctx.clerks.close)
        finally:
            await asyncio.to_thread(self._ledger.close)
            await asyncio.to_thread(self._database.close)

    async def _stop(self) -> None:
        """End what `start` has begun, and what came of it: all of it, whatever becomes of the rest."""
        ctx = self._ctx
        for work in self._background:
            work.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        async with AsyncExitStack() as stack:  # goes backwards
            stack.push_async_callback(ctx.engines.close)
            stack.push_async_callback(ctx.images.close)
            stack.push_async_callback(ctx.fetched.close)
            stack.callback(ctx.master.close)
            stack.callback(self._timers.close)
            watching = self._observer.close, self._shell.close, self._pulse.close
            for close in (*watching, ctx.dates.close, ctx.shares.close, ctx.forecasts.close, ctx.notices.watch.close):
                stack.push_async_callback(close)

    def _keep_doing(self, work: Coroutine[Any, Any, None]) -> None:
        self._background.add(asyncio.get_running_loop().create_task(work))

    # -- what the ledger holds ---------------------------------------------------------------------------------

    async def _restore(self) -> None:
        """Read live jobs and repeat the order of every phase."""
        ctx = self._ctx
        jobs, set_aside = await asyncio.to_thread(ctx.records.live_jobs)
        for bad in set_aside:
            log.error("job %s has a malformed record and was set aside: %s", bad.job, bad.error)
        seq = await asyncio.to_thread(ctx.records.last_seq)
        await ctx.dates.restore()
        counted = await asyncio.to_thread(ctx.records.counts_by_owner)
        asked = await asyncio.to_thread(ctx.records.asked_last, RECENT)
        await ctx.budgets.restore()
        await ctx.folders.restored()
        ctx.counts.restore(counted, jobs)
        ctx.followers.restore(jobs, asked)
        ctx.master.restore(jobs, seq)
        ctx.feed.start_at(seq)
        ctx.dates.restored()
        for job in jobs:
            self._shell.resume(job)
        for bad in await asyncio.to_thread(ctx.records.quarantined):
            self._shell.abandon(bad.job, bad.attempt)
        self._observer.watch()

    async def _follow_failures(self) -> None:
        """After a failed commit: wait until the ledger answers, then begin from what it holds."""
        master = self._ctx.master
        while True:
            await master.failed.wait()
            try:
                while master.in_flight:
                    await asyncio.sleep(0.01)
                await self._ctx.disks.help()
                await self._readiness.probe()
                await self._restore()
            except Exception as error:  # whatever the disk says, try again
                log.warning("the ledger still cannot be used: %s", error)
                await asyncio.sleep(1.0)
            else:
                await self._observer.look()

    # -- machines, and what administrators decide of them ------------------------------------------------------

    async def _engine_came(self, engine: Engine) -> None:
        """An engine that was down when the server began can be used now."""
        log.info("the engine %s answers", engine.name)
        await self.see_machines()
        await self._observer.look()

    async def _follow_machines(self) -> None:
        while True:
            await asyncio.sleep(MACHINES_S)
            with suppress(TrainmasterError):  # no engine answers: keep the machines as last seen
                await self.see_machines()

    async def see_machines(self) -> None:
        """Take in what the machines are now. Raises Unavailable when no engine answers."""
        if self._ctx.pools.take_machines(await self._ctx.engines.nodes()):
            self._apply()

    def _decided(self, kind: str) -> None:
        """An administrator changed something: it holds from the next pass on, which comes at once."""
        if kind in ("workspace", "policy"):
            self._people.forget_all()  # whether they may share, and what they are told, is part of what people may
        if kind != "flavor":
            self._apply()

    def _apply_rules(self) -> None:
        pools, scheduling, engines = self._ctx.pools, self._ctx.scheduling, self._ctx.engines
        scheduling.set_clusters({pool: engines.most_pending(pool) for pool in pools.pools if engines.owns_queue(pool)})
        if tuple(scheduling.nodes.values()) != pools.nodes:
            scheduling.set_nodes(pools.nodes)
        rights = rights_of(pools)
        scheduling.set_rules(policy_of(pools), rights.quotas(pools.nodes), rights.weights)

    def _apply(self) -> None:
        self._apply_rules()
        self._ctx.forecasts.changed()
        self._cluster_changed()

    async def _follow_disks(self) -> None:
        disks = self._ctx.disks
        while True:
            await disks.turned.wait()
            disks.turned.clear()
            self._cluster_changed()

    def _cluster_changed(self) -> None:
        self._ctx.master.wake()
        self._ctx.feed.publish(cluster_changed(self._ctx.feed.seq))


def _use_threads() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "worker"))
