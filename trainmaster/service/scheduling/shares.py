"""Keeps on disk what workspaces and users used of late, so that a restart does not change who goes first.

What runs is known from the ledger and counted on from where the file ends; what has ended is known here only. So the
file is written anew some time after an attempt ended, and at the end. Invariants: a server that was killed forgets at
most what was used by attempts that ended in its last SAVE_S, and of that only the last SAVE_S; once another server
leads, the file is its own.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable
from typing import Final

from trainmaster.core.records import Job
from trainmaster.core.states import Phase
from trainmaster.queue.ordering.fairness import Fairness, Past
from trainmaster.service.folders.privacy import private
from trainmaster.service.scheduling.scheduling import Scheduling

log = logging.getLogger("trainmaster.shares")

SAVE_S: Final = 60.0


class Shares:
    """One object per server; all methods in the loop's thread. `path`: the file; `ours`: whether we may write it."""

    def __init__(self, scheduling: Scheduling, path: str, ours: Callable[[], bool] = lambda: True) -> None:
        self._scheduling, self._path, self._ours = scheduling, path, ours
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Go on from what the file says; without one, from nothing."""
        try:
            self._scheduling.fair = Fairness(
                self._scheduling.policy.fair_half_life_s, past=await asyncio.to_thread(self._read)
            )
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("what was used until now cannot be read from %s and is forgotten: %s", self._path, error)

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job. O(1)."""
        attempt = after.attempt
        if attempt is None or attempt.phase is not Phase.ENDED or before is None or before.attempt is attempt:
            return
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_S, self._due)

    async def close(self) -> None:
        """Keep what was used until now."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        await self._save()

    def _due(self) -> None:
        self._timer, self._task = None, asyncio.get_running_loop().create_task(self._save())

    async def _save(self) -> None:
        if self._ours():
            await asyncio.to_thread(self._write, self._scheduling.fair.past_json())

    def _read(self) -> Past:
        with open(self._path, encoding="utf-8") as file:
            past: Past = json.load(file)
        return past

    def _write(self, past: Past) -> None:
        try:
            with open(f"{self._path}.new", "w", encoding="utf-8", opener=private) as file:
                json.dump(past, file)
            os.replace(f"{self._path}.new", self._path)
        except OSError as error:
            log.warning("what was used until now could not be kept in %s: %s", self._path, error)
