"""The one object the API talks to: every use case of the platform, by name. Joins the parts; decides nothing itself."""

import asyncio
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final

from trainmaster._version import __version__
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import (
    BatchView,
    ClusterView,
    EventsView,
    Explanation,
    JobDetail,
    JobPage,
    JobView,
    ModelDetail,
    ModelPage,
    OutcomeView,
    PreviewView,
    Ready,
)
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.events import Event
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.engines.base import Engine, Terminal, Window
from trainmaster.queue.placing.packing import RECENT
from trainmaster.service.cluster.quotas import policy_of, rights_of
from trainmaster.service.context import Context
from trainmaster.service.control.feed import cluster_changed
from trainmaster.service.control.observe import Observer
from trainmaster.service.control.shell import Shell
from trainmaster.service.control.timers import Timers
from trainmaster.service.language import Language
from trainmaster.service.people.people import People
from trainmaster.service.scheduling.counts import Group
from trainmaster.service.submitting.preview import Preview
from trainmaster.service.upkeep.pulse import Pulse
from trainmaster.service.upkeep.sweeping import Sweeper
from trainmaster.service.use_cases.administer import Administer
from trainmaster.service.use_cases.cluster import cluster_view
from trainmaster.service.use_cases.cluster_views import ClusterViews
from trainmaster.service.use_cases.entering import Entering
from trainmaster.service.use_cases.jobs import UNSET, Jobs
from trainmaster.service.use_cases.models import Models
from trainmaster.service.use_cases.queueing import Queueing
from trainmaster.service.use_cases.readiness import Readiness, Stats
from trainmaster.service.use_cases.what_if import WhatIf
from trainmaster.spec.document import Document, Given
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Ledger
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.jobs.read_ledger import Quarantined

log = logging.getLogger("trainmaster.platform")

MACHINES_S: Final = 15.0
"""Between two looks at the machines: nodes are drained, limits and drivers changed without anybody telling us."""
THREADS: Final = 32
"""Threads for what may block. Python's own choice is six on two cores: a few slow readings of charts, or models being saved,
would then hold up every list.
"""


class Platform:
    """Made by `wiring.build`; `start` and `close` belong to the server's life."""

    version = __version__

    def __init__(
        self, context: Context, *, people: People, models: Models, shell: Shell, observer: Observer, pulse: Pulse, timers: Timers,
        sweeper: Sweeper, database: Database, ledger: Ledger,
    ) -> None:  # fmt: skip
        self.context, self.people = context, people
        self.config, self.layout, self.feed = context.config, context.layout, context.feed
        self.metrics = context.metrics
        self._shell, self._observer, self._pulse, self._timers = shell, observer, pulse, timers
        self._sweeper, self._database, self._ledger = sweeper, database, ledger
        self._jobs, self._models, self._preview = Jobs(context), models, Preview(context)
        self.administer, self.resources = Administer(context), ClusterViews(context)
        self.queueing, self.what_if = Queueing(context, self.resources), WhatIf(context)
        self._entering = Entering(context)
        self._recovering: asyncio.Task[None] | None = None
        self._waking: asyncio.TimerHandle | None = None
        self._closing = False
        self._readiness = Readiness(context, database)
        self._sweeping: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._disks: asyncio.Task[None] | None = None
        self._started_at = time.monotonic()
        self._finished: dict[str, int] = {}

    # -- life --------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Read what is live, connect to the engines, and go on where every job is. Raises Unavailable when none can be used."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(THREADS, "worker"))
        await self.people.start()
        await self.context.pools.start()
        await self.context.shares.start()
        master = self.context.master
        master.schedule, master.moved = self._schedule, self.context.moved
        master.stored = self.context.counts.changed
        self.context.records.on_set_aside = self._set_aside
        master.more = lambda: self.context.scheduling.more and not self.context.disks.short
        self.context.disks.changed = self._room_changed
        self.context.scheduling.later = self._wake_in
        master.act, master.act_now = self._act, self._shell.answer_now
        master.on_failure = self._recover_soon
        self._shell.ended = self._ended
        self.context.engines.came = self._engine_came
        await self.context.engines.start(self._observer.report)
        self.context.pools.seen(await self.context.engines.nodes())
        self._apply_rules()
        self._looking = asyncio.get_running_loop().create_task(self._follow_machines())
        self.context.pools.changed = self._decided
        self._disks = asyncio.get_running_loop().create_task(self.context.disks.follow())
        await self._restore()
        await self._observer.look()
        self._sweeping = asyncio.get_running_loop().create_task(self._sweeper.follow())

    def _set_aside(self, found: Quarantined) -> None:
        """A reader, in its thread, came upon a record that cannot be read."""
        group = Group(found.owner, found.workspace)
        self._loop.call_soon_threadsafe(self.context.counts.set_aside, found.job, group, found.shown)

    def _wake_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._waking is not None:
            if loop.time() < self._waking.when() <= loop.time() + seconds:
                return
            self._waking.cancel()
        self._waking = loop.call_later(seconds, self.context.master.wake)

    def _schedule(self, now: float) -> list[Event]:
        """Plan, while there is room for what a job writes, and this server is not about to end."""
        return [] if self._closing or self.context.disks.short else self.context.scheduling.schedule(now)

    def _room_changed(self) -> None:
        self.context.master.wake()
        self.feed.publish(cluster_changed(self.feed.seq))

    def _decided(self, kind: str) -> None:
        """An administrator changed something: it holds from the next pass on, which comes at once."""
        if kind != "flavor":
            self._apply()

    def _apply_rules(self) -> None:
        pools, scheduling, engines = self.context.pools, self.context.scheduling, self.context.engines
        scheduling.set_clusters({pool: engines.most_pending(pool) for pool in pools.pools if engines.owns_queue(pool)})
        if tuple(scheduling.nodes.values()) != pools.nodes:
            scheduling.set_nodes(pools.nodes)
        rights = rights_of(pools)
        scheduling.set_rules(policy_of(pools), rights.quotas(pools.nodes), rights.weights)

    def _apply(self) -> None:
        self._apply_rules()
        self.context.master.wake()
        self.context.forecasts.changed()
        self.feed.publish(cluster_changed(self.feed.seq))

    def leave(self) -> None:
        """Start nothing more: whoever told this server to end may have told the agent, too. What waits is the next server's."""
        self._closing = True

    async def close(self) -> None:
        """Let go of everything; user processes go on."""
        self.leave()
        for work in (self._waking, self._recovering, self._looking, self._disks):
            if work is not None:
                work.cancel()
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        await self.context.forecasts.close()
        await self.context.shares.close()
        await self.context.dates.close()
        await self._pulse.close()
        await self._shell.close()
        await self._observer.close()
        self._timers.close()
        self.context.master.hand_over()
        await self.context.engines.close()
        self.metrics.close()
        await asyncio.to_thread(self.context.clerks.close)
        await asyncio.to_thread(self._ledger.close)
        await asyncio.to_thread(self._database.close)

    async def _restore(self) -> None:
        """Read live jobs and repeat the order of every phase: the same at start and after a failed commit.

        Orders are taken from what the ledger holds, before the loop can plan: nothing is acted on that is not durable.
        """
        jobs, quarantined = await asyncio.to_thread(self.context.records.live_jobs)
        for bad in quarantined:
            log.error("job %s has a malformed record and was set aside: %s", bad.job, bad.error)
        seq = await asyncio.to_thread(self.context.records.last_seq)
        await self.context.dates.restore()
        counted = await asyncio.to_thread(self.context.records.counts_by_owner)
        asked = await asyncio.to_thread(self.context.records.asked_last, RECENT)
        self.context.counts.restore(counted, jobs)
        self.context.restore(jobs, asked)
        self.context.master.restore(jobs, seq)
        self.feed.start_at(seq)
        self.context.dates.restored()
        for job in jobs:
            self._shell.resume(job)
        for bad in await asyncio.to_thread(self.context.records.quarantined):
            self._shell.abandon(bad.job, bad.attempt)
        self._observer.watch()

    def _recover_soon(self, error: BaseException) -> None:
        if not self._closing:
            self._recovering = asyncio.get_running_loop().create_task(self._recover())

    async def _recover(self) -> None:
        """After a failed commit: wait until the ledger answers, then begin from what it holds."""
        while True:
            try:
                while self.context.master.in_flight:
                    await asyncio.sleep(0.01)
                await self.context.disks.help()
                await self._readiness.probe()
                await self._restore()
                break
            except Exception as error:  # whatever the disk says, the loop must come back
                log.warning("the ledger still cannot be used: %s", error)
                await asyncio.sleep(1.0)
        await self._observer.look()

    async def _engine_came(self, engine: Engine) -> None:
        """An engine that was down when the server began can be used now."""
        log.info("the engine %s answers", engine.name)
        await self._see_machines()
        await self._observer.look()

    async def _follow_machines(self) -> None:
        while True:
            await asyncio.sleep(MACHINES_S)
            with suppress(TrainmasterError):  # while no engine answers they are as they were seen last
                await self._see_machines()

    async def _see_machines(self) -> None:
        """Take in what the machines are now. Raises Unavailable when no engine answers."""
        if self.context.pools.seen(await self.context.engines.nodes()):
            self._apply()

    def _act(self, action: Any) -> None:
        self._shell.act(action)
        self._observer.watch()

    def _ended(self, job_id: str, state: str) -> None:
        self._finished[state] = self._finished.get(state, 0) + 1

    # -- jobs --------------------------------------------------------------------------------------------------

    async def submit(self, body: Given, who: Principal, key: str | None) -> tuple[JobView, bool]:
        """Take in one job; return (list item, created now?). Raises InvalidSpec, Unsatisfiable, Conflict, StorageFailed."""
        return await self.context.submit.submit(body, who, key)

    async def submit_batch(self, bodies: Sequence[Given], who: Principal, key: str | None) -> BatchView:
        """Take in all or none. Raises like `submit`."""
        return await self.context.submit.submit_batch(bodies, who, key)

    async def preview(self, body: Given, who: Principal, language: Language = "en") -> PreviewView:
        """Return what would happen, changing nothing; problems in `language`. Raises Forbidden."""
        return await self._preview.preview(body, who, language)

    async def jobs(self, query: JobQuery, limit: int, cursor: str | None, who: Principal) -> JobPage:
        """Return one page. Raises InvalidSpec for a malformed cursor."""
        return await self._jobs.page(query, limit, cursor, who)

    async def job(self, ref: str, who: Principal) -> JobDetail:
        """Return everything about one job. Raises NotFound."""
        return await self._jobs.detail(ref, who)

    async def resolve(self, ref: str, who: Principal) -> Job:
        """Return the record of one job. Raises NotFound."""
        return await self._jobs.resolve(ref, who)

    async def views(self, jobs: Sequence[Job], visible: Visible, seq: int) -> list[JobView]:
        """Return list items of those of `jobs` that are `visible`, as they were at `seq`, for the feed."""
        return await self._jobs.views(jobs, visible, seq)

    async def spec(self, ref: str, who: Principal, dialect: str, form: str) -> tuple[str, str]:
        """Return (text, media type) of the job's document. Raises NotFound."""
        return await self._jobs.spec(ref, who, dialect, form)

    async def events(self, ref: str, who: Principal, after: int) -> EventsView:
        """Return the job's events after `after`. Raises NotFound."""
        return await self._jobs.events(ref, who, after)

    async def explain(self, ref: str, who: Principal) -> Explanation:
        """Return why the job is where it is. Raises NotFound."""
        return await self._jobs.explain(ref, who)

    async def stop(self, ref: str, who: Principal, reason: str = "") -> JobView:
        """Stop one job. Raises NotFound, Conflict in the moment in which its outputs were saved."""
        return await self._jobs.stop(ref, who, reason)

    async def stop_many(self, ids: list[str], who: Principal) -> OutcomeView:
        """Stop several."""
        return await self._jobs.many("stop", ids, who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Delete one ended job. Raises NotFound, Conflict before the end."""
        await self._jobs.delete(ref, who)

    async def delete_many(self, ids: list[str], who: Principal) -> OutcomeView:
        """Delete several ended jobs."""
        return await self._jobs.many("delete", ids, who)

    async def copy_of(self, ref: str, who: Principal) -> Document:
        """Return the document of a copy, to edit. Raises NotFound."""
        return await self._jobs.copy_of(ref, who)

    async def clone(self, ref: str, who: Principal, set_: Given) -> JobView:
        """Submit a copy. Raises NotFound, InvalidSpec."""
        return await self._jobs.clone(ref, who, set_)

    async def change(self, ref: str, who: Principal, duration_s: Any = UNSET, priority: Any = UNSET) -> JobView:
        """Change duration or priority. Raises NotFound, InvalidSpec, Conflict after the end."""
        return await self._jobs.change(ref, who, duration_s, priority)

    async def enter(
        self, ref: str, task: str, argv: Sequence[str], window: Window | None, who: Principal
    ) -> AbstractAsyncContextManager[Terminal]:
        """Return what runs `argv` inside a task of a job, for as long as it is held open. Raises NotFound, Conflict, Unavailable."""
        job = await self._jobs.resolve(ref, who, "jobs:write")
        return self._entering.enter(job, task, argv, window, who)

    async def release(self, ref: str, who: Principal) -> JobView:
        """End a debug hold. Raises NotFound, Conflict."""
        return await self._jobs.release(ref, who)

    # -- the rest ----------------------------------------------------------------------------------------------

    async def cluster(self, who: Principal) -> ClusterView:
        """Return nodes, cards, who uses what."""
        decide(who, "cluster:read").demand()
        try:
            await self._see_machines()
            cards = await asyncio.to_thread(self.context.engines.card_usage)
        except TrainmasterError:
            cards = {}
        return cluster_view(self.context, decide(who, "jobs:read").visible, cards)

    async def models(self, who: Principal, q: str = "") -> ModelPage:
        """Return saved models."""
        return await self._models.page(who, q)

    async def model(self, ref: str, who: Principal) -> ModelDetail:
        """Return one model with its versions. Raises NotFound."""
        return await self._models.detail(ref, who)

    async def demand_room(self) -> None:
        """Raise StorageFailed while a disk is nearly full: nothing new is taken in."""
        await self.context.disks.demand_room()

    async def ready(self) -> Ready:
        """Return whether the ledger can be written and an engine answers."""
        return await self._readiness.ready()

    def stats(self) -> Stats:
        """Return counters and gauges for /metrics; cheap."""
        live = self.context.master.live.values()
        capacity = list(self.context.scheduling.nodes.values())
        active = [job for job in live if job.state is JobState.ACTIVE]
        return Stats(
            queued=sum(job.state is JobState.QUEUED for job in live),
            active=len(active),
            finished=dict(self._finished),
            commits=self.context.master.committed,
            events=self.context.master.seq,
            listeners=self.feed.listeners,
            nodes=len(capacity),
            gpus=sum(len(node.gpus) for node in capacity),
            gpus_held=sum(len(a.gpus) for job in active if job.attempt for a in job.attempt.placement),
            uptime_s=time.monotonic() - self._started_at,
        )
