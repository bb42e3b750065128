"""Handles (pidfds) of tasks that a former agent started. Such a task may end as the child of somebody who buries it at
once and writes nothing down: the kernel tells how it ended to whoever held a handle of it before.

An agent that becomes a keeper hands its handles on, and the keeper keeps them for every agent that it starts: what ends
while no agent is there is known as well. Invariant: a handle is of the process that is named beside it, by pid and
start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections.abc import Iterable
from functools import cache
from typing import Final

from trainmaster.agent.host import procs
from trainmaster.agent.tasks.live import LiveTask

HANDED: Final = "TRAINMASTER_HANDLES"
"""Variable of keeper and agent: ``PID:START:DESCRIPTOR`` for each handle that they were given."""
GET_INFO: Final = 0xC040FF0B
"""ioctl PIDFD_GET_INFO for a `struct pidfd_info` of 64 bytes; of a buried process since Linux 6.15."""
EXIT: Final = 1 << 3  # PIDFD_INFO_EXIT
INFO_SIZE: Final = 64
CODE_AT: Final = 60  # the last field: the wait status


@cache
def inherited_handles() -> dict[tuple[int, int], int]:
    """Return the handles that this agent was started with, by pid and start. No child of it gets them. Called at its
    start.
    """
    found = {}
    for one in os.environ.get(HANDED, "").split():
        pid, start, fd = map(int, one.split(":"))
        with contextlib.suppress(OSError):
            os.set_inheritable(fd, False)
            found[pid, start] = fd
    return found


def take(task: LiveTask) -> None:
    """Give `task`, whose pid is known, its handle: the one handed on, or a new one while the process is there."""
    task.handle = inherited_handles().get((task.pid, task.start), -1)
    if task.handle < 0:
        with contextlib.suppress(OSError):
            task.handle = os.pidfd_open(task.pid)
            if not procs.is_same(procs.stat(task.pid), task.start):
                drop(task)


def drop(task: LiveTask) -> None:
    """Close the handle of `task`, if it has one."""
    if task.handle >= 0:
        inherited_handles().pop((task.pid, task.start), None)
        os.close(task.handle)
        task.handle = -1


def exit_of(task: LiveTask) -> int | None:
    """Return the wait status of a `task` that was buried. None: it is not, or there is no handle, or an older
    kernel.
    """
    info = bytearray(struct.pack("=Q", EXIT).ljust(INFO_SIZE, b"\0"))
    try:
        fcntl.ioctl(task.handle, GET_INFO, info)
    except (OSError, ValueError):  # the kernel cannot answer, or there is no handle
        return None
    return int(struct.unpack_from("=i", info, CODE_AT)[0]) if struct.unpack_from("=Q", info)[0] & EXIT else None


def hand_on(tasks: Iterable[LiveTask]) -> dict[str, str]:
    """Let the program that replaces this one have the handles of `tasks`; return what its environment says of them."""
    held = [task for task in tasks if task.handle >= 0]
    for task in held:
        os.set_inheritable(task.handle, True)
    return {HANDED: " ".join(f"{task.pid}:{task.start}:{task.handle}" for task in held)} if held else {}
