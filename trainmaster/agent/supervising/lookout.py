"""Looks after running tasks: samples their use, cuts their logs, looks after the disk they write on and the limits that
nothing else keeps. Idle without tasks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from trainmaster.agent.host.words import say
from trainmaster.agent.measuring import logcap, logtimes, samples
from trainmaster.agent.supervising import excess
from trainmaster.agent.supervising.disks import DiskWatch
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks.live import LiveTask

FAST_S: Final = 0.2


class Lookout:
    """Over the tasks of one supervisor. `later(seconds, call)` sets a timer."""

    def __init__(self, supervisor: Supervisor, later: Callable[[float, Callable[[], None]], None]) -> None:
        self.supervisor, self.later = supervisor, later
        self.sampler = samples.Sampler(supervisor.cgroups)
        self._ticking = False
        self.disks = DiskWatch(supervisor)
        self._hurries = False  # a look before the next sample is due

    def begin(self) -> None:
        """Look from now on, for as long as anything runs."""
        if not self._ticking and (running := self._running()):
            self._ticking = True
            self.later(running[0].attempt.settings.sample_s, self._tick)

    def _running(self) -> list[LiveTask]:
        return [task for attempt in self.supervisor.attempts.values() for task in attempt.present if task.running]

    def _tick(self) -> None:
        """Sample every running task and look at its log; again while anything runs."""
        self._ticking = False
        self.begin()  # first, so that a failure below does not end it
        self.supervisor.gangs.etc.refresh()
        running = self._running()
        now, fast = time.time(), False
        for task in running:
            try:
                fast = self._exceeds(task, self.sampler.sample(task, now)) or fast
                fast = logcap.check(task) or fast
                logtimes.note(task, now)
            except OSError as error:
                say(f"{task.attempt.id}/{task.prepared.name}: no sample: {error}")
        self.sampler.forget(set(running))
        self._again(self.disks.look(running) or fast)

    def _exceeds(self, task: LiveTask, sample: list[Any]) -> bool:
        return excess.check(self.supervisor, task, sample[samples.MEMORY], sample[samples.PROCESSES])

    def _again(self, fast: bool) -> None:
        if fast and not self._hurries:
            self._hurries = True
            self.later(FAST_S, self._look_soon)

    def _look_soon(self) -> None:
        """Look at what grows fast, between two samples."""
        self._hurries = False
        running = self._running()
        near = any([self.disks.look(running), *(excess.look(self.supervisor, task) for task in running)])
        try:
            fast = [logcap.check(task) for task in running]
        finally:
            self._again(near)
        self._again(any(fast))
