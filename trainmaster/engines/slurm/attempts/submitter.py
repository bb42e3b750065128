"""The process that hands attempts to Slurm: it writes their folders, runs sbatch, and writes down under which id each
was taken in.

A process of its own: each of these steps is a dozen system calls, and in a thread of the server each would wait for the
interpreter that all threads share. The server speaks with it over its standard input, a socket; a line each way is one
JSON object.

``{id, op: "begin", folder, attempt, step, argv, user, batch, alone}``
                                  write down what the steps will do, and have ready what `argv` will submit; `alone`:
                                  not as an element of an array
``{id, ok: true}``                it is there; false: something was there before, and was left alone
``{id, op: "turn"}``              say ok: true when it is its turn: nothing that an earlier submitter has begun can
                                  come to Slurm any more
``{id, op: "submit", folder}``    submit what was begun there
``{id, ok: [name, job, element]}``
                                  how Slurm calls it, an element of an array or null; all is written down (`SUBMITTED`)
``{id, refused: [code, words], together}``
                                  how the program ended instead, and what it printed; whether it was given an array
``{id, late: true}``              it did not end in time: whether it was carried out is not known
``{id, unknown: true}``           this process did not begin it; an earlier one may have
``{id, error: [words, path]}``    a file cannot be written, or a program not be started

What waits and asks for the same is submitted as one array. Who comes alone waits for nobody.
Half of what sbatch takes is its own start: so one is kept waiting while there may be more to submit. When the server is
gone, what was already given to an sbatch is finished and written down, and nothing else is begun. After that it is the
next one's turn (`turn`); where this process was killed, once every sbatch of its own has ended, and what became of them
is found at Slurm. Of sudo's it cannot be said. Needs nothing but the standard library.
"""

import json
import os
import socket
import time
import traceback
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from trainmaster.agent.folder import Folder
from trainmaster.agent.host.loop import Loop
from trainmaster.engines.slurm.attempts import turn
from trainmaster.engines.slurm.attempts.program import Argv, Program
from trainmaster.engines.slurm.client.parse import job_number
from trainmaster.engines.slurm.script import BatchMember, BatchScript, script_alone, script_together

AT_ONCE: Final = 2
"""Programs that submit at the same time: slurmctld answers one request after the other, and more of them only wait."""
PAUSE_S: Final = 0.02
"""Between two submissions, for those that may go together: the first of a burst goes at once, and the controller is
asked fifty times a second at most."""
SPARE_S: Final = 60.0
"""How long a program waits for something to submit."""
MOST_SPARE: Final = 8
"""Programs that wait, of all people together; of one person it is one."""
SWEEP_S: Final = 1.0
"""Between two looks at whose time is over."""
WRITERS: Final = 4
"""Threads that write: a file system brings to the disk what several wait for about as fast as what one does."""
TOGETHER: Final = 24
"""Attempts in one array: Slurm takes comments of 1,024 characters, in which they are named."""

SUBMITTED, CLOSED = "slurm.jsonl", "closed"
"""In the attempt's folder: what was given to Slurm, and behind it what Slurm made of it; that it may never start
(again).
"""


@dataclass
class Begun:
    """One attempt. `script`: that of it alone; `alone`: it may be no element of an array; `id`: the server's, of its
    wish to submit it.
    """

    argv: Argv
    member: BatchMember
    user: str
    batch: BatchScript
    script: str
    alone: bool
    until: float
    id: int = 0

    def goes_with(self, other: "Begun") -> bool:
        """Whether both may be elements of one array."""
        return not (self.alone or other.alone) and (self.argv, self.batch) == (other.argv, other.batch)


class ScriptSubmission(NamedTuple):
    """One script that is given to a program, for these attempts, under this name."""

    attempts: list[Begun]
    name: str
    script: str

    def elements(self) -> Iterator[tuple[int | None, Begun]]:
        """Yield the attempts with their place in the array, None for one alone."""
        for number, begun in enumerate(self.attempts):
            yield (number if len(self.attempts) > 1 else None), begun


class Submitter:
    """Serves one server until that is gone. `timeout_s`: what a program has for its answer; `lock`: what programs
    inherit of `turn`.
    """

    def __init__(self, server: socket.socket, timeout_s: float, lock: tuple[int, ...] = ()) -> None:
        self._server, self._timeout_s, self._lock = server, timeout_s, lock
        self._loop = Loop()
        self._loop.watch(server.fileno(), lambda events: self._came())
        self._inbox = b""
        self._begun: dict[str, Begun] = {}  # by folder
        self._waiting: deque[Begun] = deque()
        self._running: dict[Program, ScriptSubmission] = {}
        self._late: set[Program] = set()  # past their time, and not ended yet
        self._spare: dict[Argv, Program] = {}
        self._gone = self._sweeping = self._pausing = False
        self._submitted = -PAUSE_S  # when something was submitted last
        self._writers = ThreadPoolExecutor(WRITERS)
        self._written: deque[tuple[int, Future[bool]]] = deque()
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._loop.watch(self._bell, lambda events: self._wrote())

    def serve(self) -> None:
        """Return when the server is gone, what it had submitted is written down, and nothing can come to Slurm any
        more.
        """
        while not self._gone or self._running or self._late:
            self._loop.turn(-1)

    # -- the server ----------------------------------------------------------------------------------------------

    def _came(self) -> None:
        data = b""
        with suppress(OSError):  # the server ended before it had read all
            data = self._server.recv(1 << 16)
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            try:
                self._handle(request)
            except Exception as error:  # whoever asked waits for an answer
                traceback.print_exc()
                self._say(request["id"], **_trouble(error))
        if not data:
            self._gone = True
            self._loop.unwatch(self._server.fileno())
            self._waiting.clear()
            for spare in list(self._spare.values()):
                self._drop(spare)

    def _handle(self, request: dict[str, Any]) -> None:
        number, op = request["id"], request["op"]
        path = request.get("folder", "")
        if op == "turn":
            self._say(number, ok=True)
        elif op == "begin":
            writing = self._writers.submit(begin, Folder(path), request["step"])
            self._written.append((number, writing))
            writing.add_done_callback(lambda done: os.eventfd_write(self._bell, 1))
            begun = self._begun[path] = _read(request)
            self._expect(begun.argv)
            if not self._sweeping:
                self._sweeping = True
                self._loop.later(SWEEP_S, self._sweep)
        elif (known := self._begun.pop(path, None)) is None:
            self._say(number, unknown=True)
        elif os.path.exists(Folder(path).file(CLOSED)):
            self._say(number, refused=[1, "it was stopped before it was submitted"], together=False)
        else:
            known.id = number
            self._waiting.append(known)
            self._next()

    def _wrote(self) -> None:
        """Say of what was to be written down that it is."""
        os.eventfd_read(self._bell)
        for number, writing in [one for one in self._written if one[1].done()]:
            self._written.remove((number, writing))
            try:
                self._say(number, ok=writing.result())
            except Exception as error:  # whoever asked waits for an answer
                self._say(number, **_trouble(error))

    def _answer(self, of: ScriptSubmission, said: dict[str, Any]) -> None:
        """Say to all what became of it, once it is written down."""
        taken = [
            (begun, self._writers.submit(_take_down, of, element, begun, said)) for element, begun in of.elements()
        ]
        for begun, writing in taken:
            self._say(begun.id, **writing.result())

    def _say(self, number: int, **what: Any) -> None:
        with suppress(OSError):  # it is gone
            self._server.sendall(json.dumps({"id": number, **what}).encode() + b"\n")

    # -- programs ------------------------------------------------------------------------------------------------

    def _start(self, argv: Argv) -> Program:
        program = Program(argv, self._lock, SPARE_S)
        self._loop.watch_end(program.process.pid, lambda: self._ended(program))
        return program

    def _expect(self, argv: Argv) -> None:
        """Keep one of these waiting. What cannot be started is said to whoever needs it."""
        if argv not in self._spare and len(self._spare) < MOST_SPARE and not self._gone:
            with suppress(OSError):
                self._spare[argv] = self._start(argv)

    def _drop(self, spare: Program) -> None:
        """End one that waits; nobody is given to it any more."""
        del self._spare[spare.argv]
        spare.end()

    def _next(self) -> None:
        """Give to programs what waits."""
        while self._waiting and len(self._running) < AT_ONCE and not self._pauses():
            of, self._submitted = self._take(), time.monotonic()
            argv = of.attempts[0].argv
            try:
                for element, begun in of.elements():
                    if element is None:  # alone it bears the attempt's own name
                        _unnote(begun)
                    else:
                        _note(of, begun, element)
                program = self._spare.pop(argv, None) or self._start(argv)
            except OSError as error:
                self._answer(of, _trouble(error))
                continue
            program.until = time.monotonic() + self._timeout_s
            self._running[program] = of
            program.give(of.script)

    def _pauses(self) -> bool:
        """Whether others may still come to what waits longest; it is looked at again when they may not."""
        pause = self._submitted + PAUSE_S - time.monotonic()
        if pause <= 0 or self._waiting[0].alone or len(self._waiting) >= TOGETHER:
            return False
        if not self._pausing:
            self._pausing = True
            self._loop.later(pause, self._paused)
        return True

    def _paused(self) -> None:
        self._pausing = False
        self._next()

    def _take(self) -> ScriptSubmission:
        """Take what waits longest, with all that may go with it."""
        first = self._waiting.popleft()
        others = [one for one in self._waiting if one.goes_with(first)][: TOGETHER - 1]
        if not others:
            return ScriptSubmission([first], first.member.attempt, first.script)
        taken = {one.id for one in others}
        self._waiting = deque(one for one in self._waiting if one.id not in taken)
        attempts, name = [first, *others], f"a{os.urandom(16).hex()}"
        return ScriptSubmission(attempts, name, script_together(first.batch, name, [one.member for one in attempts]))

    def _ended(self, program: Program) -> None:
        code, out, err = program.collect()
        if self._spare.get(program.argv) is program:  # a spare that ended before it got work
            del self._spare[program.argv]
        self._late.discard(program)
        of = self._running.pop(program, None)
        self._next()
        if of is not None:
            self._answer(of, _outcome(code, out, err))
            if not self._waiting:
                self._expect(program.argv)

    def _sweep(self) -> None:
        """End those whose time is over."""
        now = time.monotonic()
        self._sweeping = bool(self._spare or self._running or self._begun)
        if self._sweeping:
            self._loop.later(SWEEP_S, self._sweep)
        for spare in [one for one in self._spare.values() if one.until <= now]:
            self._drop(spare)
        for program in [one for one in self._running if one.until <= now]:
            of = self._running.pop(program)
            self._late.add(program)
            program.end()
            self._answer(of, {"late": True})
        for path in [path for path, one in self._begun.items() if one.until <= now]:
            del self._begun[path]
        self._next()


def begin(shared: Folder, step: str) -> bool:
    """Write down what the steps will do. False: it was begun or closed before, and nothing was written. Raises
    OSError.
    """
    if os.path.exists(shared.file(CLOSED)) or shared.begun:
        return False
    shared.open(step)
    return True


def _read(request: dict[str, Any]) -> Begun:
    options, body, *scratch = request["batch"]
    batch = BatchScript(tuple(map(tuple, options)), tuple(body), *scratch)
    member, user = BatchMember(request["attempt"], request["folder"]), request["user"]
    single = request["alone"] or len(options) > 1 or user != ""  # Slurm knows no arrays of components
    return Begun(
        tuple(request["argv"]), member, user, batch, script_alone(batch, member), single, time.monotonic() + SPARE_S
    )


def _unnote(begun: Begun) -> None:
    """Forget what was given to Slurm before, and was not found there. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(Folder(begun.member.folder).file(SUBMITTED))


def _note(of: ScriptSubmission, begun: Begun, element: int | None) -> None:
    """Write down what is given to Slurm: by its name it is found there, should nobody hear the answer. Raises
    OSError.
    """
    path = Folder(begun.member.folder).file(SUBMITTED)
    _unnote(begun)
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(json.dumps({"name": of.name, "element": element, "user": begun.user, "script": of.script}) + "\n")


def _take_down(of: ScriptSubmission, element: int | None, begun: Begun, said: dict[str, Any]) -> dict[str, Any]:
    """Return what the server is told of one attempt, once all is written down."""
    if "ok" not in said:
        return {**said, "together": element is not None} if "refused" in said else said
    try:
        if element is None:
            _note(of, begun, element)
        _add(begun.member, {"job": said["ok"]})
        Folder(begun.member.folder).keep()
    except Exception as error:  # the server waits for an answer
        return _trouble(error)
    return {"ok": [of.name, said["ok"], element]}


def _add(member: BatchMember, taken: dict[str, Any]) -> None:
    with open(Folder(member.folder).file(SUBMITTED), "a", encoding="utf-8") as file:
        file.write(json.dumps(taken) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _outcome(code: int, out: str, err: str) -> dict[str, Any]:
    if code == 0:
        with suppress(ValueError):
            return {"ok": job_number(out)}
    if code <= 0:  # killed, or an answer without a job's number: it may be submitted
        return {"late": True}
    return {"refused": [code, err or out]}


def _trouble(error: Exception) -> dict[str, Any]:
    if isinstance(error, OSError):
        return {"error": [error.strerror or str(error), error.filename or ""]}
    return {"error": [repr(error), ""]}


def main(argv: list[str]) -> None:
    """Serve the server at the other end of standard input. `argv`: seconds that a program has, and the path of the
    lock.
    """
    server, timeout_s = socket.socket(fileno=os.dup(0)), float(argv[0])
    lock = turn.take(argv[1], server, 2 * timeout_s)
    if lock is not None:
        Submitter(server, timeout_s, lock).serve()


START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from trainmaster.engines.slurm.attempts.submitter import main; main(sys.argv[2:])"
)
"""What ``python -I -S -c START PACKAGE SECONDS LOCK`` runs."""
