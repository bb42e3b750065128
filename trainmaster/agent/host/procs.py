"""What the kernel says about processes: /proc and signals. Reads only what it is asked for; keeps nothing.

A process is named by (pid, start ticks): a bare pid may be somebody else's tomorrow. A zombie is not alive.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PR_SET_CHILD_SUBREAPER: Final = 36
JOIN_SESSION: Final = {"x86_64": 250, "aarch64": 219}  # keyctl(2)
KEYCTL_JOIN_SESSION_KEYRING: Final = 1
TIME_OFFSETS: Final = "/proc/self/timens_offsets"
START_SLACK: Final = 3  # ticks between reading the clock and the kernel's own note of a start


class Stat(NamedTuple):
    """The part of /proc/PID/stat that matters. `code` is the wait status of a zombie."""

    pid: int
    state: str
    ppid: int
    pgid: int
    sid: int
    cpu_ticks: int  # own and waited-for children's, user and system
    start: int
    rss_pages: int
    code: int

    @property
    def alive(self) -> bool:
        """True for a process that can still run or hold something."""
        return self.state not in "ZXx"


def _slurp(path: str, size: int = 4096) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def killed(pid: int) -> bool:
    """Return whether a signal that ends `pid` is on its way: on a busy machine it dies a while later.

    proc(5): the kernel turns whatever ends a whole process into a SIGKILL that waits for each of its threads.
    """
    try:
        lines = _slurp(f"/proc/{pid}/status").split(b"\n")
    except OSError:
        return False
    waiting = (int(line.split()[1], 16) for line in lines if line.startswith((b"SigPnd:", b"ShdPnd:")))
    return any(signals & 1 << signal.SIGKILL - 1 for signals in waiting)


def stat(pid: int) -> Stat | None:
    """Return the stat of `pid`, or None when there is no such process."""
    try:
        rest = _slurp(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if len(rest) < 22:
        return None
    code = int(rest[49]) if len(rest) > 49 else 0
    cpu = int(rest[11]) + int(rest[12]) + int(rest[13]) + int(rest[14])
    return Stat(
        pid, rest[0].decode(), int(rest[1]), int(rest[2]), int(rest[3]), cpu, int(rest[19]), int(rest[21]), code
    )


def take_orphans() -> None:
    """Become the parent of every process below this one that loses its own, in place of pid 1."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def leave_keys() -> None:
    """Join a session keyring of our own, for the children too: the old one holds keys of whoever started this process.
    Does nothing on a kernel without keyrings.
    """
    call = JOIN_SESSION.get(os.uname().machine)
    if call is not None:
        ctypes.CDLL(None).syscall(call, KEYCTL_JOIN_SESSION_KEYRING, None)


def now_ticks() -> int:
    """Return the kernel's clock in the unit of Stat.start."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


def since_boot() -> float:
    """Return the seconds since the machine was started, asleep or not: a clock that nobody sets."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@cache
def boot_name() -> str:
    """Return the name of this start of the machine, as `since_boot` counts it; a namespace of time may count from
    elsewhere.
    """
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        name = file.read().strip()
    offsets: list[list[str]] = []
    # Kernels before 5.6 have no such namespaces.
    with suppress(FileNotFoundError), open(TIME_OFFSETS, encoding="ascii") as file:
        offsets = [line.split()[1:] for line in file if line.startswith("boottime")]
    return "+".join([name, *(":".join(one) for one in offsets if one != ["0", "0"])])


def stamp() -> str:
    """Return this moment, to be read on this machine until it is started anew, whatever its clock is set to."""
    return f"{boot_name()} {since_boot():.3f}"


@cache
def boot() -> str:
    """Return what names this run of the kernel and this pid namespace: what was started under another name is gone."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return f"{file.read().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"


def is_same(found: Stat | None, start: int) -> bool:
    """True when `found` is the process that was started at about `start` ticks."""
    return found is not None and abs(found.start - start) <= START_SLACK


def all_pids() -> list[int]:
    """Return the pids of this pid namespace. O(processes)."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid: int) -> list[int]:
    """Return the direct children of `pid` (empty when it is gone). Needs CONFIG_PROC_CHILDREN, which every distribution
    sets.
    """
    try:
        return [int(child) for child in _slurp(f"/proc/{pid}/task/{pid}/children", 1 << 20).split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid: int) -> list[int]:
    """Return every process below `pid`, parents first. O(result); threads that fork are found through all_pids only."""
    found = children(pid)
    for child in found:  # the loop visits what it appends
        found.extend(children(child))
    return found


def neighbours_of(init: int) -> list[int]:
    """Return every other process in the pid namespace whose process 1 is `init`, whoever started it. O(processes)."""
    found = []
    with suppress(OSError):
        own = os.stat(f"/proc/{init}/ns/pid").st_ino
        for pid in all_pids():
            with suppress(OSError):  # it has ended, or is not ours to look at
                if pid != init and os.stat(f"/proc/{pid}/ns/pid").st_ino == own:
                    found.append(pid)
    return found


def carries(pid: int, marker: bytes) -> bool:
    """True when the start environment of `pid` holds the entry `marker` (``NAME=value``)."""
    try:
        return marker in _slurp(f"/proc/{pid}/environ", 1 << 20).split(b"\0")
    except OSError:
        return False


def writes_to(pid: int, path: str) -> bool:
    """True when the standard output of `pid` is the file at `path`."""
    try:
        return os.path.samestat(os.stat(f"/proc/{pid}/fd/1"), os.stat(path))
    except OSError:
        return False


def scan(marker: bytes, leader: int = 0, start: int = 0, *, below: bool = True) -> set[int]:
    """Return the live processes that carry `marker`, or belong to the session or group of `leader`, or descend from
    these.

    `leader` (0: not known) is a task's first process, started at `start` ticks; when that pid is somebody else's by now
    it counts for nothing. `below` False: the leader itself and its children are not followed (it has ended). Never pid
    0 or 1, never this process or its parent, never what is older than the task. O(processes).
    """
    stats = {found.pid: found for found in map(stat, all_pids()) if found is not None}
    if leader < 2 or (leader in stats and start and not is_same(stats[leader], start)):
        leader = 0
    own = {0, 1, 2, os.getpid(), os.getppid()}
    young = {pid: s for pid, s in stats.items() if s.alive and pid not in own and s.start >= start - START_SLACK}
    belongs = {pid for pid, s in young.items() if (leader and leader in (s.sid, s.pgid)) or carries(pid, marker)}
    if below and leader in young:
        belongs.add(leader)
    grew = bool(belongs)
    while grew:
        more = {pid for pid, s in young.items() if pid not in belongs and s.ppid in belongs}
        grew = bool(more)
        belongs |= more
    return belongs


def send(pids: Iterable[int], signum: int) -> None:
    """Send `signum` to each of `pids`, the oldest first; those that are gone are passed over. Raises ValueError rather
    than signal init, a process group or ourselves: a mistake in a list must never reach the machine.
    """
    pids = sorted(pids)  # a shell whose child ends first ends itself with 128 + n, as if by its own will
    if any(pid < 2 or pid == os.getpid() for pid in pids):
        raise ValueError(f"refused to signal {pids[:3]}...: not a task's processes")
    for pid in pids:
        try:
            os.kill(pid, signum)
        except (ProcessLookupError, PermissionError):
            continue


def exit_of(status: int) -> tuple[int | None, int | None]:
    """Return (exit code, signal) of a wait status; exactly one is None."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.waitstatus_to_exitcode(status), None


def signal_name(signum: int) -> str:
    """Return for example ``SIGKILL`` (or the number when it has no name)."""
    try:
        return signal.Signals(signum).name
    except ValueError:
        return str(signum)
