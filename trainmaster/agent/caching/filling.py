"""Copy inputs into a node's cache, and make room for them: what was used longest ago goes first.

Blocking: by a thread or a process of its own. `go_on` is called between any two steps, and raises where nobody wants
the copy any more: then nothing of it is left. What a killed process left is removed by whoever comes next.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.agent.caching.cache import FOLDER, CachedCopy, NodeCache
from trainmaster.messages.assets import caching as saying
from trainmaster.messages.said import Said

BLOCK: Final = 4 << 20
"""Bytes copied between two looks whether anybody still wants it."""
WAIT_S: Final = 0.2
"""Between two looks whether somebody else has made the copy."""
ROUND: Final = 4096
"""What a file system gives each file at least."""

GoOn = Callable[[], None]


class NotCached(Exception):
    """There is no copy, and why: the job reads its data where they lie."""

    def __init__(self, said: Said) -> None:
        super().__init__(said.code)
        self.said = said


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """What all copies may take together (0: what the disk has), what is left free of the disk, and for how many seconds
    a copy is kept that nobody uses (0: for ever).
    """

    most_bytes: int = 0
    reserve_bytes: int = 0
    keep_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """An input that is wanted on the node: `key` names its content, `source` is where it lies, `place` where tasks see
    it.
    """

    key: str
    source: str
    place: str


@dataclass(slots=True)
class Filled:
    """How far a copy is, for whoever looks from another thread. `waits`: somebody else makes it."""

    done_bytes: int = 0
    all_bytes: int = 0
    waits: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file, folder or link of the tree that is copied, by its path in it."""

    path: str
    info: os.stat_result


def bring(cache: NodeCache, wanted: WantedCopy, limits: CacheLimits, go_on: GoOn, filled: Filled) -> int:
    """Return once the copy is there: a descriptor that keeps it there while it is open. Raises NotCached, and what
    `go_on` raises.
    """
    try:
        cache.open()
        while True:
            go_on()
            there = cache.whole(wanted.key) is not None
            fd = cache.lock(wanted.key, fcntl.LOCK_SH if there else fcntl.LOCK_EX)
            filled.waits = fd < 0
            if fd < 0:
                time.sleep(WAIT_S)
                continue
            if there and cache.whole(wanted.key) is not None:
                cache.touch(wanted.key)
                return fd
            try:
                if not there and cache.whole(wanted.key) is None:
                    _make(cache, wanted, limits, go_on, filled)
            finally:
                os.close(fd)
    except OSError as error:
        raise NotCached(saying.not_cached(wanted.place, error.strerror or str(error))) from error


def _make(cache: NodeCache, wanted: WantedCopy, limits: CacheLimits, go_on: GoOn, filled: Filled) -> None:
    """Copy the tree, by whoever has the lock for itself. Whatever is raised, nothing of it is left."""
    key, part = wanted.key, cache.path(wanted.key, "part")
    made = False
    try:
        entries = list(_entries(wanted.source, go_on))
        filled.all_bytes = sum(entry.info.st_size for entry in entries if stat.S_ISREG(entry.info.st_mode))
        needed = sum(_room_of(entry.info) for entry in entries)
        _make_room(cache, wanted, needed, limits, go_on)
        for left in (part, cache.path(key, "files")):
            if os.path.lexists(left):
                shutil.rmtree(left)
        os.mkdir(part, FOLDER)
        for entry in entries:
            go_on()
            _copy(wanted.source, part, entry, go_on, filled)
        _sync(part)
        os.rename(part, cache.path(key, "files"))
        _mark(cache, key, needed)
        made = True
    finally:
        if not made:
            try:
                cache.remove(key)
            except OSError as error:
                cache.complain(f"what was left of a copy stays in {cache.path(key)}: {error}")


def _entries(source: str, go_on: GoOn) -> Iterator[_Entry]:
    """Yield what is in the tree, a folder before what is in it. No link is followed. Raises OSError."""
    pending = [""]
    while pending:
        go_on()
        folder = pending.pop()
        with os.scandir(os.path.join(source, folder)) as found:
            for item in found:
                info = item.stat(follow_symlinks=False)
                path = os.path.join(folder, item.name)
                if stat.S_ISDIR(info.st_mode):
                    pending.append(path)
                elif not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
                    raise OSError(errno.EINVAL, "there is a file of a kind that is not copied", path)
                yield _Entry(path, info)


def _room_of(info: os.stat_result) -> int:
    return -(-info.st_size // ROUND) * ROUND if stat.S_ISREG(info.st_mode) else ROUND


def _copy(source: str, part: str, entry: _Entry, go_on: GoOn, filled: Filled) -> None:
    there, here, mode = os.path.join(source, entry.path), os.path.join(part, entry.path), entry.info.st_mode
    if stat.S_ISDIR(mode):
        os.mkdir(here, FOLDER)
        os.chmod(here, stat.S_IMODE(mode) & 0o555 | 0o700)
        return
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(there), here)
        return
    with open(os.open(there, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as given:
        made = os.open(here, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with open(made, "wb", buffering=0) as taken:
            while data := memoryview(given.read(BLOCK)):
                go_on()
                filled.done_bytes += len(data)
                while data:
                    data = data[taken.write(data) :]
            size = taken.tell()
            os.fchmod(made, stat.S_IMODE(mode) & 0o555 | 0o400)
            os.utime(made, ns=(entry.info.st_atime_ns, entry.info.st_mtime_ns))
        now = os.fstat(given.fileno())
    if (now.st_size, now.st_mtime_ns, size) != (entry.info.st_size, entry.info.st_mtime_ns, entry.info.st_size):
        raise OSError(errno.ESTALE, "it changed while it was copied", there)


def _sync(folder: str) -> None:
    """Bring the file system of `folder` to the disk. Raises OSError, also for what could not be written before."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), folder)
    finally:
        os.close(fd)


def _mark(cache: NodeCache, key: str, size_bytes: int) -> None:
    """Say that the copy is whole. Raises OSError."""
    fresh = cache.path(key, "whole.new")
    with open(fresh, "w", encoding="ascii") as file:
        json.dump({"bytes": size_bytes}, file)
    _sync(cache.path(key))
    os.rename(fresh, cache.path(key, "whole"))
    os.unlink(cache.path(key, "coming"))


# -- room ------------------------------------------------------------------------------------------------------------


def _make_room(cache: NodeCache, wanted: WantedCopy, needed: int, limits: CacheLimits, go_on: GoOn) -> None:
    """Have room for `needed` bytes more, and take it. One after the other: two do not count on the same room. Raises
    OSError; NotCached where there is not enough.
    """
    room = os.open(os.path.join(cache.root, ".room"), os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(room, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                go_on()
                time.sleep(WAIT_S)
        sweep(cache, limits, go_on)
        unused = [copy for copy in _by_use(cache) if not cache.used(copy.key)]
        most = _free(cache, limits) + sum(copy.size_bytes for copy in unused)
        for copy in unused if most >= needed else ():  # nothing is removed in vain
            if _free(cache, limits) >= needed:
                break
            _remove_unused(cache, copy.key, go_on)
        if (free := _free(cache, limits)) < needed:
            raise NotCached(_no_room(wanted, needed, free if most >= needed else most))
        with open(cache.path(wanted.key, "coming"), "w", encoding="ascii") as file:
            file.write(str(needed))
    finally:
        os.close(room)


def _no_room(wanted: WantedCopy, needed: int, free: int) -> Said:
    return saying.no_room_in_cache(wanted.place, needed / (1 << 20), max(0, free) / (1 << 20))


def sweep(cache: NodeCache, limits: CacheLimits, go_on: GoOn = lambda: None) -> None:
    """Remove what nobody has used for longer than it is kept, and what is not whole while nobody makes it. Raises
    OSError.
    """
    now = time.time()
    for key in cache.listed():
        copy = cache.whole(key)
        if copy is None or 0 < limits.keep_s < now - copy.used_at:
            _remove_unused(cache, key, go_on)


def _by_use(cache: NodeCache) -> list[CachedCopy]:
    """Return all copies, what was used longest ago first."""
    found = (cache.whole(key) for key in cache.listed())
    return sorted((copy for copy in found if copy is not None), key=lambda copy: copy.used_at)


def _free(cache: NodeCache, limits: CacheLimits) -> int:
    """Return how many bytes may still come, beside those that are coming. Raises OSError."""
    coming = sum(map(cache.coming, cache.listed()))
    free = shutil.disk_usage(cache.root).free - limits.reserve_bytes - coming
    if limits.most_bytes:
        held = sum(copy.size_bytes for copy in _by_use(cache))
        free = min(free, limits.most_bytes - held - coming)
    return free


def _remove_unused(cache: NodeCache, key: str, go_on: GoOn) -> None:
    """Remove a copy, or what is left of one, unless somebody has it, will have it or makes it."""
    go_on()
    if cache.used(key):
        return
    try:
        fd = cache.lock(key, fcntl.LOCK_EX, make=os.path.isdir(cache.path(key)))
        if fd < 0:
            return
        try:
            if not cache.used(key):
                cache.remove(key)
        finally:
            os.close(fd)
    except FileNotFoundError:
        pass  # somebody else was faster
    except OSError as error:
        cache.complain(f"a copy that nobody uses stays in {cache.path(key)}: {error}")
