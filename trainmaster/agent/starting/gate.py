"""The gate of a sandbox: bubblewrap, all set up, waits there for one byte before it executes the program.

It would go on at an end of file as well. So a gate is a pipe of which bubblewrap holds both ends, as one descriptor:
the death of server, agent or keeper opens none. It has no name: who made it keeps a descriptor until the launch, and an
agent that comes after reaches it through the process that waits. Invariant: a gate is opened only behind the line of
the launch in the record.
"""

from __future__ import annotations

import contextlib
import os
import stat

from trainmaster.agent.sandbox import sandbox
from trainmaster.agent.tasks import ending
from trainmaster.agent.tasks.live import LiveTask


def make() -> int:
    """Return both ends of a new pipe as one descriptor. Raises OSError."""
    reads, writes = os.pipe()
    try:
        return os.open(f"/proc/self/fd/{reads}", os.O_RDWR | os.O_CLOEXEC)
    finally:
        os.close(reads)
        os.close(writes)


def open_own(task: LiveTask) -> None:
    """Let the program of a `task` run that this agent has started."""
    if task.gate >= 0:
        os.write(task.gate, b"1")
        drop(task)


def drop(task: LiveTask) -> None:
    """Close our descriptor of the gate of `task`, if there is one; this opens nothing."""
    if task.gate >= 0:
        os.close(task.gate)
        task.gate = -1


def open_left(task: LiveTask) -> bool:
    """Let the program of a `task` run that a former agent has started and perhaps let through. A second time nothing
    happens. False: who waits there cannot be reached yet.

    First the outer process has the gate; it writes down who the inner one is before it closes it.
    """
    try:
        return _open(task.pid)
    except FileNotFoundError:  # the outer process has closed it: try the inner one
        noted = ending.status_lines(task.prepared.paths.status).get("child-pid", 0)
        init = ending.find_init(task)
        with contextlib.suppress(FileNotFoundError):
            return _open(init) if init else noted > 0
        return True


def _open(pid: int) -> bool:
    """Open the gate that `pid` holds. False when that is not allowed (yet). Raises FileNotFoundError when it holds none
    (any more): another of its descriptors may have got that number since.
    """
    path = f"/proc/{pid}/fd/{sandbox.GATE_FD}"
    try:
        if not stat.S_ISFIFO(os.stat(path).st_mode):
            raise FileNotFoundError(path)
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    try:
        os.write(fd, b"1")
    finally:
        os.close(fd)
    return True
