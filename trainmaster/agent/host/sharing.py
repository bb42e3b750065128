"""Files that two system users share: the server's, and that of the person whose tasks run. POSIX.1e access control
lists (acl(5)).

Read and written as the kernel keeps them, in one extended attribute, so that no program and no library is needed.
Invariant: what is granted here is granted to users by number, never to a group or to everybody; whatever else a list
says stays as it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
from collections.abc import Iterator, Mapping
from typing import Final

FILE, FOLDER = 0o660, 0o770
"""What is asked for when something is made that both shall use: where nobody else is granted anything, umask takes the
group's part away; below a folder of two users the kernel lets the group's bits limit what the list grants (acl(5),
OBJECT CREATION)."""

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
_VERSION: Final = struct.pack("<I", 2)
_ENTRY: Final = struct.Struct("<HHI")
_OWNER, _USER, _OWN_GROUP, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NOBODY: Final = 0xFFFFFFFF

_Entries = dict[tuple[int, int], int]
"""What a list says: (tag, number of the user or group) -> rights, as bits 4 (read), 2 (write), 1 (execute, enter)."""


def grant(path: str, users: Mapping[int, int]) -> None:
    """Let each of `users`, by number, have these rights at `path` itself. Raises OSError; EOPNOTSUPP: no lists here."""
    _grant(path, ACCESS, _entries(path, ACCESS) or _bits(os.stat(path, follow_symlinks=False).st_mode), users)


def bequeath(path: str, users: Mapping[int, int]) -> None:
    """Let each of `users` have these rights at whatever will be made below the folder `path`, beside its maker. Raises
    OSError.
    """
    _grant(path, DEFAULT, _entries(path, DEFAULT) or _bits(0o700), users)


def shut(path: str) -> None:
    """Shut `path` to all but its owner and users with a grant. Raises OSError."""
    entries = _entries(path, ACCESS)
    if entries:
        _grant(path, ACCESS, {**entries, (_OWN_GROUP, _NOBODY): 0, (_OTHERS, _NOBODY): 0}, {})
    else:
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & ~0o077)


def granted(path: str, user: int) -> int:
    """Return which rights `user` was granted at `path` by name and has there. Raises OSError."""
    entries = _entries(path, ACCESS)
    return entries.get((_USER, user), 0) & entries.get((_MASK, _NOBODY), 0)


def open_up(root: str, user: int) -> None:
    """Let `user` read and remove everything below `root` that belongs to this process's user.

    Programs make private what they like (mkstemp, or what was moved here from elsewhere), and nobody but its owner can
    let others in. What cannot be opened stays closed: this is asked for at the end of a task, when there is nobody left
    to tell.
    """
    for path, mode in _own(root):
        with contextlib.suppress(OSError):
            wanted = 7 if stat.S_ISDIR(mode) else 6
            if granted(path, user) != wanted:
                grant(path, {user: wanted})
                if stat.S_ISDIR(mode):
                    bequeath(path, {user: wanted})


def _own(root: str) -> Iterator[tuple[str, int]]:
    """Yield path and mode of this user's files and folders in `root`, itself included, each folder before it is looked
    into.
    """
    pending, me = [root], os.geteuid()
    while pending:
        path = pending.pop()
        try:
            info = os.lstat(path)
            if info.st_uid == me and (stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)):
                yield path, info.st_mode
            if stat.S_ISDIR(info.st_mode):
                with os.scandir(path) as found:
                    pending.extend(entry.path for entry in found)
        except OSError:
            continue


def make_private(path: str) -> None:
    """Make the folder `path` and those above it that are missing, all of them private. Raises OSError."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _entries(path: str, name: str) -> _Entries:
    """Return the list `name` of `path`, empty when it has none. Raises OSError."""
    try:
        data = os.getxattr(path, name, follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ENODATA:
            return {}
        raise
    return {(tag, number): rights for tag, rights, number in _ENTRY.iter_unpack(data[len(_VERSION) :])}


def _bits(mode: int) -> _Entries:
    """Return the list that says the same as the bits of a mode."""
    return {(_OWNER, _NOBODY): mode >> 6 & 7, (_OWN_GROUP, _NOBODY): mode >> 3 & 7, (_OTHERS, _NOBODY): mode & 7}


def _grant(path: str, name: str, entries: _Entries, users: Mapping[int, int]) -> None:
    entries = {**entries, **{(_USER, number): rights for number, rights in users.items()}}
    mask = 0
    for (tag, _), rights in entries.items():
        mask |= rights if tag in (_USER, _OWN_GROUP, _GROUP) else 0
    entries[_MASK, _NOBODY] = mask
    data = b"".join(_ENTRY.pack(tag, rights, number) for (tag, number), rights in sorted(entries.items()))
    os.setxattr(path, name, _VERSION + data, follow_symlinks=False)
