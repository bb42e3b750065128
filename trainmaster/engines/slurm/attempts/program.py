"""A program that is started ahead of its input, as `submitter` keeps one waiting. Needs nothing but the standard
library.
"""

import fcntl
import os
import subprocess
import time
from contextlib import suppress
from typing import Final

PIPE: Final = 60_000
"""Bytes that fit into a pipe as it comes."""

Argv = tuple[str, ...]


class Program:
    """A program that waits for its input, and does so for `patience_s` (seconds). Raises OSError when it cannot be
    started.

    `inherits`: descriptors that stay open in it. One whose starter is killed finds its input at an end, and ends with
    nothing done.
    """

    def __init__(self, argv: Argv, inherits: tuple[int, ...], patience_s: float) -> None:
        self.argv = argv
        self.until = time.monotonic() + patience_s
        self._said = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("out", "err")]
        try:
            self.process = subprocess.Popen(
                argv,
                cwd="/",
                start_new_session=True,
                pass_fds=inherits,
                stdin=subprocess.PIPE,
                stdout=self._said[0],
                stderr=self._said[1],
            )
        except OSError:
            self._close()
            raise

    def give(self, text: str) -> None:
        """Give it its whole input. One that has ended takes none, and says why by how it ended."""
        assert self.process.stdin is not None
        data = text.encode()
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            if len(data) > PIPE:  # a full pipe would block us until the program reads
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, len(data))
            pipe.write(data)

    def end(self) -> None:
        """Kill it if it is ours; sudo's child is not, and ends for want of an input, or by itself."""
        assert self.process.stdin is not None
        with suppress(PermissionError):
            self.process.kill()
        if not self.process.stdin.closed:
            self.give("")

    def collect(self) -> tuple[int, str, str]:
        """Return how it ended and what it printed, and let go of it."""
        code = self.process.wait()
        out, err = (os.pread(fd, 1 << 16, 0).decode("utf-8", "replace") for fd in self._said)
        self._close()
        return code, out, err

    def _close(self) -> None:
        for fd in self._said:
            os.close(fd)
