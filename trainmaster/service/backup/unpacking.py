"""Puts the files of a backup where they lie in a home. Of a backup that somebody made up, nothing leaves the home:
names are read part by part, folders are ours, and links are made when nothing else is written any more.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from trainmaster.core.errors import Conflict
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import backup as saying
from trainmaster.storage.archive import ABOUT, ArchiveMember

Content = Callable[[], Iterator[tuple[int, bytes]]]
"""Gives the content of a member, as (offset, bytes)."""
_KNOWN: Final = frozenset({"config.toml", "shares.json", "forecast.json"})
_BESIDE: Final = "config.backup.toml"
"""What the settings of the backup are called where the home has its own."""


def whole(content: Content) -> bytes:
    """Return a content that is small."""
    return b"".join(block for _, block in content())


def empty(folder: str) -> None:
    """Remove all that is in `folder`. Raises OSError."""
    with os.scandir(folder) as entries:
        for entry in [*entries]:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=_open_and_again)
            else:
                os.unlink(entry.path)


def _open_and_again(_: object, path: str, __: object) -> None:
    """Remove what lies in a folder that its own mode protects from its owner."""
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    else:
        os.unlink(path)


class Unpacking:
    """Takes one member after the other. `own_settings`: the home's config.toml stays."""

    def __init__(self, shown: str, layout: Layout, own_settings: bool) -> None:
        self._shown, self._layout, self._own = shown, layout, own_settings
        self._folders: list[tuple[str, ArchiveMember]] = []
        self._links: list[tuple[str, ArchiveMember]] = []

    def take(self, entry: ArchiveMember, content: Content) -> None:
        """Put one member where it belongs. Raises Conflict for a member that no backup has, OSError."""
        if entry.name == ABOUT:
            return
        path = self._path(entry)
        if entry.kind == "folder":
            os.makedirs(path, mode=0o700, exist_ok=True)
            self._folders.append((path, entry))
            return
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if entry.kind == "link":
            self._links.append((path, entry))
        else:
            self._file(path, entry, content)

    def finish(self) -> None:
        """Make the links, give folders their modes and times, and let all of it be on the disk. Raises OSError."""
        for path, entry in self._links:
            try:
                os.symlink(entry.target, path)
            except FileExistsError as error:
                raise Conflict(saying.backup_member_refused(self._shown, entry.name)) from error
            with suppress(OSError):
                os.utime(path, (entry.mtime, entry.mtime), follow_symlinks=False)
        for path, entry in reversed(self._folders):  # the innermost first
            os.utime(path, (entry.mtime, entry.mtime))
            os.chmod(path, entry.mode & 0o777)
        os.sync()

    def _path(self, entry: ArchiveMember) -> str:
        """Return where a member belongs. Raises Conflict where that is nowhere."""
        first, *parts = entry.name.split("/")
        proper = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
        if proper and entry.kind in ("file", "folder", "link"):
            if first == "data" and len(parts) > 1 and parts[0].isidentifier():
                return os.path.join(self._layout.bulk, *parts)
            if first == "home" and entry.kind == "file":
                if parts == ["config.toml"] and self._own:
                    return self._layout.path(_BESIDE)
                if (len(parts) == 1 and parts[0] in _KNOWN) or (len(parts) == 2 and parts[0] == "secrets"):
                    return self._layout.path(*parts)
        raise Conflict(saying.backup_member_refused(self._shown, entry.name))

    def _file(self, path: str, entry: ArchiveMember, content: Content) -> None:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise Conflict(saying.backup_member_refused(self._shown, entry.name)) from error
        try:
            for at, block in content():
                done = 0
                while done < len(block):
                    done += os.pwrite(fd, memoryview(block)[done:], at + done)
            if entry.parts:
                os.ftruncate(fd, entry.size)
            os.fchmod(fd, entry.mode & 0o777)
            os.utime(fd, (entry.mtime, entry.mtime))
        finally:
            os.close(fd)
