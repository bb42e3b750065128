"""What differs between two folders: the files that do, and of texts which lines. Nothing is followed, all is bounded.

Read are only regular files and where links lead (`storage.safe`). Invariant: however large the folders are, the answer
is bounded in size and the work in time; what was left out is counted.
"""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from io import StringIO
from typing import Final, Literal

from trainmaster.storage.safe import open_beneath, walk

MOST_ENTRIES: Final = 50_000
MOST_FILES: Final = 300
MOST_BYTES: Final = 512 * 1024
"""Of a file whose lines are compared; a larger one is only named."""
MOST_LINES: Final = 8000
MOST_DIFF: Final = 200_000
MOST_DIFFS: Final = 2_000_000
"""Characters of one diff, and of all."""
PATIENCE_S: Final = 5.0
_BLOCK: Final = 1 << 20

Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs. `was`, `size`: bytes before and after; `diff` "" where it is no text or too large."""

    path: str
    change: Change
    was: int
    size: int
    binary: bool = False
    diff: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """All that differ, by path; how many are the same, and how many may differ and are not told of."""

    files: tuple[FileChange, ...]
    same: int
    left_out: int


def tree_diff(before: str | None, after: str | None, patience_s: float = PATIENCE_S) -> TreeDiff:
    """Return what differs between two folders; None: an empty one. Blocking."""
    deadline = time.monotonic() + patience_s
    old, new = _files(before), _files(after)
    found: list[FileChange] = []
    same = left_out = room = 0
    for path in sorted({*old, *new}):
        if len(found) >= MOST_FILES or time.monotonic() >= deadline:
            left_out += 1
            continue
        if path in old and path in new and _equal(before, after, path, old[path], new[path]):
            same += 1
            continue
        change = _change(before if path in old else None, after if path in new else None, path, old, new)
        if room + len(change.diff) > MOST_DIFFS:
            change = FileChange(path, change.change, change.was, change.size, change.binary, "", True)
        room += len(change.diff)
        found.append(change)
    return TreeDiff(tuple(found), same, left_out)


def _files(root: str | None) -> dict[str, os.stat_result]:
    """Return every file and link below `root`, by path."""
    if root is None:
        return {}
    return {path: info for path, info in walk(root, max_entries=MOST_ENTRIES) if not stat.S_ISDIR(info.st_mode)}


def _equal(before: str | None, after: str | None, path: str, old: os.stat_result, new: os.stat_result) -> bool:
    """Return whether a file is the same in both: its kind, whether it is executable, and what is in it."""
    if stat.S_IFMT(old.st_mode) != stat.S_IFMT(new.st_mode) or old.st_size != new.st_size:
        return False
    if stat.S_ISREG(old.st_mode) and (old.st_mode ^ new.st_mode) & 0o100:
        return False
    return all(a == b for a, b in zip(_blocks(before, path, old), _blocks(after, path, new), strict=False))


def _blocks(root: str | None, path: str, info: os.stat_result) -> Iterator[bytes]:
    if root is None:
        return
    if stat.S_ISLNK(info.st_mode):
        yield os.fsencode(os.readlink(os.path.join(root, path)))
    elif stat.S_ISREG(info.st_mode):
        with os.fdopen(open_beneath(root, path), "rb") as file:
            while block := file.read(_BLOCK):
                yield block


def _change(
    before: str | None, after: str | None, path: str, old: dict[str, os.stat_result], new: dict[str, os.stat_result]
) -> FileChange:
    change: Change = "changed" if before and after else "added" if after else "removed"
    was, size = old[path].st_size if before else 0, new[path].st_size if after else 0
    if max(was, size) > MOST_BYTES:
        return FileChange(path, change, was, size, cut=True)
    texts = [
        _text(root, path, infos[path]) if root is not None else "" for root, infos in ((before, old), (after, new))
    ]
    if texts[0] is None or texts[1] is None:
        return FileChange(path, change, was, size, binary=True)
    first, second = (list(StringIO(text, newline="\n")) for text in (texts[0], texts[1]))
    if max(len(first), len(second)) > MOST_LINES:
        return FileChange(path, change, was, size, cut=True)
    names = f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null"
    diff = "".join(_whole(unified_diff(first, second, names[0], names[1])))
    cut = len(diff) > MOST_DIFF
    return FileChange(
        path, change, was, size, diff=diff[: diff.rfind("\n", 0, MOST_DIFF) + 1] if cut else diff, cut=cut
    )


def _text(root: str, path: str, info: os.stat_result) -> str | None:
    """Return what is in a file as text, None where it is none."""
    raw = b"".join(_blocks(root, path, info))
    try:
        return None if b"\0" in raw else raw.decode()
    except UnicodeDecodeError:
        return None


def _whole(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines of a diff, each with an end, and what diff says below a last line that has none."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
