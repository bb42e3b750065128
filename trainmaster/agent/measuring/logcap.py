"""Keep a log inside its limit while its program goes on writing: drop the middle, keep head and tail.

A hole is punched into the file, so offsets stay true and the writer notices nothing. What was cut is noted in
``<log>.cuts``, one JSON object ``{"offset", "length"}`` a line. A line of a gigabyte is no different from a million
short ones.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Final

from trainmaster.agent.host import sharing
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveTask

BLOCK: Final = 4096
KEEP_SIZE_PUNCH_HOLE: Final = 0x01 | 0x02
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def cut_of(size: int, limit: int, done: int) -> tuple[int, int] | None:
    """Return (offset, length) to drop from a log of `size` bytes, None while it is within `limit`. `done`: end of the
    last cut.

    The head is a quarter of `limit`; each cut leaves an eighth free, so that cuts are rare.
    """
    head = limit // 4 // BLOCK * BLOCK
    start = max(head, done)
    if head + size - start <= limit:
        return None
    end = (size - (limit - head - limit // 8) + BLOCK - 1) // BLOCK * BLOCK
    return start, end - start


def check(task: LiveTask) -> bool:
    """Cut the log of `task` when it is too long. Return True when it grows so fast that it should be looked at again
    soon.

    The log is the task's own file: it may cut it short, stretch it, or open it anew and write where something was cut.
    """
    limit = task.attempt.settings.log_mib << 20
    path = task.prepared.paths.log
    if not limit:
        return False
    try:
        found = os.stat(path)
    except OSError:
        return False
    size = found.st_size
    grown, task.log_seen = size - task.log_seen, size
    if size < task.log_cut or (
        found.st_blocks * 512 > limit and not task.log_whole and _filled(path, limit, task.log_cut)
    ):
        task.log_cut = 0  # the task wrote the file anew: cut from the head again
    cut = cut_of(size, limit, task.log_cut)
    if cut is not None:
        task.log_whole = not punch(path, *cut)
        live_note(path, *cut)
        task.log_cut = cut[0] + cut[1]
    return grown > limit // 8


def _filled(path: str, limit: int, done: int) -> bool:
    """Return whether there are data again where they were cut."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.lseek(fd, limit // 4 // BLOCK * BLOCK, os.SEEK_DATA) < done
    except OSError:  # a hole up to the end
        return False
    finally:
        os.close(fd)


def punch(path: str, offset: int, length: int) -> bool:
    """Give the blocks of the range back. Raises OSError. False: the file system cannot, and the log stays whole."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        if _LIBC.fallocate(fd, KEEP_SIZE_PUNCH_HOLE, offset, length) != 0:
            code = ctypes.get_errno()
            if code != errno.EOPNOTSUPP:
                raise OSError(code, os.strerror(code), path)
            return False
        return True
    finally:
        os.close(fd)


def live_note(path: str, offset: int, length: int) -> None:
    """Append the cut to the list beside the log."""
    cuts = path + ".cuts"
    os.close(os.open(cuts, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, sharing.FILE))
    live.append(cuts, {"offset": offset, "length": length})
