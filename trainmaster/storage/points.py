"""Points of training curves on disk and in memory: JSON lines that only grow, and curves of bounded size (R209).

Formats: a point line is ``{t, step, values: {name: number}, rank?}``; what the platform itself derives from logs and
event files is kept in a `PointLog`, the same lines plus ``{cursor: ...}`` lines. Invariants: whatever follows the last
cursor line of a PointLog does not count (a crash never counts a point twice); a curve keeps at most `MAX_POINTS`
points and always its lowest and highest; malformed lines are passed over.
"""

import errno
import math
import os
from array import array
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from trainmaster.storage.downsample import keep
from trainmaster.storage.safe import open_regular

MAX_POINTS: Final = 2048
MAX_LINE: Final = 1 << 16
BLOCK: Final = 1 << 20
_WORDS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf}


def number(value: Any) -> float | None:
    """Return a metric value as float (not-a-number and infinities come as texts), None when it is none."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower().lstrip("+"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def text(value: float) -> float | str:
    """Return `value` as strict JSON can hold it: the reverse of `number`."""
    return value if math.isfinite(value) else repr(value)


Record = dict[str, Any]
"""A line of a file of points, as somebody's program may have written it."""


class Curve:
    """One metric over steps, thinned as it grows; `count` of all that came. Appending is amortised O(1); memory
    O(MAX_POINTS). Invariant: what is kept is spread evenly over all that came, and `places` says which they are.

    `falls`: how often the steps went back; `begun`: when they did last, -inf when they never did.
    """

    __slots__ = ("begun", "count", "falls", "first_step", "places", "rank", "steps", "times", "values")

    def __init__(self, rank: int = -1) -> None:
        self.rank = rank
        self.steps, self.times, self.values = array("d"), array("d"), array("d")
        self.places = array("q")
        self.first_step, self.count = 0.0, 0
        self.falls, self.begun = 0, -math.inf

    def add(self, step: float, at: float, value: float) -> None:
        """Append one point."""
        if not self.steps:
            self.first_step = step
        elif step < self.steps[-1]:
            self.falls, self.begun = self.falls + 1, at
        self.steps.append(step)
        self.times.append(at)
        self.values.append(value)
        self.places.append(self.count)
        self.count += 1
        if len(self.steps) > MAX_POINTS:
            self._thin()

    def _thin(self) -> None:
        # By where they came, not by where they lie now: of what was thinned before, every round would leave half again.
        kept = keep(self.places, self.values, MAX_POINTS // 2)
        for name in ("steps", "times", "values", "places"):
            old = getattr(self, name)
            setattr(self, name, array(old.typecode, [old[position] for position in kept]))

    def of_values(self) -> "Curve":
        """Return this curve as one whose steps are its values: for a metric that is a count."""
        found = Curve(self.rank)
        for at, value in zip(self.times, self.values, strict=True):
            if math.isfinite(value):
                found.add(value, at, value)
        return found

    def downsampled(self, points: int) -> tuple[list[float | None], list[float | None], list[float | None]]:
        """Return (steps, times, values) with at most `points` points, sorted by step; gaps are None."""
        order = sorted(range(len(self.steps)), key=self.steps.__getitem__)
        kept = keep([self.steps[i] for i in order], [self.values[i] for i in order], points)
        chosen = [order[position] for position in kept]
        values = [self.values[i] if math.isfinite(self.values[i]) else None for i in chosen]
        return [self.steps[i] for i in chosen], [self.times[i] for i in chosen], values


class Growing:
    """A JSON-lines file read a piece at a time as it grows; reset when it was replaced or shrank."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.more = False  # the last `news` stopped at its budget
        self._inode = 0

    def news(self, budget: int = BLOCK) -> tuple[bool, Iterator[Record]]:
        """Return (whether it started again, the new records), reading at most `budget` bytes. Missing: nothing."""
        try:
            fd = open_regular(self.path)
        except OSError:
            return False, iter(())
        info = os.fstat(fd)
        again = self.offset > 0 and (info.st_ino != self._inode or info.st_size < self.offset)
        if again:
            self.offset = 0
        self._inode = info.st_ino
        return again, self._records(fd, budget)

    def _records(self, fd: int, budget: int) -> Iterator[Record]:
        self.more = False
        try:
            self.offset = _past_hole(fd, self.offset)
            while budget > 0 and (data := os.pread(fd, BLOCK, self.offset)):
                end = data.rfind(b"\n") + 1
                if end == 0:
                    if len(data) < BLOCK:
                        return
                    end = len(data)  # skip a line of more than a megabyte: no record is so long
                self.offset = _past_hole(fd, self.offset + end)
                budget -= end
                self.more = budget <= 0
                for line in data[:end].split(b"\n"):
                    record = decode(line)
                    if record is not None:
                        yield record
        finally:
            os.close(fd)


def _past_hole(fd: int, offset: int) -> int:
    """Return where something was written from `offset` on: a task may leave holes of terabytes, and nothing is in
    them.
    """
    size = os.fstat(fd).st_size  # before the seek: the file may grow meanwhile
    try:
        return os.lseek(fd, offset, os.SEEK_DATA)
    except OSError as error:
        return max(offset, size) if error.errno == errno.ENXIO else offset


def decode(line: bytes) -> Record | None:
    """Return the JSON object in `line`, None for anything else."""
    if not line or len(line) > MAX_LINE:
        return None
    try:
        record = msgspec.json.decode(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class PointLog:
    """Points derived from something else, with the place in that something up to which they are complete.

    `ours`: whether the file is ours to write; if not it is read as it is, and what is added is in nobody's way.
    """

    def __init__(self, path: str, ours: Callable[[], bool] = lambda: True) -> None:
        self.path, self._ours = path, ours
        self.cursor: Record = {}

    def load(self, sink: Callable[[Record], None]) -> None:
        """Give every record that counts to `sink`, set `cursor`, and cut off what a crash left behind them."""
        pending: list[Record] = []
        self.cursor, complete, offset = {}, 0, 0
        try:
            with os.fdopen(open_regular(self.path), "rb") as file:
                for line in file:
                    offset += len(line)
                    record = decode(line.rstrip(b"\n"))
                    if record is not None and isinstance(record.get("cursor"), dict) and line.endswith(b"\n"):
                        self.cursor, complete = record["cursor"], offset
                        for done in pending:
                            sink(done)
                        pending = []
                    elif record is not None:
                        pending.append(record)
        except OSError:
            return
        if offset > complete and self._ours():
            os.truncate(self.path, complete)

    def first_cursor(self) -> Record:
        """Return the oldest cursor, empty when there is none: under which conditions the file was begun."""
        try:
            with os.fdopen(open_regular(self.path), "rb") as file:
                for line in file:
                    record = decode(line.rstrip(b"\n"))
                    if record is not None and isinstance(record.get("cursor"), dict):
                        return dict(record["cursor"])
        except OSError:
            return {}
        return {}

    def append(self, records: list[Record], cursor: Record) -> None:
        """Add `records`, complete up to `cursor`. Raises OSError when the disk is full; then nothing counts."""
        if self._ours():
            data = b"".join(msgspec.json.encode(record) + b"\n" for record in (*records, {"cursor": cursor}))
            with open(self.path, "ab") as file:
                file.write(data)
        self.cursor = cursor

    def clear(self) -> None:
        """Start from nothing."""
        self.cursor = {}
        if not self._ours():
            return
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return
