"""The home folder is its user's alone: closed at every start, also one that an older release or a person has left
open.
"""

import logging
import os
import stat
from typing import Final

log = logging.getLogger("trainmaster.service")

OTHERS: Final = 0o077
THROUGH: Final = 0o711
"""Mode of a home through which jobs that run as their owners reach their folders (engines/slurm/attempts/people)."""


def close_to_others(home: str) -> None:
    """Take from everybody else what they may do with `home` and the files in it, and say so if that was anything.
    Raises OSError.

    Folders in it are made private and are not looked into; of another's files nothing is changed.
    """
    opened = []
    if stat.S_IMODE(os.stat(home).st_mode) != THROUGH and _close(home, 0o700):
        opened.append(home)
    with os.scandir(home) as entries:
        opened += [
            entry.path for entry in entries if entry.is_file(follow_symlinks=False) and _close(entry.path, 0o600)
        ]
    if opened:
        log.warning("%s is now closed to other users of this computer; it was open: %s", home, ", ".join(opened))


def _close(path: str, mode: int) -> bool:
    try:
        found = os.stat(path)
        if found.st_uid != os.geteuid() or not found.st_mode & OTHERS:
            return False
        os.chmod(path, mode)
    except FileNotFoundError:  # a server that runs here renamed it just now
        return False
    return True


def private(path: str, flags: int) -> int:
    """Open `path` for `open(..., opener=private)`: a new file is its user's alone. Raises OSError."""
    return os.open(path, flags, 0o600)
