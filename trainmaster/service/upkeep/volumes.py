"""Keeps what is known of volumes true: measures them after uploads, after jobs that may have written to them, while
such jobs run where their workspace has a storage quota, and all of them at the start and once an hour; and takes away
what was deleted in them.

Invariant: it takes a tenth of one thread at most, so a million files hold nobody up.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.context import Context
from trainmaster.service.kept.volumes import KeptVolumes
from trainmaster.storage.volumes.changing import clear
from trainmaster.store.assets.volumes import VolumePlace, VolumeRows

log = logging.getLogger("trainmaster.volumes")

FIRST_S: Final = 1.0
"""How long after a change a volume is measured: others may follow."""
RUNNING_S: Final = 60.0
"""Between two looks at what running jobs write."""
AGAIN_S: Final = 3600.0
"""Between two looks at all volumes."""
REST: Final = 9.0
"""The pause behind a piece of work, as a multiple of it."""


class _Ends(Exception):
    """The server ends."""


class VolumeKeeper:
    """One object per server; in the loop's thread. Sees the jobs as `LiveWatcher`. `ours`: what the names of files on
    their way begin with that this process receives.
    """

    def __init__(self, context: Context, rows: VolumeRows, kept: KeptVolumes) -> None:
        self._ctx, self._rows, self.kept = context, rows, kept
        self.ours = context.random_bytes(6).hex() + "-"
        self._changed: dict[str, None] = {}
        self._ended: dict[str, Job] = {}
        self._cleared = False
        self._woken = asyncio.Event()
        self._closing = False

    def moved(self, before: Job | None, after: Job) -> None:
        """See nothing: only what is durable counts."""

    def restore(self, jobs: Iterable[Job]) -> None:
        """Need nothing: all volumes are measured at the start."""

    def stored(self, changed: Iterable[Job]) -> None:
        """Remember those that ended."""
        found = {job.id: job for job in changed if job.terminal}
        if found:
            self._ended |= found
            self._woken.set()

    def changed(self, volume: str) -> None:
        """Measure a volume soon, and take away what was deleted in it."""
        self._changed[volume] = None
        self._cleared = False
        self._woken.set()

    async def follow(self) -> None:
        """Clear away and measure, again and again; at first everything."""
        self._closing = False
        try:
            all_at = looked = 0.0
            while True:
                now = self._ctx.clock()
                if abs(now - all_at) >= AGAIN_S:
                    all_at, self._cleared = now, False
                    self._changed |= {one.id: None for one in await self._all()}
                if abs(now - looked) >= RUNNING_S:
                    looked = now
                    await self._writing([one for one in self._ctx.master.live.values() if self._limited(one)])
                ended, self._ended = list(self._ended.values()), {}
                await self._writing(ended)
                await self._measure()
                if not self._cleared:
                    self._cleared = True
                    await self._clear()
                await self._wait()
        finally:
            self._closing = True  # a thread that walks a large folder is not waited for

    async def _wait(self) -> None:
        """Wait until something happens; then for a moment more."""
        try:
            async with asyncio.timeout(RUNNING_S):
                await self._woken.wait()
        except TimeoutError:
            return
        await asyncio.sleep(FIRST_S)
        self._woken.clear()

    async def _all(self) -> list[VolumePlace]:
        try:
            return await asyncio.to_thread(self._rows.all)
        except TrainmasterError as error:  # a database that is away: it is said there
            log.debug("volumes could not be listed: %s", error)
            return []

    def _limited(self, job: Job) -> bool:
        found = self._ctx.pools.workspaces.get(job.workspace)
        limited = found is not None and bool(found.storage or found.storage_per_person or found.storage_people)
        return limited and job.state is JobState.ACTIVE

    async def _writing(self, jobs: Sequence[Job]) -> None:
        """Remember the volumes to which `jobs` may write."""
        specs = self._ctx.specs

        def named() -> set[tuple[str, str]]:
            found = ((job.workspace, specs.fetch_or_none(job.spec_digest)) for job in jobs)
            return {
                (workspace, item.volume)
                for workspace, spec in found
                if spec is not None
                for item in spec.inputs
                if item.volume is not None and not item.read_only
            }

        if jobs and (wanted := await asyncio.to_thread(named)):
            self._changed |= {one.id: None for one in await self._all() if (one.workspace, one.name) in wanted}

    async def _measure(self) -> None:
        if not self._changed:
            return
        wanted, self._changed = self._changed, {}
        for one in await self._all():
            if one.id in wanted and not await self._slowly(partial(self._count, one)):
                self._changed[one.id] = None

    def _count(self, volume: VolumePlace) -> None:
        before = self._rows.uses([volume.id]).get(volume.id)
        if self.kept.measure(volume, self._go_on) != before and before is not None:
            self._rows.touch(volume.id, self._ctx.clock())

    async def _clear(self) -> None:
        """Take away what was deleted. Which volumes there are is asked after the folders were listed: whose row is not
        there then has none any more.
        """
        steps = clear(self._ctx.layout, self._rows.known, self.ours)
        done = False

        def step() -> None:
            nonlocal done
            done = next(steps, True) is True

        while not done:
            if not await self._slowly(step):
                return

    async def _slowly(self, work: Callable[[], object]) -> bool:
        """Do a piece of work and rest; return whether it could be done."""
        began = time.monotonic()
        try:
            await asyncio.to_thread(work)
        except (TrainmasterError, OSError, _Ends) as error:  # a full disk, a database that is away: it is said there
            log.debug("a volume could not be looked after: %s", error)
            return False
        await asyncio.sleep(REST * (time.monotonic() - began))
        return True

    def _go_on(self) -> None:
        if self._closing:
            raise _Ends
