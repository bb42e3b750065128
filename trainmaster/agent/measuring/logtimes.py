"""When a log grew: seen whenever its task is sampled, and kept beside it as ``<log>.times``.

A row is two numbers of 8 bytes, little endian: up to which byte the log reached, and when, in milliseconds since the
epoch. What lies between two rows was written between their times: nobody says more of a line than that. Invariant: a
file of rows is only added to, and has fewer than a few hundred thousand whatever the task writes: a look is kept only
when it is later than the last by 1/50,000 of the task's age.
"""

from __future__ import annotations

import os
import struct
from typing import Final

from trainmaster.agent.host import sharing
from trainmaster.agent.tasks.live import LiveTask

ROW: Final = struct.Struct("<QQ")
FINENESS: Final = 50_000

Growth = tuple[int, float, float]


def seen(before: Growth, size: int, now: float, begun: float) -> tuple[list[tuple[int, float]], Growth]:
    """Return the rows that a look at `now` adds, and what the next look is given as `before`: size and time of the
    last row, and until when the log has not grown since. The task began at `begun`.
    """
    last, at, calm_until = before
    if size == last:
        return [], (last, at, now)
    if now - at < (now - begun) / FINENESS:
        return [], before
    calm = [(last, calm_until)] if calm_until > at else []
    return [*calm, (size, now)], (size, now, 0.0)


def note(task: LiveTask, now: float) -> None:
    """Look at the log of `task` and keep what is new. Raises OSError when the disk is full."""
    path = task.prepared.paths.log
    try:
        size = os.stat(path).st_size
    except FileNotFoundError:
        return
    rows, task.log_rows = seen(task.log_rows, size, now, task.started_at)
    if not rows:
        return
    fd = os.open(path + ".times", os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, sharing.FILE)
    try:
        os.write(fd, b"".join(ROW.pack(reached, int(at * 1000)) for reached, at in rows))
    finally:
        os.close(fd)
