"""Measures what job folders take: of a job that ended once, a little after its end; of a running one again and again,
where its workspace has a storage quota. What an earlier server, or an earlier version, did not come to is measured at
the start, versions of models and data sets, too.

Invariant: measuring takes a tenth of one thread at most, so a million files hold nobody up.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.context import Context
from trainmaster.storage.datasets.arriving import held_uploads
from trainmaster.storage.measuring import measured
from trainmaster.store.kept.rows import FIRST, KeptRows, Place

log = logging.getLogger("trainmaster.folders")

FIRST_S: Final = 1.0
"""How long after a job's end its folder is measured: others may have ended."""
RUNNING_S: Final = 60.0
"""Between two looks at the folders of running jobs."""
AGAIN_S: Final = 3600.0
"""Between two sums of all that is stored: what was missed when the ledger failed is made good."""
REST: Final = 9.0
"""The pause behind a measurement, as a multiple of it."""
AT_ONCE: Final = 100


class _Ends(Exception):
    """The server ends."""


class FolderKeeper:
    """One object per server; in the loop's thread. Sees the jobs as `LiveWatcher`."""

    def __init__(self, context: Context, rows: KeptRows) -> None:
        self._ctx, self._rows = context, rows
        self._ended: dict[str, None] = {}
        self._woken = asyncio.Event()
        self._closing = False

    def moved(self, before: Job | None, after: Job) -> None:
        """See nothing: only what is durable counts."""

    def restore(self, jobs: Iterable[Job]) -> None:
        """Need nothing: what ended meanwhile is looked for by `follow`."""

    def stored(self, changed: Iterable[Job]) -> None:
        """Remember those that ended."""
        found = {job.id: None for job in changed if job.terminal}
        if found:
            self._ended |= found
            self._woken.set()

    async def restored(self) -> None:
        """Add up what is kept, and what is on its way, before anything is taken in. Raises StorageFailed."""
        kept, layout = self._ctx.kept, self._ctx.layout
        await asyncio.to_thread(kept.load)
        kept.set_aside(await asyncio.to_thread(held_uploads, layout))

    async def follow(self) -> None:
        """Measure, again and again; first what an earlier server did not come to."""
        self._closing = False
        try:
            await self._try(self._catch_up)
            looked = added = self._ctx.clock()
            while True:
                try:
                    async with asyncio.timeout(RUNNING_S):  # `wait_for` of Python 3.11 may lose that it was cancelled
                        await self._woken.wait()
                except TimeoutError:
                    pass
                else:
                    await asyncio.sleep(FIRST_S)
                self._woken.clear()
                await self._look_at_ended()
                if abs(self._ctx.clock() - looked) >= RUNNING_S:
                    await self._look_at_running()
                    await self._try(self._settle_uploads)
                    looked = self._ctx.clock()
                if abs(self._ctx.clock() - added) >= AGAIN_S:
                    await self._try(partial(asyncio.to_thread, self._ctx.kept.load))
                    added = self._ctx.clock()
        finally:
            self._closing = True  # a thread that walks a large folder is not waited for

    async def _catch_up(self) -> None:
        """Measure what ended, and which versions were made, and has no row."""
        after: Place | None = FIRST
        while after is not None:
            found, after = await asyncio.to_thread(self._rows.not_measured, AT_ONCE, after)
            for one in found:
                await self._measure(one.id)
        while found_versions := await asyncio.to_thread(self._rows.versions_not_measured, AT_ONCE):
            for version in found_versions:
                await self._slowly(partial(self._ctx.kept_versions.measure, version, self._go_on))

    async def _look_at_ended(self) -> None:
        while self._ended:
            job = next(iter(self._ended))
            del self._ended[job]
            await self._try(partial(self._measure, job))

    async def _measure(self, job: str) -> None:
        path, kept = self._ctx.layout.job(job), self._ctx.kept
        await self._slowly(lambda: kept.keep_job(job, measured(path, self._go_on)))

    async def _look_at_running(self) -> None:
        """Look at what running jobs wrote, where anybody asks."""
        spaces, live = self._ctx.pools.workspaces, self._ctx.master.live
        limited = {one.name for one in spaces.values() if one.storage or one.storage_per_person or one.storage_people}
        self._ctx.kept.forget_live(live)
        for job in [one for one in live.values() if one.state is JobState.ACTIVE and one.workspace in limited]:
            await self._try(partial(self._slowly, partial(self._look_at, job)))

    def _look_at(self, job: Job) -> None:
        use = measured(self._ctx.layout.job(job.id), self._go_on)
        if job.id in self._ctx.master.live:
            self._ctx.kept.runs(job, use)

    async def _settle_uploads(self) -> None:
        """Let go of what was set aside for uploads that are gone."""
        before = self._ctx.kept.held("u")
        there = await asyncio.to_thread(held_uploads, self._ctx.layout)
        self._ctx.kept.let_go(*(name for name in before if name not in there))

    async def _slowly(self, work: Callable[[], None]) -> None:
        began = time.monotonic()
        await asyncio.to_thread(work)
        await asyncio.sleep(REST * (time.monotonic() - began))

    def _go_on(self) -> None:
        if self._closing:
            raise _Ends

    @staticmethod
    async def _try(work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (TrainmasterError, OSError, _Ends) as error:  # a full disk, a database that is away: it is said there
            log.debug("what is kept could not be measured: %s", error)
