"""Use cases on the files in a volume (R245): where they lie, files that come, folders, moves, deletions.

Each finds the volume anew for who asks. Invariant: what comes is counted before it is taken in
(`service.kept.volumes`), and is there whole or not at all.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import File
from trainmaster.core.errors import InvalidSpec, TooLarge, problem_of
from trainmaster.core.folders.room import Use
from trainmaster.messages.assets import volumes as said
from trainmaster.messages.cluster.kept import upload_not_kept
from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.volumes import Volumes, subject_of
from trainmaster.storage.volumes import changing
from trainmaster.storage.volumes.paths import new_path
from trainmaster.store.assets.volumes import VolumePlace, place_of

STEP: Final = 64 << 20
"""Room that is set aside at once for a file of which nobody said how large it is."""


class VolumeFiles:
    """One object per server."""

    def __init__(self, context: Context, volumes: Volumes) -> None:
        self._ctx, self._volumes = context, volumes

    async def root(self, ref: str, who: Principal) -> tuple[str, str]:
        """Return a volume's name, and the folder with its files. Raises NotFound, Conflict where several are meant."""
        line = await self._volumes.lines.find(ref, who)
        return line.name, self._ctx.layout.version_files(place_of(line).path)

    @asynccontextmanager
    async def arriving(
        self, ref: str, who: Principal, path: str, size: int | None, executable: bool = False
    ) -> AsyncIterator["TakenFile"]:
        """Give what takes a file that is to lie at `path`, `size` bytes large, None: nobody knows. Where it is left
        without `finish`, nothing of it stays. Raises NotFound, Forbidden, InvalidSpec for the path or where the storage
        quota does not allow it, TooLarge, StorageFailed.
        """
        new_path(path)
        await self._ctx.disks.demand_room()
        line = await self._volumes.lines.find(ref, who, "volumes:write")
        most = self._ctx.config.limits.dataset_mib
        if size is not None and size > most << 20:
            raise TooLarge(said.volume_file_too_large(most))
        taken = TakenFile(self._ctx, self._token(), place_of(line), path, size, executable)
        await taken.begin()
        try:
            yield taken
        finally:
            await taken.end()

    async def make_folder(self, ref: str, who: Principal, path: str) -> None:
        """Make a folder, with those on the way. Raises NotFound, Forbidden, InvalidSpec, Conflict, StorageFailed."""
        await self._ctx.disks.demand_room()
        place = place_of(await self._volumes.lines.find(ref, who, "volumes:write"))
        token, use, came = self._token(), Use(4096, path.count("/") + 1), None
        _demand_kept(self._ctx, place, token, use)
        try:
            await asyncio.to_thread(changing.make_folder, self._at(place), path)
            came = use
        finally:
            self._ctx.volumes.kept.end(place, token, came)
            self._ctx.volumes.changed(place.id)

    async def move(self, ref: str, who: Principal, path: str, to: str) -> None:
        """Give a file or folder another name or place, where nothing is. Raises NotFound, Forbidden, InvalidSpec,
        Conflict, StorageFailed.
        """
        line = await self._volumes.lines.find(ref, who, "volumes:write")
        await asyncio.to_thread(changing.move, self._at(place_of(line)), path, to)
        now, writable = self._ctx.clock(), decide(who, "volumes:write").visible
        done = who.did(subject_of(line), said.volume_path_moved(path, to, line.name), now)
        await asyncio.to_thread(self._volumes.rows.tell, writable, line.id, now, done)

    async def delete(self, ref: str, who: Principal, path: str) -> None:
        """Delete a file, or a folder with all that is in it. Raises NotFound, Forbidden, InvalidSpec, StorageFailed."""
        line = await self._volumes.lines.find(ref, who, "volumes:write")
        await asyncio.to_thread(changing.take_away, self._at(place_of(line)), path, self._token())
        self._ctx.volumes.changed(line.id)
        now, writable = self._ctx.clock(), decide(who, "volumes:write").visible
        done = who.did(subject_of(line), said.volume_path_deleted(path, line.name), now)
        await asyncio.to_thread(self._volumes.rows.tell, writable, line.id, now, done)

    def _token(self) -> str:
        return self._ctx.volumes.ours + self._ctx.random_bytes(8).hex()

    def _at(self, place: VolumePlace) -> str:
        return _root(self._ctx, place)


class TakenFile:
    """A file on its way into a volume, through worker threads."""

    def __init__(
        self, context: Context, token: str, place: VolumePlace, path: str, size: int | None, executable: bool
    ) -> None:
        self._ctx, self._token, self._place, self._path, self._size = context, token, place, path, size
        self._executable, self._held, self._came = executable, -1, False
        self._file: changing.ArrivingFile | None = None

    async def begin(self) -> None:
        """Set aside room and make ready. Raises InvalidSpec, StorageFailed."""
        self._hold(STEP if self._size is None else self._size)
        try:
            self._file = await asyncio.to_thread(changing.ArrivingFile, _root(self._ctx, self._place), self._token)
        except BaseException:
            await self.end()
            raise

    def _hold(self, size: int) -> None:
        _demand_kept(self._ctx, self._place, self._token, Use(size, 1))
        self._held = size

    async def write(self, chunk: bytes) -> None:
        """Take more of it. Raises InvalidSpec where the quota does not allow it, TooLarge, StorageFailed."""
        file = self._opened()
        size, most = file.size + len(chunk), self._ctx.config.limits.dataset_mib
        if size > most << 20:
            raise TooLarge(said.volume_file_too_large(most))
        if size > self._held:
            self._hold(max(self._held + STEP, size))
        await asyncio.to_thread(file.write, chunk)

    async def finish(self) -> File:
        """Put it in its place. Raises InvalidSpec where less came than was said, NotFound where the volume went,
        Conflict, StorageFailed.
        """
        file = self._opened()
        if self._size is not None and file.size != self._size:
            told = said.upload_cut_short(file.size, self._size)
            raise InvalidSpec(told, problems=(problem_of("", told),))
        made = await asyncio.to_thread(file.finish, self._path, self._executable)
        self._came = True
        return made

    def _opened(self) -> changing.ArrivingFile:
        if self._file is None:
            raise RuntimeError("not begun")
        return self._file

    async def end(self) -> None:
        """Leave nothing of it but what is in its place."""
        file, self._file = self._file, None
        if file is not None:
            await asyncio.to_thread(file.abort)
        if self._held >= 0:
            came = Use(file.size, 1 + self._path.count("/")) if file is not None and self._came else None
            self._ctx.volumes.kept.end(self._place, self._token, came)
            self._held = -1
        if self._came:
            self._ctx.volumes.changed(self._place.id)


def _demand_kept(context: Context, place: VolumePlace, token: str, use: Use) -> None:
    """Set aside room. Raises InvalidSpec where the storage quota does not allow it."""
    if (told := context.volumes.kept.hold(place, token, use)) is not None:
        raise InvalidSpec(upload_not_kept(), problems=(problem_of("workspace", told, place.workspace),))


def _root(context: Context, place: VolumePlace) -> str:
    return f"{context.layout.bulk}/{place.path}"
