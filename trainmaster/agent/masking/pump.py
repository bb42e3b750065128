"""The process beside a task that has secrets: reads what the task prints, and writes it into the log without the
values.

It ends with the last program that can still print there. It outlives the agent, like the task. The values come through
a file in memory; neither its command line nor its environment says them. Standard library of Python 3.9 only.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Final

from trainmaster.agent.masking.masker import Masker

VALUES_FD: Final = 3
AT_ONCE: Final = 1 << 16


class MaskedLog:
    """The log at `path`, which the task's own process makes. What cannot be written, because the disk is full, is
    lost.
    """

    def __init__(self, path: str) -> None:
        self._path, self._fd = path, -1

    def write(self, data: bytes) -> None:
        """Append `data`."""
        with contextlib.suppress(OSError):
            if data and self._fd < 0:
                self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            while data:
                data = data[os.write(self._fd, data) :]


def values_of(fd: int) -> list[str]:
    """Return the values that the file in memory holds. Raises OSError, ValueError."""
    with os.fdopen(fd, "rb") as file:
        return [str(value) for value in json.load(file)]


def main(argv: list[str]) -> int:
    """Run as ``pump LOG`` with the task's output as standard input and the values at VALUES_FD."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the platform stops the task; its last words count
        signal.signal(signum, signal.SIG_IGN)
    masker, log = Masker(values_of(VALUES_FD)), MaskedLog(argv[0])
    while data := os.read(0, AT_ONCE):
        log.write(masker.feed(data))
    log.write(masker.end())
    return 0
