"""Unpacks the files of an image, which strangers have made, into an empty folder that only we write.

Invariants: nothing is written outside the folder, whatever the archive names; no link is followed; there are no
devices, no set-uid bits and no owner but us in it. Blocking.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final, cast

from trainmaster.agent.containers.accounts import lines_of, with_account
from trainmaster.agent.containers.places import ETC

MOST_FILES: Final = 3_000_000
MOST_DEPTH: Final = 128
LOOK_BYTES: Final = 64 << 20
"""Between two words on how far it is."""
LIVE: Final = ("hosts", "resolv.conf")
_BLOCK: Final = 1 << 20


class NotUnpacked(Exception):
    """An archive is not what it should be, or too large (`too_large`)."""

    def __init__(self, text: str, *, too_large: bool = False) -> None:
        super().__init__(text)
        self.text, self.too_large = text, too_large


class _Whole:
    """An archive that is read to its end: tarfile takes one that was cut between two files for a whole one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._last = file, b""

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        block = self._file.read(size)
        self._last = (self._last + block)[-tarfile.BLOCKSIZE :]
        return block

    def has_ended(self) -> bool:
        """Read the rest; return whether it ends as archives do, with zeros."""
        while self.read(_BLOCK):
            pass
        return self._last == bytes(tarfile.BLOCKSIZE)


class Unpacker:
    """Into one folder, which is there and empty. `told` gets (bytes, files) from time to time."""

    def __init__(
        self, folder: str, most_bytes: int, told: Callable[[int, int], None] = lambda size, files: None
    ) -> None:
        self._root, self._most, self._told = folder, most_bytes, told
        self._folders: set[str] = {""}
        self.bytes, self.files, self._said = 0, 0, 0

    def run(self, archive: IO[bytes]) -> None:
        """Unpack a tar archive. Raises NotUnpacked, OSError."""
        try:
            whole = _Whole(archive)
            with tarfile.open(fileobj=cast("IO[bytes]", whole), mode="r|") as tar:
                for member in tar:
                    self._member(tar, member)
                    tar.members = []  # type: ignore[attr-defined]  # it would remember each
        except (tarfile.TarError, EOFError, UnicodeError, ValueError, RecursionError) as error:
            raise NotUnpacked(f"its archive is damaged: {error}") from error
        if not whole.has_ended():
            raise NotUnpacked("its archive was cut short")
        self._told(self.bytes, self.files)

    def _member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        parts = _parts(member.name)
        if not parts:
            return
        self.files += 1
        if self.files > MOST_FILES:
            raise NotUnpacked(f"more than {MOST_FILES} files", too_large=True)
        path, parent = "/".join(parts), "/".join(parts[:-1])
        self._need(parent)
        if member.isdir():
            self._folder(path, member.mode)
        elif member.issym():
            self._free(path)
            os.symlink(member.linkname, self._at(path))
        elif member.islnk():
            self._link(path, _parts(member.linkname))
        elif member.isreg():
            self._file(tar, member, path)
            return
        # what is left are devices and pipes: a sandbox has its own

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _need(self, path: str) -> None:
        """Make sure that `path` is a folder of ours and all above it are. Raises NotUnpacked where one is not."""
        if path in self._folders:
            return
        self._need(path.rpartition("/")[0])
        self._folder(path, 0o755)

    def _folder(self, path: str, mode: int) -> None:
        if path not in self._folders:
            try:
                os.mkdir(self._at(path), 0o700)
            except FileExistsError:
                raise NotUnpacked(f"something else is where a folder should be: {path[:200]}") from None
            self._folders.add(path)
        os.chmod(self._at(path), (mode & 0o777) | 0o700)

    def _free(self, path: str) -> None:
        if path in self._folders:
            raise NotUnpacked(f"something else is where a folder is: {path[:200]}")
        with suppress(FileNotFoundError):
            os.unlink(self._at(path))

    def _link(self, path: str, target: list[str]) -> None:
        source = "/".join(target)
        if "/".join(target[:-1]) not in self._folders or not target or source == path:
            raise NotUnpacked(f"a link to what is not there: {path[:200]}")
        try:
            if not stat.S_ISDIR(os.lstat(self._at(source)).st_mode):
                self._free(path)
                os.link(self._at(source), self._at(path), follow_symlinks=False)
                return
        except FileNotFoundError:
            pass  # of a device, perhaps, which was left out
        return

    def _file(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        self.bytes += max(member.size, 0)
        if self.bytes > self._most:
            raise NotUnpacked("too large", too_large=True)
        source: Any = tar.extractfile(member)
        if source is None:
            return
        self._free(path)
        fd = os.open(self._at(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb", buffering=0) as file:
            while block := source.read(_BLOCK):
                view = memoryview(block)
                while view:
                    view = view[file.write(view) or 0 :]
            os.fchmod(fd, (member.mode & 0o777) | 0o400)
            os.utime(fd, (member.mtime, member.mtime))  # compiled Python knows its source by it
        if self.bytes - self._said >= LOOK_BYTES:
            self._said = self.bytes
            self._told(self.bytes, self.files)


def settle(root: str) -> None:
    """Give an unpacked image what every sandbox needs of /etc: names that are kept up to date, and an account for whom
    tasks run as. Raises OSError.
    """
    etc = os.path.join(root, "etc")
    if not os.path.isdir(etc) or os.path.islink(etc):
        if os.path.lexists(etc):
            os.unlink(etc)
        os.mkdir(etc, 0o755)
    for name in LIVE:
        path = os.path.join(etc, name)
        _drop(path)
        os.symlink(f"{ETC}/{name}", path)
    for name, number, line in lines_of(os.geteuid(), os.getegid()):
        _account(os.path.join(etc, name), number, line)


def _drop(path: str) -> None:
    """Remove what lies there, an (empty) folder too. Raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        os.rmdir(path)


def _account(path: str, number: int, line: str) -> None:
    text = ""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        pass
    except OSError:
        _drop(path)
    else:
        with open(fd, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    whole = with_account(text, number, line)
    if whole == text:
        return
    _drop(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(whole)


def _parts(name: str) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name or len(parts) > MOST_DEPTH:
        raise NotUnpacked(f"a file that would lie elsewhere: {name[:200]!r}")
    return parts
