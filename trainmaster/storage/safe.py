"""Opening files that somebody else may be changing, or may have laid as a trap. Linux, POSIX calls only.

Everything a task can write (outputs, model, metrics, its own log) is read through here. Invariant: no symbolic link is
ever followed, not even in the middle of a path; only regular files and folders are opened; opening never blocks.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
MAX_DEPTH: Final = 64
"""Folders nested deeper than this are not visited."""


def open_regular(path: str, dir_fd: int | None = None) -> int:
    """Return a descriptor of the regular file at `path`, whose last part must not be a link.

    Raises OSError; ELOOP for a link, EINVAL for anything that is not a regular file.
    """
    fd = os.open(path, _FILE, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def parts_of(relative: str) -> list[str]:
    """Return the parts of a relative path. Raises OSError EINVAL for an absolute one, ``..`` or a NUL byte."""
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if relative.startswith("/") or ".." in parts or "\0" in relative or len(parts) > MAX_DEPTH:
        raise OSError(errno.EINVAL, "the path leaves its folder", relative)
    return parts


@contextmanager
def folder(root: str, relative: str = "") -> Iterator[int]:
    """Give a descriptor of the folder `relative` under `root`, entered one part at a time without following links."""
    fd = os.open(root, _FOLDER)
    try:
        for part in parts_of(relative):
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def open_beneath(root: str, relative: str) -> int:
    """Return a descriptor of the regular file `relative` under `root`. Raises OSError, see `open_regular`."""
    parts = parts_of(relative)
    if not parts:
        raise OSError(errno.EINVAL, "no file named", relative)
    with folder(root, "/".join(parts[:-1])) as parent:
        return open_regular(parts[-1], parent)


def walk(root: str, *, max_entries: int = 1_000_000) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (relative path, lstat) of everything under `root`, folders before their content, sorted by name.

    What disappears or cannot be read meanwhile is left out. Stops after `max_entries`.
    """
    left = max_entries
    pending = [""]
    while pending:
        here = pending.pop()
        below = []
        found = _entries(root, here, left)
        left -= len(found)
        for name, info in found:
            path = f"{here}/{name}" if here else name
            yield path, info
            if stat.S_ISDIR(info.st_mode) and path.count("/") < MAX_DEPTH - 1:
                below.append(path)
        if left <= 0:
            return
        pending.extend(reversed(below))


def _entries(root: str, here: str, most: int) -> list[tuple[str, os.stat_result]]:
    """Return what lies in one folder, sorted; of more than `most` any `most`: nobody's millions are taken into
    memory.
    """
    found = []
    try:
        with folder(root, here) as fd, os.scandir(fd) as entries:
            for name in sorted(entry.name for entry in islice(entries, most)):
                try:
                    found.append((name, os.stat(name, dir_fd=fd, follow_symlinks=False)))
                except OSError:
                    continue
    except OSError:
        return []
    return found
