"""Folders of users' files: listing, reading and sending them, and taking them away. For outputs and model versions.

Everything goes through storage.safe: no link is followed, nothing outside the root is reached. Errors say NotFound in
the words of the person who asked, whatever the file system said.
"""

import ctypes
import os
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from trainmaster.answers import File, Files
from trainmaster.core.errors import NotFound
from trainmaster.messages.jobs import files
from trainmaster.storage.safe import folder, open_beneath, parts_of, walk
from trainmaster.storage.zips import ZipMember, blocks_of, stream_tar, stream_zip

MAX_LISTED: Final = 10_000
_SYNC_ALL_ABOVE: Final = 64
"""With more entries than this, one sync of the whole file system is cheaper than one per file."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file opened for sending; whoever gets it closes `fd` (or hands it to `blocks_of`)."""

    fd: int
    name: str
    size: int
    modified_at: float


def kind_of(mode: int) -> str:
    """Return file, folder, link or other for an lstat mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def list_files(root: str, path: str = "") -> Files:
    """Return what lies in a folder, folders first, at most 10,000 items.

    A root that does not exist (yet) is an empty folder. Raises NotFound for any other path that is no folder.
    O(entries) of time, which may be millions; of memory only for what is listed.
    """
    try:
        relative = "/".join(parts_of(path))
        with folder(root, relative) as fd, os.scandir(fd) as entries:
            names = nsmallest(MAX_LISTED, (entry.name for entry in entries))
            items = [_item(fd, relative, name) for name in names]
    except OSError:
        if _is_top(path):
            return Files(path="", items=[])
        raise NotFound(files.no_such_folder_here(repr(path))) from None
    found = [item for item in items if item is not None]
    found.sort(key=lambda item: (item.kind != "folder", item.name))
    return Files(path=relative, items=found)


def _item(fd: int, relative: str, name: str) -> File | None:
    try:
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError:
        return None
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return File(
        name=shown,
        path=f"{relative}/{shown}" if relative else shown,
        kind=kind_of(info.st_mode),
        size=0 if stat.S_ISDIR(info.st_mode) else info.st_size,
        modified_at=info.st_mtime,
    )


def open_file(root: str, path: str) -> OpenFile:
    """Open the regular file `path` beneath `root`. Raises NotFound for anything else, links and ``..`` included."""
    try:
        fd = open_beneath(root, path)
    except (OSError, UnicodeError):
        raise NotFound(files.no_such_file_here(repr(path))) from None
    info = os.fstat(fd)
    return OpenFile(fd, path.rsplit("/", 1)[-1], info.st_size, info.st_mtime)


def _is_top(path: str) -> bool:
    return path.strip("/") in ("", ".")


def zip_tree(root: str, path: str = "", *, compress: bool = False) -> Iterator[bytes]:
    """Yield a zip archive of the folder `path` beneath `root`. Raises NotFound (at once) when there is none."""
    try:
        relative = "/".join(parts_of(path))
        with folder(root, relative):
            pass
    except OSError:
        if _is_top(path):
            return stream_zip(())
        raise NotFound(files.no_such_folder_here(repr(path))) from None
    return stream_zip(_members(root, relative), compress=compress)


def tar_tree(root: str) -> Iterator[bytes]:
    """Yield a tar archive of the folder `root`, with its links, empty folders, and which files can be executed."""
    return stream_tar(_tar_members(root))


def _tar_members(root: str) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    for name, info in walk(root):
        header, kind = tarfile.TarInfo(name), kind_of(info.st_mode)
        header.mtime = int(info.st_mtime)
        try:
            if kind == "link":
                header.type, header.linkname = tarfile.SYMTYPE, os.readlink(os.path.join(root, name))
                yield header, iter(())
            elif kind == "folder":
                header.type, header.mode = tarfile.DIRTYPE, 0o755
                yield header, iter(())
            elif kind == "file":
                fd = open_beneath(root, name)
                header.size, header.mode = info.st_size, 0o755 if info.st_mode & stat.S_IXUSR else 0o644
                yield header, blocks_of(fd)
        except OSError:
            continue


def _members(root: str, path: str) -> Iterator[ZipMember]:
    for name, info in walk(os.path.join(root, path) if path else root):
        if stat.S_ISREG(info.st_mode):
            try:
                fd = open_beneath(root, f"{path}/{name}" if path else name)
            except OSError:
                continue
            yield ZipMember(name, blocks_of(fd), info.st_mtime)


def sync_tree(root: str) -> None:
    """Return once everything under `root`, and `root` itself, would survive a power cut."""
    entries = [path for path, info in walk(root) if not stat.S_ISLNK(info.st_mode)]
    if len(entries) > _SYNC_ALL_ABOVE:
        sync(root, _sync_file_system)
        return
    for path in (*entries, ""):
        sync(os.path.join(root, path))


def sync(path: str, how: Callable[[int], None] = os.fsync) -> None:
    """Return once the file or folder `path` itself would survive a power cut. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        how(fd)
    finally:
        os.close(fd)


def _sync_file_system(fd: int) -> None:
    """As sync, but only where `fd` lies: another disk may hang."""
    if _LIBC.syncfs(fd) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def bytes_in(path: str) -> int:
    """Return what the files of a folder take on the disk, in bytes; 0 where there is none. O(files)."""
    if not os.path.isdir(path):
        return 0
    return sum(info.st_blocks * 512 for _, info in walk(path) if stat.S_ISREG(info.st_mode))


def _make_writable(path: str) -> None:
    if os.lstat(path).st_uid == os.geteuid():  # we cannot change another user's folder: its access list must let us in
        os.chmod(path, 0o700)


def remove_tree(path: str) -> None:
    """Delete a folder, also one whose content is read-only. What is gone already is fine. Raises OSError otherwise."""
    if not os.path.lexists(path):
        return
    _make_writable(path)
    for name, info in walk(path):
        if stat.S_ISDIR(info.st_mode):
            _make_writable(os.path.join(path, name))
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):  # nested too deep for Python's recursion or open files; rm can
        done = subprocess.run(
            ["/bin/rm", "-rf", "--one-file-system", "--", path],
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0 and os.path.lexists(path):
            raise
