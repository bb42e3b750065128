"""What happened, written into the records; and the witnesses that are kept while it cannot be, because the disk is
full.

A child that has ended stays a zombie until its end is on disk: should this agent be killed meanwhile, the next one
reads the zombie (or the keeper's line, which is written on the same terms). Invariant: of every end there is a record,
a zombie or a line.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainmaster.agent.host import procs
from trainmaster.agent.host.words import say
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.core.folders.layout import Layout

AGAIN_S: Final = 1.0
"""Before the disk, or the host, is asked again for the room that it did not have."""
CLOSE_S: Final = 5.0
"""Before a record that could not be closed is closed again."""


class Notes:
    """Those of one supervisor, whose live `attempts` it looks into. `later(seconds, call)` sets a timer."""

    def __init__(
        self, layout: Layout, attempts: Mapping[str, LiveAttempt], later: Callable[[float, Callable[[], None]], None]
    ) -> None:
        self._layout, self._attempts, self._later = layout, attempts, later
        self._witnesses: dict[int, LiveTask] = {}  # children that have ended, of which no record on disk says so
        self._writing = False  # a timer for the next try is set
        self._held: set[int] = set()  # children that have ended, of which that is not noted yet

    def write(self, task: LiveTask, line: dict[str, Any]) -> bool:
        """Write a line into the record, now or as soon as the disk has room for it; return whether all is on disk."""
        if task.attempt.note(line):
            return True
        if not self._writing:
            self._writing = True
            self._later(AGAIN_S, self._write_again)
        return False

    def write_end(self, task: LiveTask, end: dict[str, Any]) -> None:
        """Write down how `task` ended. Where it is this process's child, that is waited for, and may know a higher
        peak.
        """
        if not self.write(task, {"e": task.position, **end}):
            if task.pid and not task.adopted:
                self._witnesses[task.pid] = task
        elif (usage := _collect(task.pid)) is not None and task.group is None:
            end["peak_mem_mib"] = max(end["peak_mem_mib"], usage.ru_maxrss >> 10)

    def _write_again(self) -> None:
        waiting = [attempt for attempt in self._attempts.values() if not attempt.write_again()]
        self._writing = bool(waiting)
        for pid, task in list(self._witnesses.items()):
            if not task.attempt.unwritten:
                del self._witnesses[pid]
                _collect(pid)
        if self._writing:
            self._later(AGAIN_S, self._write_again)

    def hold(self, pid: int) -> None:
        """Leave a child that has ended as it is, until `let_go`."""
        self._held.add(pid)

    def let_go(self, pid: int) -> None:
        """Hold the child no longer."""
        self._held.discard(pid)

    def ended_child(self) -> os.waitid_result | None:
        """Return a child that has ended, without waiting for it: it stays one for others to see."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            if not self._witnesses and not self._held:
                return os.waitid(os.P_ALL, 0, flags)
            for pid in procs.children(os.getpid()):
                if (
                    pid not in self._witnesses
                    and pid not in self._held
                    and (found := os.waitid(os.P_PID, pid, flags)) is not None
                ):
                    return found
        return None

    def close(self, attempt: LiveAttempt) -> None:
        """Move the record away, now or as soon as that can be done: until then the next agent finds it, with all its
        ends.
        """
        attempt.write_again()
        for pid, task in list(self._witnesses.items()):
            if task.attempt is attempt:
                del self._witnesses[pid]
                _collect(pid)
        try:
            live.close(self._layout, attempt)
        except OSError as error:
            say(f"record {attempt.id} cannot be closed: {error}")
            self._later(CLOSE_S, lambda: self.close(attempt))


def _collect(pid: int) -> Any:
    """Wait for the child `pid`, which has ended; return what it used, None when it is nobody's, or somebody else's."""
    if pid <= 0:
        return None
    try:
        return os.wait4(pid, os.WNOHANG)[2]
    except ChildProcessError:
        return None
