"""The server's side of the TensorBoard reader: finds event files, asks the child process, keeps nothing open itself.

The child is started when a job has event files with news, and ends by itself when idle. Invariant: a child that hangs
or dies costs the answer, never the server; links are not followed.
"""

import os
import stat
import sys
from typing import Final

import msgspec

from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import server
from trainmaster.service.helpers.child import Child, NotStarted
from trainmaster.storage.safe import walk

TIMEOUT_S: Final = 60.0
MAX_FILES: Final = 200
MAX_WALKED: Final = 5000
COMMAND: Final = (sys.executable, "-m", "trainmaster.service.curves.tensorboard_reader")


class EventQuestion(msgspec.Struct, frozen=True):
    """What the child is asked for: `files` beneath `root`, and how many scalars of each are known already."""

    root: str
    files: dict[str, int]


class FileRead(msgspec.Struct, frozen=True):
    """What was read of one file: (tag, step, time, value) of each new scalar, a value that is no number as its text.

    `done`: how many were read in all; `error`: why no more could be.
    """

    path: str
    done: int
    points: list[tuple[str, int, float, float | str]] = msgspec.field(default_factory=list)
    error: str = ""


class EventScalars(msgspec.Struct, frozen=True):
    """The child's answer. `more`: there is more to read."""

    files: list[FileRead]
    more: bool


def event_files(job_folder: str, folders: list[str]) -> dict[str, tuple[int, int]]:
    """Return {path relative to the job: (size, mtime_ns)} of the event files in `folders`, at most 200. O(entries)."""
    found: dict[str, tuple[int, int]] = {}
    for folder in folders:
        for path, info in walk(os.path.join(job_folder, folder), max_entries=MAX_WALKED):
            if ".tfevents." in path.rpartition("/")[2] and stat.S_ISREG(info.st_mode):
                found[f"{folder}/{path}"] = (info.st_size, info.st_mtime_ns)
                if len(found) == MAX_FILES:
                    return found
    return found


class TensorBoardChild:
    """Owns the child process. `ask` may be called from any thread."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._child = Child(command)

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._child.pid

    def ask(self, root: str, files: dict[str, int], timeout_s: float = TIMEOUT_S) -> EventScalars:
        """Return the child's answer for `files` ({path: scalars to skip}). Raises Unavailable when there is none."""
        request = msgspec.json.encode(EventQuestion(root, files))
        try:
            return msgspec.json.decode(self._child.ask(request, timeout_s), type=EventScalars)
        except TimeoutError:
            raise Unavailable(server.tensorboard_too_slow()) from None
        except (EOFError, ValueError, NotStarted) as error:
            raise Unavailable(server.tensorboard_silent()) from error

    def close(self) -> None:
        """End the child."""
        self._child.end()
