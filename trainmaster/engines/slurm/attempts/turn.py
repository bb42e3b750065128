"""One submitter at a time for one engine of one home: it works while it holds the lock of a file, which it does until
it ends.

The programs that it starts hold the lock with it: so it is nobody else's turn while one of them may still submit, also
where the submitter itself was killed. That of a server that was killed finishes what it has begun. The next one waits
for that, and then finds it written down. Who does not come to an end is killed: all processes of which the kernel says
that they hold this lock. The lock saves work and nodes that are asked in vain; that an attempt runs once does not hang
on it (`agent.folder.Folder.claim`). So nobody waits for ever: where not even that has helped, and where there can be no
lock, work begins without. Needs nothing but the standard library.
"""

import fcntl
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Final

LOOK_MS: Final = 20
"""Between two tries."""
SAY_S: Final = 1.0
"""How long one waits without a word."""
DYING_S: Final = 5.0
"""How long who was killed has to be gone."""


def take(path: str, server: socket.socket, patience_s: float) -> tuple[int, ...] | None:
    """Return, once it is this process's turn, what its programs must inherit; None when the server at the other end has
    gone meanwhile.

    `patience_s`: what who holds the lock of `path` has from now on to end by itself, in seconds.
    """
    gone = select.poll()
    gone.register(server, select.POLLRDHUP)
    held: tuple[int, ...] = ()
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # never closed: this process keeps the lock
        if _wait(lock, gone, patience_s):
            held = (lock,)
    except OSError as error:
        _say(f"{path} cannot be locked ({error.strerror}): work begins without")
    return None if gone.poll(0) else held


def _wait(lock: int, gone: select.poll, patience_s: float) -> bool:
    """Return True with the lock, False when the server is gone or all has been tried. Raises OSError."""
    begun, quiet, killed = time.monotonic(), True, set[int]()
    while not _taken(lock):
        if gone.poll(LOOK_MS):
            return False
        waited = time.monotonic() - begun
        if quiet and waited >= SAY_S:
            quiet = False
            _say(
                f"waits for the submitter of an earlier server (pid {', '.join(map(str, _holders(lock))) or 'unknown'})"
            )
        if waited >= patience_s:
            for pid in _holders(lock):  # in each round: a holder may have started another
                if _kill(pid, lock) and pid not in killed:
                    killed.add(pid)
                    _say(f"process {pid}, which does not end, was killed")
        if waited >= patience_s + DYING_S:
            _say("another one cannot be ended: work begins beside it")
            return False
    return True


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holders(lock: int) -> list[int]:
    """Return the processes that hold the lock of this open file, parents first. Those of other users are not seen.
    O(open files).
    """
    path = os.readlink(f"/proc/self/fd/{lock}")
    return sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _holds(int(pid), path))


def _holds(pid: int, path: str) -> bool:
    """Whether the process holds the lock of the file, not only the file: proc_pid_fdinfo(5), "lock:"."""
    with suppress(OSError):  # the process has ended, or belongs to another user
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{fd}") == path:
                    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as told:
                        if any(line.startswith("lock:") and "FLOCK" in line for line in told):
                            return True
    return False


def _kill(pid: int, lock: int) -> bool:
    """Kill a process if it holds the lock; return whether that was done. The handle comes first: its pid cannot pass to
    another process between the look and the kill.
    """
    try:
        process = os.pidfd_open(pid)
    except (OSError, AttributeError):  # it has ended; or Python was built without pidfd_open
        return False
    try:
        if not _holds(pid, os.readlink(f"/proc/self/fd/{lock}")):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(process)
    return True


def _say(what: str) -> None:
    sys.stderr.write(f"submitter: {what}\n")
    sys.stderr.flush()
