"""Where the server writes what a node gave it: below the folder of all jobs, through no link, whole where it has to be
whole.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import Final

from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages import render
from trainmaster.messages.said import Said

MOST_DEEP: Final = 64
_NEW: Final = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_INTO: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Trespass(Wrong):
    """What a node wants to have written here, it may not."""


class Failed(OSError):
    """Something could not be brought or fetched. `said`: what, and why."""

    def __init__(self, said: Said) -> None:
        super().__init__(render.text(said))
        self.said = said


class Changed(Exception):
    """A file was written to while it was read: it is taken the next time."""


def sound(path: str) -> bool:
    """Return whether a relative path stays below where it begins, and can be one here."""
    parts = path.split("/")
    try:
        fits = all(part not in ("", ".", "..") and len(part.encode()) <= 255 for part in parts)
    except UnicodeEncodeError:
        return False
    return fits and len(parts) <= MOST_DEEP and "\0" not in path


@contextlib.contextmanager
def parent_of(data: str, path: str, make: bool = True) -> Iterator[tuple[int, str]]:
    """Give the folder of `path` below `data`, and the name in it. Raises Trespass, OSError.

    `make`: a folder that is missing is made, else FileNotFoundError is raised.
    """
    *folders, name = path.split("/")
    fd = os.open(data, _INTO)
    try:
        for one in folders:
            try:
                below = os.open(one, _INTO, dir_fd=fd)
            except FileNotFoundError:
                if not make:
                    raise
                with contextlib.suppress(FileExistsError):
                    os.mkdir(one, 0o700, dir_fd=fd)
                below = os.open(one, _INTO, dir_fd=fd)
            except OSError as error:
                raise Trespass(say.no_folder_here(repr(one))) from error
            os.close(fd)
            fd = below
        yield fd, name
    finally:
        os.close(fd)


@contextlib.contextmanager
def growing(data: str, path: str) -> Iterator[int]:
    """Give a file to write into in its place. Raises Trespass, OSError."""
    with parent_of(data, path) as (parent, name):
        fd = os.open(name, _NEW, 0o600, dir_fd=parent)
        try:
            yield fd
        finally:
            os.close(fd)


@contextlib.contextmanager
def writing_whole(data: str, path: str, fresh: str, mode: int, mtime: int) -> Iterator[int]:
    """Give a file to write into, `fresh` until it comes to its place; with Changed raised it does not. Raises Trespass,
    OSError.
    """
    fd = os.open(fresh, _NEW | os.O_TRUNC, 0o600)
    try:
        yield fd
        os.fchmod(fd, mode & 0o777 | 0o600)
        os.utime(fd, ns=(mtime, mtime))
        with parent_of(data, path) as (parent, name):
            _clear(parent, name)
            os.replace(fresh, name, dst_dir_fd=parent)
    except Changed:
        os.unlink(fresh)
    finally:
        os.close(fd)


def folder(data: str, path: str) -> None:
    """Make a folder, in place of whatever else is there. Raises Trespass, OSError."""
    with parent_of(data, path) as (parent, name):
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                return
            os.unlink(name, dir_fd=parent)
        os.mkdir(name, 0o700, dir_fd=parent)


def link(data: str, path: str, target: str) -> None:
    """Make a symbolic link. Raises Trespass, OSError."""
    with parent_of(data, path) as (parent, name):
        with contextlib.suppress(OSError):
            if os.readlink(name, dir_fd=parent) == target:
                return
        _clear(parent, name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)
        os.symlink(target, name, dir_fd=parent)


def look_up(data: str, path: str) -> os.stat_result | None:
    """Return what lies at `path`; None: nothing. Raises Trespass, OSError."""
    with contextlib.suppress(FileNotFoundError), parent_of(data, path, make=False) as (parent, name):
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    return None


def remove(data: str, path: str, free: Callable[[], bool]) -> None:
    """Remove an empty folder, or what is no folder if it is `free` to go. Raises Trespass, OSError."""
    with contextlib.suppress(FileNotFoundError), parent_of(data, path, make=False) as (parent, name):
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            if free():
                os.unlink(name, dir_fd=parent)
            return
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _clear(parent: int, name: str) -> None:
    """Remove the folder `name`, if that is one, with all that is in it."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=parent)
