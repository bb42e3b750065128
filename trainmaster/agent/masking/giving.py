"""Brings the values of secrets to a task, in memory alone: as variables and files, and to the process that masks its
log.

Invariants: a value is in no command line, in no record and in no file on a disk; what a task was given is gone with it.
An agent that takes over from another knows no values: it starts no task that needs one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import field
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.agent import place
from trainmaster.agent.host import procs
from trainmaster.agent.masking.pump import VALUES_FD
from trainmaster.agent.sandbox import sandbox
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.launch import SecretUse

_HIGH: Final = 256
"""Descriptors of this process from here on: none of them is a number that the child is to have."""
_READ_ONLY: Final = 0o400


@dataclass(slots=True)
class Handed:
    """What the start of a task needs besides. `actions`: of posix_spawn; `options`: of bubblewrap; `env`: variables."""

    actions: list[Any] = field(default_factory=list)
    options: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict, repr=False)


def hand(task: LiveTask, after: ExitStack, failed: ExitStack) -> Handed:
    """Start the process that masks the log of `task`, and return what brings it its secrets. What is only needed until
    it has started is closed by `after`, what it would have had is taken back by `failed`. Raises OSError.
    """
    values, prepared, handed = task.attempt.values, task.prepared, Handed()
    handed.env = {use.env: values[use.name] for use in prepared.secrets if use.env}
    files = _files(prepared.secrets)
    if prepared.options:
        handed.options = tuple(word for name, value in handed.env.items() for word in ("--setenv", name, value))
        for number, use in enumerate(files):
            fd = _in_memory(values[use.name].encode(), after)
            handed.actions.append((os.POSIX_SPAWN_DUP2, fd, sandbox.SECRETS_FD + number))
    elif files:
        failed.callback(take_back, task)
        os.mkdir(prepared.secrets_dir, 0o700)
        for use in files:
            _write(os.path.join(prepared.secrets_dir, use.file), values[use.name].encode())
    output = _start_pump(task, after)
    handed.actions += [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    return handed


def _files(uses: Iterable[SecretUse]) -> list[SecretUse]:
    return [use for use in uses if use.file]


def without_files(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return `options` without those that read a secret from a descriptor: there is none."""
    words, kept = iter(options), []
    for word in words:
        if word == sandbox.SECRET_FILE:
            next(words), next(words)
        else:
            kept.append(word)
    return tuple(kept)


def _start_pump(task: LiveTask, after: ExitStack) -> int:
    """Return where the task is to print. Raises OSError."""
    reads, writes = (_high(fd, after) for fd in _pipe())
    values = json.dumps(list(task.attempt.values.values())).encode()
    actions = [
        (os.POSIX_SPAWN_DUP2, reads, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, _in_memory(values, after), VALUES_FD),
    ]
    text, package = place.start("agent.masking.pump"), str(place.PACKAGE.parent)
    words = [sys.executable, "-I", "-S", "-c", text, package, task.prepared.paths.log]
    # Not in a session of its own: who looks for a task without a note takes leaders of sessions for one.
    task.pump = os.posix_spawn(words[0], words, {}, file_actions=actions, setsigdef=[signal.SIGPIPE])
    found = procs.stat(task.pump)
    task.pump_start = found.start if found is not None else 0
    task.attempt.note({"m": task.position, "pid": task.pump, "start": task.pump_start})
    return writes


def _pipe() -> Iterator[int]:
    yield from os.pipe()


def _high(fd: int, after: ExitStack) -> int:
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    after.callback(os.close, high)
    return high


def _in_memory(data: bytes, after: ExitStack) -> int:
    """Return an open file of nobody's that holds `data`. Raises OSError."""
    fd = _high(os.memfd_create("value", os.MFD_CLOEXEC), after)
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _write(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _READ_ONLY), "wb") as file:
        file.write(data)


def pumps(task: LiveTask) -> bool:
    """Return whether what `task` printed is still on its way into the log."""
    if not task.pump:
        return False
    found = procs.stat(task.pump)
    return procs.is_same(found, task.pump_start) and found is not None and found.alive


def stop(task: LiveTask) -> None:
    """End the process that masks the log of `task`: somebody who left it has kept its output."""
    if pumps(task):
        procs.send([task.pump], signal.SIGKILL)


def take_back(task: LiveTask) -> None:
    """Remove the files with secrets that a task without a sandbox was given. One that is not there is gone already."""
    folder = task.prepared.secrets_dir
    with contextlib.suppress(OSError):
        for use in _files(task.prepared.secrets) if folder else ():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, use.file))
        if folder:
            os.rmdir(folder)
