"""Lists of host names as cluster managers write them, ``n[01-04,7],m3``: read and written here, so that nobody else
need be asked.

Pure. The rule is Slurm's: a bracket holds numbers and ranges, leading zeros fix the width, several brackets multiply.
What is folded expands to the same names in the same order, for Slurm too: it reads nothing behind a bracket, so there
only ends are folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

MOST: Final = 65_536
"""Names that one list may stand for: the largest clusters have a fifth of it, and a misread text must not fill the
memory.
"""

_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,18})")


def expand(text: str) -> list[str]:
    """Return the names that `text` stands for, in order. Raises ValueError for a malformed list or one of more than
    `MOST`.
    """
    names: list[str] = []
    for item in _items(text):
        names.extend(_names(item, MOST - len(names)))
    return names


def _items(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth not in (0, 1):
            raise ValueError(f"not a list of hosts: {text[:80]!r}")
        if char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if depth:
        raise ValueError(f"not a list of hosts: {text[:80]!r}")
    if text:
        yield text[start:]


def _names(item: str, most: int) -> list[str]:
    if not item or any(char.isspace() for char in item):
        raise ValueError(f"not the name of a host: {item[:80]!r}")
    names = [""]
    for part in re.split(r"(\[[^\]]*\])", item):
        endings = list(_numbers(part[1:-1], most)) if part.startswith("[") else [part]
        if len(names) * len(endings) > most:
            raise ValueError(f"more than {MOST} hosts: {item[:80]!r}")
        names = [name + ending for name in names for ending in endings]
    return names


def _numbers(text: str, most: int) -> Iterator[str]:
    for piece in text.split(","):
        match = _RANGE.fullmatch(piece)
        if match is None:
            raise ValueError(f"not a range of numbers: {piece[:80]!r}")
        first, last = match[1], match[2] or match[1]
        if not 0 <= int(last) - int(first) < most:
            raise ValueError(f"not a range of at most {most} numbers: {piece[:80]!r}")
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}d}"


def fold(names: Iterable[str]) -> str:
    """Return one text for `names` that expands to them, in their order; neighbours that count up become one range.
    O(names).
    """
    folded: list[str] = []
    before: str | None = None  # what stands before the bracket being filled
    ranges: list[list[str]] = []

    def close() -> None:
        nonlocal before, ranges
        if before is not None:
            written = ",".join(first if first == last else f"{first}-{last}" for first, last in ranges)
            folded.append(before + (written if written.isdigit() else f"[{written}]"))
        before, ranges = None, []

    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            close()
            folded.append(name)
            continue
        number = match[2]
        if before != match[1]:
            close()
            before, ranges = match[1], [[number, number]]
        elif number == f"{int(ranges[-1][1]) + 1:0{len(ranges[-1][0])}d}":
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    close()
    return ",".join(folded)
