"""The port to the machines: what every engine promises. Knows nothing of priorities, users' rights or frameworks'
rules.

All methods are idempotent by attempt id. Reports are facts; the loop turns them into events. An engine never forgets a
task that may still run: `reap` returns only when nothing of the attempt is left (B2). An engine that owns its queue
(`owns_queue`) is given gangs that are placed nowhere yet, accepts them, and tells when and where they started. What
only some engines can do is in `abilities`. New engines pass tests/contract/engine. docs/design/engines.md says why the
port is as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from trainmaster.core.errors import Problem
from trainmaster.core.launch import Gang
from trainmaster.core.records import Assignment, Node, Verdict
from trainmaster.messages import render
from trainmaster.messages.said import Said


@dataclass(frozen=True, slots=True)
class CardUsage:
    """How busy a card is: a share 0..1, and MiB in use and there; None where it is not measured."""

    utilisation: float | None = None
    memory_mib: int | None = None
    memory_total_mib: int | None = None


@dataclass(frozen=True, slots=True)
class TaskReport:
    """One fact about one task of `attempt` (an attempt id). `kind`: running, exited, lost. `at`: epoch seconds, by the
    clock of whoever saw it; `stamp`: the same moment as `procs.stamp` has it, "": not known.
    """

    attempt: str
    role: int
    index: int
    kind: str
    at: float
    exit_code: int | None = None
    signal: int | None = None
    verdict: Verdict | None = None
    stamp: str = ""


AFTER_HOOK: Final = "after_hook"
"""Code of a note on the `after` hook of a replica, which says what became of it."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know about `attempt` that changes nothing, for example a degraded sandbox. `of_end`:
    (role, index) of the task with whose end, and right before it, this is told; nothing new once that end is known.
    """

    attempt: str
    code: str
    said: Said
    of_end: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """`attempt` is in the engine's own queue, and why: `code` is the engine's own word, `said` tells it to a person.

    `at`: when that was so; `starts_at`: when the engine expects to start it, None where it cannot say. Epoch seconds.
    `nodes`: where it expects to, as far as it says.
    """

    attempt: str
    code: str
    said: Said
    at: float
    starts_at: float | None = None
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """`attempt` left the engine's own queue at `at` (epoch seconds). `placement` names every replica, where the engine
    put it.
    """

    attempt: str
    at: float
    placement: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The engine will not run `attempt` although it had accepted it: nothing of it ran. `code` is a verdict code.

    `node`: the one that is to blame, where there is one; the attempt is then repeated, else it fails.
    """

    attempt: str
    code: str
    said: Said
    at: float
    node: str | None = None


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """Everything the engine knows of one attempt. `known` False: it never started, or nothing of it is left.

    `queue`: how it stands with the engine's own queue; None from an engine that owns none.
    """

    attempt: str
    known: bool
    tasks: tuple[TaskReport, ...] = ()
    queue: Waiting | Started | Refused | None = None


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """What the engine would be asked for a gang: printable, JSON-able (the dry run). No secrets in it.

    `warnings`: what the person should know of how it would run.
    """

    kind: str
    document: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


Fact = TaskReport | Note | Waiting | Started | Refused
"""What an engine pushes. Of one attempt `Started` comes before any TaskReport; a Waiting is told anew when it
changes.
"""

Sink = Callable[[Fact], None]
"""Receives pushed facts, in the event loop's thread."""


@dataclass(frozen=True, slots=True)
class Window:
    """The size of a terminal, in characters."""

    columns: int = 80
    rows: int = 24


Stream = Literal[1, 2]
"""Standard output, standard error. On a terminal both come as the first."""


class Terminal(Protocol):
    """A command that runs inside a task, with or without a terminal. One reader for each stream, one writer; none
    blocks the loop.
    """

    async def read(self, stream: Stream) -> bytes:
        """Return what the command wrote, as soon as there is something; b"" at the end, again and again."""
        ...

    async def write(self, data: bytes) -> None:
        """Give `data` to the command; return when it, or a pipe, has taken all. What nobody reads any more is
        dropped.
        """
        ...

    async def end_input(self) -> None:
        """Let the command read the end of its input."""
        ...

    def resize(self, window: Window) -> None:
        """Change the size of the terminal; without one nothing happens."""
        ...

    async def wait(self) -> int:
        """Return the exit code once the command has ended; 128 + n for signal n."""
        ...

    async def close(self) -> None:
        """Hang up, and return when nobody here serves the command any more. May be called at any time, and again."""
        ...


class Engine(Protocol):
    """What every engine does; what it may do beside is in `abilities`. Names are unique, of engines among those of a
    server and of nodes among all engines. `owns_queue`: it decides order, places and start times itself (Slurm,
    Kubernetes).

    Whatever is asked of the machines raises Unavailable while they do not answer, and is asked again.
    """

    name: str
    owns_queue: bool

    async def start(self, sink: Sink) -> None:
        """Connect (and start what must run beside the server). Facts are pushed to `sink` from now on.

        Raises Unavailable when the engine cannot be used, naming what is missing: it is started again then, so it keeps
        no connection.
        """
        ...

    async def close(self) -> None:
        """Disconnect, also when it was never started or cannot be used. User processes go on."""
        ...

    async def nodes(self) -> tuple[Node, ...]:
        """Return the machines, with capacity and facts."""
        ...

    def isolation(self) -> dict[str, str]:
        """Return {kind, detail}: what keeps tasks apart here, and in words what is missing. Also before `start`."""
        ...

    def prepare(self, gang: Gang) -> NativeRequest:
        """Return what `launch` would ask for. Pure."""
        ...

    async def launch(self, gang: Gang) -> None:
        """Start all tasks or none. One that owns its queue returns once it is in there.

        A second call for the same attempt starts nothing. Raises LaunchRefused when it cannot
        be started; then nothing of it is left. No fact of the attempt is pushed before this has returned.
        """
        ...

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Return what is known of each attempt id, in the same order (after a restart: the truth).

        Facts of those asked about are pushed from now on, whichever server launched them. Asked about all live attempts
        at every start and every ten seconds: an answer must be cheap.
        """
        ...

    async def signal(self, attempt: str, signum: int) -> None:
        """Send a signal to the user's processes of every running task; nothing happens while none runs."""
        ...

    async def reap(self, attempt: str, grace_s: float) -> None:
        """End everything of `attempt`: SIGTERM, `grace_s` seconds, SIGKILL; return only when nothing is left.

        An attempt that never started is confirmed at once, one that waits in the engine's queue is taken out of it.
        Where something that its tasks wrote could not be brought to the server, `Layout.incomplete` is there then, and
        no model is saved.
        """
        ...


class LaunchRefused(Exception):
    """The gang could not be started. `code` is a verdict code, `said` tells why; `node`: the one to blame, where there
    is one.
    """

    def __init__(self, code: str, said: Said, node: str | None = None) -> None:
        super().__init__(render.text(said))
        self.code = code
        self.said = said
        self.node = node
