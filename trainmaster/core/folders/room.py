"""How full a file system is, and what follows from it: when it is short, and what one job may take of it. Pure.

A file system can be full of bytes or of entries (inodes). One that does not count its entries says that it has none:
then only bytes count.
"""

from __future__ import annotations

import os
from typing import Final

from trainmaster._compat import dataclass

SPARE_FILES: Final = 1000
"""Entries that must be left; a sixteenth of all where that is less."""
AGAIN: Final = 1.5
"""A disk that was short is so no more when this many times what must be left is free."""


@dataclass(frozen=True, slots=True)
class Use:
    """So many bytes in so many files."""

    bytes: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """One file system: all that it holds, and what of it is free."""

    total: Use
    free: Use

    def least(self, reserve_mib: int) -> Use:
        """Return what must be left free: `reserve_mib`, or a sixteenth where that is less."""
        return Use(min(reserve_mib << 20, self.total.bytes // 16), min(SPARE_FILES, self.total.files // 16))

    def short_of(self, reserve_mib: int, times: float = 1.0) -> str:
        """Return "bytes" or "files", whichever there is less of than `times` what must be left; "" when there is
        enough.
        """
        least = self.least(reserve_mib)
        if self.free.bytes < least.bytes * times:
            return "bytes"
        return "files" if reserve_mib and self.free.files < least.files * times else ""

    def budget(self, disk_mib: int, inodes: int, share: float) -> Use:
        """Return what one job may take: the least of what is said in numbers and of `share` of everything; 0: any."""
        return Use(_least(disk_mib << 20, int(self.total.bytes * share)), _least(inodes, int(self.total.files * share)))


def _least(*limits: int) -> int:
    return min((limit for limit in limits if limit), default=0)


def room_of(found: os.statvfs_result, back: int = 0) -> DiskRoom:
    """Return what statvfs found. `back`: bytes that do not count as free, because we take them as soon as we can."""
    free = max(0, found.f_bavail * found.f_frsize - back)
    return DiskRoom(Use(found.f_blocks * found.f_frsize, found.f_files), Use(free, found.f_favail))
