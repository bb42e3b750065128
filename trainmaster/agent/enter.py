"""Enters a running task, or one that is kept after its end: this process becomes one of the task's own, and executes a
command there.

It sees what the task sees (files, processes, variables, working folder, limits) and may do no more than the task may.
Invariants: who is inside is found when the task is ended, whatever ends it, and keeps no task from ending; nothing that
belongs to the user is read before this process has given up its rights, and nobody inside can look into it before it
executes the command. Standard library of Python 3.9 only. Where the task is comes from the agent's record, never from
what processes say of themselves.

Exit codes are those of shells and container tools: the command's own, 128 and more for a signal, 125 when it could not
be entered, 126 when the command cannot be executed, 127 when there is none of that name.
"""

from __future__ import annotations

import base64
import ctypes
import fcntl
import json
import os
import resource
import signal
import termios
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import ROOT, own_paths
from trainmaster.agent.sandbox import seccomp
from trainmaster.agent.starting.spawn import RESET
from trainmaster.agent.tasks import adoption, ending
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.core.folders.layout import Layout
from trainmaster.messages import render
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said, verbatim

NOT_ENTERED: Final = 125
NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127
TERM: Final = "xterm-256color"
PATIENCE_S, LOOK_S = 10.0, 0.005  # while a sandbox is still being made

LIMITS: Final = 16  # how many limits getrlimit(2) has
NS_GET_USERNS: Final = 0xB701  # ioctl_ns(2): the user namespace that owns a namespace
CLONE_NEWUSER: Final = 0x10000000
ORDER: Final = ("ipc", "uts", "net", "cgroup", "pid", "mnt")
"""Namespaces in the order in which they are joined; the user's files last."""
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
CAPABILITY_VERSION: Final = 0x20080522


class NotEntered(Exception):
    """The task cannot be entered, and why."""

    def __init__(self, said: Said) -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True, slots=True)
class Entry:
    """What to enter: a task of `attempt` that the agent with the folder `home` runs, and the command. `data`: see
    Layout.
    """

    home: str
    data: str
    attempt: str
    role: int
    index: int
    argv: tuple[str, ...]

    def word(self) -> str:
        """Return the entry as one word of letters, digits and ``+/=``: srun would split at a lone colon."""
        return base64.b64encode(json.dumps(asdict(self)).encode()).decode("ascii")

    @staticmethod
    def of(word: str) -> Entry:
        """Return the entry that `word` returned as text. Raises ValueError or TypeError."""
        fields = json.loads(base64.b64decode(word))
        return Entry(**{**fields, "argv": tuple(fields["argv"])})


# ------------------------------------------------------------------------------------------------------------ the task


def find(entry: Entry) -> LiveTask:
    """Return the running task, or who stands in for one that has ended and is kept (agent/supervising/stand_ins).
    Raises NotEntered.
    """
    try:
        attempt = adoption.read(Layout(entry.home, entry.data), entry.attempt)
        task = next(t for t in attempt.tasks if (t.prepared.role, t.prepared.index) == (entry.role, entry.index))
    except (OSError, ValueError, KeyError, TypeError, IndexError, StopIteration) as error:
        raise NotEntered(say.task_not_here()) from error
    task = attempt.stand_ins.get(task.position, task)
    if not attempt.launched or not task.alive:
        raise NotEntered(last_words(task) or say.nothing_runs_of_task())
    return task


def last_words(task: LiveTask) -> Said | None:
    """Return why bubblewrap could not make the sandbox of a stand-in, in its own words; None where it said nothing."""
    if not task.stands_in:
        return None
    with suppress(OSError), open(task.prepared.paths.log, encoding="utf-8", errors="replace") as file:
        last = file.read(4096).strip().rpartition("\n")[2]
        return verbatim(last) if last else None
    return None


def join(task: LiveTask) -> None:
    """Take on the limits and the control group of `task`, and what its end finds processes by; not its sandbox.

    Raises OSError, NotEntered.
    """
    with open(f"/proc/{task.pid}/status", encoding="ascii", errors="replace") as file:
        mask = next((line.split()[1] for line in file if line.startswith("Umask:")), "077")
    os.umask(int(mask, 8))
    for kind in range(LIMITS):
        with suppress(OSError, ValueError):  # a limit that we may not raise stays as it is
            resource.setrlimit(kind, resource.prlimit(task.pid, kind))
    with suppress(OSError):
        os.sched_setaffinity(0, os.sched_getaffinity(task.pid))
    if task.group is not None:
        join_group(task.pid, task.group.name)
    else:
        if not procs.carries(os.getpid(), task.marker):
            raise NotEntered(say.started_without_marker(task.marker.decode()))
        os.close(os.open(task.prepared.paths.entered, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    if not task.alive:
        raise NotEntered(say.task_just_ended())


def join_group(pid: int, name: str) -> None:
    """Go into the control group `name`, in which `pid` is. Raises OSError, NotEntered."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        paths = own_paths(file.read())
    mine = {controller: path for controller, path in paths.items() if os.path.basename(path) == name}
    for controller, path in mine.items():
        with open(os.path.join(ROOT, controller, path.lstrip("/"), "cgroup.procs"), "w", encoding="ascii") as group:
            group.write("0")
    if not mine:
        raise NotEntered(say.task_not_in_group(name))


# --------------------------------------------------------------------------------------------------------- the sandbox


class Namespaces:
    """The namespaces of a task's sandbox, held open: they are found before they are joined, for /proc changes with
    them.
    """

    def __init__(self, init: int) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        own = {name: os.stat(f"/proc/self/ns/{name}").st_ino for name in ("user", *ORDER)}
        found = {name: os.open(f"/proc/{init}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in own}
        self._others = [found[name] for name in ORDER if os.fstat(found[name]).st_ino != own[name]]
        # Who made the namespaces may be above the one that the program is in: bubblewrap leaves the first for a second.
        owner = fcntl.ioctl(found["mnt"], NS_GET_USERNS)
        self._owner = owner if os.fstat(owner).st_ino != own["user"] else None
        last = os.fstat(found["user"]).st_ino
        self._user = found["user"] if last not in (own["user"], os.fstat(owner).st_ino) else None

    def join(self) -> None:
        """Join them; children are in its process namespace, this process is not. Raises OSError."""
        for fd in (self._owner, *self._others, self._user):
            if fd is not None:
                self._must(self._libc.setns(fd, 0))

    def give_up_rights(self) -> None:
        """Keep no capability, gain none ever again, and let nobody look into this process. Raises OSError."""
        capability = 0
        while self._libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
        if capability == 0:
            self._must(-1)
        self._must(self._libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
        header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
        self._must(self._libc.capset(header, (ctypes.c_uint32 * 6)()))
        self._must(self._libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        self._must(self._libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))

    @staticmethod
    def _must(result: int) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def end_with_parent() -> None:
    """Have the kernel send this process SIGHUP when its parent ends: a terminal ends with its connection."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)


# ------------------------------------------------------------------------------------------------------------- the run


def wait_for_sandbox(task: LiveTask) -> int:
    """Return the pid of the sandbox's pid 1 once all of the sandbox is there: it has started its program. Raises
    NotEntered.
    """
    give_up = time.monotonic() + PATIENCE_S
    while task.alive and time.monotonic() < give_up:
        init = ending.find_init(task)
        if init and procs.children(init):
            return init
        time.sleep(LOOK_S)
    raise NotEntered(last_words(task) or say.sandbox_gone())


def run_inside(task: LiveTask, argv: tuple[str, ...]) -> int:
    """Run `argv` in the sandbox of `task`; return its exit code. Raises OSError, NotEntered."""
    init = wait_for_sandbox(task)
    sandbox = Namespaces(init)
    join(task)  # after the sandbox is held: it raises if the task has ended
    terminal = leave_terminal()
    sandbox.join()
    sandbox.give_up_rights()
    child = os.fork()
    if child == 0:
        os._exit(begin(task, argv, terminal))
    signal.signal(signal.SIGHUP, lambda *_: procs.send([child], signal.SIGHUP))  # and still wait for it
    _, status = os.waitpid(child, 0)
    code, signum = procs.exit_of(status)
    return 128 + signum if signum is not None else code or 0


def begin(task: LiveTask, argv: tuple[str, ...], terminal: bool) -> int:
    """Be the first process inside: with the terminal as its own, execute `argv`."""
    end_with_parent()
    try:
        os.setsid()
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        seccomp.install()
        return execute(task, argv)
    except OSError as error:
        return complain(f"it cannot become one of the task's: {error.strerror}", NOT_ENTERED)


def leave_terminal() -> bool:
    """Let go of the controlling terminal, if there is one; return whether there was. A shell wants to lead a session of
    its own namespace: it sees the numbers of no other.
    """
    if not os.isatty(0) or os.getsid(0) != os.getpid():
        return False
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(0, termios.TIOCNOTTY)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    return True


def execute(task: LiveTask, argv: tuple[str, ...]) -> int:
    """Replace this process by `argv`, as the task's own program was started; return an exit code when that cannot
    be.
    """
    env = dict(task.prepared.env)
    if os.isatty(0):
        env.setdefault("TERM", TERM)
    try:
        os.chdir(task.prepared.cwd)
    except OSError as error:
        return complain(f"{task.prepared.cwd}: {error.strerror}", NOT_ENTERED)
    for signum in RESET:
        signal.signal(signum, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, env)
    except (FileNotFoundError, NotADirectoryError):
        return complain(f"{argv[0]}: command not found", NOT_FOUND)
    except (OSError, ValueError) as error:
        return complain(f"{argv[0]}: {getattr(error, 'strerror', error)}", NOT_EXECUTABLE)


def complain(why: str, code: int) -> int:
    """Print why the task is not entered; return `code`."""
    os.write(2, f"trainmaster: {why}\n".encode("utf-8", "replace"))
    return code


def main(argv: list[str]) -> int:
    """Run as ``enter WORD`` (see Entry.word) on the machine of the task, by the agent's user."""
    entry = Entry.of(argv[0])
    end_with_parent()
    try:
        task = find(entry)
        if task.prepared.options:
            return run_inside(task, entry.argv)
        join(task)
        return execute(task, entry.argv)
    except NotEntered as refused:
        said = say.attempt_not_entered(entry.attempt, refused.said)
        return complain(f"{render.text(said)} / {render.text(said, 'zh')}", NOT_ENTERED)
    except OSError as error:
        what = error.strerror or repr(error)
        return complain(f"{entry.attempt} cannot be entered: {what}", NOT_ENTERED)
