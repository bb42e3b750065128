"""The state of one host: start gangs, notice ends, stop, prove empty. Owns every live task; nobody else changes one.

Driven by its callers: a request, SIGCHLD, a pidfd, a due timer. It never waits and never sleeps. Invariants: a reported
end is on disk first (best effort on a full disk), `reap` answers only when every task is settled, and a task is settled
only when it is proven that nothing of it is left.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.masking import giving
from trainmaster.agent.measuring import logcap, logtimes
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import gate, spawn
from trainmaster.agent.starting.gangs import Gangs, discard, remove
from trainmaster.agent.supervising import judge
from trainmaster.agent.tasks import ending, handles, live
from trainmaster.agent.tasks.announced import Announced
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.agent.tasks.notes import Notes
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang
from trainmaster.messages.jobs import starting
from trainmaster.messages.jobs import tasks as say
from trainmaster.messages.said import Said

RETRY_S: Final = 0.02
LAST_LINES_S: Final = 1.0
"""How long the end of a task waits for what it printed to be in its log, where that is masked."""

Started = Callable[[LiveAttempt], None]
Refuse = Callable[[spawn.StartRefused], None]
Push = Callable[[dict[str, Any]], None]
Later = Callable[[float, Callable[[], None]], None]
WatchEnd = Callable[[int, Callable[[], None]], bool]


class Supervisor:
    """`push` tells connected servers, `later(seconds, call)` sets a timer, `watch(pid, call)` calls once a process
    ended.
    """

    def __init__(self, layout: Layout, cgroups: Cgroups, push: Push, later: Later, watch: WatchEnd) -> None:
        self.layout, self.cgroups, self.push, self.later, self.watch = layout, cgroups, push, later, watch
        self.keeper = 0
        self.patient = False  # somebody else told all to end and kills what does not: do not kill sooner
        # Whether an end that is noticed now was a stop of the platform, and whether one that is written down was.
        self.was_stopped: Callable[[LiveTask], bool] = lambda task: False
        self.ended_with_it: Callable[[LiveTask], bool] = lambda task: False
        self.attempts: dict[str, LiveAttempt] = {}
        self.by_pid: dict[int, LiveTask] = {}
        self.gangs = Gangs(layout, cgroups, later)
        self.notes = Notes(layout, self.attempts, later)
        self._announced = Announced(later, self.drop)

    # ------------------------------------------------------------------------------------------------------- launch

    def get_ready(self, request: bytes, gang: Gang, settings: Settings) -> str:
        """Make `gang` ready for a launch that may follow; return its attempt. What is wrong with it is said by the
        launch.

        Its sandboxes are made and wait; nothing of the user's runs.
        """
        name = live.name_of(gang)
        if (known := self._announced.find(name)) is not None and (known.gang, known.settings) == (gang, settings):
            return name
        self.drop(name)
        if name not in self.attempts:
            with contextlib.suppress(spawn.StartRefused):
                attempt = self.gangs.ready(gang, settings, request)
                self._announced.add(attempt)
                try:
                    self.spawn(*live.sandboxes(attempt))
                except OSError:
                    self.drop(name)
        return name

    def drop(self, name: str) -> None:
        """Forget a gang that was made ready and will not be launched. Its sandboxes, if any, are gone a little
        later.
        """
        attempt = self._announced.take(name)
        if attempt is not None:
            self.undo(attempt, lambda: None)

    def launch_ready(self, name: str, started: Started, refuse: Refuse) -> None:
        """Start the gang that was made ready as `name`, like `launch`; refused as "not_ready" when there is none."""
        known, attempt = self.attempts.get(name), self._announced.find(name)
        if attempt is not None and not all(ending.waits(task) for task in attempt.tasks):
            self.drop(name)
        if (attempt := self._announced.take(name)) is not None:
            self._launch(attempt, started, refuse)
        elif known is not None and not known.undone:
            started(known)
        else:
            refuse(spawn.StartRefused("not_ready", starting.attempt_not_ready(name)))

    def launch(
        self,
        request: bytes,
        gang: Gang,
        settings: Settings,
        started: Started,
        refuse: Refuse,
        values: Mapping[str, str] | None = None,
    ) -> None:
        """Start `gang`, all or none, and call `started`; a second call finds the first one's attempt. `refuse` is
        called once undone. `values`: of its secrets, by name, which `request` does not tell.
        """
        name = live.name_of(gang)
        self.drop(name)
        known = self.attempts.get(name)
        if known is None:
            try:
                attempt = self.gangs.ready(gang, settings, request, values)
            except spawn.StartRefused as refused:
                refuse(refused)
            else:
                self._launch(attempt, started, refuse)
        elif known.undone:  # a failed start of this attempt is still being undone
            known.waiters.append(lambda: self.launch(request, gang, settings, started, refuse, values))
        else:
            started(known)

    def _launch(self, attempt: LiveAttempt, started: Started, refuse: Refuse) -> None:
        self.attempts[attempt.id] = attempt
        try:
            self.spawn(*live.sandboxes(attempt))
            live.decide(attempt)
            for task in attempt.tasks:
                self._begin(task)
        except OSError as error:
            refused = spawn.why_not(next((task for task in attempt.tasks if not task.pid), attempt.tasks[-1]), error)
            self.undo(attempt, lambda: refuse(refused))
        else:
            attempt.values = {}  # nothing of it is started again
            started(attempt)

    def _begin(self, task: LiveTask) -> None:
        """Let the program of a launched task run. Raises OSError."""
        if task.pid:
            gate.open_own(task)
        else:
            self.spawn(task)

    def stand_in(self, task: LiveTask) -> None:
        """Start `task`, which stands in for an ended one (agent/supervising/stand_ins). Raises OSError."""
        self.spawn(task)
        task.attempt.stand_ins[task.position] = task
        gate.open_own(task)

    def spawn(self, *tasks: LiveTask) -> None:
        """Start `tasks` of one attempt, apart from what is not of them. Raises OSError; then the first without a pid
        was not started.
        """
        spawn.spawn_together(tasks, self.cgroups, self._spawned)

    def _spawned(self, task: LiveTask) -> None:
        self.by_pid[task.pid] = task
        self.notes.write(task, task.line)

    def undo(self, attempt: LiveAttempt, done: Callable[[], None]) -> None:
        """End what was started of a gang, then forget it entirely and call `done`."""
        self.attempts[attempt.id] = attempt
        attempt.waiters.append(done)
        attempt.undone = True
        for task in attempt.tasks:
            task.settled = task.settled or not (task.pid or task.adopted)
        self._begin_reap(attempt, 0.0)

    # ---------------------------------------------------------------------------------------------------------- ends

    def children_ended(self) -> None:
        """Wait for every child that has ended: tasks, and orphans of tasks that were handed to this process."""
        while (found := self.notes.ended_child()) is not None:
            pid = found.si_pid
            task = self.by_pid.pop(pid, None)
            if task is None or task.stands_in:
                os.waitpid(pid, 0)
            if task is None:
                continue
            exited = found.si_code == os.CLD_EXITED
            self._ended(task, found.si_status if exited else None, None if exited else found.si_status)

    def _ended(self, task: LiveTask, code: int | None, signum: int | None, patience_s: float = LAST_LINES_S) -> None:
        """Note the end of a child, once its last lines are in its log: they may say why."""
        if patience_s > 0 and giving.pumps(task):
            self.notes.hold(task.pid)
            self.later(RETRY_S, lambda: self._ended(task, code, signum, patience_s - RETRY_S))
        else:
            self.notes.let_go(task.pid)
            self.ended(task, code, signum)

    def adopted_ended(self, task: LiveTask, patience_s: float = LAST_LINES_S) -> None:
        """Find out how a task that is not this process's child ended: see `ending.exit_of_adopted`."""
        if patience_s > 0 and giving.pumps(task):
            self.later(RETRY_S, lambda: self.adopted_ended(task, patience_s - RETRY_S))
            return
        self.by_pid.pop(task.pid, None)
        if task.stands_in:
            self.ended(task, None, None)
            return
        if (found := self.exit_of(task)) is not None:
            self.ended(task, *found)
        else:
            self.note_end(task, judge.end_as_lost(task, time.time()))
        handles.drop(task)

    def exit_of(self, task: LiveTask) -> tuple[int | None, int | None] | None:
        """Return the exit code or signal of a task that is not this process's child; None when nobody noted it."""
        known = {other.pid for attempt in self.attempts.values() for other in attempt.present}
        return ending.exit_of_adopted(self.layout.path("run"), self.keeper, task, known)

    def ended(self, task: LiveTask, code: int | None, signum: int | None) -> None:
        """Note that the main process of `task` has ended."""
        if task.stands_in:
            task.end = {"at": time.time()}
            self.settle(task)
            return
        self.note_end(task, judge.end_of(task, code, signum, time.time(), self.cgroups, self.layout))

    def note_end(self, task: LiveTask, end: dict[str, Any]) -> None:
        """Write down how `task` ended, tell it, and end what is left of it."""
        end = judge.end_as_stopped(task, end) if not task.doom and self.was_stopped(task) else end
        end = task.end = {**end, "stamp": procs.stamp()}
        gate.drop(task)
        self.drop(task.attempt.id)  # if it was only made ready: its launch makes another
        self.notes.write_end(task, end)
        if not task.attempt.undone:
            self.push(task.fact())
        self.settle(task)

    def settle(self, task: LiveTask, again_s: float = 0.001) -> None:
        """End what an ended task left behind; settled once that is proven gone."""
        if task.settled:
            return
        if not ending.nothing_left(task, self.cgroups, self._strangers):
            if not self.patient:
                ending.kill(task, self.cgroups)
            self.later(again_s, lambda: self.settle(task, min(again_s * 2, 1.0)))
            return
        if giving.pumps(task):
            if again_s >= 1.0:
                giving.stop(task)
            self.later(again_s, lambda: self.settle(task, min(again_s * 2, 1.0)))
            return
        task.settled = True
        giving.take_back(task)
        with contextlib.suppress(OSError):  # its last lines may have passed the limit since the last look
            logcap.check(task)
            logtimes.note(task, time.time())
        if task.attempt.reaping:
            self.finish_reap(task.attempt)

    def _strangers(self) -> bool:
        """True when the kernel handed somebody's orphans to this process or the keeper: the hint that a scan is due."""
        own = os.getpid()
        return any(
            pid not in self.by_pid and pid != own for parent in (own, self.keeper) for pid in procs.children(parent)
        )

    # ---------------------------------------------------------------------------------------------------------- stop

    def signal(self, attempt: LiveAttempt, signum: int) -> None:
        """Send `signum` to the user's processes of every running task; of one that is just being started, once there
        are any.
        """
        for task in attempt.tasks:
            self._signal(task, signum)

    def _signal(self, task: LiveTask, signum: int) -> None:
        found = ending.user_processes(task, self.cgroups) if task.running else []
        procs.send(found, signum)
        if task.running and not found:
            self.later(0.05, lambda: self._signal(task, signum))

    def reap(self, name: str, grace_s: float, done: Callable[[], None]) -> None:
        """End everything of an attempt, SIGTERM first, SIGKILL after `grace_s`; `done` once nothing is left."""
        self.drop(name)
        attempt = self.attempts.get(name)
        if attempt is None:
            done()
            return
        attempt.waiters.append(done)
        self._begin_reap(attempt, grace_s)

    def _begin_reap(self, attempt: LiveAttempt, grace_s: float) -> None:
        first = not attempt.reaping
        attempt.reaping = True
        for stand_in in attempt.stand_ins.values() if first else ():
            self._kill_task(stand_in)
        for task in attempt.tasks:
            if task.running and not task.doom:
                task.doom, task.doomed = "stopped", say.task_ended_as_asked(task.who)
        if first and grace_s > 0 and any(task.running for task in attempt.tasks):
            self._terminate(attempt.tasks)
        if grace_s <= 0:
            self._kill(attempt)
        elif first:
            self.later(grace_s, lambda: self._kill(attempt))
        self.finish_reap(attempt)

    def _terminate(self, tasks: list[LiveTask]) -> None:
        """Send SIGTERM; a task whose sandbox is still being made has nobody to tell yet and is told as soon as it
        has.
        """
        unheard = []
        for task in tasks:
            if task.running:
                found = ending.user_processes(task, self.cgroups)
                procs.send(found, signal.SIGTERM)
                unheard += [] if found else [task]
        if unheard:
            self.later(RETRY_S, lambda: self._terminate(unheard))

    def _kill(self, attempt: LiveAttempt) -> None:
        """Kill until everything is settled; a process in uninterruptible sleep is tried again for as long as it
        takes.
        """
        if attempt.id not in self.attempts:
            return
        for task in attempt.tasks:
            if not task.settled:
                ending.kill(task, self.cgroups)
        if not all(task.settled for task in attempt.tasks):
            self.later(RETRY_S, lambda: self._kill(attempt))

    def finish_reap(self, attempt: LiveAttempt) -> None:
        """Forget an attempt that is reaped, and answer who waits for that, if every task of it is settled."""
        if not all(task.settled for task in attempt.present) or self.attempts.pop(attempt.id, None) is None:
            return
        if attempt.undone:
            self.gangs.forget(attempt)
        else:
            for task in attempt.tasks:
                discard(task.prepared.paths)
            for stand_in in attempt.stand_ins.values():
                remove(stand_in.prepared.paths.root)
            self.notes.close(attempt)
            self.gangs.give_back(attempt)
        for done in attempt.waiters:
            done()

    def doom(self, task: LiveTask, code: str, said: Said) -> None:
        """End one running task because it broke a limit, and what is said of that."""
        if task.running and not task.doom:
            task.doom, task.doomed = code, said
            self._kill_task(task)

    def _kill_task(self, task: LiveTask) -> None:
        if not task.settled:
            ending.kill(task, self.cgroups)
            self.later(RETRY_S, lambda: self._kill_task(task))
