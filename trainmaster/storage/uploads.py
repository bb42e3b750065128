"""Code folders that people send: a tar.gz in, ``uploads/<digest>/`` out, by content.

Nothing in the archive is trusted: every entry is looked at before anything of it is written, all problems are named at
once, sizes are counted while unpacking (a bomb stops there), links are made last so that nothing can be written through
one. Of modes only whether the owner may execute is kept: no set-uid bit gets in. No two paths are the same to a system
that ignores case or encodes text otherwise. Invariant: a folder under ``uploads/`` is whole and its name is the digest
of what is in it.
"""

import asyncio
import hashlib
import os
import secrets
import tarfile
import zlib
from collections.abc import AsyncIterable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from gzip import BadGzipFile, GzipFile
from typing import IO, Any, Final

from trainmaster.core.errors import ProblemList, StorageFailed, TooLarge
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.tree import TreeEntry, folded, inside, link_digest, tree_digest
from trainmaster.messages.jobs import uploads
from trainmaster.storage.trees import remove_tree, sync_tree

MAX_FILES: Final = 20_000
MAX_PATH: Final = 1000
MAX_NAME: Final = 255
MAX_DEPTH: Final = 60
UNPACKED_TIMES: Final = 5
"""An archive may unpack to this many times the size it may have itself."""
MAX_PROBLEMS: Final = 100
_MAX_HEADER: Final = 1 << 16
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """A stored code folder; `digest` is the sha256 hex of its content."""

    digest: str
    files: int
    size_bytes: int


def use(folder: str) -> bool:
    """Say that an upload is needed from now on, before anybody relies on it; return whether it is there."""
    try:
        os.utime(folder)
    except OSError:
        return False
    return os.path.isdir(folder)


class Receiver:
    """Takes the bytes of one upload as they come. `write` any number of times, then `finish`; or `abort`."""

    def __init__(self, layout: Layout, max_mib: int) -> None:
        self._folder = os.path.join(layout.bulk, "uploads")
        self._layout, self._max_mib = layout, max_mib
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._base = os.path.join(self._folder, f".incoming-{secrets.token_hex(8)}")
        self._file: IO[bytes] = open(self._base + ".tar.gz", "x+b")  # noqa: SIM115 - closed by finish and abort
        self._size = 0

    def write(self, chunk: bytes) -> None:
        """Take `chunk`. Raises TooLarge above the limit and StorageFailed when the disk is full; then it is aborted."""
        self._size += len(chunk)
        if self._size > self._max_mib << 20:
            self.abort()
            raise TooLarge(uploads.upload_too_large(self._max_mib))
        try:
            self._file.write(chunk)
        except OSError as error:
            self.abort()
            raise StorageFailed(uploads.upload_not_stored(error.strerror or str(error))) from error

    def finish(self) -> StoredUpload:
        """Check, unpack and name the folder. Blocking: call it in a thread. Raises InvalidSpec with all problems."""
        tree = self._base + ".tree"
        try:
            self._file.seek(0)
            os.mkdir(tree, 0o700)
            unpacked = _Unpack(tree, (self._max_mib << 20) * UNPACKED_TIMES)
            unpacked.run(self._file)
            upload = StoredUpload(tree_digest(unpacked.entries), unpacked.files, unpacked.size)
            sync_tree(tree)
            target = self._layout.upload(upload.digest)
            with suppress(OSError):  # another upload of the same content came first
                os.rename(tree, target)
            if not use(target):
                raise StorageFailed(uploads.upload_not_in_place())
            return upload
        except OSError as error:
            raise StorageFailed(uploads.upload_not_unpacked(error.strerror or str(error))) from error
        finally:
            self.abort()

    def abort(self) -> None:
        """Forget everything received. Any number of times."""
        self._file.close()
        with suppress(OSError):
            os.unlink(self._base + ".tar.gz")
        remove_tree(self._base + ".tree")


async def receive(stream: AsyncIterable[bytes], layout: Layout, max_mib: int) -> StoredUpload:
    """Store the tar.gz that comes in `stream`. Raises TooLarge, InvalidSpec or StorageFailed; then nothing is left."""
    receiver = Receiver(layout, max_mib)
    try:
        async for chunk in stream:
            receiver.write(chunk)
    except BaseException:
        receiver.abort()
        raise
    return await asyncio.to_thread(receiver.finish)


def receive_all(chunks: Iterable[bytes], layout: Layout, max_mib: int) -> StoredUpload:
    """The same for bytes that are here already."""
    receiver = Receiver(layout, max_mib)
    for chunk in chunks:
        receiver.write(chunk)
    return receiver.finish()


class _Bomb(Exception):
    """More came out of the archive than may."""


class _Enough(Exception):
    """The problem that ends the run is noted."""


class _Counted:
    """Counts what is decompressed and stops a bomb."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._source = GzipFile(fileobj=file, mode="rb")
        self._left = limit

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _Bomb
        return data


class _Header(tarfile.TarInfo):
    """Refuses headers that would be read into memory whole: a name of a gigabyte is a bomb too."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        plain = self.type in (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE)
        if not plain and self.size > _MAX_HEADER:
            raise _Bomb
        return super()._proc_member(archive)  # type: ignore[misc]


@dataclass(slots=True)
class _Unpack:
    """One run over one archive."""

    root: str
    limit: int
    problems: ProblemList = field(default_factory=ProblemList)
    entries: list[TreeEntry] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    size: int = 0

    def run(self, file: IO[bytes]) -> None:
        """Unpack `file` into the root. Raises InvalidSpec."""
        try:
            source: Any = _Counted(file, self.limit + MAX_FILES * 2048)
            with tarfile.open(fileobj=source, mode="r|", tarinfo=_Header) as archive:
                for member in archive:
                    self._member(archive, member)
                    if len(self.problems.problems) >= MAX_PROBLEMS:
                        break
        except _Enough:
            pass
        except _Bomb:
            self.problems.add("upload", uploads.unpacked_too_large(self.limit >> 20))
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error, ValueError) as error:
            self.problems.add("upload", uploads.bad_archive(str(error)))
        self.problems.raise_if_any(uploads.upload_not_usable)
        self._finish()

    def _member(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = self._path(member.name)
        if path is None or (path == "" and member.isdir()):
            return
        if member.isdir():
            self._put(path, "d")
        elif member.isreg():
            self._file(archive, member, path)
        elif member.issym():
            if not inside(path, member.linkname):
                self.problems.add(path, uploads.link_leaves_upload(), value=member.linkname)
            elif self._put(path, "l"):
                self.links.append((path, member.linkname))
        else:
            self.problems.add(path, uploads.entry_of_another_kind())

    def _path(self, name: str) -> str | None:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        path = "/".join(parts)
        if name.startswith("/") or ".." in parts:
            self.problems.add(name, uploads.path_leaves_upload())
            return None
        try:
            long = len(path.encode()) > MAX_PATH or any(len(part.encode()) > MAX_NAME for part in parts)
        except UnicodeError:
            self.problems.add(ascii(name), uploads.name_not_utf8())
            return None
        if long or len(parts) > MAX_DEPTH:
            self.problems.add(path[:200], uploads.path_too_long(MAX_PATH, MAX_DEPTH, MAX_NAME))
            return None
        if any(ord(letter) < 32 for letter in path):
            self.problems.add(ascii(path), uploads.name_with_control_characters())
            return None
        return path

    def _put(self, path: str, kind: str) -> bool:
        """Note that `path` is a `kind`, with the folders above it; False (and a problem) when it cannot be."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self.kinds and not self._put(parent, "d"):
            return False
        known = self.kinds.get(path)
        if known == kind == "d":
            return True
        if known is not None or (parent and self.kinds[parent] != "d"):
            self.problems.add(path, uploads.packed_twice())
            return False
        other = self.known.setdefault(folded(path), path)
        if other != path:
            self.problems.add(path, uploads.names_collide(other))
            return False
        if len(self.kinds) >= MAX_FILES:
            self.problems.add("upload", uploads.too_many_files(MAX_FILES))
            raise _Enough
        self.kinds[path] = kind
        if kind == "d":
            os.mkdir(os.path.join(self.root, path), 0o755)
        return True

    def _file(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        if self.size + member.size > self.limit:
            raise _Bomb
        content = archive.extractfile(member)
        if content is None or not self._put(path, "f"):
            return
        executable = bool(member.mode & 0o100)
        digest = hashlib.sha256()
        with open(os.path.join(self.root, path), "xb") as file:
            while block := content.read(_BLOCK):
                digest.update(block)
                file.write(block)
                self.size += len(block)
            os.fchmod(file.fileno(), 0o755 if executable else 0o644)
        self.files += 1
        self.entries.append(TreeEntry(path, "x" if executable else "f", digest.hexdigest()))

    def _finish(self) -> None:
        """Make the links, and count the empty folders."""
        for path, target in self.links:
            os.symlink(target, os.path.join(self.root, path))
            self.entries.append(TreeEntry(path, "l", link_digest(target)))
        filled = {path.rpartition("/")[0] for path in self.kinds}
        empty = (path for path, kind in self.kinds.items() if kind == "d" and path not in filled)
        self.entries += [TreeEntry(path, "d") for path in empty]
