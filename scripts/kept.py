"""Runs a command, and ends with it all that it started and left: `python scripts/kept.py COMMAND [ARGUMENT...]`.

Tests start servers, agents and clusters in sessions of their own; each ends what it started, unless it is interrupted
or killed itself. This process adopts every orphan below it, so nothing can leave its sight. When the command has ended,
for whatever reason, what is left is killed and named. Told to end (SIGINT, SIGTERM, SIGHUP, or the death of its own
parent), it gives the command GRACE_S to clean up, then LAST_S to end without what it waited for, and kills everything.
Standard library only, Python 3.9 or newer; Linux.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SI_KERNEL = 0x80  # sent by the terminal: then everybody in front of it has got it, too
GRACE_S = 20.0
LAST_S = 10.0
DEAD_S = 1.0
"""How long an orphan that has ended stays: long enough for a test to read how it ended, as below a slow init. For ever
would be too long: a process namespace goes only when all are buried who were in it.
"""
MOST = 300
"""Characters of a command line that are shown."""
LOOK_S = 0.25
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def parents() -> dict[int, int]:
    """Return who the parent of each process is."""
    found = {}
    for name in os.listdir("/proc"):
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"/proc/{int(name)}/stat", encoding="ascii", errors="replace") as file,
        ):
            found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    return found


def is_dead(pid: int) -> bool:
    """Return whether a process has ended and was not waited for."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"
    return False


def below(pid: int) -> list[int]:
    """Return all descendants of a process, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found, seen = list(children.get(pid, [])), {pid}
    for one in found:
        if one not in seen:
            seen.add(one)
            found += children.get(one, [])
    return found


def name(pid: int) -> str:
    """Return the command line of a process, "" of one that has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(1 << 17).replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return ""


def send(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


class Kept:
    """The command and all below it. `status`: how the command ended, as waitpid tells it. `parent`: with whom all of it
    ends.
    """

    def __init__(self, argv: list[str], parent: int) -> None:
        self.status = 0
        self.dead: dict[int, float] = {}  # since when
        self.watched = ENDING | {signal.SIGCHLD}
        signal.pthread_sigmask(signal.SIG_BLOCK, self.watched)
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(1)
        for signum in ENDING:  # one that was ignored from birth, as in a script's background, would never be seen
            signal.signal(signum, signal.default_int_handler)
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self.watched)
            try:
                os.execvp(argv[0], argv)
            except OSError as error:
                print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
                os._exit(127)

    def wait(self) -> None:
        """Return when the command has ended, or has been told to end and does not."""
        until = None
        while self.lives():
            patience = LOOK_S if self.dead else 3600.0
            if until is not None:
                patience = min(patience, max(0.0, until - time.monotonic()))
            told = signal.sigtimedwait(self.watched, patience)
            if until is not None and time.monotonic() >= until:
                return
            self.bury_late()
            if told is not None and told.si_signo in ENDING:
                if until is not None and told.si_signo == signal.SIGINT:
                    return  # somebody will not wait
                until = until or time.monotonic() + GRACE_S
                if told.si_code != SI_KERNEL:
                    self.interrupt()

    def lives(self) -> bool:
        """Say whether the command has not ended."""
        if self.pid:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.pid, self.status = 0, status
        return self.pid != 0

    def bury_late(self) -> None:
        """Wait for orphans that ended DEAD_S ago."""
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            children = {int(pid) for pid in file.read().split()} - {self.pid}
        now = time.monotonic()
        self.dead = {pid: self.dead.get(pid, now) for pid in children if is_dead(pid)}
        for pid, since in self.dead.items():
            if now - since >= DEAD_S:
                os.waitpid(pid, os.WNOHANG)

    @staticmethod
    def bury() -> None:
        """Wait for all that has ended below, once the command has."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue

    def interrupt(self) -> None:
        """Press Ctrl-C for the command: tests then end in order what they started."""
        for pid in below(os.getpid()):
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == os.getpgrp():
                    send(pid, signal.SIGINT)

    def part(self) -> None:
        """Kill all that the command waits for, and let it say its last word."""
        for pid in below(os.getpid()):
            send(pid, signal.SIGTERM if pid == self.pid else signal.SIGKILL)
        until = time.monotonic() + LAST_S
        while self.lives() and time.monotonic() < until:
            signal.sigtimedwait(self.watched, 0.1)

    def end(self) -> set[str]:
        """Kill everything below until nothing is there; return what it was, without the command and what it waited
        for.
        """
        interrupted, found = self.lives(), set()
        if interrupted:
            self.part()
        if not self.lives():
            self.bury()
        while left := below(os.getpid()):
            found |= {name(pid) for pid in left}
            for pid in left:
                send(pid, signal.SIGKILL)
            if not self.lives():
                self.bury()
            signal.sigtimedwait(self.watched, 0.05)
        return set() if interrupted else found - {""}


def main() -> int:
    """Run the command; return what this process is to end with, as a shell would tell it."""
    kept = Kept(sys.argv[1:], int(os.environ.get("TRAINMASTER_KEPT") or os.getppid()))  # it may be gone already
    kept.wait()
    for one in sorted(kept.end()):
        # Of a program that is one of its own arguments, the end of the line tells whose it is.
        shown = one if len(one) <= MOST else f"{one[: MOST // 2]} ... {one[-MOST // 2 :]}"
        print(f"left behind, and ended: {shown}", file=sys.stderr)
    code = os.waitstatus_to_exitcode(kept.status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
