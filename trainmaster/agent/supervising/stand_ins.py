"""Lets ended tasks of an attempt that is kept be entered: each is given its surroundings anew, with a program that only
waits.

Such a *stand-in* has the task's sandbox, control group, variables and folder, and nothing of its processes: they are
gone. Who enters the task enters the stand-in as any running task (agent/enter), and is found and ended by the same
means. Invariants: a stand-in is made only after it was proven that nothing of the task is left; it is in the record
before it is there; no attempt is reaped before its stand-ins are proven gone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final

from trainmaster.agent.host import procs, sharing
from trainmaster.agent.starting import spawn
from trainmaster.agent.supervising.supervisor import RETRY_S, Refuse, Supervisor
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.messages.jobs import starting as say

NOT_KEPT: Final = "not_kept"


class KeptTasks:
    """Over the tasks of one supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def let_in(self, name: str, role: int, index: int, ready: Callable[[], None], refuse: Refuse) -> None:
        """Call `ready` once the task can be entered: it runs, or somebody stands in for it; `refuse` when that cannot
        be.
        """
        task = self._find(name, role, index)
        if task is None:
            refuse(spawn.StartRefused(NOT_KEPT, say.attempt_not_kept(name)))
            return
        there = task.attempt.stand_ins.get(task.position)
        # `gone`, not `running`: an end that is not noticed yet would take whoever enters along.
        if not task.gone or (there is not None and not there.gone):
            ready()
        elif not task.settled or (there is not None and not there.settled):  # its leftovers are still being ended
            self._supervisor.later(RETRY_S, lambda: self.let_in(name, role, index, ready, refuse))
        else:
            try:
                self._make(task)
            except OSError as error:
                refuse(spawn.refusal(error, say.task_not_entered(task.prepared.name)))
            else:
                ready()

    def _find(self, name: str, role: int, index: int) -> LiveTask | None:
        attempt = self._supervisor.attempts.get(name)
        if attempt is None or attempt.elsewhere or attempt.boot != procs.boot() or attempt.undone or attempt.reaping:
            return None
        found = (t for t in attempt.tasks if (t.prepared.role, t.prepared.index) == (role, index))
        return next((task for task in found if task.running or task.end is not None), None)

    def _make(self, task: LiveTask) -> None:
        """Start a stand-in for `task`. Raises OSError; then there is none."""
        supervisor, attempt, made = self._supervisor, task.attempt, live.stand_in(task)
        if not attempt.write_again():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), attempt.record)
        attempt.append({"h": task.position})
        spawn.remove_small(made.prepared.paths.root)
        os.mkdir(made.prepared.paths.root, sharing.FOLDER)
        if made.group is not None:  # the task's end may have forbidden forks in it
            supervisor.cgroups.limit(made.group, made.prepared.limits)
        supervisor.gangs.etc.refresh()
        supervisor.stand_in(made)
