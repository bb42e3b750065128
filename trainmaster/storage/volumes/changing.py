"""Changes below a volume's folder, while jobs that have it mounted may change the same at any moment.

A volume's own folder holds `files`, which is all that jobs see of it, `arriving` and `going`, which only the platform
writes. A file is written in `arriving` and renamed into its place when it is whole; what is deleted is renamed into
`going` and taken away later. Invariants: every folder on the way is opened by its name in the one before it, and no
link is followed (`storage.safe`); what lies at a path is the whole of one upload, or what was there before.
"""

import ctypes
import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from trainmaster.answers import File
from trainmaster.core.errors import Conflict, NotFound, StorageFailed, TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import volumes as said
from trainmaster.storage.safe import folder
from trainmaster.storage.trees import remove_tree
from trainmaster.storage.volumes.erasing import erase_all
from trainmaster.storage.volumes.paths import new_path, old_path

FILES: Final = "files"
_ARRIVING: Final = "arriving"
_GOING: Final = "going"
_GONE: Final = ".gone-"
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_NO_REPLACE: Final = 1
_NO_WAY: Final = frozenset({errno.ENOTDIR, errno.ELOOP})


def make(root: str) -> None:
    """Make the folders of the volume that lies at `root`, as far as they are missing. Raises StorageFailed."""
    try:
        for name in (FILES, _ARRIVING, _GOING):
            os.makedirs(os.path.join(root, name), mode=0o700, exist_ok=True)
    except OSError as error:
        raise _failed(error) from error


class ArrivingFile:
    """A file on its way into the volume at `root`. `write` any number of times, then `finish`; or `abort`. `token`:
    its name until then. All block. Raise StorageFailed when the disk is full; then nothing of it is left.
    """

    def __init__(self, root: str, token: str) -> None:
        make(root)
        self._root, self._place = root, os.path.join(root, _ARRIVING, token)
        self.size = 0
        try:
            self._fd = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _failed(error) from error

    def write(self, chunk: bytes) -> None:
        """Take `chunk`."""
        left = memoryview(chunk)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError as error:
            self.abort()
            raise _failed(error) from error
        self.size += len(chunk)

    def finish(self, path: str, executable: bool = False) -> File:
        """Put the file in its place, in one step for whoever looks; return it as lists show it. Folders on the way are
        made. Raises InvalidSpec for a path that cannot be, Conflict where a folder is, or none on the way.
        """
        try:
            parts = new_path(path)
            os.fchmod(self._fd, 0o755 if executable else 0o644)
            os.fsync(self._fd)
            with _parent(self._root, parts, make_it=True) as parent:
                os.rename(self._place, parts[-1], dst_dir_fd=parent)
                os.fsync(parent)
            info = os.fstat(self._fd)
        except OSError as error:
            raise _told(error, path) from error
        finally:
            self.abort()
        return File(name=parts[-1], path=path, kind="file", size=info.st_size, modified_at=info.st_mtime)

    def abort(self) -> None:
        """Forget everything received. Any number of times."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        with suppress(OSError):
            os.unlink(self._place)


def make_folder(root: str, path: str) -> None:
    """Make a folder, with those on the way. Raises InvalidSpec, Conflict where something is there, StorageFailed."""
    parts = new_path(path)
    make(root)
    try:
        with _parent(root, parts, make_it=True) as parent:
            os.mkdir(parts[-1], 0o755, dir_fd=parent)
    except OSError as error:
        raise _told(error, path) from error


def move(root: str, path: str, to: str) -> None:
    """Move what lies at `path`, whatever it is, to a place where nothing is. Raises InvalidSpec, NotFound, Conflict,
    StorageFailed.
    """
    before, after = old_path(path), new_path(to, "to")
    if after[: len(before)] == before:
        raise Conflict(said.taken_in_volume(repr(to)) if after == before else said.volume_path_into_itself(repr(path)))
    try:
        with _parent(root, before) as source:
            os.stat(before[-1], dir_fd=source, follow_symlinks=False)
            try:
                with _parent(root, after, make_it=True) as target:
                    _rename_new(source, before[-1], target, after[-1])
            except OSError as error:
                raise _told(error, to if error.errno in (*_NO_WAY, errno.EEXIST) else path) from error
    except OSError as error:
        raise _absent(error, path) from error


def take_away(root: str, path: str, token: str) -> None:
    """Delete what lies at `path`, a folder with all that is in it, in one step for whoever looks; its room comes back
    with `clear`. Raises InvalidSpec, NotFound, StorageFailed.
    """
    parts = old_path(path)
    make(root)
    try:
        with _parent(root, parts) as parent:
            os.rename(parts[-1], os.path.join(root, _GOING, token), src_dir_fd=parent)
    except OSError as error:
        raise _absent(error, path) from error


def set_aside(layout: Layout, place: str) -> None:
    """Put away the folder of a deleted volume, which lies at `place` below the bulk; its room comes back with
    `clear`. Raises OSError.
    """
    name = os.path.basename(place)
    with suppress(FileNotFoundError):
        os.rename(os.path.join(layout.bulk, place), os.path.join(layout.volumes, _GONE + name))


def clear(layout: Layout, known: Callable[[], Collection[str]], ours: str) -> Iterator[None]:
    """Remove what was deleted, the folders of no volume that is `known` (by their names), and what was on its way
    when another process ended: its token does not begin with `ours`. A step at a time. Raises OSError, and what
    `known` raises, which is asked once the folders are listed.
    """
    with suppress(FileNotFoundError):
        names = sorted(os.listdir(layout.volumes))
        there = known()
        for name in names:
            root = os.path.join(layout.volumes, name)
            if name not in there:
                remove_tree(root)
                yield
                continue
            yield from erase_all(os.path.join(root, _GOING))
            yield from erase_all(os.path.join(root, _ARRIVING), ours)


@contextmanager
def _parent(root: str, parts: Sequence[str], make_it: bool = False) -> Iterator[int]:
    """Give the folder that the last of `parts` is in; `make_it`: with those on the way that are missing."""
    with folder(os.path.join(root, FILES)) as top:
        fd = os.dup(top)
        try:
            for part in parts[:-1]:
                below = _entered(fd, part, make_it)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)


def _entered(fd: int, part: str, make_it: bool) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        return os.open(part, flags, dir_fd=fd)
    except FileNotFoundError:
        if not make_it:
            raise
    with suppress(FileExistsError):  # somebody else made it just now
        os.mkdir(part, 0o755, dir_fd=fd)
    return os.open(part, flags, dir_fd=fd)


def _rename_new(source: int, name: str, target: int, to: str) -> None:
    """Rename where nothing is. Raises OSError, EEXIST where something is."""
    if _LIBC.renameat2(source, os.fsencode(name), target, os.fsencode(to), _NO_REPLACE) == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code))
    try:  # a file system that does not know how: look first
        os.stat(to, dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, to, src_dir_fd=source, dst_dir_fd=target)
        return
    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))


def _told(error: OSError, path: str) -> TrainmasterError:
    """Return what somebody is told who wanted to put something at `path`."""
    if error.errno == errno.EISDIR:
        return Conflict(said.folder_in_volume(repr(path)))
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
        return Conflict(said.taken_in_volume(repr(path)))
    if error.errno == errno.ENOENT:  # the volume, or what was to be moved, went meanwhile
        return NotFound(said.nothing_in_volume(repr(path)))
    if error.errno in _NO_WAY:
        return Conflict(said.no_folder_in_volume(repr(path)))
    if error.errno == errno.EINVAL:
        return Conflict(said.volume_path_into_itself(repr(path)))
    return _failed(error)


def _absent(error: OSError, path: str) -> TrainmasterError:
    """Return what somebody is told who meant what lies at `path`."""
    if error.errno in (errno.ENOENT, *_NO_WAY):
        return NotFound(said.nothing_in_volume(repr(path)))
    return _failed(error)


def _failed(error: OSError) -> StorageFailed:
    return StorageFailed(said.volume_file_not_stored(error.strerror or str(error)))
