"""Pushes progress and newest metrics of running jobs to the feed, which otherwise only carries facts of the ledger.

Works only while somebody listens and something runs; what is seen is handed on to be kept (`results`). A job is pushed
again only when what would be shown has changed, and only as it is on disk.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.control.feed import Feed, changed
from trainmaster.service.control.launching import Specs
from trainmaster.service.control.master import Master
from trainmaster.service.curves.metrics import MetricsReader, Summary
from trainmaster.service.upkeep.results import Metrics

log = logging.getLogger("trainmaster.pulse")

EVERY_S: Final = 1.0
MOST: Final = 200
"""Running jobs looked at in one beat, newest first; more than that no one watches at once."""


class Pulse:
    """One object per server."""

    def __init__(
        self,
        feed: Feed,
        master: Master,
        metrics: MetricsReader,
        specs: Specs,
        seen: Callable[[Mapping[int, Metrics]], None],
    ) -> None:
        self._feed, self._master, self._metrics, self._specs, self._seen = feed, master, metrics, specs, seen
        self._shown: dict[str, Summary] = {}
        self._task: asyncio.Task[None] | None = None
        feed.on_listen = self._begin

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._beat())

    async def _beat(self) -> None:
        while self._feed.listeners:
            running = [job for job in self._master.live.values() if job.state is JobState.ACTIVE][-MOST:]
            try:
                summaries = await asyncio.to_thread(self._look, running)
            except OSError:
                log.exception("progress could not be read")
                summaries = {}
            moved = [job for job in running if summaries.get(job.id) not in (None, self._shown.get(job.id))]
            if not moved or await self._all_durable():
                self._push(moved)
                self._shown = summaries
                # Not of who ended meanwhile: what it logged last is collected, and may be kept by now.
                still = [job for job in moved if self._master.live.get(job.id) is job]
                self._seen({job.seq: summaries[job.id].metrics for job in still if summaries[job.id].metrics})
            await asyncio.sleep(EVERY_S)

    async def _all_durable(self) -> bool:
        """Return, once all that is in memory now is on disk, True; False when it cannot be written."""
        try:
            await self._master.durable()
        except TrainmasterError:
            return False
        return True

    def _push(self, jobs: list[Job]) -> None:
        """Tell the feed of those that are still as they were: who has changed meanwhile is told of when that is on
        disk.
        """
        for job in jobs:
            if self._master.live.get(job.id) is job:
                self._feed.publish(changed(self._feed.seq, job))

    def _look(self, jobs: list[Job]) -> dict[str, Summary]:
        return {job.id: self._metrics.summary(job, self._specs.fetch_or_none(job.spec_digest)) for job in jobs}

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
