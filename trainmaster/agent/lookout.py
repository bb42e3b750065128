"""Looks after running tasks: samples their use, cuts their logs, ends those of a job over its disk budget. Idle without tasks."""

import time
from collections.abc import Callable
from typing import Final

from trainmaster.agent import logcap, samples
from trainmaster.agent.live import LiveTask
from trainmaster.agent.supervisor import Supervisor
from trainmaster.agent.words import say

FAST_S: Final = 0.2
DISK_EVERY: Final = 5  # samples between two looks at a job's disk use


class Lookout:
    """Over the tasks of one supervisor. `later(seconds, call)` sets a timer."""

    def __init__(self, supervisor: Supervisor, later: Callable[[float, Callable[[], None]], None]) -> None:
        self.supervisor, self.later = supervisor, later
        self.sampler = samples.Sampler(supervisor.cgroups)
        self._ticking = False
        self._ticks = 0
        self._disk: dict[str, samples.DiskUse] = {}  # counts going on, by job

    def begin(self) -> None:
        """Look from now on, for as long as anything runs."""
        if not self._ticking and (running := self._running()):
            self._ticking = True
            self.later(running[0].attempt.settings.sample_s, self._tick)

    def _running(self) -> list[LiveTask]:
        return [task for attempt in self.supervisor.attempts.values() for task in attempt.tasks if task.running]

    def _tick(self) -> None:
        """Sample every running task and look at its log; again while anything runs."""
        self._ticking = False
        self._ticks += 1
        self.supervisor.gangs.etc.refresh()
        running = self._running()
        now, fast = time.time(), False
        for task in running:
            try:
                self.sampler.sample(task, now)
                fast = logcap.check(task) or fast
            except OSError as error:
                say(f"{task.attempt.id}/{task.prepared.name}: no sample: {error}")
        self.sampler.forget(set(running))
        self._budgets(running)
        if fast:
            self.later(FAST_S, self._look_at_logs)
        self.begin()

    def _look_at_logs(self) -> None:
        fast = [logcap.check(task) for task in self._running()]
        if any(fast):
            self.later(FAST_S, self._look_at_logs)

    def _budgets(self, running: list[LiveTask]) -> None:
        """Go on adding up what each job's folder holds; end the tasks of a job that is over its budget."""
        jobs = {task.attempt.gang.job: task.attempt.settings.disk_mib for task in running}
        self._disk = {job: use for job, use in self._disk.items() if job in jobs}
        for job, budget in jobs.items():
            if not budget or (job not in self._disk and self._ticks % DISK_EVERY):
                continue
            use = self._disk.setdefault(job, samples.DiskUse(self.supervisor.layout.job(job)))
            done = use.step()
            if (used := use.bytes >> 20) > budget:
                text = f"was ended: its job's folder holds {used} MiB, the limit is {budget} MiB"
                for task in running:
                    if task.attempt.gang.job == job:
                        self.supervisor.doom(task, "disk_full", text)
            if done:
                del self._disk[job]
