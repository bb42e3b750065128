"""Keep a log inside its limit while its program goes on writing: drop the middle, keep head and tail.

A hole is punched into the file, so offsets stay true and the writer notices nothing. What was cut is noted in ``<log>.cuts``,
one JSON object ``{"offset", "length"}`` a line. A line of a gigabyte is no different from a million short ones.
"""

import ctypes
import errno
import os
from typing import Final

from trainmaster.agent import live, sharing
from trainmaster.agent.live import LiveTask

BLOCK: Final = 4096
KEEP_SIZE_PUNCH_HOLE: Final = 0x01 | 0x02
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def cut_of(size: int, limit: int, done: int) -> tuple[int, int] | None:
    """Return (offset, length) to drop from a log of `size` bytes, None when nothing. `done`: end of the last cut.

    The head is a quarter of `limit`, the tail three quarters; cuts come in steps of an eighth, so that they are rare.
    """
    head = limit // 4 // BLOCK * BLOCK
    start = max(head, done)
    end = (size - (limit - head)) // BLOCK * BLOCK
    if end - start < max(limit // 8, BLOCK):
        return None
    return start, end - start


def check(task: LiveTask) -> bool:
    """Cut the log of `task` when it is too long. Return True when it grows so fast that it should be looked at again soon."""
    limit = task.attempt.settings.log_mib << 20
    path = task.prepared.paths.log
    if not limit:
        return False
    try:
        size = os.stat(path).st_size
    except OSError:
        return False
    grown, task.log_seen = size - task.log_seen, size
    cut = cut_of(size, limit, task.log_cut)
    if cut is not None:
        punch(path, *cut)
        live_note(path, *cut)
        task.log_cut = cut[0] + cut[1]
    return grown > limit // 8


def punch(path: str, offset: int, length: int) -> None:
    """Give the blocks of the range back. Raises OSError; where the file system cannot, the log stays whole."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        if _LIBC.fallocate(fd, KEEP_SIZE_PUNCH_HOLE, offset, length) != 0:
            code = ctypes.get_errno()
            if code != errno.EOPNOTSUPP:
                raise OSError(code, os.strerror(code), path)
    finally:
        os.close(fd)


def live_note(path: str, offset: int, length: int) -> None:
    """Append the cut to the list beside the log."""
    cuts = path + ".cuts"
    os.close(os.open(cuts, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, sharing.FILE))
    live.append(cuts, {"offset": offset, "length": length})
