"""An open log: its size, its holes, and reading around them. The base of windows, index, search and downloads.

A task's log is the program's own stdout, so it may grow, shrink or vanish at any time, hold any bytes and lines of any
length. When the size cap is reached the agent punches a hole in the middle and writes what it cut to ``<log>.cuts``
(JSON lines ``{offset, length}``); offsets stay true. Holes the program made itself (sparse writes) are skipped as well
when they are large. Invariant: no read takes more memory than asked for, and a hole costs no reading.
"""

import errno
import json
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from trainmaster.storage.safe import open_regular

BLOCK: Final = 1 << 20
HOLE: Final = 1 << 16
"""Unwritten ranges smaller than this are read as the zero bytes they are."""

Cut = tuple[int, int]
"""(start, end) of a range that is no longer there."""


class LogFile:
    """A log opened for reading; a missing one reads as empty. Not shared between threads."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd: int | None = None
        try:
            self.fd = open_regular(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP, errno.EINVAL, errno.ENOTDIR, errno.ENXIO):
                raise
        info = os.fstat(self.fd) if self.fd is not None else None
        self.size = info.st_size if info else 0
        self.inode = info.st_ino if info else 0
        self.modified_at = info.st_mtime if info else 0.0
        self.cuts: list[Cut] = read_cuts(path + ".cuts") if info else []

    def __enter__(self) -> "LogFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def read(self, offset: int, limit: int) -> bytes:
        """Return up to `limit` bytes at `offset`, holes as zero bytes; fewer only at the end."""
        return os.pread(self.fd, limit, offset) if self.fd is not None and limit > 0 else b""

    def next_data(self, offset: int) -> int:
        """Return the first position from `offset` on that holds data, at most the size. O(cuts + holes)."""
        while offset < self.size:
            start = offset
            for cut_start, cut_end in self.cuts:
                if cut_start <= offset < cut_end:
                    offset = min(cut_end, self.size)
            written = self._seek_data(offset)
            if written - offset >= HOLE:
                offset = written
            if offset == start:
                break
        return min(offset, self.size)

    def data_end(self, offset: int, limit: int) -> int:
        """Return where the data at `offset` stops being contiguous: a cut, a hole, the size, or `limit` bytes on."""
        end = min(self.size, offset + limit)
        for cut_start, _ in self.cuts:
            if offset < cut_start < end:
                end = cut_start
        position = offset
        while (hole := self._seek_hole(position)) < end:
            position = self._seek_data(hole)
            if position - hole >= HOLE:
                return hole
        return end

    def _seek_hole(self, offset: int) -> int:
        try:
            return self.size if self.fd is None else os.lseek(self.fd, offset, os.SEEK_HOLE)
        except OSError:
            return self.size

    def _seek_data(self, offset: int) -> int:
        if self.fd is None:
            return offset
        try:
            return os.lseek(self.fd, offset, os.SEEK_DATA)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else offset

    def blocks(self, offset: int = 0, end: int | None = None, block: int = BLOCK) -> Iterator[tuple[int, bytes]]:
        """Yield (position, bytes) of all data in [offset, end), at most `block` bytes each, holes left out."""
        stop = self.size if end is None else min(end, self.size)
        while (offset := self.next_data(offset)) < stop:
            data = self.read(offset, min(self.data_end(offset, block), stop) - offset)
            if not data:
                return  # the file shrank meanwhile
            yield offset, data
            offset += len(data)


def read_cuts(path: str) -> list[Cut]:
    """Return the merged, sorted (start, end) ranges of a cuts file. A missing file or a torn line counts as nothing."""
    try:
        fd = open_regular(path)
    except OSError:
        return []
    with os.fdopen(fd, "rb") as file:
        lines = file.read(4 << 20).splitlines()
    ranges: list[Cut] = []
    for line in lines:
        try:
            cut = json.loads(line)
            start, length = int(cut["offset"]), int(cut["length"])
        except (ValueError, KeyError, TypeError):
            continue
        if start >= 0 and length > 0:
            ranges.append((start, start + length))
    merged: list[Cut] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
