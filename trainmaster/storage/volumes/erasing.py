"""Takes away what was deleted in a volume, while a job that stands in it may still change it.

Invariant: nothing is reached by a path, only by names in folders that are open; so no link that is laid meanwhile leads
what is done here anywhere else.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_DEEPEST: Final = 40
"""So many folders are open at once; what lies deeper is brought to the top first."""


def erase_all(place: str, ours: str = "") -> Iterator[None]:
    """Remove what lies in the folder `place`, but for names that begin with `ours` ("": none); a step before each
    yield. What cannot be removed now stays.
    """
    with suppress(FileNotFoundError):
        top = os.open(place, _FOLDER)
        try:
            for _ in range(2**10):  # what is brought to the top is found by the next round
                names = [name for name in os.listdir(top) if not (ours and name.startswith(ours))]
                deeper = _Deeper(top)
                for name in names:
                    with suppress(OSError):
                        deeper.erase(top, name, 0)
                    yield
                if not deeper.moved:
                    return
        finally:
            os.close(top)


class _Deeper:
    """One round. `moved`: how many folders were brought to the top."""

    def __init__(self, top: int) -> None:
        self._top, self.moved = top, 0

    def erase(self, fd: int, name: str, depth: int) -> None:
        """Remove what is called `name` in the folder `fd`. Raises OSError."""
        if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=fd)
            return
        if depth >= _DEEPEST:
            self.moved += 1
            os.rename(name, f"deep-{self.moved}-{os.urandom(8).hex()}", src_dir_fd=fd, dst_dir_fd=self._top)
            return
        below = _opened(fd, name)
        try:
            for one in os.listdir(below):
                with suppress(OSError):
                    self.erase(below, one, depth + 1)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=fd)


def _opened(fd: int, name: str) -> int:
    """Return the folder, also one that nobody may read, by making that right."""
    path = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
    try:
        if os.fstat(path).st_uid == os.geteuid():
            os.chmod(f"/proc/self/fd/{path}", 0o700)  # the folder that is open, whatever has its name by now
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=path)
    finally:
        os.close(path)
