"""Looks after the disk on which jobs write: ends the tasks of a job over its budget, and when the disk runs full those
of the job that fills it.

A disk is full of what has grown, not of what is large: the job that grew most since it was counted last is ended first
(one that was never counted has grown by all it holds), and no other before that one is gone and something else grows.
Counting takes bounded steps. Invariant: nobody is ended for what lies there and does not grow, unless it is over its
budget.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Set
from typing import Final

from trainmaster.agent.measuring import samples
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.folders.room import DiskRoom, Use, room_of
from trainmaster.messages.jobs import tasks as say
from trainmaster.messages.said import Said

EVERY: Final = 5  # so many looks lie between two counts of a job
STEP: Final = 4_000
"""Entries counted of one job in one look; a stat costs 2 us."""
HURRIED: Final = 40_000
"""The same while the disk is short."""
NEAR: Final = 8.0
"""Times what must be left free: with less than that free it is looked at more often."""
GROWN: Final = 16
"""Who grew by less than this part of what must be left has not filled the disk."""


class DiskWatch:
    """Over the tasks of one supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self._looks = 0
        self._counts: dict[str, samples.DiskUse] = {}  # counts going on, by job
        self._held: dict[str, Use] = {}  # by job: what it held when it was counted last
        self._round: dict[str, Use] = {}  # the same, counted since the disk is short

    def look(self, running: list[LiveTask]) -> bool:
        """Go on counting, and end what has to be ended. Return whether the disk is nearly full: look again soon.
        O(STEP).
        """
        self._looks += 1
        jobs: dict[str, list[LiveTask]] = {}
        for task in running:
            jobs.setdefault(task.attempt.gang.job, []).append(task)
        self._forget(jobs.keys())
        if not jobs:
            return False
        try:
            room = room_of(os.statvfs(self.supervisor.layout.bulk))
        except OSError:
            return False
        reserve = running[0].attempt.settings.reserve_mib
        short = room.short_of(reserve)
        if not short:
            self._round.clear()
        for job, tasks in jobs.items():
            if job in self._counts or self._due(job, tasks, room, short):
                self._count(job, tasks, room, short)
        if short and self._round.keys() == jobs.keys():
            self._end_who_fills(jobs, room, short, reserve)
        return bool(room.short_of(reserve, NEAR))

    def _forget(self, jobs: Set[str]) -> None:
        """Forget every job that is not in `jobs`."""
        self._counts = {job: count for job, count in self._counts.items() if job in jobs}
        self._held = {job: use for job, use in self._held.items() if job in jobs}
        self._round = {job: use for job, use in self._round.items() if job in jobs}

    def _due(self, job: str, tasks: list[LiveTask], room: DiskRoom, short: str) -> bool:
        if short:
            return job not in self._round
        return not self._looks % EVERY and _may_be_over(room, _budget(tasks, room))

    def _count(self, job: str, tasks: list[LiveTask], room: DiskRoom, short: str) -> None:
        use = self._counts.setdefault(job, samples.DiskUse(self.supervisor.layout.job(job)))
        done, budget = use.step(HURRIED if short else STEP), _budget(tasks, room)
        now = Use(use.bytes, use.files)
        if budget.bytes and now.bytes > budget.bytes:
            self._end(tasks, lambda who: say.job_over_disk(who, now.bytes >> 20, budget.bytes >> 20))
        elif budget.files and now.files > budget.files:
            self._end(tasks, lambda who: say.job_over_files(who, now.files, budget.files))
        if done:
            del self._counts[job]
            (self._round if short else self._held)[job] = now

    def _end_who_fills(self, jobs: dict[str, list[LiveTask]], room: DiskRoom, short: str, reserve: int) -> None:
        """All have been counted: end the job that grew most, when any grew by much. The next count is compared with
        this one.
        """
        grown = {
            job: getattr(use, short) - getattr(self._held.get(job, Use()), short) for job, use in self._round.items()
        }
        counted = dict(self._round)
        self._held.update(counted)
        self._round.clear()
        if any(task.doom for tasks in jobs.values() for task in tasks):
            return  # the last job that was ended is not gone yet
        job = max(grown, key=lambda job: grown[job])
        if grown[job] <= getattr(room.least(reserve), short) // GROWN:
            return
        held, left = counted[job], room.free
        if short == "bytes":
            self._end(jobs[job], lambda who: say.job_filled_disk(who, held.bytes >> 20, held.files, left.bytes >> 20))
        else:
            self._end(
                jobs[job], lambda who: say.job_filled_disk_with_files(who, held.bytes >> 20, held.files, left.files)
            )

    def _end(self, tasks: list[LiveTask], said: Callable[[str], Said]) -> None:
        for task in tasks:
            self.supervisor.doom(task, "disk_full", said(task.who))


def _budget(tasks: list[LiveTask], room: DiskRoom) -> Use:
    settings = tasks[0].attempt.settings
    return room.budget(settings.disk_mib, settings.inodes, settings.disk_share)


def _may_be_over(room: DiskRoom, budget: Use) -> bool:
    """Return whether counting can find anything: a job over `budget`, or a disk that is half full."""
    taken = Use(room.total.bytes - room.free.bytes, room.total.files - room.free.files)
    bytes_, files = (
        min(limit or total, total // 2)
        for limit, total in zip((budget.bytes, budget.files), (room.total.bytes, room.total.files))
    )
    return taken.bytes > bytes_ or taken.files > files > 0
