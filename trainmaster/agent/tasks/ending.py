"""Find and end every process of a task: sandboxed, in a control group, or neither. Signals only what it proved to
belong.

Proof of emptiness: in a sandbox the death of its pid 1 (the kernel ends the namespace first); in a control group an
empty member list; with neither, no process left that carries the task's marker, descends from it or is in its session.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Final

from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.tasks import handles
from trainmaster.agent.tasks.live import LiveTask

UNKNOWN_SLACK: Final = 100  # ticks; without a noted start, the time of the last write to the record stands in for it
BORN_WITHIN: Final = 60 * procs.TICKS
"""A sandbox's pid 1 is as old as its task. What bears its number later (days later, or after the host was started
again) is a stranger, and would be killed for it.
"""


def status_lines(path: str) -> dict[str, int]:
    """Return what bubblewrap wrote so far: ``child-pid`` and, at the end, ``exit-code``."""
    found: dict[str, int] = {}
    try:
        with open(path, "rb") as file:
            data = file.read(8192).decode("ascii", "replace")
    except OSError:
        return found
    for key in ("child-pid", "exit-code"):
        _, mark, rest = data.partition(f'"{key}": ')
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        if mark and digits and rest[len(digits) :].lstrip()[:1] in (",", "}"):
            found[key] = int(digits)
    return found


def waits(task: LiveTask) -> bool:
    """Return whether the sandbox of `task`, if it has one, is still there for its program: it may be dead before
    bubblewrap says so.
    """
    pid = status_lines(task.prepared.paths.status).get("child-pid", 0) if task.pid else 0
    found = procs.stat(pid) if pid else None
    return pid == 0 or (found is not None and found.alive)


def find_init(task: LiveTask) -> int:
    """Return the pid of the sandbox's pid 1, or 0 while there is none (or there is none any more)."""
    if task.init == 0:
        pid = status_lines(task.prepared.paths.status).get("child-pid", 0)
        found = procs.stat(pid) if pid else None
        if found is None or not -procs.START_SLACK <= found.start - task.start <= BORN_WITHIN or not _first_inside(pid):
            return 0
        task.init = pid
    return task.init


def _first_inside(pid: int) -> bool:
    """True when `pid` is process 1 of a namespace below this one: no daemon of the host is, whatever number it was
    given.
    """
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            seen_as = next((line.split()[1:] for line in file if line.startswith(b"NSpid:")), None)
    except OSError:
        return False
    return seen_as is None or (len(seen_as) > 1 and seen_as[-1] == b"1")


def user_processes(task: LiveTask, cgroups: Cgroups) -> list[int]:
    """Return the user's processes, the platform's own supervisors left out."""
    if task.prepared.options:
        init = find_init(task)
        if init and os.path.exists(task.prepared.paths.entered):  # who entered is no descendant of `init`
            return procs.neighbours_of(init)
        return procs.descendants(init) if init else []
    if task.group is not None:
        return cgroups.members(task.group)
    return sorted(procs.scan(task.marker, task.pid, task.start))


def everything(task: LiveTask, cgroups: Cgroups) -> set[int]:
    """Return every live process of `task`, supervisors included."""
    if task.prepared.options:
        init = find_init(task)
        found = {pid for pid in (init, task.pid if task.end is None else 0) if pid and _alive(pid)}
        if not init and task.end is None:
            found.update(procs.descendants(task.pid))
        if task.group is not None:
            found.update(cgroups.members(task.group))
        return found
    if task.group is not None:
        return set(cgroups.members(task.group))
    return procs.scan(task.marker, task.pid, task.start, below=task.end is None)


def _alive(pid: int) -> bool:
    found = procs.stat(pid)
    return found is not None and found.alive


def kill(task: LiveTask, cgroups: Cgroups) -> bool:
    """Send SIGKILL to everything of `task`; return True when there was nothing left to kill."""
    if task.group is not None:
        cgroups.stop_forks(task.group)
    elif not task.prepared.options:
        procs.send(everything(task, cgroups), signal.SIGSTOP)  # a stopped process cannot fork before SIGKILL comes
    left = everything(task, cgroups)
    init = task.init if task.init in left else 0
    if init:
        procs.send([init], signal.SIGKILL)  # the kernel ends the whole namespace with it
    else:
        procs.send(left, signal.SIGKILL)
    return not left


def nothing_left(task: LiveTask, cgroups: Cgroups, strangers: Callable[[], bool]) -> bool:
    """True when nothing of an ended task is alive. Cheap where the kernel keeps the list.

    `strangers`: whether orphans were handed to agent or keeper; without any, an ended task that nobody entered has left
    nothing.
    """
    if task.prepared.options:
        init = find_init(task)
        if init and _alive(init):
            return False
        return task.group is None or not cgroups.members(task.group)
    if task.group is not None:
        return not cgroups.members(task.group)
    hints = strangers() or os.path.exists(task.prepared.paths.entered)
    return not hints or not everything(task, cgroups)


def exit_of_adopted(folder: str, keeper: int, task: LiveTask, known: set[int]) -> tuple[int | None, int | None] | None:
    """Return (exit code, signal) of an ended task that is not this process's child, None when nobody knows it. Asked
    are bubblewrap's note, its zombie, the keeper's note in `folder`, and the kernel, when somebody else has buried it.
    `known`: the pids of all other tasks.
    """
    if task.prepared.options and (noted := status_lines(task.prepared.paths.status).get("exit-code")) is not None:
        return noted, None
    found = procs.stat(task.pid)
    status: int | None = None
    if procs.is_same(found, task.start) and found is not None and not found.alive:
        status = found.code
    # A sandboxed task without a pid is known by bubblewrap's note alone.
    if status is None and (task.pid or not task.prepared.options):
        status = orphan_exit(folder, keeper, task, known)
    if status is None:
        status = handles.exit_of(task)
    return None if status is None else procs.exit_of(status)


def orphan_exit(folder: str, keeper: int, task: LiveTask, known: set[int]) -> int | None:
    """Return the wait status of a task that ended while no agent was there, or None when nobody wrote it down.

    A task whose pid was not recorded (the agent died between the start and the note) is the one orphan that nobody
    knows and that was born when its log was. Zombies are looked at first: the keeper writes a line before it buries
    one.
    """
    if task.pid == 0:
        for found in filter(None, map(procs.stat, procs.children(keeper))):
            orphan = found.state == "Z" and found.sid == found.pid and found.pid not in known
            if orphan and abs(found.start - task.start) <= UNKNOWN_SLACK:
                task.pid = found.pid
                return found.code
    try:
        with open(os.path.join(folder, "exits"), "rb") as file:
            lines = [tuple(map(int, line.split())) for line in file if line.count(b" ") == 2 and line.endswith(b"\n")]
    except OSError:
        return None
    for pid, start, code in reversed(lines):
        mine = pid == task.pid if task.pid else pid not in known
        if mine and abs(start - task.start) <= (procs.START_SLACK if task.pid else UNKNOWN_SLACK):
            task.pid = pid
            return code << 8 if code >= 0 else -code
    return None
