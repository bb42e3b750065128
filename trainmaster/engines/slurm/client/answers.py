"""What a program says, read up to a bound: whatever a cluster answers, it does not fill the server's memory. Blocking:
for a thread.
"""

import os
import selectors
import subprocess
import time
from contextlib import suppress
from typing import IO, Final

MOST: Final = 64 << 20
"""Bytes of one answer, far above what squeue prints of 100,000 jobs."""
_PIECE: Final = 1 << 16


class TooMuch(Exception):
    """The answer goes on behind `MOST`."""


def read_answer(process: "subprocess.Popen[bytes]", given: bytes | None, timeout_s: float) -> tuple[bytes, bytes]:
    """Return (output, errors) of `process` once it has ended; `given` is its input. As `communicate`, with a bound.

    Raises subprocess.TimeoutExpired, or TooMuch: then it runs still.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    until = time.monotonic() + timeout_s
    found: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    left, room = memoryview(given or b""), MOST
    with selectors.DefaultSelector() as waiting:
        for stream in (process.stdout, process.stderr):
            waiting.register(stream, selectors.EVENT_READ)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            waiting.register(process.stdin, selectors.EVENT_WRITE)
        while waiting.get_map():
            ready = waiting.select(max(0.0, until - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(process.args, timeout_s)
            for key, _ in ready:
                if process.stdin is not None and key.fileobj is process.stdin:
                    left = _give(process.stdin, left)
                    ended = not left
                else:
                    piece = os.read(key.fd, _PIECE)
                    found[key.fd].append(piece)
                    room -= len(piece)
                    ended = not piece
                if room < 0:
                    raise TooMuch
                if ended:
                    waiting.unregister(key.fileobj)
                    if key.fileobj is process.stdin:
                        with suppress(BrokenPipeError):
                            process.stdin.close()
    process.wait(max(0.0, until - time.monotonic()))
    out, err = (b"".join(pieces) for pieces in found.values())
    return out, err


def _give(stream: IO[bytes], left: memoryview) -> memoryview:
    """Write what is taken of `left`; return the rest: nothing when it is all written, or nobody reads it any more."""
    try:
        return left[os.write(stream.fileno(), left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]
