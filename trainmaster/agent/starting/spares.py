"""Folders made ahead of need: a start renames one for the job and one per task instead of making eight and more.

Making a folder is the dearest system call of a start: 50 us on a quiet ext4, 300 us and more for five seconds after
somebody removed a tree. A spare is used once, by one task. Invariant: what cannot be given is made by the caller as if
there were none.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from typing import Final

from trainmaster.agent.host.sharing import make_private

KEPT: Final = 16
"""Spares per shape: a start takes as many as it has tasks."""

Shape = tuple[str, ...]
"""Folders inside a spare, relative to it, parents first."""


class Spares:
    """Spare folders below `folder`, which must be on the file system they are wanted on, and belongs to this object
    alone.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._ready: dict[Shape, list[str]] = {}
        self._names = itertools.count()
        shutil.rmtree(folder, ignore_errors=True)  # left by a former agent, perhaps half-made

    def give(self, shape: Shape, target: str) -> bool:
        """Make `target` a folder of `shape`, in one step; False when there is no spare or `target` is in use.

        A shape that was asked for once is kept ready from the next `fill` on.
        """
        ready = self._ready.setdefault(shape, [])
        if not ready:
            return False
        try:
            try:
                os.rename(ready[-1], target)
            except FileNotFoundError:
                make_private(os.path.dirname(target))
                os.rename(ready[-1], target)
        except OSError:
            return False
        ready.pop()
        return True

    @property
    def few(self) -> bool:
        """True when it is time to make some: many at once cost less than one at a time."""
        return any(len(ready) < KEPT // 2 for ready in self._ready.values())

    def fill(self) -> None:
        """Make what is missing. A full disk is no error here: whoever needs the folder says so."""
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, 0o700, exist_ok=True)
            for shape, ready in self._ready.items():
                while len(ready) < KEPT:
                    ready.append(self._make(shape))

    def _make(self, shape: Shape) -> str:
        path = f"{self._folder}/{next(self._names)}"
        os.mkdir(path, 0o700)
        for name in shape:
            os.mkdir(f"{path}/{name}", 0o700)
        return path
