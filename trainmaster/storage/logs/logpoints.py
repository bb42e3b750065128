"""Metrics out of a log: declared patterns run over what is new, the points kept beside the log (R209).

Named groups of a pattern are metrics, the group ``step`` is their step; without it the matches of the pattern are
counted. A progress bar's carriage return ends a line here. A log does not say when its lines were written: between two
looks, of which the first is the start of the attempt, they are taken to have come evenly, byte by byte, until the log's
last change. Invariant: a line is matched once, whatever stops and starts in between; a hole only loses its own lines.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from trainmaster.core.errors import InvalidSpec
from trainmaster.storage.logs.logfile import BLOCK, LogFile
from trainmaster.storage.logs.patterns import expression
from trainmaster.storage.points import PointLog, number, text

STEP: Final = "step"
Sink = Callable[[dict[str, Any]], None]


class LogPoints:
    """The points of one log under a job's patterns. A pattern RE2 cannot run gives no points. `cache`: keeps them.

    `patterns` None: they are not known now; what was collected before is shown, and nothing is collected. `began`: when
    the attempt started, which no line is older than.
    """

    def __init__(self, log: str, cache: PointLog, patterns: Sequence[str] | None, began: float = 0.0) -> None:
        self._log, self._seen_at = log, began
        self._points = cache
        self._key = None if patterns is None else hashlib.sha256("\0".join(patterns).encode()).hexdigest()[:16]
        self._patterns = [compiled for compiled in map(_usable, patterns or ()) if compiled is not None]
        self._offset, self._inode = 0, 0
        self._counts = [0] * len(self._patterns)

    def load(self, sink: Sink) -> None:
        """Give what was collected before to `sink`. Call it once, first."""
        first = self._points.first_cursor()
        if first and self._key is not None and first.get("key") != self._key:
            self._points.clear()
            return
        self._points.load(sink)
        cursor = self._points.cursor
        self._offset, self._inode = int(cursor.get("offset", 0)), int(cursor.get("inode", 0))
        self._counts = list(cursor.get("counts", self._counts))
        self._seen_at = float(cursor.get("t", self._seen_at))

    def collect(self, sink: Sink, now: float, deadline: float, *, ended: bool) -> bool:
        """Match new lines until `deadline` (monotonic); return whether there is more. Raises OSError on a full disk."""
        if not self._patterns:
            return False
        with LogFile(self._log) as log:
            if log.fd is None:
                return False
            if self._inode not in (0, log.inode) or self._offset > log.size:
                self._offset = 0  # another log, or truncated: read from its start, keep the points of the old
            self._inode = log.inode
            moment = max(min(now, log.modified_at), self._seen_at)
            if self._seen_at == 0:
                self._seen_at = moment
            while (start := log.next_data(self._offset)) < log.size:
                if time.monotonic() >= deadline:
                    return True
                used = self._block(log, start, moment, sink, ended)
                if used == 0:
                    return False
                self._offset = start + used
        return False

    def _block(self, log: LogFile, start: int, moment: float, sink: Sink, ended: bool) -> int:
        end = log.data_end(start, BLOCK)
        data = log.read(start, end - start)
        last = start + len(data) >= log.size
        newline = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not newline and last and not ended and len(data) < BLOCK:
            return 0
        complete = newline if newline and not (last and ended) else len(data)
        pace = (moment - self._seen_at) / max(log.size - self._offset, 1)
        began = self._seen_at + pace * (start - self._offset)
        records = self._match(data[:complete].replace(b"\r", b"\n"), lambda at: round(began + pace * at, 3))
        self._seen_at = began + pace * complete
        cursor = {
            "offset": start + complete,
            "inode": log.inode,
            "counts": self._counts,
            "key": self._key,
            "t": self._seen_at,
        }
        self._points.append(records, cursor)
        for record in records:
            sink(record)
        return complete

    def _match(self, data: bytes, when: Callable[[int], float]) -> list[dict[str, Any]]:
        """Return the points in `data`. `when`: the time of what ends at a byte of it, its line end included."""
        records = []
        for position, (pattern, names) in enumerate(self._patterns):
            for match in pattern.finditer(data):
                step = _number(_text(match, STEP)) if STEP in names else None
                values = {name: _number(_text(match, name)) for name in names if name != STEP}
                found = {name: text(value) for name, value in values.items() if value is not None}
                at = float(self._counts[position]) if step is None else step
                self._counts[position] += 1
                if found or step is not None:
                    records.append({"t": when(match.end() + 1), "step": at, "values": found or {STEP: at}})
        return records


def _usable(pattern: str) -> tuple[Any, tuple[str, ...]] | None:
    try:
        compiled = expression(pattern)
    except InvalidSpec:
        return None
    return compiled, tuple(sorted(compiled.groupindex, key=compiled.groupindex.__getitem__))


def _text(match: Any, name: str) -> str:
    group = match.group(name)
    return "" if group is None else group.decode("utf-8", "replace") if isinstance(group, bytes) else str(group)


def _number(written: str) -> float | None:
    """Return the number a person reads in `written`: ``0.5``, ``1e-3``, ``97%``, ``nan``."""
    plain = written.strip().rstrip("%")
    special = number(plain)
    if special is not None:
        return special
    try:
        return float(plain)
    except ValueError:
        return None
