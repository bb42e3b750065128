"""Finds the values of secrets in a stream of bytes, however it is cut into pieces, and writes *** instead. Pure.

Looked for are each value, its lines, and what base64, JSON and addresses make of them. Held back is only what may be
the beginning of one. Invariant: what is let through is the same for every way to cut the stream into pieces.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

MASK: Final = b"***"
LEAST_LINE: Final = 6
"""Characters of a line of a value of several lines, or of another spelling of a value, that is looked for by itself:
shorter ones stand in texts by chance.
"""
_CLEVER: Final = 32
"""Places at which a pattern may begin that are looked at one by one."""


def patterns_of(values: Iterable[str]) -> tuple[bytes, ...]:
    """Return what is looked for, the longest first. Blanks and line ends around a value are no part of it."""
    found: set[bytes] = set()
    for bare in filter(None, (value.strip() for value in values)):
        lines = [line.strip() for line in bare.splitlines()]
        found |= {bare.encode(), *(line.encode() for line in lines if len(lines) > 1 and len(line) >= LEAST_LINE)}
        spelt = {json.dumps(bare)[1:-1], json.dumps(bare, ensure_ascii=False)[1:-1], quote(bare, ""), quote_plus(bare)}
        found |= {one.encode() for one in spelt if len(one) >= LEAST_LINE}
        found |= {one for one in _base64(bare.encode()) if len(one) >= LEAST_LINE}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def _base64(value: bytes) -> Iterator[bytes]:
    """Yield what stands in base64 where `value` is in what was encoded, wherever it begins there: what of it depends on
    nothing before or behind.
    """
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + value)
        first, last = (0, 2, 3)[before], (len(value) + before) * 8 // 6
        yield encoded[first:last]
        yield encoded[first:last].replace(b"+", b"-").replace(b"/", b"_")


class Masker:
    """For one stream."""

    def __init__(self, values: Iterable[str]) -> None:
        self._patterns = patterns_of(values)
        self._held = b""
        self._covered = 0  # so many bytes of what is held belong to a value of which *** was written already

    def feed(self, data: bytes) -> bytes:
        """Return what may be written of all that came, now that `data` has. O(size x patterns)."""
        return self._let_through(self._held + data, last=False)

    def end(self) -> bytes:
        """Return what is left at the end. The greater part of a value that was cut off there is masked, too."""
        return self._let_through(self._held, last=True)

    def _let_through(self, data: bytes, last: bool) -> bytes:
        beginning = max((_overlap(data, one) for one in self._patterns), default=0)
        edge = len(data) if last else len(data) - beginning
        found = [(0, self._covered)] if self._covered else []
        found += [(at, at + len(one)) for one in self._patterns for at in _places(data, one)]
        if last:
            found += [(len(data) - n, len(data)) for one in self._patterns if 2 * (n := _overlap(data, one)) > len(one)]
        out, done, begun = bytearray(), 0, self._covered > 0
        self._covered = 0
        for start, end in _merged(found):
            goes_on = begun and start == 0
            if start >= edge and not goes_on:
                break
            out += data[done:start]
            out += b"" if goes_on else MASK
            done = min(end, edge)
            self._covered = max(0, end - edge)
        out += data[done:edge]
        self._held = data[edge:]
        return bytes(out)


def _places(data: bytes, pattern: bytes) -> Iterator[int]:
    at = data.find(pattern)
    while at >= 0:
        yield at
        at = data.find(pattern, at + 1)


def _merged(found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges in order, those that overlap as one."""
    start = end = -1
    for first, last in sorted(found):
        if first >= end:
            if end > 0:
                yield start, end
            start, end = first, last
        end = max(end, last)
    if end > 0:
        yield start, end


def _overlap(data: bytes, pattern: bytes) -> int:
    """Return how many bytes at the end of `data` begin `pattern`, at most all but one of it. O(pattern)."""
    tail = data[-(len(pattern) - 1) :] if len(pattern) > 1 else b""
    at, looks = tail.find(pattern[:1]), 0
    while at >= 0:
        if pattern.startswith(tail[at:]):
            return len(tail) - at
        at, looks = tail.find(pattern[:1], at + 1), looks + 1
        if looks > _CLEVER:
            return _overlap_slowly(tail, pattern)
    return 0


def _overlap_slowly(tail: bytes, pattern: bytes) -> int:
    """As `_overlap`, in time that does not depend on what repeats (Knuth, Morris and Pratt)."""
    back = [0] * len(pattern)
    length = 0
    for at in range(1, len(pattern)):
        while length and pattern[at] != pattern[length]:
            length = back[length - 1]
        length += pattern[at] == pattern[length]
        back[at] = length
    matched = 0
    for byte in tail:
        while matched and byte != pattern[matched]:
            matched = back[matched - 1]
        matched += byte == pattern[matched]
    return matched
