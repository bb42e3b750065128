"""What is known of outputs on their way to object storage: a place that a job's folder goes to, and each of its files.

Kept as rows (store/sending/rows.py), acted on by service/objects/sending.py. Invariant: a file is GOING, durably,
before its first byte leaves: what a killed server has sent, the next one knows as ours.
"""

from __future__ import annotations

from typing import Final

from trainmaster._compat import StrEnum, dataclass
from trainmaster.messages.said import Said

MAX_FILES: Final = 200_000
"""Of one folder that goes to object storage."""
ROOTS: Final = ("outputs", "model")
"""The folders of a job, as people name them."""
LOGS: Final = "logs"
"""What people call the logs of all attempts, which lie in no folder that the job sees."""


class SendState(StrEnum):
    """What became of a place. GOING: there is something to do, or there may be."""

    GOING = "going"
    DONE = "done"
    FAILED = "failed"


class FileState(StrEnum):
    """What became of a file. LEFT: it is not sent, and `said` says why."""

    GOING = "going"
    UP = "up"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a job as it was when it was sent. `path`: below its folder; `ctime_ns`: when it last changed."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    state: FileState
    said: Said | None = None

    def same(self, size: int, mtime_ns: int, ctime_ns: int) -> bool:
        """Return whether the file is still as it was."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (size, mtime_ns, ctime_ns)


@dataclass(frozen=True, slots=True)
class SendTarget:
    """Where a folder of a job goes: the `number`-th that its document names. `place`: CONNECTION/PREFIX as it is for
    this job; `open`: there is something to do; `empty`: nothing was there before.

    `files`, `size_bytes` are there, `left_files`, `left_bytes` not yet, `left_out` never will be. `said`: what hinders
    it, or what was left out. `tries` failed, the next one is at `next_at`.
    """

    job: str
    seq: int
    number: int
    workspace: str
    place: str
    folder: str
    if_exists: str
    empty: bool = False
    state: SendState = SendState.GOING
    open: bool = True
    files: int = 0
    size_bytes: int = 0
    left_files: int = 0
    left_bytes: int = 0
    left_out: int = 0
    said: Said | None = None
    tries: int = 0
    next_at: float = 0.0
    changed_at: float = 0.0
