"""Copies what a job wrote to a place of object storage: one pass over its folder, or over its logs.

A file goes when nobody has changed it for a while, at the end of the job at once; what changed since it went goes
again. Files are read as all that tasks wrote is (`storage/safe`): no link is followed. Of a file that was GOING when a
server was killed, the store is asked whether it is there. Invariant: a file is UP when what the store has is what was
read, by MD5 or by size, and it did not change meanwhile. Blocking: call it from worker threads.
"""

import errno
import hashlib
import io
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

from trainmaster.core.sending import MAX_FILES, FileState, SentFile
from trainmaster.messages.assets import objects as said
from trainmaster.messages.jobs import files as told
from trainmaster.messages.said import Said
from trainmaster.storage.objects.bucket import GoOn
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.storage.safe import MAX_DEPTH, folder, open_beneath, walk

if TYPE_CHECKING:
    from trainmaster.storage.objects.wire import Bucket

AT_ONCE: Final = 4
TRIES: Final = 3
PAUSE_S: Final = 0.5
BATCH: Final = 64
"""Files that are noted together."""
PART: Final = 8 << 20
"""Bytes of a part, of what is larger than one."""
MOST_PARTS: Final = 9_000
LARGEST: Final = 5 << 40
"""Bytes of an object, by S3."""
LONGEST_KEY: Final = 1024
_BLOCK: Final = 1 << 20
_NOT_THERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
"""What opening says of a file or a folder that is there no more, or has become something else."""

Known = dict[str, SentFile]
Pread = Callable[[int, int], bytes]
"""Reads (at most so many bytes, from there on); b"" at the end."""
Note = Callable[[Sequence[SentFile]], None]
"""Keeps what became of files, durably."""


class SendFiles(Protocol):
    """Which files of a folder are sent, as what."""

    def walk(self, root: str) -> Iterable[tuple[str, os.stat_result]]:
        """Yield (path below `root`, lstat) of all that is meant."""

    def named(self, path: str) -> str:
        """Return what the file at `path` is called at its place."""

    def content(self, path: str, fd: int) -> tuple[int, Pread]:
        """Return the bytes of the object of a file, which is open as `fd`: how many, and what reads them."""


class AsTheyLie:
    """All files of a folder."""

    def walk(self, root: str) -> Iterable[tuple[str, os.stat_result]]:
        """Yield every entry."""
        return walk(root, max_entries=MAX_FILES + 1)

    def named(self, path: str) -> str:
        """Return `path`."""
        return path

    def content(self, path: str, fd: int) -> tuple[int, Pread]:
        """Return the file itself."""
        return os.fstat(fd).st_size, partial(os.pread, fd)


_AS_THEY_LIE: Final = AsTheyLie()


@dataclass(frozen=True, slots=True)
class SendPlan:
    """What is sent where: what lies in the folder `beneath` of `root`. `path`: below the connection; `asks`: objects
    that are there already are not ours to replace; `settled_ns`: what changed later waits, None: nothing waits;
    `files`: which files those are.
    """

    root: str
    beneath: str
    path: str
    asks: bool
    settled_ns: int | None
    files: SendFiles = _AS_THEY_LIE


class SendPass:
    """One pass. `known`: what is known of files, changed as it goes; `left_files`, `left_bytes`: what still has to go;
    `sent_files`, `sent_bytes`: what went so far; `looked_s`: how long the look at the folder took.
    """

    def __init__(self, plan: SendPlan, known: Known, note: Note, go_on: GoOn) -> None:
        self._plan, self._known, self._note, self._go_on = plan, known, note, go_on
        self._place = self._root = ""
        self.left_files = self.left_bytes = self.sent_files = self.sent_bytes = 0
        self.looked_s = 0.0

    def run(self, bucket: "Bucket") -> None:
        """Send what there is to send. Raises StoreFailed for the first file that the store does not take, what `go_on`
        and `note` raise.
        """
        self._place = bucket.target.place(self._plan.path)
        try:
            with folder(self._plan.root, self._plan.beneath) as fd:
                self._root = f"/proc/self/fd/{fd}/."  # this very folder, whatever becomes of the way to it
                self._send_all(bucket)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise

    def _send_all(self, bucket: "Bucket") -> None:
        began = time.monotonic()
        waiting = self._look()
        self.looked_s = time.monotonic() - began
        self.left_files, self.left_bytes = len(waiting), sum(one.size for one in waiting)
        settled = self._plan.settled_ns
        ready = [one for one in waiting if settled is None or one.ctime_ns <= settled]
        with ThreadPoolExecutor(AT_ONCE, "send") as pool:
            for at in range(0, len(ready), BATCH):
                self._go_on()
                self._send_some(bucket, pool, ready[at : at + BATCH])

    def _key(self, path: str) -> str:
        """Return what a file is called in the bucket."""
        name = self._plan.files.named(path)
        return f"{self._place}/{name}" if self._place else name

    # -- what there is -----------------------------------------------------------------------------------------

    def _look(self) -> list[SentFile]:
        """Return the files that are to go, as they are now; note those that never will."""
        waiting: list[SentFile] = []
        left: list[SentFile] = []
        seen = 0
        for path, info in self._plan.files.walk(self._root):
            self._go_on()
            if stat.S_ISDIR(info.st_mode) and (path.count("/") < MAX_DEPTH - 1 and self._opens(path)):
                continue
            seen += 1
            if seen > MAX_FILES:
                raise StoreFailed(told.outputs_too_many_files(MAX_FILES))
            now = SentFile(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, FileState.GOING)
            before = self._known.get(_named(path))
            if before is not None and before.state is not FileState.GOING and _same(before, now):
                continue
            if (why := self._never(now, info.st_mode)) is not None:
                left.append(replace(now, path=_named(path), state=FileState.LEFT, said=why))
            else:
                waiting.append(now)
        self._keep(left)
        return waiting

    def _opens(self, path: str) -> bool:
        """Return whether a folder can be looked into."""
        return os.access(f"{self._root}/{path}", os.R_OK | os.X_OK)

    def _never(self, one: SentFile, mode: int) -> Said | None:
        """Return why a file cannot go, None where it can."""
        if stat.S_ISLNK(mode):
            return said.send_is_link()
        if stat.S_ISDIR(mode):
            return told.output_too_deep(MAX_DEPTH) if self._opens(one.path) else told.output_not_readable()
        if not stat.S_ISREG(mode):
            return told.output_is_no_file()
        if _named(one.path) != one.path:
            return told.output_name_not_utf8()
        if not one.path.isprintable() or len(self._key(one.path).encode()) > LONGEST_KEY:
            return said.send_name_not_usable()
        return said.send_too_large(LARGEST >> 40) if one.size > LARGEST else None

    # -- some files --------------------------------------------------------------------------------------------

    def _send_some(self, bucket: "Bucket", pool: ThreadPoolExecutor, some: list[SentFile]) -> None:
        new = [one for one in some if self._state(one) in (None, FileState.LEFT)]
        taken: set[str] = set()
        if self._plan.asks and new:
            keys = [self._key(one.path) for one in new]
            there = pool.map(bucket.find, keys)
            taken = {one.path for one, found in zip(new, there, strict=True) if found is not None}
        left = [replace(one, state=FileState.LEFT, said=said.send_is_there()) for one in some if one.path in taken]
        going = [one for one in some if one.path not in taken]
        again = {one.path for one in going if self._state(one) is not None and self._known[one.path].size == one.size}
        self._keep([*left, *(one for one in going if self._known.get(one.path) != one)])
        self._done(left)
        work = [(one, pool.submit(self._send, bucket, one, one.path in again)) for one in going]
        failed: BaseException | None = None
        ended: list[SentFile] = []
        for _, sending in work:
            try:
                after = sending.result()
                ended += [after] if after is not None else []
            except BaseException as error:
                failed = failed or error
                for _, other in work:
                    other.cancel()
        self._keep(ended)
        self._done(ended)
        if failed is not None:
            raise failed

    def _state(self, one: SentFile) -> FileState | None:
        before = self._known.get(one.path)
        return None if before is None else before.state

    def _keep(self, some: Sequence[SentFile]) -> None:
        """Keep what became of files, durably and here."""
        for at in range(0, len(some), BATCH):
            self._note(some[at : at + BATCH])
        self._known.update({one.path: one for one in some})

    def _done(self, some: Sequence[SentFile]) -> None:
        self.left_files -= len(some)
        self.left_bytes -= sum(one.size for one in some)
        up = [one.size for one in some if one.state is FileState.UP]
        self.sent_files += len(up)
        self.sent_bytes += sum(up)

    def _send(self, bucket: "Bucket", one: SentFile, again: bool) -> SentFile | None:
        """Send one file; return what became of it, None where it changed or went meanwhile. `again`: it may be
        there.
        """
        self._go_on()
        try:
            with _opened(self._root, one.path) as fd:
                if not one.same(*_stamp(fd)):
                    return None
                self._let_be_there(bucket, one, fd, again)
                return replace(one, state=FileState.UP) if one.same(*_stamp(fd)) else None
        except PermissionError:
            return replace(one, state=FileState.LEFT, said=told.output_not_readable())
        except _Changed:
            return None
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
            return None

    def _let_be_there(self, bucket: "Bucket", one: SentFile, fd: int, again: bool) -> None:
        """Send a file unless it is there. A connection that breaks off, as one that was kept too long, is no trouble of
        the store yet: it is made anew.
        """
        for left in reversed(range(TRIES)):
            try:
                if not (again and self._there(bucket, one, fd)):
                    self._put(bucket, one, fd)
                return
            except StoreFailed as error:
                if error.lasting or not left:
                    raise
                again = True
                self._go_on()
                time.sleep(PAUSE_S)

    def _there(self, bucket: "Bucket", one: SentFile, fd: int) -> bool:
        """Return whether the store has just this file."""
        size, pread = self._content(one, fd)
        found = bucket.find(self._key(one.path))
        if found is None or found.size != size:
            return False
        reading = _Reading(pread, size, part_of(size), self._go_on)
        while reading.read(_BLOCK):
            pass
        return found.etag in reading.etags()

    def _put(self, bucket: "Bucket", one: SentFile, fd: int) -> None:
        size, pread = self._content(one, fd)
        key, part = self._key(one.path), part_of(size)
        reading = _Reading(pread, size, part, self._go_on)
        try:
            etag = bucket.send(key, cast(BinaryIO, reading), size, part)
        except StoreFailed:
            if not one.same(*_stamp(fd)):  # it became shorter: not the store's fault
                raise _Changed from None
            raise
        if etag not in reading.etags():  # encrypted with a key of the store's
            found = bucket.find(key)
            if found is None or found.size != size:
                raise StoreFailed(said.send_not_whole(key), lasting=False)

    def _content(self, one: SentFile, fd: int) -> tuple[int, Pread]:
        return self._plan.files.content(f"{self._root}/{one.path}", fd)


class _Changed(Exception):
    """A file is not what it was when it was looked at."""


class _Reading(io.RawIOBase):
    """The first `size` bytes of a file, and what a store that has them calls them."""

    def __init__(self, pread: Pread, size: int, part: int, go_on: GoOn) -> None:
        super().__init__()
        self._pread, self._size, self._part, self._go_on = pread, size, part, go_on
        self._at = 0
        self._whole, self._own, self._parts = _md5(), _md5(), list[bytes]()

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, most: int = -1) -> bytes:
        """Return the next bytes, b"" at the end."""
        self._go_on()
        wanted = self._size - self._at if most < 0 else min(most, self._size - self._at)
        block = self._pread(wanted, self._at) if wanted else b""
        self._whole.update(block)
        view = memoryview(block)
        while view:
            room = self._part - self._at % self._part
            self._own.update(view[:room])
            self._at += len(view[:room])
            if self._at % self._part == 0 or self._at == self._size:
                self._parts.append(self._own.digest())
                self._own = _md5()
            view = view[room:]
        return block

    def etags(self) -> tuple[str, str]:
        """Return the ETag of an object that was sent as one, and of one that was sent in parts."""
        joined = hashlib.md5(b"".join(self._parts), usedforsecurity=False).hexdigest()
        return self._whole.hexdigest(), f"{joined}-{len(self._parts)}"


def part_of(size: int) -> int:
    """Return the bytes of each part of a file of this size, whole MiB."""
    return max(PART, (size // MOST_PARTS // _BLOCK + 1) * _BLOCK)


def is_empty(bucket: "Bucket", place: str) -> bool:
    """Return whether nothing lies below a place of the bucket. Raises StoreFailed."""
    within = f"{place}/" if place else ""
    return next((one for one in bucket.listed(within) if one.key != within), None) is None


@contextmanager
def _opened(root: str, path: str) -> Iterator[int]:
    fd = open_beneath(root, path)
    try:
        yield fd
    finally:
        os.close(fd)


def _md5() -> Any:
    return hashlib.md5(usedforsecurity=False)


def _stamp(fd: int) -> tuple[int, int, int]:
    info = os.fstat(fd)
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _same(one: SentFile, other: SentFile) -> bool:
    return one.same(other.size, other.mtime_ns, other.ctime_ns)


def _named(path: str) -> str:
    """Return a path as it can be kept: bytes that are no UTF-8 are shown."""
    return path.encode("utf-8", "backslashreplace").decode()
