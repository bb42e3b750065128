"""What the agent remembers: attempts and tasks that are not yet reaped, and their records on disk.

A record is HOME/run/live/<attempt>: line 1 the request exactly as it came, line 2 settings and groups, then one line
for the launch and one per start, end and stand-in, append-only. When the attempt is reaped it becomes
attempts/<n>/record.jsonl. Invariants: the record exists before any process of the attempt; nothing of the user's runs
before the line of the launch; a task's `log` is created by the task's own process, exclusively, so a task without a log
has never run, and none can run twice.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.agent.folder import write_whole
from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import ControlGroup
from trainmaster.agent.settings import Settings
from trainmaster.agent.tasks.prepare import Prepared
from trainmaster.core.folders.layout import Layout, TaskPaths
from trainmaster.core.ids import attempt_id, task_name
from trainmaster.core.launch import Gang
from trainmaster.messages.said import Said

WAIT: Final = ("/bin/sleep", "2147483647")
"""What a stand-in runs."""

TOLD: Final = ("at", "stamp", "exit_code", "signal", "verdict", "peak_mem_mib", "notes")


@dataclass(slots=True, eq=False)
class LiveTask:
    """One task. `pid` 0: not started. `end`: the final word. `settled`: it ended and nothing of it is left.
    `stands_in`: it is not the task itself, which has ended, but what stands in for it so that it can be entered.
    """

    attempt: LiveAttempt
    prepared: Prepared
    position: int
    program: str = ""  # path of what is executed when there is no sandbox
    group: ControlGroup | None = None
    pid: int = 0
    start: int = 0  # kernel ticks
    started_at: float = 0.0
    stamp: str = ""  # the same moment by a clock that is not set, "": not known
    adopted: bool = False  # not this process's child
    handle: int = -1  # pidfd of an adopted task (agent/tasks/handles), -1: none
    init: int = 0  # the sandbox's pid 1, 0: not known (yet)
    gate: int = -1  # descriptor of the closed gate at which its sandbox waits, -1: none (see agent/starting/gate)
    end: dict[str, Any] | None = None
    settled: bool = False
    doom: str = ""  # verdict code, when the platform ends it
    doomed: Said | None = None  # why, in words
    peak_mib: int = 0
    log_seen: int = 0
    log_cut: int = 0
    log_rows: tuple[int, float, float] = (0, 0.0, 0.0)  # how far its log was seen to grow (measuring/logtimes)
    log_whole: bool = False  # its file system cannot punch holes
    near: bool = False  # its memory is near its limit, or above
    over: int = 0  # looks in a row that found it far above
    warned: bool = False  # its owner was told of its memory
    stands_in: bool = False
    pump: int = 0  # pid of the process that masks its log, 0: none (see agent/masking)
    pump_start: int = 0  # kernel ticks

    @property
    def who(self) -> str:
        """The task as people read of it: worker-0."""
        return f"{self.attempt.gang.roles[self.prepared.role].name}-{self.prepared.index}"

    @property
    def marker(self) -> bytes:
        """The entry in the environment of each of its processes."""
        return f"TRAINMASTER_TASK={self.attempt.id}/{self.prepared.name}".encode()

    @property
    def line(self) -> dict[str, Any]:
        """The line of its start in the record."""
        key = "h" if self.stands_in else "s"
        return {key: self.position, "pid": self.pid, "start": self.start, "at": self.started_at, "stamp": self.stamp}

    @property
    def began(self) -> dict[str, Any]:
        """When it started, as its end tells it to a server that was away."""
        return {"started_at": self.started_at, "started": self.stamp}

    @property
    def running(self) -> bool:
        """True between the start and the end of its main process."""
        return self.pid != 0 and self.end is None

    @property
    def alive(self) -> bool:
        """Whether its main process runs now. What is bound to it before that was so belongs to this task and no
        other.
        """
        found = procs.stat(self.pid) if self.pid else None
        return procs.is_same(found, self.start) and found is not None and found.alive

    @property
    def gone(self) -> bool:
        """True once its main process has ended, or will at once: also before that is noticed here."""
        return self.end is not None or (self.pid != 0 and (not self.alive or procs.killed(self.pid)))

    def fact(self, *, ended: bool = True) -> dict[str, Any]:
        """Return the event that tells what is known of it. `ended` false: as it was before its end."""
        place = self.prepared
        event: dict[str, Any] = {"event": "task", "attempt": self.attempt.id, "role": place.role, "index": place.index}
        if self.end is None or not ended:
            return {**event, "kind": "running", "at": self.started_at, "stamp": self.stamp}
        kind = "lost" if self.end.get("lost") else "exited"
        return {**event, "kind": kind, **self.began, **{key: self.end.get(key) for key in TOLD}}


@dataclass(slots=True, eq=False)
class LiveAttempt:
    """One attempt. `waiters` are called when it is reaped; `undone`: its start failed, every trace of it goes.

    `boot`: see `procs.boot`; of another one nothing can be left.
    """

    id: str
    gang: Gang
    settings: Settings
    record: str
    boot: str = field(default_factory=procs.boot)
    tasks: list[LiveTask] = field(default_factory=list)
    stand_ins: dict[int, LiveTask] = field(default_factory=dict)  # by the position of the ended task
    elsewhere: bool = False  # its record is a copy: what it names runs for another home, or not at all
    launched: bool = False  # the launch is written down; until then the attempt may be dropped
    reaping: bool = False
    undone: bool = False
    waiters: list[Callable[[], None]] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict, repr=False)  # of its secrets, by name; in no record
    notes: list[tuple[str, Said]] = field(default_factory=list)
    unwritten: list[dict[str, Any]] = field(default_factory=list)  # lines for which the disk has no room yet, in order

    @property
    def present(self) -> list[LiveTask]:
        """All that may have processes: the tasks, and who stands in for one."""
        return [*self.tasks, *self.stand_ins.values()]

    def append(self, line: dict[str, Any]) -> None:
        """Append one line to the record. Raises OSError when the disk is full."""
        append(self.record, line)

    def note(self, line: dict[str, Any]) -> bool:
        """Append one line to the record, or keep it until `write_again`; return whether all lines are on disk."""
        self.unwritten.append(line)
        return self.write_again()

    def write_again(self) -> bool:
        """Append what could not be appended yet; return whether all lines are on disk."""
        try:
            while self.unwritten:
                self.append(self.unwritten[0])
                del self.unwritten[0]
        except OSError:
            return False
        return True


def sandboxes(attempt: LiveAttempt) -> list[LiveTask]:
    """Return the tasks whose sandboxes are still to be made; once made, they wait at their gates."""
    return [task for task in attempt.tasks if task.prepared.options and not task.pid]


def stand_in(task: LiveTask) -> LiveTask:
    """Return what can stand in for the ended `task`: all that it had, around a program that only waits."""
    held = TaskPaths(os.path.join(task.prepared.paths.root, "held"))
    prepared = replace(task.prepared, paths=held, argv=WAIT, hooked=False)
    return LiveTask(task.attempt, prepared, task.position, WAIT[0], task.group, stands_in=True)


def append(path: str, line: Any) -> None:
    """Append one JSON line in a single write: all of it or nothing. Raises OSError."""
    data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        if (written := os.write(fd, data)) != len(data):  # the next line would be joined to half a line
            os.ftruncate(fd, os.fstat(fd).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(fd)


def live_folder(layout: Layout) -> str:
    """Return the folder of the records of attempts that are not reaped: adoption costs nothing for finished jobs."""
    return layout.path("run", "live")


def identity(layout: Layout) -> list[int]:
    """Return what no copy of the folder of records shares with it, while a folder that is renamed keeps it."""
    found = os.stat(live_folder(layout))
    return [found.st_dev, found.st_ino]


def written_elsewhere(meta: dict[str, Any], layout: Layout) -> bool:
    """Return whether a record with this second line is a copy. A machine that was started anew may number its disks
    anew.
    """
    here = identity(layout)
    there = meta.get("folder", here)
    return bool(there != here if meta.get("boot") == procs.boot() else there[1:] != here[1:])


def record_path(layout: Layout, attempt: str) -> str:
    """Return where the record of a live attempt lies."""
    return os.path.join(live_folder(layout), attempt)


def closed_path(layout: Layout, gang: Gang) -> str:
    """Return where the record lies once the attempt is reaped: one for each agent that had a part of it."""
    part = "" if gang.here is None else f"-{task_name(*gang.here[0])}"
    return os.path.join(layout.attempt(gang.job, gang.attempt), f"record{part}.jsonl")


def create(layout: Layout, attempt: LiveAttempt, request: bytes) -> None:
    """Write the record of an attempt that is made ready. Raises FileExistsError when it was started before."""
    groups = {t.prepared.name: [t.group.name, list(t.group.base)] for t in attempt.tasks if t.group}
    where = json.dumps(identity(layout))
    meta = (
        f'{{"settings":{attempt.settings.text},"folder":{where},"groups":{json.dumps(groups)},"boot":"{attempt.boot}"}}'
    ).encode()
    fd = os.open(attempt.record, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        data = request.rstrip(b"\n") + b"\n" + meta + b"\n"
        if os.write(fd, data) != len(data):
            raise OSError(28, "No space left on device", attempt.record)
    except OSError:
        os.unlink(attempt.record)
        raise
    finally:
        os.close(fd)


def decide(attempt: LiveAttempt) -> None:
    """Write down that `attempt` is launched: from here on no agent may forget it. Raises OSError when the disk is
    full.
    """
    now, stamp = time.time(), procs.stamp()
    attempt.append({"launched": now, "stamp": stamp})
    attempt.launched = True
    for task in attempt.tasks:
        task.started_at, task.stamp = now, stamp


def close(layout: Layout, attempt: LiveAttempt) -> None:
    """Move the record of a reaped attempt beside its logs, which may lie on another file system.

    Raises OSError; then the record is where it was.
    """
    closed = closed_path(layout, attempt.gang)
    try:
        try:
            os.rename(attempt.record, closed)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with open(attempt.record, encoding="utf-8") as file:
                write_whole(closed, file.read())
            os.unlink(attempt.record)
    except FileNotFoundError:  # the job's folder was removed by hand
        os.unlink(attempt.record)


def name_of(gang: Gang) -> str:
    """Return the attempt id of `gang`."""
    return attempt_id(gang.job, gang.attempt)
