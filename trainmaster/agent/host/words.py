"""What agent and step say: lines on their standard error, which is HOME/run/agent.log or the cluster's file.

A line that cannot be written harms nobody: the disk may be full, the file closed. Invariant: the file stays below
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
    """Write one line, or several; never raises."""
    with contextlib.suppress(OSError, ValueError):
        _keep_short()
        os.write(STDERR, f"{text.rstrip()}\n".encode("utf-8", "backslashreplace"))


def say_error() -> None:
    """Write the traceback of the error that is being handled."""
    say(traceback.format_exc())


def _keep_short() -> None:
    """Drop the older half of the file once it is too long. Whoever appends meanwhile goes on after the rest."""
    found = os.fstat(STDERR)
    if not stat.S_ISREG(found.st_mode) or found.st_size <= MOST:
        return
    if fcntl.fcntl(STDERR, fcntl.F_GETFL) & os.O_APPEND:  # without O_APPEND the next write would leave a hole
        with open(f"/proc/self/fd/{STDERR}", "rb") as file:
            file.seek(-MOST // 2, os.SEEK_END)
            kept = file.read().partition(b"\n")[2]
        os.ftruncate(STDERR, 0)
        os.write(STDERR, kept)
