"""Was the platform itself stopped? Then what ended with it is the platform's, and nobody is charged for it.

A service manager that stops a unit, and a machine that goes down, send SIGTERM to every process there is, then SIGKILL.
The keeper and the agent outlive the first and know by it: the keeper writes `run/stopped`; an agent that was told to
end, and finds that its keeper was told the same, calls every end from then on a stop of the platform. The next agent
reads the note. A machine that was started anew is known by its name of this boot, which stands in every record.

Invariant: only what was started before the note is meant by it, and a note that nothing came of is forgotten.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from trainmaster.agent.host import procs
from trainmaster.agent.host.words import say
from trainmaster.agent.supervising import judge
from trainmaster.agent.supervising.supervisor import Later, Push, Supervisor
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.verdicts import BEFORE_FAILED

WINDOW_S: Final = 300.0
"""Service managers wait 90 s between the two signals unless they are told otherwise. Who still runs after this was not
meant.
"""
SAME_MOMENT_S: Final = 0.3
"""Processes are signalled one after the other: an end by such a signal is told so much later, for the agent may be
next.
"""
KEEPER_S, LOOK_S = 10.0, 0.02
"""How long an agent that was told to end looks whether its keeper was told the same, and how often: a keeper may wait
for the disk.
"""
BY_SUCH: Final = (signal.SIGTERM, signal.SIGKILL)
PROGRAMS_OWN: Final = ("", "signal", "exit_code", BEFORE_FAILED)
"""Verdicts, "" for none, on ends that a signal to everybody explains better. Others, such as a stop that was asked for,
stand.
"""
SIGNALLED: Final = ("signal", BEFORE_FAILED)
"""Verdicts on ends that a signal may have made."""


class StopNote(NamedTuple):
    """What a keeper wrote when it was told to end: the boot, the kernel's clock in ticks, its own pid."""

    boot: str
    ticks: int
    keeper: int


def read_note(path: str) -> StopNote | None:
    """Return the note at `path`, None when there is none that can be read."""
    try:
        with open(path, encoding="ascii") as file:
            boot, ticks, keeper = file.read().split()
        return StopNote(boot, int(ticks), int(keeper))
    except (OSError, ValueError):
        return None


class Stopping:
    """One per agent of a machine; stands between its supervisor and the servers that are told. `keeper`: its own."""

    def __init__(self, path: str, keeper: int, supervisor: Supervisor, later: Later, push: Push) -> None:
        self.path, self.keeper, self.supervisor, self.later, self._push = path, keeper, supervisor, later, push
        self.boot = procs.boot()
        self.told = False  # agent and keeper were told to end: a stop of the platform
        self.doubtful = False  # the agent was told to end; whether the keeper was, is not known yet
        self.before: int | None = None  # the stop covers what was started before these ticks
        self._held: dict[tuple[str, int, int], dict[str, Any]] = {}
        self.found: StopNote | None = None  # the note that a former agent's end left
        supervisor.was_stopped = self.covers
        supervisor.ended_with_it = self.covered

    def begin(self) -> None:
        """Take in what a former agent's end has left. Called before anything is adopted."""
        self.found = read_note(self.path)
        self._look(lambda note: note.keeper != self.keeper or procs.now_ticks() - note.ticks < WINDOW_S * procs.TICKS)

    def covers(self, task: LiveTask) -> bool:
        """Return whether an end of `task` that is noticed now is the stop of the platform."""
        if task.attempt.elsewhere:
            return False  # its processes belong to another home and may still run
        if task.attempt.boot != self.boot:
            return True
        return self.before is not None and task.start <= self.before

    def covered(self, task: LiveTask) -> bool:
        """Return whether the end of `task` that a former agent wrote down was the stop: that agent was killed before it
        knew.
        """
        note, end = self.found, task.end
        if (
            note is None
            or end is None
            or note.boot != task.attempt.boot
            or task.start > note.ticks
            or "ticks" not in end
        ):
            return False
        code = (end.get("verdict") or {}).get("code", "")
        late_s = (end["ticks"] - note.ticks) / procs.TICKS
        return code in PROGRAMS_OWN and late_s >= (-KEEPER_S if code in SIGNALLED and end["signal"] in BY_SUCH else 0.0)

    def over(self) -> bool:
        """Return whether an agent that was told to end has nothing left to wait for, apart from its servers."""
        return self.told and all(task.settled for one in self.supervisor.attempts.values() for task in one.tasks)

    # -- the signal ----------------------------------------------------------------------------------------------

    def asked_to_end(self) -> None:
        """SIGTERM came."""
        self.doubtful = self.supervisor.patient = True
        self._ask_keeper(KEEPER_S)

    def _ask_keeper(self, left_s: float) -> None:
        if self._look(lambda note: note.keeper == self.keeper):
            say("the platform is being stopped; waiting for the tasks to end")
            self.told, self.doubtful = True, False
            for key in list(self._held):
                self._mend(key)
        elif left_s > 0:
            self.later(LOOK_S, lambda: self._ask_keeper(left_s - LOOK_S))
        else:
            say("told to end, but not its keeper, which starts another")
            os._exit(1)

    def _look(self, meant: Callable[[StopNote], bool]) -> bool:
        note = read_note(self.path)
        if note is None or note.boot != self.boot or not meant(note):
            return False
        if self.before is None:
            self.later(WINDOW_S, self._forget)
        self.before = note.ticks
        return True

    def _forget(self) -> None:
        self.before, self.told, self.supervisor.patient = None, False, False
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    # -- what is told --------------------------------------------------------------------------------------------

    def tell(self, event: dict[str, Any]) -> None:
        """Tell the servers, an end that may turn out to be a stop of the platform a moment later."""
        verdict = event.get("verdict") or {}
        by_such = verdict.get("code") in SIGNALLED and event.get("signal") in BY_SUCH
        if by_such or (self.doubtful and event.get("kind", "running") != "running"):
            key = (event["attempt"], event["role"], event["index"])
            self._held[key] = event
            self.later(SAME_MOMENT_S, lambda: self._release(key))
        else:
            self._push(event)

    def event_of(self, task: LiveTask) -> dict[str, Any]:
        """Return the event of `task` for who asks now: an end that is not told yet has not happened yet."""
        told = (task.attempt.id, task.prepared.role, task.prepared.index) not in self._held
        return task.fact() if told else task.fact(ended=False)

    def _release(self, key: tuple[str, int, int]) -> None:
        if self.doubtful:
            self.later(SAME_MOMENT_S, lambda: self._release(key))
        elif key in self._held:
            self._push(self._held.pop(key))

    def _mend(self, key: tuple[str, int, int]) -> None:
        attempt = self.supervisor.attempts.get(key[0])
        tasks = () if attempt is None else attempt.tasks
        for task in tasks:
            if (task.prepared.role, task.prepared.index) == key[1:] and task.end is not None and self.covers(task):
                task.end = judge.end_as_stopped(task, task.end)
                self.supervisor.notes.write(task, {"e": task.position, **task.end})
                self._held[key] = task.fact()
