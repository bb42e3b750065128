"""One submitter at a time for one engine of one home: it works while it holds the lock of a file, which it does until it ends.

That of a server that was killed finishes what it has begun. The next one waits for that, and then finds it written down. Who does not
come to an end is killed, once the lock's file says who it is and the kernel that it is still the same process. The lock saves work and
nodes that are asked in vain; that an attempt runs once does not hang on it (`agent.folder.Folder.claim`). So nobody waits for ever: where
not even that has helped, work begins without the lock. Needs nothing but the standard library.
"""

import fcntl
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Final

from trainmaster.agent import procs

LOOK_MS: Final = 20
"""Between two tries."""
DYING_S: Final = 5.0
"""How long who was killed has to be gone."""


def take(path: str, server: socket.socket, patience_s: float) -> bool:
    """Return True once it is this process's turn, False when the server at the other end has gone meanwhile. Raises OSError.

    `patience_s`: what who holds the lock of `path` has from now on to end by itself, in seconds.
    """
    lock = os.open(
        path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )  # never closed: it is held as long as this process lives
    gone = select.poll()
    gone.register(server, select.POLLRDHUP)
    killed, until = False, time.monotonic() + patience_s
    while not _taken(lock):
        if gone.poll(LOOK_MS):
            return False
        if time.monotonic() < until:
            continue
        if killed:
            _say("another one cannot be ended: work begins beside it")
            return True
        killed, until = True, time.monotonic() + DYING_S
        _kill(lock)
    os.ftruncate(lock, 0)
    me = procs.stat(os.getpid())
    os.pwrite(lock, json.dumps({"pid": os.getpid(), "start": me.start if me is not None else 0}).encode(), 0)
    return not gone.poll(0)


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _kill(lock: int) -> None:
    """Kill who holds the lock, if it can be told who that is. It is looked at when its number can no longer become another's."""
    with suppress(ValueError, KeyError, TypeError, OSError):
        said = json.loads(os.pread(lock, 1000, 0))
        process = os.pidfd_open(said["pid"])
        found = procs.stat(said["pid"])
        if found is not None and found.start == said["start"]:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            _say(f"process {found.pid}, which does not end, was killed")
        os.close(process)


def _say(what: str) -> None:
    sys.stderr.write(f"submitter: {what}\n")
