# The keeper: parent of the agent and last parent of its tasks. It restarts a killed agent and writes down the exit code
# of every orphan that comes to it (the kernel hands a dead agent's tasks to the nearest "child subreaper"). It may
# never start, signal or judge a task. Invariants: one keeper guards a home, by the lock on `exits`; a line is in
# `exits` before the zombie is reaped, so an orphan is always either a zombie in /proc or a line here, also while the
# disk is full. Run as text (`python -c`), so that an upgrade of the package on disk does not touch it; argv: 1 folder
# for `exits`, 2.. the agent's command line, to which the keeper's pid is added. The place written down in the folder,
# that of the last server, goes before argv. An agent that exits with 3 found another one serving: this keeper then only
# waits for the tasks it is the parent of. With 4 it makes room for that of the place.
from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import sys
import time

first = 3
for fd in sorted(int(one.split(":")[2]) for one in os.environ.get("TRAINMASTER_HANDLES", "").split()):
    os.closerange(first, fd)  # tasks must not inherit what the server had open
    first = fd + 1  # handles of tasks stay open, for every agent (agent/tasks/handles)
os.closerange(first, os.sysconf("SC_OPEN_MAX"))
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
FOLDER, AGENT = sys.argv[1], sys.argv[2:]
EXITS = os.open(os.path.join(FOLDER, "exits"), os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
with open("/proc/sys/kernel/random/boot_id") as file:
    BOOT = f"{file.read().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"
signal.signal(signal.SIGHUP, signal.SIG_IGN)


def guards() -> bool:
    """Only a keeper that guards keeps others from asking; who asks (place.guarded) keeps it from guarding for that
    moment.
    """
    while True:
        try:
            fcntl.flock(EXITS, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        try:
            fcntl.flock(EXITS, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(0.01)


agent = 0  # pid of this keeper's agent, 0: none


def asked_to_end(signum: int, frame: object) -> None:
    """Note it, and go on: the agent was told the same, ends when its tasks have ended, and this keeper with it."""
    if not agent:
        return
    try:
        ticks = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        with open(os.path.join(FOLDER, "stopped.new"), "w") as note:
            note.write(f"{BOOT} {ticks} {os.getpid()}")
        os.replace(note.name, os.path.join(FOLDER, "stopped"))
    except OSError:
        pass  # the disk is full


signal.signal(signal.SIGTERM, asked_to_end)


def places() -> list[tuple[list[str], str]]:
    own = AGENT, os.environ.get("PYTHONPATH", "")
    try:
        with open(os.path.join(FOLDER, "place"), encoding="utf-8") as file:
            told = json.load(file)
        return [([str(word) for word in told["command"]], str(told["path"])), own]
    except (OSError, ValueError, KeyError, TypeError):
        return [own, own]


def spawn_agent(failures: int) -> int:
    while True:
        if failures:  # an agent that cannot even start must not spin
            time.sleep(min(0.5 * failures, 5.0))
        if os.fstat(EXITS).st_nlink == 0:  # the home was removed: no agent can serve it
            return 0
        command, path = places()[failures % 2]
        try:
            return os.posix_spawn(
                command[0],
                [*command, str(os.getpid())],
                {**os.environ, "PYTHONPATH": path},
                setsid=True,
                setsigdef=[signal.SIGPIPE, signal.SIGHUP],
            )
        except OSError:
            failures += 1


def noted(pid: int, code: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            start = int(stat.read().rpartition(b")")[2].split()[19])
        line = b"%d %d %d\n" % (pid, start, code)
        if full:
            line = b"\n" + line  # the last try may have left half a line
        return os.write(EXITS, line) == len(line)
    except OSError:
        return False


failures, full = 0, False
agent, born = spawn_agent(0) if guards() else 0, time.monotonic()
while True:
    try:
        ended = None
        if full:  # an orphan that cannot be noted stays a zombie, which keeps its exit code; go on watching the agent
            time.sleep(0.2)
            ended = os.waitid(os.P_PID, agent, os.WEXITED | os.WNOWAIT | os.WNOHANG) if agent else None
        ended = ended or os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        break  # another keeper's agent serves, and the last task that came here has ended
    if ended is None:
        continue
    pid, code = ended.si_pid, ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    if pid != agent:
        full = not noted(pid, code)
        if full:
            continue
    os.waitpid(pid, 0)
    if pid == agent:
        if code == 0:
            break  # asked to end, with nothing left to keep
        if code == 3:
            agent = 0
            fcntl.flock(EXITS, fcntl.LOCK_UN)
            continue
        early = time.monotonic() - born < 5.0
        failures = failures + 1 if code > 0 and code != 4 and early else 0  # after a kill, start at once
        agent, born = spawn_agent(failures), time.monotonic()
