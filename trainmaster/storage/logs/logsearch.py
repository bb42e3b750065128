"""Searching a log, a bounded piece per call: the caller goes on at `next_offset` until `done` (R207, R208).

Invariant: a call scans at most 256 MiB or half a second, whichever comes first, whatever the query; one hit per line.
Limit: in a line longer than 1 MiB a match longer than 4 KiB may be missed where two blocks meet.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.storage.logs.lineindex import LineIndex
from trainmaster.storage.logs.logfile import BLOCK, LogFile
from trainmaster.storage.logs.patterns import expression, literal

MAX_SCAN: Final = 256 << 20
BUDGET_S: Final = 0.5
MAX_HITS: Final = 1000
OVERLAP: Final = 4096
CLIP: Final = 500
"""A hit shows at most this many bytes before and behind the start of its match."""


@dataclass(frozen=True, slots=True)
class Hit:
    """`text` is the line (its surroundings of the match, when it is long) and starts at byte `offset`."""

    offset: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of one call; go on at `next_offset` unless `done` (the end of the log was reached)."""

    items: tuple[Hit, ...]
    next_offset: int
    done: bool


def search(
    path: str,
    query: str,
    *,
    regex: bool = False,
    offset: int = 0,
    limit: int = 100,
    clock: Callable[[], float] = time.monotonic,
) -> Hits:
    """Return up to `limit` lines from `offset` on that contain `query`. Raises InvalidSpec for a bad pattern."""
    pattern = expression(query) if regex else literal(query)
    limit = max(1, min(limit, MAX_HITS))
    deadline = clock() + BUDGET_S
    with LogFile(path) as log:
        scan = _Scan(log, pattern, limit, max(0, offset))
        while not scan.finished and scan.position - max(0, offset) < MAX_SCAN and clock() < deadline:
            scan.block()
        return Hits(_numbered(log, scan.found), min(scan.position, log.size), scan.finished and not scan.full)


def _numbered(log: LogFile, found: list[tuple[int, int, bytes]]) -> tuple[Hit, ...]:
    """Give every hit its line number: the index for the first, counting on from there."""
    if not found:
        return ()
    index = LineIndex.load(log)
    return tuple(
        Hit(offset, index.line_at(log, match), text.decode("utf-8", "replace").rstrip("\r\n"))
        for offset, match, text in found
    )


class _Scan:
    """Goes through the log block by block; a block ends behind a newline unless its line is longer than a block."""

    def __init__(self, log: LogFile, pattern: Any, limit: int, offset: int) -> None:
        self._log, self._pattern, self._limit = log, pattern, limit
        self.position = offset
        self.found: list[tuple[int, int, bytes]] = []  # (start of the text, start of the match, text)
        self._open_hit = False  # the unfinished line at the end of the block has its hit
        self.finished = offset >= log.size
        self.full = False

    def block(self) -> None:
        """Search the next block and move `position` behind it."""
        log = self._log
        self.position = log.next_data(self.position)
        end = log.data_end(self.position, BLOCK)
        data = log.read(self.position, end - self.position)
        if not data:
            self.finished = True
            return
        limited = end - self.position == BLOCK and end < log.size
        newline = data.rfind(b"\n") + 1
        searched = data[:newline] if limited and newline else data
        self._matches(searched)
        if self.full:
            return
        self.position += len(searched) - (OVERLAP if limited and not newline else 0)
        self.finished = self.position >= log.size

    def _matches(self, data: bytes) -> None:
        at = data.find(b"\n") + 1 if self._open_hit else 0
        if self._open_hit and at == 0:
            return
        self._open_hit = False
        while at < len(data):
            match = self._pattern.search(data, at)
            if match is None:
                return
            start = match.start()
            line_end = data.find(b"\n", start)
            self._open_hit = line_end < 0
            line_end = len(data) if line_end < 0 else line_end
            self._hit(data, start, line_end)
            if len(self.found) == self._limit:
                self.position += line_end + 1
                self.full = self.finished = True
                return
            at = line_end + 1

    def _hit(self, data: bytes, start: int, line_end: int) -> None:
        line_start = max(data.rfind(b"\n", 0, start) + 1, start - CLIP)
        text = data[line_start : min(line_end, start + CLIP)]
        self.found.append((self.position + line_start, self.position + start, text))
