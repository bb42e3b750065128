"""When lines of a log were written, as far as its agent saw it grow (`agent/measuring/logtimes` keeps the rows).

A line was written after the last moment at which the log did not reach so far, and by the first at which it did.
Nothing more is said of it. Invariant: what is told of the lines of a window adds up to all of them, in order.
"""

import os
import sys
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from trainmaster.storage.logs.logfile import LogFile
from trainmaster.storage.logs.logs import LogWindow
from trainmaster.storage.safe import open_regular

MOST_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class LineTimes:
    """The next `lines` lines of a window were written after `after` and by `by`; None: not known."""

    lines: int
    after: float | None
    by: float | None


def line_times(path: str, window: LogWindow, now: float | None) -> tuple[LineTimes, ...]:
    """Return the times of the lines of `window`, which was read of the log at `path`; nothing where none are kept.

    A line is one by its end, also one whose beginning is not in the window. `now`: when it was read, None once nothing
    is written to it any more. O(rows + window).
    """
    offsets, times = _rows(path + ".times")
    if not offsets or not window.text:
        return ()
    with LogFile(path) as log:
        data = log.read(window.offset, window.next_offset - window.offset)
    found: list[LineTimes] = []
    at, row = 0, bisect_right(offsets, window.offset)
    while at < len(data):
        known = row < len(offsets)
        end = min(offsets[row] - window.offset, len(data)) if known else len(data)
        lines = data.count(b"\n", at, end) + (end == len(data) and not data.endswith(b"\n"))
        if lines:
            found.append(LineTimes(lines, times[row - 1] / 1000 if row else None, times[row] / 1000 if known else now))
        at = end
        row = bisect_right(offsets, offsets[row]) if known else row
    return tuple(found)


def _rows(path: str) -> "tuple[array[int], array[int]]":
    """Return (offsets, milliseconds), both ascending, of the log as it is: where it was cut short, its rows begin
    anew.
    """
    numbers = array("Q")
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return array("Q"), array("Q")
    numbers.frombytes(data[: len(data) // 16 * 16])
    if sys.byteorder == "big":
        numbers.byteswap()
    offsets, times = numbers[::2], numbers[1::2]
    begin = max((i + 1 for i in range(len(offsets) - 1) if offsets[i + 1] < offsets[i]), default=0)
    begin = max([begin, *(i + 1 for i in range(begin, len(times) - 1) if times[i + 1] < times[i])])
    return offsets[begin:], times[begin:]
