"""Removes what nobody needs any more: files that deleted jobs left, their records, what is kept no longer by the rules
of `retention`, and what was half made when a server ended.

In small steps, with pauses, beside everything else; whatever a step did stays done, so that it may end anywhere.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.service.upkeep.retention import Retention
from trainmaster.service.upkeep.retention_rules import Step
from trainmaster.storage.datasets.arriving import WAITS_S
from trainmaster.storage.datasets.building import sweep as sweep_datasets
from trainmaster.storage.trees import remove_tree
from trainmaster.store.leftovers import Leftovers

log = logging.getLogger("trainmaster.sweeping")

EVERY_S: Final = 3600.0
PAUSE_S: Final = 0.05
HALF_MADE_S: Final = 24 * 3600.0
"""What is still being made after that long is not."""


class Sweeper:
    """One object per server. `remove_files` removes all of a deleted job; `live` says whether a job lives, `versions`
    where all versions of data sets lie.
    """

    def __init__(
        self,
        layout: Layout,
        retention: Retention,
        rows: Leftovers,
        remove_files: Callable[[str], None],
        live: Callable[[str], bool],
        clock: Callable[[], float],
        versions: Callable[[], set[str]] = set,
    ) -> None:
        self._layout, self._retention, self._rows = layout, retention, rows
        self._remove_files, self._live, self._clock, self._versions = remove_files, live, clock, versions
        self._datasets_at = 0.0

    async def follow(self) -> None:
        """Sweep now, and again and again."""
        while True:
            steps = self.steps()
            try:
                while not isinstance(step := await asyncio.to_thread(next, steps, True), bool):
                    if step is not None:
                        await step()
                    await asyncio.sleep(PAUSE_S)
            except (TrainmasterError, OSError) as error:
                log.warning("what nobody needs could not be removed; tried again later: %s", error)
            await asyncio.sleep(EVERY_S)

    def steps(self) -> Iterator[Step]:
        """Sweep once, a bounded piece before each yield; what is yielded is done in the loop before the next. Blocking.

        Raises StorageFailed, OSError.
        """
        yield from self._deleted()
        yield from self._retention.steps()
        yield from self._half_made()
        if self._clock() >= self._datasets_at + WAITS_S:  # every content is looked at
            yield from sweep_datasets(self._layout, self._versions(), self._clock() - WAITS_S)
            self._datasets_at = self._clock()

    def _deleted(self) -> Iterator[None]:
        """Files go before the record that tells of them."""
        after = 0
        while page := self._rows.deleted(after):
            gone = []
            for number, job in page:
                if os.path.isdir(self._layout.job(job)):
                    self._remove_files(job)
                    yield
                if not os.path.isdir(self._layout.job(job)):
                    gone.append(number)
            if gone:
                self._rows.forget_deleted(gone)
            after = page[-1][0]
            yield

    def _half_made(self) -> Iterator[None]:
        """Uploads that never came to their end, and model versions of jobs that are not being saved."""
        uploads, models = (os.path.join(self._layout.bulk, *parts) for parts in (("uploads",), ("models", ".saving")))
        for folder, prefix in ((uploads, ".incoming-"), (models, "")):
            with suppress(FileNotFoundError):
                for entry in os.scandir(folder):
                    late = entry.stat(follow_symlinks=False).st_mtime < self._clock() - HALF_MADE_S
                    if entry.name.startswith(prefix) and late and not self._live(entry.name.rpartition("-")[0]):
                        remove_tree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
                        yield
