"""Takes over what a former agent of this home has left: tasks that run, that ended meanwhile, or that were never
started.

Which task a process is, its record says (`tasks.adoption`). Invariants: what is of another home, or of another boot of
the machine, is never touched; a gang that was half started is completed, and one that was not launched is undone, with
nothing told of it.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Final

from trainmaster.agent.host import procs
from trainmaster.agent.starting import gate, spawn
from trainmaster.agent.supervising import judge
from trainmaster.agent.supervising.supervisor import RETRY_S, Supervisor
from trainmaster.agent.tasks import adoption, handles, live
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.agent.tasks.notes import AGAIN_S

FIND_S: Final = 10.0
"""How long an agent looks for a task that the former one started and did not come to note."""


class Heir:
    """For the `supervisor` of a home, which knows none of its tasks yet."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def adopt(self) -> None:
        """Take over everything a former agent of this home has left: running, ended meanwhile, or not started yet."""
        supervisor = self._supervisor
        folder = live.live_folder(supervisor.layout)
        os.makedirs(folder, 0o700, exist_ok=True)
        for name in sorted(os.listdir(folder)):
            try:
                attempt = adoption.read(supervisor.layout, name)
                adoption.regroup(attempt, supervisor.cgroups)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                adoption.set_aside(supervisor.layout, name, error)
                continue
            supervisor.attempts[name] = attempt
        supervisor.cgroups.sweep(
            {task.group.name for a in supervisor.attempts.values() for task in a.tasks if task.group}
        )
        for attempt in list(supervisor.attempts.values()):
            with contextlib.suppress(OSError):  # full disk: the names do not resolve, the tasks go on
                supervisor.gangs.etc.know(task.prepared.name for task in attempt.tasks)
            attempt.undone = not attempt.launched  # before `_adopt`, so that no end of its sandboxes is told
            for task in attempt.present:
                self._adopt(task)
            if not attempt.launched:
                supervisor.undo(attempt, lambda: None)

    def _adopt(self, task: LiveTask) -> None:
        if task.end is not None and self._supervisor.ended_with_it(task):
            task.end = judge.end_as_stopped(task, task.end)
        if task.attempt.elsewhere or task.attempt.boot != procs.boot():  # its pid is not ours: never touch it
            task.settled = True
            if task.end is None:
                self._supervisor.note_end(task, judge.end_as_lost(task, time.time()))
            return
        if task.end is not None:
            task.settled = task.position in task.attempt.stand_ins  # a stand-in is made only once the task is settled
            self._supervisor.settle(task)
            return
        if task.pid == 0 and not os.path.exists(task.prepared.paths.log):  # it never ran: its gang is completed now
            if task.attempt.launched and not task.attempt.undone:
                self._start_late(task)
            return
        task.adopted = True
        if task.pid:
            self._take(task)
        else:
            self._find(task, time.monotonic() + FIND_S)

    def _find(self, task: LiveTask, give_up: float) -> None:
        """Take over a task that was started but not noted. It may be between two steps, and then has nothing yet to
        know it by.
        """
        adoption.identify(task)
        if found := None if task.pid else self._supervisor.exit_of(task):
            self._supervisor.ended(task, *found)
        elif task.pid or time.monotonic() > give_up:
            self._take(task)
        else:
            self._supervisor.later(RETRY_S, lambda: self._find(task, give_up))

    def _take(self, task: LiveTask) -> None:
        if task.pid:
            self._supervisor.by_pid[task.pid] = task
            handles.take(task)
        there = procs.is_same(procs.stat(task.pid), task.start)
        if not there or not self._supervisor.watch(task.pid, lambda: self._supervisor.adopted_ended(task)):
            self._supervisor.adopted_ended(task)
        elif task.prepared.options and task.attempt.launched:
            self._open_left(task)  # the former agent may have ended before it opened the gate

    def _open_left(self, task: LiveTask) -> None:
        if task.running and not gate.open_left(task):
            self._supervisor.later(RETRY_S, lambda: self._open_left(task))

    def _start_late(self, task: LiveTask) -> None:
        """Complete a gang that a former agent has half started: as soon as the host has room for it."""
        if task.attempt.reaping:
            if not task.settled:  # it is being stopped, and nothing of it has started
                task.settled = True
                self._supervisor.finish_reap(task.attempt)
            return
        if task.prepared.secrets:  # their values went with the former agent
            self._supervisor.undo(task.attempt, lambda: None)
            return
        try:
            task.program = spawn.resolve(task.prepared, task.attempt.gang)
            self._supervisor.spawn(task)
            gate.open_own(task)
        except (spawn.StartRefused, OSError) as error:
            if isinstance(error, OSError) and spawn.why_not(task, error).code == spawn.NOT_NOW:
                self._supervisor.later(AGAIN_S, lambda: self._start_late(task))
            else:
                self._supervisor.undo(task.attempt, lambda: None)
