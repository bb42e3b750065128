"""The folder of a node's cache: which copies are there, who has them, and who may change what.

ROOT/KEY is one copy: `files` (the tree), `whole` (its mark, touched whenever somebody takes it or gives it back),
`users/ATTEMPT` (a link to the record of an attempt that has it), `lock`; while it is made `part` and `coming`.
Invariants: a copy without its mark is not there. Who makes or removes one has its lock for itself, who will need it in
a moment shares it, and whose tasks may read it has a record (agent/tasks/live) for as long as they may: a copy whose
lock is held, or that has a user with a record, is never removed, whoever was killed. Nothing here waits.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Callable
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.agent.host.words import say

FOLDER: Final = 0o700


@dataclass(frozen=True, slots=True)
class CachedCopy:
    """A copy that is whole. `used_at`: when somebody took it or gave it back last, epoch seconds."""

    key: str
    size_bytes: int
    used_at: float


class NodeCache:
    """The cache below `folder`, which each system user has one of: nobody reads the copies of another. `complain`: told
    what is not as it should be, and harms no job.
    """

    def __init__(self, folder: str, complain: Callable[[str], None] = say) -> None:
        self.root, self.complain = root_of(folder), complain

    def path(self, key: str, *parts: str) -> str:
        """Return ROOT/KEY/parts."""
        return os.path.join(self.root, key, *parts)

    def open(self) -> None:
        """Make the folder, which only this user can look into. Raises OSError, also where it is somebody else's."""
        os.makedirs(os.path.dirname(self.root), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.root, FOLDER)
        found = os.lstat(self.root)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(1, "it belongs to somebody else", self.root)
        if stat.S_IMODE(found.st_mode) != FOLDER:
            os.chmod(self.root, FOLDER)

    def listed(self) -> list[str]:
        """Return all that is there, whole or not. Raises OSError."""
        return sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir(follow_symlinks=False))

    def whole(self, key: str) -> CachedCopy | None:
        """Return the copy, None where it is not (wholly) there."""
        try:
            with open(self.path(key, "whole"), encoding="ascii") as file:
                return CachedCopy(key, int(json.load(file)["bytes"]), os.fstat(file.fileno()).st_mtime)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def coming(self, key: str) -> int:
        """Return how many bytes are on their way here as `key`."""
        try:
            with open(self.path(key, "coming"), encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def used(self, key: str) -> bool:
        """Return whether an attempt has the copy."""
        try:
            return any(os.path.exists(entry.path) for entry in os.scandir(self.path(key, "users")))
        except OSError:
            return False

    def lock(self, key: str, how: int, make: bool = True) -> int:
        """Return a descriptor that holds the lock of `key` until it is closed, LOCK_SH or LOCK_EX; -1 when others hold
        it against that. Raises OSError.
        """
        path = self.path(key, "lock")
        while True:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self.path(key), FOLDER)
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (os.O_CREAT if make else 0), 0o600)
            except FileNotFoundError:
                if make:
                    continue  # removed a moment ago
                raise
            try:
                fcntl.flock(fd, how | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(fd), os.stat(path)):
                    return fd
            except FileNotFoundError:
                pass  # removed meanwhile, with its lock
            except OSError as error:
                os.close(fd)
                if isinstance(error, BlockingIOError):
                    return -1
                raise
            os.close(fd)

    def touch(self, key: str) -> None:
        """Note that the copy is used now."""
        with contextlib.suppress(OSError):
            os.utime(self.path(key, "whole"))

    def take(self, key: str, attempt: str, record: str) -> str | None:
        """Return where the copy lies, which `attempt` has from now on, for as long as `record` is there or until it is
        given back; None when it is not there. A second time the same.
        """
        try:
            fd = self.lock(key, fcntl.LOCK_SH, make=False)
        except OSError:
            return None
        if fd < 0:
            return None
        try:
            if self.whole(key) is None:
                return None
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.path(key, "users"), FOLDER)
            self._let_use(self.path(key, "users", attempt), record)
            self.touch(key)
            return self.path(key, "files")
        except OSError:
            return None
        finally:
            os.close(fd)

    @staticmethod
    def _let_use(link: str, record: str) -> None:
        try:
            os.symlink(record, link)
        except FileExistsError:
            if os.readlink(link) != record:  # its home was moved
                os.unlink(link)
                os.symlink(record, link)

    def give_back(self, key: str, attempt: str, record: str) -> None:
        """Note that nothing of `attempt` reads the copy any more."""
        link = self.path(key, "users", attempt)
        with contextlib.suppress(OSError):
            if os.readlink(link) == record:
                os.unlink(link)
                self.touch(key)

    def remove(self, key: str) -> None:
        """Remove a copy, or what was left of one, by whoever has its lock for itself. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(key, "whole"))
        for entry in list(os.scandir(self.path(key))):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.name != "lock":
                os.unlink(entry.path)
        os.unlink(self.path(key, "lock"))
        os.rmdir(self.path(key))


def root_of(folder: str) -> str:
    """Return the folder below `folder` that holds the copies of this process's user."""
    return os.path.join(folder, f"trainmaster-{os.geteuid()}")


def copy_place(folder: str, key: str) -> str:
    """Return where the tree of a copy lies that is there."""
    return os.path.join(root_of(folder), key, "files")
