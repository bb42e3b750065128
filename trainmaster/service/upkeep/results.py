"""Keeps the last value of each metric of jobs as rows, so that lists can be ordered by them.

A job's are collected a second after its end, a running one's while somebody looks at it (`pulse`). Invariant: what is
collected takes a twentieth of one thread at most, so a storm of short jobs is not held up. What a killed server did not
come to, the next one looks for: from the job that ended last to those of an hour before the last known to be kept.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.service.control.launching import Specs
from trainmaster.service.curves.metrics import MetricsReader
from trainmaster.store.jobs.results import ResultRows

log = logging.getLogger("trainmaster.results")

FIRST_S: Final = 1.0
"""How long after a job's end its metrics are collected: what it wrote last is there, and others may have ended."""
RUNNING_S: Final = 15.0
"""Between two writes of the metrics of running jobs."""
TOLD_S: Final = 600.0
"""Between two notes in the store of how far this is; what ended an hour before such a note is looked at again."""
REST: Final = 19.0
"""The pause behind a turn, as a multiple of the turn."""
AT_ONCE: Final = 20

Metrics = Mapping[str, float | None]


class _Closing(Exception):
    """The server ends."""


class ResultKeeper:
    """One object per server; in the loop's thread. Sees the jobs as `LiveWatcher`."""

    def __init__(
        self,
        rows: ResultRows,
        find: Callable[[str], Job | None],
        metrics: MetricsReader,
        specs: Specs,
        clock: Callable[[], float],
    ) -> None:
        self._rows, self._find, self._metrics, self._specs, self._clock = rows, find, metrics, specs, clock
        self._ended: dict[str, None] = {}
        self._running: dict[int, Metrics] = {}
        self._woken = asyncio.Event()
        self._closing = False
        self._told_at = 0.0

    def moved(self, before: Job | None, after: Job) -> None:
        """See nothing: only what is durable counts."""

    def restore(self, jobs: Iterable[Job]) -> None:
        """Need nothing: what ended meanwhile is looked for by `follow`."""

    def stored(self, changed: Iterable[Job]) -> None:
        """Remember those that ended."""
        found = {job.id: None for job in changed if job.terminal and job.attempts_used}
        if found:
            self._ended |= found
            self._woken.set()

    def seen(self, running: Mapping[int, Metrics]) -> None:
        """Take the metrics of running jobs (by number), as they were just shown."""
        self._running |= running

    async def follow(self) -> None:
        """Keep what is collected, again and again; first what an earlier server did not come to."""
        self._closing = False
        try:
            await self._catch_up()
            await self._follow()
        finally:
            self._closing = True  # a thread that reads a long log is not waited for

    async def _follow(self) -> None:
        written = self._clock()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RUNNING_S):  # `wait_for` of Python 3.11 may lose that it was cancelled
                    await self._woken.wait()
            if self._woken.is_set():
                await asyncio.sleep(FIRST_S)
            self._woken.clear()
            if self._running and abs(self._clock() - written) >= RUNNING_S:
                running, self._running, written = self._running, {}, self._clock()
                await self._try(partial(self._rows.put, running))
            while self._ended:
                some = [id_ for id_, _ in zip(self._ended, range(AT_ONCE), strict=False)]
                for id_ in some:
                    del self._ended[id_]
                await self._collect(some)
            if abs(self._clock() - self._told_at) >= TOLD_S:
                await self._tell(self._clock())

    async def _catch_up(self) -> None:
        """Collect what ended before this server began."""
        began, before = self._clock(), None
        while True:
            try:
                found = await asyncio.to_thread(self._rows.ended, AT_ONCE, before)
            except TrainmasterError as error:
                log.debug("metrics of ended jobs could not be looked for: %s", error)
                return None
            await self._collect([id_ for id_, _, _ in found])
            if len(found) < AT_ONCE:
                return await self._tell(began)
            before = found[-1][1:]

    async def _tell(self, until: float) -> None:
        """Write down that the metrics of all jobs that ended before are kept."""
        self._told_at = until
        await self._try(partial(self._rows.put, {}, until))

    async def _collect(self, ids: list[str]) -> None:
        """Collect and keep the metrics of ended jobs."""
        began = time.monotonic()
        await self._try(partial(self._keep, ids))
        await asyncio.sleep(REST * (time.monotonic() - began))

    def _keep(self, ids: list[str]) -> None:
        found: dict[int, Metrics] = {}
        for id_ in ids:
            job = self._find(id_)
            if job is not None and job.terminal and (metrics := self._of(job)):
                found[job.seq] = metrics
                self._running.pop(job.seq, None)
        if found:
            self._rows.put(found)

    def _of(self, job: Job) -> Metrics:
        return self._metrics.last_values(job, self._specs.fetch_or_none(job.spec_digest), self._go_on)

    def _go_on(self) -> None:
        if self._closing:
            raise _Closing

    @staticmethod
    async def _try(work: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(work)
        except (TrainmasterError, OSError, _Closing) as error:  # a full disk, a database that is away: it is said there
            log.debug("metrics could not be kept for lists: %s", error)
