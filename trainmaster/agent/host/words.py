"""What agent and step say: lines on their standard error, which is HOME/run/agent.log or the cluster's file.

Saying something may never harm who says it: the disk may be full, the file closed. Invariant: the file stays below
MOST; what was said first goes first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import traceback
from typing import Final

MOST: Final = 1 << 20
STDERR: Final = 2


def say(text: str) -> None:
    """Say one line, or several."""
    with contextlib.suppress(OSError, ValueError):
        _keep_short()
        os.write(STDERR, f"{text.rstrip()}\n".encode("utf-8", "backslashreplace"))


def say_error() -> None:
    """Say the error that is being handled, with where it happened."""
    say(traceback.format_exc())


def _keep_short() -> None:
    """Drop the older half of what was said once it is too much. Whoever appends meanwhile goes on behind it."""
    found = os.fstat(STDERR)
    if not stat.S_ISREG(found.st_mode) or found.st_size <= MOST:
        return
    if fcntl.fcntl(STDERR, fcntl.F_GETFL) & os.O_APPEND:  # else what is written next leaves a hole
        with open(f"/proc/self/fd/{STDERR}", "rb") as file:
            file.seek(-MOST // 2, os.SEEK_END)
            kept = file.read().partition(b"\n")[2]
        os.ftruncate(STDERR, 0)
        os.write(STDERR, kept)
