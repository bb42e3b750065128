"""Removes what nobody needs any more: files that deleted jobs left, their records, old keys of requests, uploads that no job names,
and what was half made when a server ended.

In small steps, with pauses, beside everything else; whatever a step did stays done, so that it may end anywhere. Invariant: an
upload that a stored job names, or that was sent or submitted with of late, is never removed. A submit touches what it
names before it is stored (`storage.uploads.use`), and a folder that was touched goes back.
"""

import asyncio
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.storage.trees import remove_tree
from trainmaster.store.leftovers import Leftovers

log = logging.getLogger("trainmaster.sweeping")

EVERY_S: Final = 3600.0
PAUSE_S: Final = 0.05
HALF_MADE_S: Final = 24 * 3600.0
"""What is still being made after that long is not."""
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_GOING: Final = ".going-"


class Sweeper:
    """One object per server. `remove_files` removes all of a deleted job; `live` says whether a job lives."""

    def __init__(
        self, layout: Layout, limits: LimitsConfig, rows: Leftovers, remove_files: Callable[[str], None],
        live: Callable[[str], bool], clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._layout, self._limits, self._rows = layout, limits, rows
        self._remove_files, self._live, self._clock = remove_files, live, clock

    async def follow(self) -> None:
        """Sweep now, and again and again."""
        while True:
            steps = self.steps()
            try:
                while await asyncio.to_thread(next, steps, True) is None:
                    await asyncio.sleep(PAUSE_S)
            except (TrainmasterError, OSError) as error:
                log.warning("what nobody needs could not be removed; tried again later: %s", error)
            await asyncio.sleep(EVERY_S)

    def steps(self) -> Iterator[None]:
        """Sweep once, a bounded piece before each yield. Blocking. Raises StorageFailed, OSError."""
        yield from self._deleted()
        yield from self._keys()
        yield from self._uploads()
        yield from self._half_made()

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

    def _keys(self) -> Iterator[None]:
        after: tuple[str, str] | None = ("", "")
        while after is not None and self._limits.keys_s:
            after = self._rows.forget_keys(self._clock() - self._limits.keys_s, after)
            yield

    def _uploads(self) -> Iterator[None]:
        folder = os.path.join(self._layout.bulk, "uploads")
        for name in os.listdir(folder):
            if name.startswith(_GOING):  # a server ended in the middle
                self._settle(os.path.join(folder, name))
                yield
        old = {
            name for name in os.listdir(folder) if _DIGEST.fullmatch(name) and self._is_old(os.path.join(folder, name))
        }
        after: str | None = ""
        while old and after is not None:
            named, after = self._rows.uploads_named(after)
            old -= named
            yield
        for digest in sorted(old):
            aside = os.path.join(folder, _GOING + digest)
            if self._is_old(self._layout.upload(digest)):
                os.rename(self._layout.upload(digest), aside)
                self._settle(aside)
            yield

    def _is_old(self, path: str) -> bool:
        with suppress(OSError):
            return bool(self._limits.uploads_s) and os.stat(path).st_mtime < self._clock() - self._limits.uploads_s
        return False

    def _settle(self, aside: str) -> None:
        """Remove an upload that was set aside, or put it back where somebody began to use it in that moment."""
        if self._is_old(aside):
            remove_tree(aside)
        else:
            os.rename(aside, self._layout.upload(os.path.basename(aside).removeprefix(_GOING)))

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
