"""One file that holds a whole backup: a plain tar with a list of what is in it and the digest of each part at its end.

Anybody can read it with tar. Members come in the order in which they are written, and are never held in memory. The
first says what it is (`about.json`), the last two are the list (`manifest.jsonl.gz`) and its digest (`end.json`): what
was cut off lacks its end, and what was changed differs from the list. Invariant: a file under its name is whole; one
that is being made has another name.
"""

import fcntl
import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any, Final

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.messages.server import backup as saying
from trainmaster.storage import sparse

FORMAT: Final = 1
"""What this release writes; it reads no later one."""
ABOUT, MANIFEST, END = "about.json", "manifest.jsonl.gz", "end.json"
_BLOCK: Final = 1 << 20
_HOLES_FROM: Final = 1 << 20
"""Bytes in holes from which on a file is written without them."""

Moved = Callable[[int], None]
"""Told of bytes that were read or written."""


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One member. `kind`: file, folder or link; `size`: of the file, holes included; `sha256`: of what is stored of it.

    `parts`: (offset, length) of what is stored, where it has holes; `target`: where a link leads; `mtime`: when it was
    changed, which the list does not say.
    """

    name: str
    kind: str
    mode: int
    size: int = 0
    sha256: str = ""
    parts: tuple[tuple[int, int], ...] = ()
    target: str = ""
    mtime: float = 0.0

    def line(self) -> bytes:
        """Return the line of the list that says this."""
        said = [self.name, self.kind, self.mode, self.size, self.sha256, self.parts, self.target]
        return json.dumps(said, separators=(",", ":")).encode() + b"\n"


class ArchiveWriter:
    """Writes the members; `finish` writes the list. `about` says at least when, as `made_at`. Every method raises
    OSError where it cannot be written.
    """

    def __init__(self, file: IO[bytes], about: Mapping[str, Any], moved: Moved) -> None:
        self._moved, self._list = moved, TemporaryFile()  # noqa: SIM115 - both are closed by `finish`
        self._tar = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape")
        self._packed = gzip.GzipFile(fileobj=self._list, mode="wb", compresslevel=1, mtime=0)
        self._digest = hashlib.sha256()
        self.changed: list[str] = []
        """Files that became shorter while they were read: a program writes them at this moment."""
        self._now = float(about["made_at"])
        self.text(ABOUT, json.dumps({"format": FORMAT, **about}, indent=1).encode())

    def text(self, name: str, content: bytes, mode: int = 0o600, mtime: float | None = None) -> None:
        """Write a file with this content."""
        info = self._header(name, mode, self._now if mtime is None else mtime)
        info.size = len(content)
        self._tar.addfile(info, io.BytesIO(content))
        self._note(ArchiveMember(name, "file", mode, len(content), hashlib.sha256(content).hexdigest()))
        self._moved(len(content))

    def file(self, name: str, fd: int) -> int:
        """Write what is in the regular file `fd` now; return how many bytes that are."""
        found = os.fstat(fd)
        parts = _parts(fd, found.st_size)
        mode = stat.S_IMODE(found.st_mode) & 0o777
        info = self._header(name, mode, found.st_mtime)
        info.size = sum(length for _, length in parts) if parts else found.st_size
        if parts:  # as GNU tar does it (format 0.1), so that it can unpack this
            flat = ",".join(f"{offset},{length}" for offset, length in parts)
            info.pax_headers = {
                "GNU.sparse.size": str(found.st_size),
                "GNU.sparse.numblocks": str(len(parts)),
                "GNU.sparse.map": flat,
            }
        reading = _Reading(fd, parts or ((0, found.st_size),), self._moved)
        self._tar.addfile(info, reading)  # type: ignore[arg-type]  # it reads, which is all that is asked of it
        if reading.short:
            self.changed.append(name)
        self._note(ArchiveMember(name, "file", mode, found.st_size, reading.digest.hexdigest(), parts))
        return info.size

    def folder(self, name: str, mode: int, mtime: float) -> None:
        """Write a folder."""
        info = self._header(name, mode & 0o777, mtime)
        info.type = tarfile.DIRTYPE
        self._tar.addfile(info)
        self._note(ArchiveMember(name, "folder", mode & 0o777))

    def link(self, name: str, target: str, mtime: float) -> None:
        """Write a symbolic link, wherever it leads."""
        info = self._header(name, 0o777, mtime)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self._tar.addfile(info)
        self._note(ArchiveMember(name, "link", 0o777, target=target))

    def finish(self, end: Mapping[str, Any]) -> None:
        """Write the list, its digest and what else is to stand at the end."""
        self._packed.close()
        info = self._header(MANIFEST, 0o600, self._now)
        info.size = self._list.tell()
        self._list.seek(0)
        self._tar.addfile(info, self._list)
        said = json.dumps({**end, "manifest": self._digest.hexdigest()}, indent=1).encode()
        last = self._header(END, 0o600, self._now)
        last.size = len(said)
        self._tar.addfile(last, io.BytesIO(said))
        self._tar.close()
        self._list.close()

    def _header(self, name: str, mode: int, mtime: float) -> tarfile.TarInfo:
        _forget(self._tar)
        info = tarfile.TarInfo(name)
        info.mode, info.mtime = mode, int(mtime)
        return info

    def _note(self, entry: ArchiveMember) -> None:
        line = entry.line()
        self._digest.update(line)
        self._packed.write(line)


@dataclass
class _Reading:
    """The parts of a file one after the other, as tarfile reads them; what is no longer there is read as zeros."""

    fd: int
    parts: tuple[tuple[int, int], ...]
    moved: Moved
    digest: Any = field(default_factory=hashlib.sha256)
    short: bool = False
    _at: int = 0
    _done: int = 0

    def read(self, most: int) -> bytes:
        """Return the next `most` bytes, fewer at the end alone: tarfile takes a short answer for the end."""
        found = bytearray()
        while len(found) < most and self._at < len(self.parts):
            offset, length = self.parts[self._at]
            if self._done == length:
                self._at, self._done = self._at + 1, 0
                continue
            wanted = min(most - len(found), length - self._done)
            block = os.pread(self.fd, wanted, offset + self._done)
            if not block:
                block, self.short = bytes(wanted), True
            found += block
            self._done += len(block)
        self.digest.update(found)
        self.moved(len(found))
        return bytes(found)


def _parts(fd: int, size: int) -> tuple[tuple[int, int], ...]:
    """Return what is written of a file that has holes worth leaving out; nothing of any other."""
    found = tuple((start, end - start) for start, end in sparse.ranges(fd, size))
    written = sum(length for _, length in found)
    return (found or ((0, 0),)) if size - written >= _HOLES_FROM else ()


@contextmanager
def making(path: str, about: Mapping[str, Any], moved: Moved) -> Iterator[ArchiveWriter]:
    """Give what writes the backup `path` (0600). It gets its name when the block has ended and it was read again whole.

    Raises Conflict where `path` exists, where another one makes it, and when it is not read as it was written;
    StorageFailed when it cannot be written.
    """
    if os.path.lexists(path):
        raise Conflict(saying.backup_file_exists(path))
    partial = f"{path}.partial"
    try:
        fd = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageFailed(saying.backup_not_written(path, error.strerror or str(error))) from error
    with open(fd, "r+b") as file:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(saying.backup_is_being_made(path)) from error
        try:
            os.fchmod(fd, 0o600)
            file.truncate()
            yield ArchiveWriter(file, about, moved)
            file.flush()
            os.fsync(fd)
            Archive(partial, path).verify(moved)
            _name(partial, path)
        except BaseException as error:
            with suppress(OSError):
                os.unlink(partial)
            if isinstance(error, OSError):
                raise StorageFailed(saying.backup_not_written(path, error.strerror or str(error))) from error
            raise


def _name(partial: str, path: str) -> None:
    """Give a whole backup its name. Raises Conflict where something has that name by now."""
    try:
        os.link(partial, path)
        os.unlink(partial)
    except FileExistsError as error:
        raise Conflict(saying.backup_file_exists(path)) from error
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise Conflict(saying.backup_file_exists(path)) from None
        os.rename(partial, path)
    sync_folder(os.path.dirname(os.path.abspath(path)))


def sync_folder(path: str) -> None:
    """Make durable which names are in a folder. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Archive:
    """A backup that is read. `shown`: how people know it."""

    def __init__(self, path: str, shown: str = "") -> None:
        self.path, self.shown = path, shown or path

    def about(self) -> dict[str, Any]:
        """Return what the backup says of itself. Raises Conflict where it is none, or of a later format;
        StorageFailed where it cannot be opened.
        """
        with self._open() as (file, tar):
            first = _next(tar)
            if first is None or first.name != ABOUT or first.size > _BLOCK:
                raise Conflict(saying.not_a_backup(self.shown))
            about = self._json(os.pread(file, first.size, first.offset_data))
        if not isinstance(about.get("format"), int):
            raise Conflict(saying.not_a_backup(self.shown))
        if about["format"] > FORMAT:
            raise Conflict(saying.backup_format_too_new(self.shown, about["format"], FORMAT))
        return about

    def verify(self, moved: Moved) -> dict[str, Any]:
        """Read all of it; return what stands at its end. Raises Conflict naming the first part that is not as it was
        written.
        """
        digest = hashlib.sha256()
        with TemporaryFile() as found, self._open() as (file, tar):
            while (info := _next(tar)) is not None and info.name != MANIFEST:
                line = _entry(file, info, moved).line()
                digest.update(line)
                found.write(line)
            last = None if info is None else _next(tar)
            if info is None or last is None or last.name != END:
                raise Conflict(saying.backup_cut_off(self.shown))
            end = self._json(os.pread(file, last.size, last.offset_data))
            if end.get("manifest") != digest.hexdigest():
                found.seek(0)
                self._tell_apart(found, _window(file, info))
        return end

    def entries(self) -> Iterator[tuple[ArchiveMember, Callable[[], Iterator[tuple[int, bytes]]]]]:
        """Yield each member but the list, with what gives its content as (offset, bytes). Of a backup that was
        verified.
        """
        with self._open() as (file, tar):
            while (info := _next(tar)) is not None and info.name != MANIFEST:
                parts, size = _parts_of(info)
                entry = ArchiveMember(info.name, _kind(info), info.mode, size, "", parts, info.linkname, info.mtime)
                yield entry, lambda info=info: _content(file, info)  # type: ignore[misc]

    @contextmanager
    def _open(self) -> Iterator[tuple[int, tarfile.TarFile]]:
        try:
            with open(self.path, "rb") as file, tarfile.open(fileobj=file, mode="r:", errors="surrogateescape") as tar:
                yield file.fileno(), tar
        except tarfile.TarError as error:
            raise Conflict(saying.not_a_backup(self.shown)) from error
        except OSError as error:
            raise StorageFailed(saying.backup_not_read(self.shown, error.strerror or str(error))) from error

    def _json(self, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except ValueError as error:
            raise Conflict(saying.backup_cut_off(self.shown)) from error
        if not isinstance(found, dict):
            raise Conflict(saying.backup_cut_off(self.shown))
        return found

    def _tell_apart(self, found: IO[bytes], packed: bytes) -> None:
        """Raise Conflict naming the first member that differs from the list."""
        try:
            listed = gzip.decompress(packed).splitlines(keepends=True)
        except (OSError, EOFError, ValueError):
            listed = []
        for line, said in zip(found, listed, strict=False):
            if line != said:
                raise Conflict(saying.backup_part_damaged(self.shown, str(json.loads(line)[0])))
        raise Conflict(saying.backup_part_damaged(self.shown, MANIFEST))


def _next(tar: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return tar.next()
    except (tarfile.TarError, ValueError, OverflowError, IndexError):
        return None  # what follows cannot be read: the end is missing
    finally:
        _forget(tar)


def _forget(tar: tarfile.TarFile) -> None:
    """Let it not remember every member that it has seen."""
    tar.members.clear()  # type: ignore[attr-defined]


def _kind(info: tarfile.TarInfo) -> str:
    return "folder" if info.isdir() else "link" if info.issym() else "file" if info.isreg() else "other"


def _parts_of(info: tarfile.TarInfo) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return (parts of a file with holes, else nothing; its size)."""
    found = getattr(info, "sparse", None)
    return tuple((int(offset), int(length)) for offset, length in found or ()), info.size if info.isreg() else 0


def _content(file: int, info: tarfile.TarInfo) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes) of what is stored of a member."""
    at = info.offset_data
    parts, size = _parts_of(info)
    for offset, length in parts or ((0, size),):
        done = 0
        while done < length:
            block = os.pread(file, min(_BLOCK, length - done), at)
            if not block:
                return
            yield offset + done, block
            at, done = at + len(block), done + len(block)


def _entry(file: int, info: tarfile.TarInfo, moved: Moved) -> ArchiveMember:
    """Return what a member is, as it is read now."""
    kind, digest = _kind(info), hashlib.sha256()
    if kind != "file":
        return ArchiveMember(info.name, kind, info.mode, target=info.linkname)
    for _, block in _content(file, info):
        digest.update(block)
        moved(len(block))
    parts, size = _parts_of(info)
    return ArchiveMember(info.name, kind, info.mode, size, digest.hexdigest(), parts)


def _window(file: int, info: tarfile.TarInfo) -> bytes:
    return os.pread(file, info.size, info.offset_data)
