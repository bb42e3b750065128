"""The server's side of the TensorBoard reader: finds event files, asks the child process, keeps nothing open itself.

The child is started when a job has event files with news, and ends by itself when idle. Invariant: a child that hangs
or dies costs the answer, never the server; links are not followed.
"""

import json
import os
import selectors
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Final

from trainmaster.core.errors import Unavailable
from trainmaster.storage.safe import walk

TIMEOUT_S: Final = 60.0
MAX_FILES: Final = 200
MAX_WALKED: Final = 5000
COMMAND: Final = (sys.executable, "-m", "trainmaster.service.tensorboard_reader")


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
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    @property
    def pid(self) -> int | None:
        """The running child's process id, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def ask(self, root: str, files: dict[str, int], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """Return the child's answer for `files` ({path: scalars to skip}). Raises Unavailable when there is none."""
        request = {"root": root, "files": [{"path": path, "skip": skip} for path, skip in files.items()]}
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            for _ in range(2):  # the second time with a new child: the first may have ended as we asked
                try:
                    return self._exchange(line, time.monotonic() + timeout_s)
                except (OSError, ValueError, EOFError):
                    self._end()
            raise Unavailable("the reader of TensorBoard files does not answer", remedy="Look at the server's log.")

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _exchange(self, line: bytes, deadline: float) -> dict[str, Any]:
        process = self._process
        if process is None or process.poll() is not None:
            self._end()
            process = self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(line)
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._line(process.stdout.fileno(), deadline))
        return answer

    def _line(self, fd: int, deadline: float) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(fd, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self._end()
                    raise Unavailable("the reader of TensorBoard files took too long", remedy="Ask again later.")
                data = os.read(fd, 1 << 20)
                if not data:
                    raise EOFError
                self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _end(self) -> None:
        process, self._process, self._unread = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
