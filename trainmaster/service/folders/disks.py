"""The disks that the server writes on: whether there is room for more jobs, and a reserve for what must always be
written.

HOME/reserve is a file of `limits.reserve_mib` with nothing in it. When the ledger cannot be written for want of room
the file is given back, so that ends, stops and deletions can be stored; it is made again when there is room for twice
as much. While a disk is short nothing is accepted and nothing starts. Invariant: what is missing of the reserve does
not count as free.
"""

import asyncio
import contextlib
import logging
import os
import time
from dataclasses import dataclass
from typing import Final

from trainmaster.answers import ReasonView
from trainmaster.core.errors import StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import AGAIN, DiskRoom, room_of
from trainmaster.messages import render
from trainmaster.messages.said import Said
from trainmaster.messages.server import server
from trainmaster.service.folders.looks import Looks
from trainmaster.service.language import both

log = logging.getLogger("trainmaster.disks")

EVERY_S: Final = 5.0
PATIENCE_S: Final = 3.0
"""Whoever fills the disk takes the reserve as well: it is kept for as long as an agent takes to end them."""


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk as it was seen last; `short_of` is "bytes" or "files" while it is nearly full."""

    folder: str
    room: DiskRoom
    short_of: str

    def warning(self) -> Said:
        """Say that it is nearly full."""
        if self.short_of == "files":
            return server.disk_short_of_files(self.folder, self.room.free.files)
        return server.disk_nearly_full(self.folder, self.room.free.bytes >> 20)


class Disks:
    """One object per server."""

    def __init__(self, layout: Layout, reserve_mib: int) -> None:
        self._layout, self._reserve_mib = layout, reserve_mib
        self._looks = Looks()
        self._failing_since: float | None = None
        self.seen: tuple[Disk, ...] = ()
        self.turned = asyncio.Event()
        """Set when there is room again, or no more."""

    @property
    def short(self) -> Said | None:
        """What is short; None when nothing is."""
        return next((disk.warning() for disk in self.seen if disk.short_of), None)

    def reason(self) -> ReasonView | None:
        """Return why no job starts, as the API shows reasons; None when it is not for a disk."""
        told = self.short
        return ReasonView(code="disk_full", message=both(told), evidence={}) if told else None

    # -- blocking ----------------------------------------------------------------------------------------------

    def look(self) -> None:
        """See how full the disks are; make the reserve whole when there is room."""
        reserve, folders = self._layout.reserve, dict.fromkeys((self._layout.home, self._layout.bulk))
        before = {disk.folder: disk.short_of for disk in self.seen}
        found, devices = [], set()
        for folder in folders:
            with contextlib.suppress(OSError):
                device = os.stat(folder).st_dev
                if device in devices:
                    continue
                devices.add(device)
                raw = room_of(os.statvfs(folder))
                missing = self._refill(reserve, raw) if folder == self._layout.home else 0
                room = room_of(os.statvfs(folder), missing)
                found.append(Disk(folder, room, room.short_of(self._reserve_mib, AGAIN if before.get(folder) else 1.0)))
        self.seen = tuple(found)
        if not self.short:
            self._failing_since = None

    def _refill(self, path: str, room: DiskRoom) -> int:
        """Return how many bytes the reserve lacks, after it was made whole if there is room."""
        whole = room.least(self._reserve_mib).bytes
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return whole
        try:
            held = os.fstat(fd).st_size
            if held > whole or (held < whole and room.free.bytes >= 2 * whole):
                os.ftruncate(fd, min(held, whole))
                with contextlib.suppress(OSError):
                    os.posix_fallocate(fd, 0, max(1, whole))
                held = whole if os.fstat(fd).st_blocks * 512 >= whole else 0
                os.ftruncate(fd, held)
            return whole - held
        finally:
            os.close(fd)

    def give_back(self) -> None:
        """Let what must be written have the reserve."""
        with contextlib.suppress(OSError):
            if os.path.getsize(self._layout.reserve):
                os.truncate(self._layout.reserve, 0)
                what = render.text(self.short) if self.short else "The disk is full"
                log.warning("%s; the reserve is used for ends, stops and deletions", what)

    def settle(self) -> None:
        """Before the ledger is opened: it must be writable."""
        self.look()
        if self._home_is_short:
            self.give_back()

    # -- in the loop -------------------------------------------------------------------------------------------

    @property
    def _home_is_short(self) -> bool:
        """Whether the disk is short that the reserve is on, and the ledger: it helps no other."""
        return any(disk.short_of for disk in self.seen if disk.folder == self._layout.home)

    async def demand_room(self) -> None:
        """Raise StorageFailed while a disk is nearly full."""
        if self.short:
            await self._look()  # room may have been freed since the last look
        if told := self.short:
            raise StorageFailed(told)

    async def help(self) -> None:
        """The ledger cannot be written: if that is for want of room, and goes on, give it the reserve."""
        now = time.monotonic()
        self._failing_since = self._failing_since or now
        since = self._failing_since
        await self._look()
        if self._home_is_short and now - since >= PATIENCE_S:
            await asyncio.to_thread(self.give_back)

    async def follow(self) -> None:
        """Look again and again."""
        while True:
            await self._look()
            await asyncio.sleep(EVERY_S)

    async def _look(self) -> None:
        before = self.short
        with contextlib.suppress(TimeoutError):  # the disk hangs: keep what was seen last
            await self._looks.look("disks", self.look)
        if bool(before) != bool(self.short):
            log.warning("%s", render.text(self.short) if self.short else "There is room on the disks again")
            self.turned.set()
