"""All logs of a job as files, and a whole log read at any place, in the form in which it is downloaded."""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from math import inf

from trainmaster.storage.logs.logfile import LogFile


class Logs:
    """The logs below the folder ``attempts`` of a job. A path is ``1/task0-0/log``. `until`: what changed later is
    none: a rule has put a note in place of a log that it removed.
    """

    def __init__(self, until: float = inf) -> None:
        self._until = until

    def walk(self, root: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield (path, lstat) of whatever stands in place of a log."""
        for number in sorted((name for name in _names(root) if name.isdigit()), key=int):
            for task in _names(os.path.join(root, number)):
                path = f"{number}/{task}/log"
                info = _lstat(os.path.join(root, path)) if task.startswith("task") else None
                if info is not None and info.st_mtime <= self._until:
                    yield path, info

    def named(self, path: str) -> str:
        """Return what a log is called outside of the platform: ``attempt-1/task0-0.log``."""
        number, task, _ = path.split("/")
        return f"attempt-{number}/{task}.log"

    def content(self, path: str, fd: int) -> tuple[int, Callable[[int, int], bytes]]:
        """Return the bytes of a log that is open as `fd`: how many, and what reads them (at most so many, from there
        on). In place of every hole is one line that says how much was cut.
        """
        whole = _Whole(path, fd)
        return whole.size, whole.pread


class _Whole:
    """A log as it was when it was looked at, without what grows behind it."""

    def __init__(self, path: str, fd: int) -> None:
        self._fd = fd
        self._pieces: list[tuple[int, int, bytes | None]] = []  # (start here, start in the file, what stands instead)
        self.size = expected = 0
        with LogFile(path) as log:
            at = 0
            while (at := log.next_data(at)) < log.size:
                if at > expected:
                    line = cut_line(at - expected)
                    self._pieces.append((self.size, 0, line))
                    self.size += len(line)
                expected = log.data_end(at, log.size - at)
                self._pieces.append((self.size, at, None))
                self.size += expected - at
                at = expected
        self._starts = [start for start, _, _ in self._pieces]

    def pread(self, length: int, at: int) -> bytes:
        """Return at most `length` bytes at `at`, at least one where there are any."""
        if at >= self.size:
            return b""
        number = bisect_right(self._starts, at) - 1
        start, place, line = self._pieces[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else self.size
        wanted = min(length, end - at)
        return os.pread(self._fd, wanted, place + at - start) if line is None else line[at - start :][:wanted]


def cut_line(length: int) -> bytes:
    """Return what stands in place of so many bytes that were cut out of a log."""
    return b"\n[trainmaster: %d bytes were cut here by the log size limit]\n" % length


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
