"""Where line N of a log starts, without reading what lies before it.

A sparse table of (offset, newlines before it), one row per 128 KiB of data; holes hold no rows and no lines, so the
table is bounded by the data kept, not by what was ever written. Built by counting newlines in blocks, extended only
over what is new, kept beside the log as ``<log>.idx``. Invariant: rows are true for the log as it was when they were
made; a log that shrank, was replaced, or lost a range is counted again from there.
"""

import os
import struct
from array import array
from bisect import bisect_right
from contextlib import suppress
from typing import Final

from trainmaster.storage.logs.logfile import Cut, LogFile
from trainmaster.storage.safe import open_regular

STEP: Final = 1 << 17
_MAGIC: Final = b"tmlines1"
_HEAD: Final = struct.Struct("<8sQQQ")  # magic, inode, number of cuts, number of rows
_SAVE_AFTER_ROWS: Final = 32  # 4 MiB of new data


class LineIndex:
    """The table of one log. Use `load`; then every question first counts what the log has grown by."""

    def __init__(self, inode: int, cuts: list[Cut], offsets: "array[int]", counts: "array[int]") -> None:
        self._inode, self._cuts = inode, cuts
        self._offsets, self._counts = offsets, counts  # row i: counts[i] newlines lie before offsets[i]
        self._saved = len(offsets)
        self._tail = b""  # the data after the last row, less than a step
        self.lines = 0  # newlines in the whole log

    @classmethod
    def load(cls, log: LogFile) -> "LineIndex":
        """Return the index of `log`, brought up to date. O(new data), and O(1 MiB) once it is built."""
        index = _read(log.path + ".idx") or cls(log.inode, [], array("Q", [0]), array("Q", [0]))
        index._forget_changes(log)
        index._extend(log)
        if len(index._offsets) - index._saved >= _SAVE_AFTER_ROWS:
            index._save(log.path + ".idx")
        return index

    def _forget_changes(self, log: LogFile) -> None:
        keep = log.size
        if self._inode != log.inode or self._offsets[-1] > log.size:
            keep = 0
        elif self._cuts != log.cuts:
            keep = _first_difference(self._cuts, log.cuts)
        rows = max(1, bisect_right(self._offsets, keep))
        del self._offsets[rows:], self._counts[rows:]
        self._saved = min(self._saved, rows)
        self._inode, self._cuts = log.inode, list(log.cuts)

    def _extend(self, log: LogFile) -> None:
        """Count newlines from the last row to the end. A row is made where a full step of data lies behind the last."""
        position, count = self._offsets[-1], self._counts[-1]
        self._tail = b""
        for offset, block in log.blocks(position):
            if offset != position:  # a hole lies between: close the row before it
                self._row(offset, count + self._tail.count(b"\n"))
                count, position, self._tail = self._counts[-1], offset, b""
            data = self._tail + block if self._tail else block
            start, whole = position - len(self._tail), len(data) // STEP * STEP
            for step in range(0, whole, STEP):
                count += data.count(b"\n", step, step + STEP)
                self._row(start + step + STEP, count)
            self._tail = data[whole:]
            position = start + len(data)
        self.lines = count + self._tail.count(b"\n")

    def _row(self, offset: int, count: int) -> None:
        self._offsets.append(offset)
        self._counts.append(count)

    def offset_of(self, log: LogFile, line: int) -> int | None:
        """Return where line `line` (0-based) starts, None behind the last. O(log rows) and one step of data."""
        if line <= 0:
            return 0 if log.size else None
        if line > self.lines:
            return None
        # the newline that ends line-1 lies in the last row with fewer than `line` newlines before it
        low, high = 0, len(self._counts)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._counts[middle] < line else (low, middle)
        row = low - 1
        missing = line - self._counts[row]
        end = self._offsets[row + 1] if row + 1 < len(self._offsets) else log.size
        for offset, data in log.blocks(self._offsets[row], end, STEP):
            pieces = data.split(b"\n", missing)
            if len(pieces) > missing:
                start = offset + len(data) - len(pieces[-1])
                return start if start < log.size else None
            missing -= len(pieces) - 1
        return None

    def line_at(self, log: LogFile, offset: int) -> int:
        """Return the number of the line that `offset` lies in. O(log rows) and one step of data."""
        row = bisect_right(self._offsets, offset) - 1
        end = min(offset, log.size)
        return self._counts[row] + sum(data.count(b"\n") for _, data in log.blocks(self._offsets[row], end, STEP))

    def _save(self, path: str) -> None:
        """Write the table to a new file and rename it; a full disk only means that it is counted again."""
        temporary = f"{path}.{os.getpid()}-{id(self)}"
        cuts = array("Q", [number for cut in self._cuts for number in cut])
        head = _HEAD.pack(_MAGIC, self._inode, len(self._cuts), len(self._offsets))
        try:
            with open(temporary, "xb") as file:
                for part in (head, cuts.tobytes(), self._offsets.tobytes(), self._counts.tobytes()):
                    file.write(part)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)


def _first_difference(old: list[Cut], new: list[Cut]) -> int:
    """Return the first position that one of the two sorted lists covers and the other does not."""
    for (old_start, old_end), (new_start, new_end) in zip(old, new, strict=False):
        if old_start != new_start:
            return min(old_start, new_start)
        if old_end != new_end:
            return min(old_end, new_end)
    rest = (old if len(old) > len(new) else new)[min(len(old), len(new)) :]
    return rest[0][0]


def _read(path: str) -> LineIndex | None:
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read()
    except OSError:
        return None
    if len(data) < _HEAD.size:
        return None
    magic, inode, cut_count, rows = _HEAD.unpack_from(data)
    if magic != _MAGIC or len(data) != _HEAD.size + 16 * cut_count + 16 * rows or rows == 0:
        return None
    numbers = array("Q", data[_HEAD.size :])
    flat, offsets = numbers[: 2 * cut_count], numbers[2 * cut_count : 2 * cut_count + rows]
    cuts = list(zip(flat[::2], flat[1::2], strict=True))
    return LineIndex(inode, cuts, offsets, numbers[2 * cut_count + rows :])
