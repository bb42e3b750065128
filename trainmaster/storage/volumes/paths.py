"""Which paths a file, a folder or a move in a volume may have. Pure.

Nothing is believed that a client sends. Invariant: what is let through leads to something below the top of the volume,
by its text; that no link leads away on the way is seen to where it is opened (`storage.safe`, `changing`).
"""

from typing import Final

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.assets import volumes as said
from trainmaster.storage.safe import MAX_DEPTH

MAX_PATH: Final = 4000
MAX_NAME: Final = 255
_CONTROL: Final = frozenset(map(chr, [*range(32), 127]))


def new_path(path: str, field: str = "path") -> list[str]:
    """Return the parts of a path that something is to get. Raises InvalidSpec naming `field`."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part or _CONTROL & set(part) for part in parts) or _odd(path):
        raise _not_valid(path, field)
    if len(path.encode()) > MAX_PATH or len(parts) >= MAX_DEPTH or any(len(one.encode()) > MAX_NAME for one in parts):
        problem = problem_of(field, said.volume_path_too_long(MAX_PATH, MAX_NAME, MAX_DEPTH), path[:200])
        raise InvalidSpec(said.volume_path_not_valid(), problems=(problem,))
    return parts


def old_path(path: str, field: str = "path") -> list[str]:
    """Return the parts of the path of something that is there: a job may have given it any name that Linux has. Raises
    InvalidSpec naming `field`.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path or _odd(path) or len(parts) > MAX_DEPTH:
        raise _not_valid(path, field)
    return parts


def _odd(path: str) -> bool:
    """Return whether it is no text that UTF-8 has."""
    return any(0xD800 <= ord(one) < 0xE000 for one in path)


def _not_valid(path: str, field: str) -> InvalidSpec:
    shown = path.encode("utf-8", "replace").decode()[:200]
    problem = problem_of(field, said.volume_path_not_plain(), shown)
    return InvalidSpec(said.volume_path_not_valid(), problems=(problem,))
