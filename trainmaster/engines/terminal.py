"""A command line of this machine on a terminal or on pipes, for the event loop: how every engine serves who enters a
task.

The engines differ only in the command line (agent/enter itself, or srun that starts it). Nothing here blocks the loop
but the spawn, which takes a millisecond. Invariants: the child leads a session of its own, whose only terminal is the
one made here; it is waited for exactly once; a descriptor is closed when nobody waits on it any more.
"""

import asyncio
import os
import signal
import termios
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from trainmaster.agent.host.procs import exit_of
from trainmaster.agent.starting.spawn import RESET
from trainmaster.core.errors import Conflict
from trainmaster.core.ids import task_name
from trainmaster.engines.base import Stream, TaskReport, Window
from trainmaster.messages.server import server

CHUNK: Final = 1 << 16
PATIENCE_S: Final = 5.0
"""What a command has to end after it was hung up, before it is killed."""
END_OF_INPUT: Final = b"\x04"
"""What a person types for it on a terminal (VEOF)."""

FileAction = tuple[int, int] | tuple[int, int, int] | tuple[int, int, str, int, int]


def runs(tasks: Iterable[TaskReport], role: int, index: int) -> bool:
    """Return whether this task runs."""
    return any((one.role, one.index, one.kind) == (role, index, "running") for one in tasks)


def demand_running(tasks: Iterable[TaskReport], role: int, index: int) -> None:
    """Let pass a task that runs. Raises Conflict."""
    if not runs(tasks, role, index):
        raise Conflict(server.task_not_running(task_name(role, index)))


class ChildTerminal:
    """See engines.base.Terminal. Made by `start`."""

    def __init__(self, pid: int, given: int, outputs: Mapping[Stream, int], *, pty: bool) -> None:
        self._pid, self._pty = pid, pty
        self._in: int | None = given
        self._out = dict(outputs)
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[int] = self._loop.create_future()
        self._end = os.pidfd_open(pid)
        self._loop.add_reader(self._end, self._ended)

    @classmethod
    def start(cls, argv: Sequence[str], env: Mapping[str, str], window: Window | None) -> "ChildTerminal":
        """Run `argv` with all its variables given. Raises OSError when that cannot be."""
        return cls._on_terminal(argv, env, window) if window is not None else cls._on_pipes(argv, env)

    @classmethod
    def _on_terminal(cls, argv: Sequence[str], env: Mapping[str, str], window: Window) -> "ChildTerminal":
        master, slave = os.openpty()
        try:
            termios.tcsetwinsize(slave, (window.rows, window.columns))
            # Opened by its name by the leader of a new session, it becomes that session's terminal.
            actions: list[FileAction] = [
                (os.POSIX_SPAWN_OPEN, 0, os.ttyname(slave), os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1),
                (os.POSIX_SPAWN_DUP2, 0, 2),
            ]
            pid = _spawn(argv, env, actions)
        except OSError:
            os.close(master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(master, False)
        return cls(pid, master, {1: master}, pty=True)

    @classmethod
    def _on_pipes(cls, argv: Sequence[str], env: Mapping[str, str]) -> "ChildTerminal":
        pipes = [os.pipe() for _ in range(3)]
        ours, theirs = [pipes[0][1], pipes[1][0], pipes[2][0]], [pipes[0][0], pipes[1][1], pipes[2][1]]
        try:
            pid = _spawn(argv, env, [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(theirs)])
        except OSError:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        for fd in ours:
            os.set_blocking(fd, False)
        return cls(pid, ours[0], {1: ours[1], 2: ours[2]}, pty=False)

    def _ended(self) -> None:
        self._loop.remove_reader(self._end)
        os.close(self._end)
        code, signum = exit_of(os.waitpid(self._pid, 0)[1])
        self._exit.set_result(128 + signum if signum is not None else code or 0)

    async def read(self, stream: Stream) -> bytes:
        """Return what comes next on `stream`, b"" at its end: it was closed, or the command has ended and left no
        more.
        """
        while (fd := self._out.get(stream)) is not None:
            ended = self._exit.done()  # before the read: what it wrote before its end is then there to read
            try:
                return os.read(fd, CHUNK)
            except BlockingIOError:
                if ended:
                    break  # a process that it left behind may keep the pipe open for ever
                await self._ready(fd, self._loop.add_reader, self._loop.remove_reader)
            except OSError:  # the terminal was hung up
                break
        return b""

    async def write(self, data: bytes) -> None:
        """Give `data` to the command."""
        rest = memoryview(data)
        while rest and (fd := self._in) is not None and not self._exit.done():
            try:
                rest = rest[os.write(fd, rest) :]
            except BlockingIOError:
                await self._ready(fd, self._loop.add_writer, self._loop.remove_writer)
            except OSError:  # nobody reads it any more
                return

    async def _ready(self, fd: int, watch: Callable[..., object], unwatch: Callable[[int], object]) -> None:
        """Wait until `fd` can be used, or the command has ended."""
        woken = asyncio.Event()

        def ended(_: object) -> None:
            woken.set()

        watch(fd, woken.set)
        self._exit.add_done_callback(ended)
        try:
            await woken.wait()
        finally:
            unwatch(fd)
            self._exit.remove_done_callback(ended)

    async def end_input(self) -> None:
        """Let the command read the end of its input."""
        if self._pty:
            await self.write(END_OF_INPUT)
        elif self._in is not None:
            os.close(self._in)
            self._in = None

    def resize(self, window: Window) -> None:
        """Change the size of the terminal."""
        if self._pty and self._in is not None:
            with suppress(OSError):  # it was hung up
                termios.tcsetwinsize(self._in, (window.rows, window.columns))

    async def wait(self) -> int:
        """Return the exit code once the command has ended."""
        return await asyncio.shield(self._exit)

    async def close(self) -> None:
        """Hang up; kill what does not end by that."""
        for signum in (signal.SIGHUP, signal.SIGKILL):
            if not self._exit.done():
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, signum)
                await asyncio.wait({self._exit}, timeout=PATIENCE_S)
        for fd in {*self._out.values(), *(() if self._in is None else (self._in,))}:
            os.close(fd)
        self._in = None
        self._out.clear()


def _spawn(argv: Sequence[str], env: Mapping[str, str], actions: list[FileAction]) -> int:
    """Start it with no file of this process open but what `actions` give it."""
    closed: list[FileAction] = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable()]
    return os.posix_spawnp(argv[0], [*argv], env, file_actions=[*actions, *closed], setsid=True, setsigdef=RESET)


def _inheritable() -> list[int]:
    """Return what whoever started this process, or a library, left open for every program. Ours are closed by
    themselves.
    """
    found = []
    for fd in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):  # the listing's own
            if fd > 2 and os.get_inheritable(fd):
                found.append(fd)
    return found
