"""The process that hands attempts to Slurm: it writes their folders, runs sbatch, and writes down under which id each was taken in.

A process of its own, because each of these steps is a dozen system calls, and in a thread of the server each of them would wait for
the interpreter that all threads share. The server speaks with it over its standard input, a socket; a line each way is one JSON object.

``{id, op: "begin", folder, step, script, argv}``   write down what `argv` will submit
``{id, ok: true}``                                  it is on disk; false: something was there before, and was left alone
``{id, op: "submit", folder, argv, given, user}``   run `argv` with the input `given`
``{id, ok: job}``                                   Slurm's id, which is on disk
``{id, refused: [code, words]}``                    how the program ended instead, and what it printed
``{id, late: true}``                                it did not end in time, or was killed: whether it was carried out is not known
``{id, error: [words, path]}``                      a file cannot be written, or a program not be started

Half of what sbatch takes is its own start: so one is kept waiting while there may be more to submit. When the server is gone, what was
already given to an sbatch is finished and written down, and nothing else is begun. Needs nothing but the standard library.
"""

import fcntl
import json
import os
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from trainmaster.agent.folder import Folder, write_whole
from trainmaster.agent.loop import Loop
from trainmaster.engines.slurm.parse import job_number

AT_ONCE: Final = 4
"""Programs that submit at the same time: slurmctld answers one request after the other, and more of them only wait."""
SPARE_S: Final = 60.0
"""How long a program waits for something to submit."""
MOST_SPARE: Final = 8
"""Programs that wait, of all people together; of one person it is one."""
SWEEP_S: Final = 1.0
"""Between two looks at whose time is over."""
PIPE: Final = 60_000
"""Bytes that fit into a pipe as it comes."""

SUBMITTED, CLOSED, BATCH = "slurm.json", "closed", "slurm.sh"
"""In the attempt's folder: under which id it was submitted; that it may never start (again); the batch script."""

Argv = tuple[str, ...]
Answer = Callable[[dict[str, Any]], None]


class Program:
    """A program that waits for its input. Raises OSError when it cannot be started."""

    def __init__(self, argv: Argv) -> None:
        self.argv = argv
        self.until = time.monotonic() + SPARE_S
        self.answer: Answer | None = None  # while it submits
        self._said = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("out", "err")]
        try:
            self.process = subprocess.Popen(
                argv, cwd="/", start_new_session=True, stdin=subprocess.PIPE, stdout=self._said[0], stderr=self._said[1]
            )
        except OSError:
            self._close()
            raise

    def give(self, text: str) -> None:
        """Give it its whole input. One that has ended takes none, and says why by how it ended."""
        assert self.process.stdin is not None
        data = text.encode()
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            if len(data) > PIPE:  # it must not be waited for
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, len(data))
            pipe.write(data)

    def end(self) -> None:
        """Kill it if it is ours; sudo's child is not, and ends for want of an input, or by itself."""
        assert self.process.stdin is not None
        with suppress(PermissionError):
            self.process.kill()
        if not self.process.stdin.closed:
            self.give("")

    def said(self) -> tuple[int, str, str]:
        """Return how it ended and what it printed, and let go of it."""
        code = self.process.wait()
        out, err = (os.pread(fd, 1 << 16, 0).decode("utf-8", "replace") for fd in self._said)
        self._close()
        return code, out, err

    def _close(self) -> None:
        for fd in self._said:
            os.close(fd)


class Submitter:
    """Serves one server until that is gone. `timeout_s`: what a program has for its answer."""

    def __init__(self, server: socket.socket, timeout_s: float) -> None:
        self._server, self._timeout_s = server, timeout_s
        self._loop = Loop()
        self._loop.watch(server.fileno(), lambda events: self._came())
        self._inbox = b""
        self._waiting: deque[tuple[Argv, str, Answer]] = deque()
        self._running: set[Program] = set()
        self._spare: dict[Argv, Program] = {}
        self._gone = self._sweeping = False

    def serve(self) -> None:
        """Return when the server is gone and what it had submitted is written down."""
        while not self._gone or self._running:
            self._loop.turn(-1)

    # -- the server ----------------------------------------------------------------------------------------------

    def _came(self) -> None:
        data = self._server.recv(1 << 16)
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))
        if not data:
            self._gone = True
            self._loop.unwatch(self._server.fileno())
            self._waiting.clear()
            for spare in self._spare.values():
                spare.end()

    def _handle(self, request: dict[str, Any]) -> None:
        number, argv, shared = request["id"], tuple(request["argv"]), Folder(request["folder"])
        if request["op"] == "submit":
            self._waiting.append(
                (argv, request["given"], lambda said: self._submitted(number, shared, request["user"], said))
            )
            self._next()
            return
        self._expect(argv)
        try:
            self._say(number, ok=begin(shared, request["step"], request["script"]))
        except OSError as error:
            self._say(number, **_trouble(error))

    def _submitted(self, number: int, shared: Folder, user: str, said: dict[str, Any]) -> None:
        try:
            if "ok" in said:
                write_whole(shared.file(SUBMITTED), json.dumps({"job": said["ok"], "user": user}))
        except OSError as error:
            said = _trouble(error)
        self._say(number, **said)

    def _say(self, number: int, **what: Any) -> None:
        with suppress(OSError):  # it is gone
            self._server.sendall(json.dumps({"id": number, **what}).encode() + b"\n")

    # -- programs ------------------------------------------------------------------------------------------------

    def _start(self, argv: Argv) -> Program:
        program = Program(argv)
        self._loop.watch_end(program.process.pid, lambda: self._ended(program))
        if not self._sweeping:
            self._sweeping = True
            self._loop.later(SWEEP_S, self._sweep)
        return program

    def _expect(self, argv: Argv) -> None:
        """Keep one of these waiting. What cannot be started is said to whoever needs it."""
        if argv not in self._spare and len(self._spare) < MOST_SPARE and not self._gone:
            with suppress(OSError):
                self._spare[argv] = self._start(argv)

    def _next(self) -> None:
        """Give to programs what waits."""
        while self._waiting and len(self._running) < AT_ONCE:
            argv, given, answer = self._waiting.popleft()
            try:
                program = self._spare.pop(argv, None) or self._start(argv)
            except OSError as error:
                answer(_trouble(error))
                continue
            program.until, program.answer = time.monotonic() + self._timeout_s, answer
            self._running.add(program)
            program.give(given)

    def _ended(self, program: Program) -> None:
        code, out, err = program.said()
        if self._spare.get(program.argv) is program:
            del self._spare[program.argv]
        self._running.discard(program)
        self._next()
        if program.answer is not None:
            program.answer(_outcome(code, out, err))
            if not self._waiting:
                self._expect(program.argv)

    def _sweep(self) -> None:
        """End those whose time is over."""
        now = time.monotonic()
        for program in [one for one in (*self._spare.values(), *self._running) if one.until <= now]:
            program.end()
            if program.answer is not None:
                program.answer({"late": True})
                program.answer = None
                self._running.discard(program)
        self._next()
        self._sweeping = bool(self._spare or self._running)
        if self._sweeping:
            self._loop.later(SWEEP_S, self._sweep)


def begin(shared: Folder, step: str, script: str) -> bool:
    """Write down what will be submitted: for the steps, on disk before this returns, and the script for people.

    False: it was begun or closed before, and nothing was written. Raises OSError.
    """
    if os.path.exists(shared.file(CLOSED)) or shared.begun:
        return False
    write(shared, step, script)
    return True


def write(shared: Folder, step: str, script: str) -> None:
    """Write it down in place of what was there. Raises OSError."""
    shared.open(step)
    with open(shared.file(BATCH), "w", encoding="utf-8") as file:
        file.write(script)


def _outcome(code: int, out: str, err: str) -> dict[str, Any]:
    if code == 0:
        with suppress(ValueError):
            return {"ok": job_number(out)}
    if code < 0:  # somebody killed it
        return {"late": True}
    return {"refused": [code, err or out]}


def _trouble(error: OSError) -> dict[str, Any]:
    return {"error": [error.strerror or str(error), error.filename or ""]}


def main(argv: list[str]) -> None:
    """Serve the server at the other end of standard input. `argv`: seconds that a program has."""
    Submitter(socket.socket(fileno=os.dup(0)), float(argv[0])).serve()


START: Final = "import sys; sys.path.insert(0, sys.argv[1]); from trainmaster.engines.slurm.submitter import main; main(sys.argv[2:])"
"""What ``python -I -S -c START PACKAGE SECONDS`` runs."""
