"""A process of ours beside the server: one question, one answer at a time, each a frame of its length (8 bytes,
big-endian) and itself.

It has a lower priority than the server, and ends when its server has, or when nobody has asked for a while. Invariant:
a child that hangs or dies costs the answer, never the server.
"""

import contextlib
import os
import resource
import select
import selectors
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

LENGTH: Final = struct.Struct(">Q")
PIECE: Final = 1 << 20
NICE: Final = 10


class NotStarted(Exception):
    """There is no process and there can be none: its program is gone, or the machine takes no more processes."""


class Child:
    """Owns the process that `command` starts. All of it may be called from any thread."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._dropped = False

    @property
    def pid(self) -> int | None:
        """The process id, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def ask(self, question: bytes, timeout_s: float) -> bytes:
        """Return the answer. Raises EOFError without one, TimeoutError when it took too long: then the process is
        ended; NotStarted.
        """
        give_up = time.monotonic() + timeout_s
        with self._lock:
            self._dropped = False
            for again in (True, False):  # twice: the process may have ended, idle, just as we asked
                try:
                    return self._exchange(LENGTH.pack(len(question)) + question, give_up)
                except TimeoutError:
                    self._bury()
                    raise
                except (OSError, EOFError) as error:
                    self._bury()
                    if self._dropped or not again:
                        raise EOFError from error
        raise EOFError

    def drop(self) -> None:
        """Let what is being asked have no answer."""
        self._dropped = True
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> None:
        """End the process, whatever it is asked."""
        self.drop()
        with self._lock:
            self._bury()

    def _exchange(self, frame: bytes, give_up: float) -> bytes:
        if self._process is None or self._process.poll() is not None:
            self._bury()
            try:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
                )
            except OSError as error:
                raise NotStarted from error
        into, out = self._process.stdin, self._process.stdout
        if into is None or out is None:
            raise EOFError
        os.set_blocking(into.fileno(), False)
        rest = memoryview(frame)
        while rest:
            _wait(into.fileno(), selectors.EVENT_WRITE, give_up)
            rest = rest[os.write(into.fileno(), rest[:PIECE]) :]

        def read(size: int) -> bytes:
            _wait(out.fileno(), selectors.EVENT_READ, give_up)
            return os.read(out.fileno(), size)

        return frame_of(read)

    def _bury(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _wait(fd: int, event: int, give_up: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, event)
        if not selector.select(max(0.0, give_up - time.monotonic())):
            raise TimeoutError


def frame_of(read: Callable[[int], bytes]) -> bytes:
    """Return the next frame. Raises EOFError where it ends."""
    (length,) = LENGTH.unpack(_exactly(read, LENGTH.size))
    return _exactly(read, length)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    pieces = []
    while size:
        piece = read(min(size, PIECE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def answer_all(answer: Callable[[bytes], bytes], most_memory: int, idle_s: float) -> None:
    """Be such a process: answer until the server has ended or nothing was asked for `idle_s`. `most_memory`: bytes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    os.nice(NICE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most_memory, most_memory))
    with contextlib.suppress(EOFError, BrokenPipeError):
        while select.select([0], [], [], idle_s)[0]:
            given = answer(frame_of(lambda size: os.read(0, size)))
            rest = memoryview(LENGTH.pack(len(given)) + given)
            while rest:
                rest = rest[os.write(1, rest) :]
