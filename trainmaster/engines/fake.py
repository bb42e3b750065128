"""An engine without machines: every promise of engines/base kept in memory, with a clock that tests may turn by hand.

`FakeMachines` is the world: nodes, tasks, what will happen to them. It outlives any `FakeEngine`, which is one server's
connection to it, as an agent outlives a server. What a task does follows from its command, a tiny part of the shell
language (`understand`), or from a script the test gives. Invariant: a card or a port never belongs to two live attempts.
"""

import asyncio
import itertools
import re
import signal as signals
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from trainmaster.core.errors import Problem, Unavailable
from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Asked, Gang, gang_to_json
from trainmaster.core.records import Assignment, Node, Role
from trainmaster.engines.base import (
    AttemptReport,
    CardUsage,
    Fact,
    Flags,
    LaunchRefused,
    NativeRequest,
    Note,
    Refused,
    Sink,
    TaskReport,
    Terminal,
    Waiting,
    Window,
)
from trainmaster.engines.fake_clock import Clock

HARMLESS: Final = frozenset({signals.SIGUSR1, signals.SIGUSR2, signals.SIGCONT, signals.SIGWINCH})
"""Signals that a fake task notes and survives, as a training script that saves a checkpoint would."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a task: after `after_s` seconds (None: never) it ends by `exit_code`, by `signal`, or is lost."""

    after_s: float | None = 0.0
    exit_code: int | None = 0
    signal: int | None = None
    lost: bool = False
    ignores_term: bool = False


Script = Callable[[Gang, Assignment], Fate]

_STEP: Final = re.compile(r"true|false|exit (?P<code>\d+)|sleep (?P<seconds>[\d.]+|infinity)|trap '' TERM|kill -9 \$\$")


def understand(gang: Gang, task: Assignment) -> Fate:
    """Return the fate that the role's command tells: steps such as ``trap '' TERM; sleep 2 && exit 3``.

    Raises LaunchRefused (command_not_found) for anything that is not true, false, exit, sleep, trap or kill -9 $$.
    """
    command = gang.commands[task.role]
    text = command.text or " ".join(command.argv)
    after, code, stubborn = 0.0, 0, False
    for step in filter(None, (part.strip() for part in re.split(r"&&|;|\n", text))):
        found = _STEP.fullmatch(step)
        if found is None:
            raise LaunchRefused("command_not_found", f"{step!r} is nothing that a fake task can do")
        code = 1 if step == "false" else 0
        if found["seconds"] == "infinity":
            return Fate(None, ignores_term=stubborn)
        after += float(found["seconds"] or 0)
        stubborn = stubborn or step.startswith("trap")
        if found["code"] is not None:
            return Fate(after, int(found["code"]), ignores_term=stubborn)
        if step.startswith("kill"):
            return Fate(after, None, signals.SIGKILL)
    return Fate(after, code, ignores_term=stubborn)


@dataclass(slots=True)
class _Task:
    """One replica on the fake machines: its last fact, and what it is yet to do."""

    where: Assignment
    fate: Fate
    report: TaskReport | None = None

    @property
    def over(self) -> bool:
        return self.report is not None and self.report.kind != "running"


@dataclass(slots=True)
class _Try:
    """One attempt on the fake machines."""

    tasks: list[_Task]
    signals: list[int] = field(default_factory=list)


class FakeMachines:
    """The nodes and everything that runs on them. Tests make things happen here: refuse, lose, break."""

    owns_queue = False

    def __init__(self, nodes: Sequence[Node], clock: Clock, script: Script = understand, start_s: float = 0.0) -> None:
        self.clock, self.script, self.start_s = clock, script, start_s
        self.reachable = True
        self._nodes = {node.name: node for node in nodes}
        self._tries: dict[str, _Try] = {}
        self._gone: set[str] = set()  # reaped: may never start again
        self._refusals: list[LaunchRefused] = []
        self.adjusted: dict[str, Asked] = {}  # what servers said last of attempts
        self._sinks: list[Sink] = []
        self._changed = asyncio.Event()

    # -- what tests do -----------------------------------------------------------------------------------------

    def refuse_next(
        self, code: str = "launch_failed", message: str = "refused by the test", node: str | None = None
    ) -> None:
        """Refuse the next launch that would start something."""
        self._refusals.append(LaunchRefused(code, message, node))

    def lose(self, attempt: str) -> None:
        """Forget everything of `attempt` without a word, as a machine that was wiped."""
        self._tries.pop(attempt, None)

    def lose_task(self, attempt: str, role: int = 0, index: int = 0) -> None:
        """Let one task disappear; the agent notices."""
        self._end(attempt, self._task(attempt, role, index), "lost")

    def end_task(
        self, attempt: str, role: int = 0, index: int = 0, *, exit_code: int | None = 0, signal: int | None = None
    ) -> None:
        """Let one task end now, by `exit_code` or by `signal`."""
        self._end(attempt, self._task(attempt, role, index), "exited", None if signal else exit_code, signal)

    def break_node(self, name: str, reason: str = "broken by the test") -> None:
        """Take a node out of service; every task on it is lost."""
        self._nodes[name] = replace(self._nodes[name], schedulable=False, reason=reason)
        for attempt, task in list(self._running()):
            if task.where.node == name:
                self._end(attempt, task, "lost")

    def mend_node(self, name: str) -> None:
        """Bring a node back into service."""
        self._nodes[name] = replace(self._nodes[name], schedulable=True, reason="")

    def note(self, attempt: str, code: str, message: str) -> None:
        """Tell the servers something about an attempt that changes nothing."""
        self.tell(Note(attempt, code, message))

    def signals_of(self, attempt: str) -> tuple[int, ...]:
        """Return the harmless signals that the tasks of `attempt` were sent."""
        return tuple(self._tries[attempt].signals)

    @property
    def alive(self) -> frozenset[str]:
        """Return the attempts of which a task still runs."""
        return frozenset(attempt for attempt, _ in self._running())

    # -- what the engine does ----------------------------------------------------------------------------------

    def connect(self, sink: Sink) -> None:
        """Push facts to `sink` from now on."""
        self._sinks.append(sink)

    def disconnect(self, sink: Sink) -> None:
        """Push no more facts to `sink`."""
        self._sinks.remove(sink)

    def tell(self, fact: Fact) -> None:
        """Push one fact to every connected server."""
        for sink in tuple(self._sinks):
            sink(fact)

    def nodes(self) -> tuple[Node, ...]:
        """Return the machines."""
        return tuple(self._nodes.values())

    def launch(self, gang: Gang) -> str:
        """Start all tasks or none. Raises LaunchRefused."""
        attempt = attempt_id(gang.job, gang.attempt)
        known = self._tries.get(attempt)
        if known is not None:
            return handle_of(attempt)
        if attempt in self._gone:
            raise LaunchRefused("launch_failed", f"{attempt} was reaped: it may not start again")
        if self._refusals:
            raise self._refusals.pop(0)
        self._check(gang)
        self._start(attempt, gang)
        return handle_of(attempt)

    def estimate(self, gang: Gang) -> Waiting | Refused | None:
        """Foresee nothing: who comes is started at once."""
        return None

    def report(self, attempt: str) -> AttemptReport:
        """Return everything known of `attempt`."""
        found = self._tries.get(attempt)
        if found is None:
            return AttemptReport(attempt, False)
        return AttemptReport(attempt, True, tuple(task.report for task in found.tasks if task.report is not None))

    def signal(self, attempt: str, signum: int) -> None:
        """Send a signal to every running task."""
        found = self._tries.get(attempt)
        for task in found.tasks if found is not None else ():
            if task.over or found is None:
                continue
            if signum in HARMLESS:
                found.signals.append(signum)
            elif signum == signals.SIGKILL or not task.fate.ignores_term:
                self._end(attempt, task, "exited", None, signum)

    async def reap(self, attempt: str, grace_s: float) -> None:
        """End everything: SIGTERM, `grace_s` seconds, SIGKILL; return when nothing is left."""
        self.signal(attempt, signals.SIGTERM)
        patience = asyncio.Event()
        self.clock.call_at(self.clock.now() + grace_s, partial(self._lose_patience, patience))
        while attempt in self.alive and not patience.is_set():
            self._changed.clear()
            await self._changed.wait()
        self.signal(attempt, signals.SIGKILL)
        self._tries.pop(attempt, None)
        self._gone.add(attempt)

    # -- inside ------------------------------------------------------------------------------------------------

    def _start(self, attempt: str, gang: Gang) -> None:
        tasks = [_Task(where, self.script(gang, where)) for where in gang.placement]
        self._tries[attempt] = _Try(tasks)
        for task in tasks:
            self.clock.call_at(self.clock.now() + self.start_s, partial(self._begin, attempt, task))

    def _lose_patience(self, patience: asyncio.Event) -> None:
        patience.set()
        self._changed.set()

    def _check(self, gang: Gang) -> None:
        """Refuse what real machines could not hold: a node that is away, a card or port that is in use."""
        held: dict[tuple[str, str, int], str] = {}
        for other, running in self._tries.items():
            held.update(dict.fromkeys(itertools.chain.from_iterable(_things(t.where) for t in running.tasks), other))
        for where in gang.placement:
            node = self._nodes.get(where.node)
            if node is None or not node.schedulable:
                raise LaunchRefused("bad_node", f"node {where.node} is not in service", where.node)
            for kind, place, number in _things(where):
                holder = held.get((kind, place, number))
                if holder is not None or (kind == "card" and number >= len(node.gpus)):
                    text = f"{kind} {number} of {place} is {f'held by {holder}' if holder else 'not there'}"
                    raise LaunchRefused("launch_failed", text, where.node)

    def _running(self) -> Iterator[tuple[str, _Task]]:
        for attempt, found in self._tries.items():
            for task in found.tasks:
                if not task.over:
                    yield attempt, task

    def _task(self, attempt: str, role: int, index: int) -> _Task:
        return next(t for t in self._tries[attempt].tasks if (t.where.role, t.where.index) == (role, index))

    def _begin(self, attempt: str, task: _Task) -> None:
        if task.report is not None or attempt not in self._tries:
            return
        self._report(attempt, task, "running")
        fate = task.fate
        if fate.after_s is not None:
            kind = "lost" if fate.lost else "exited"
            end = self.clock.now() + fate.after_s
            self.clock.call_at(end, lambda: self._end(attempt, task, kind, fate.exit_code, fate.signal))

    def _end(
        self, attempt: str, task: _Task, kind: str, exit_code: int | None = None, signum: int | None = None
    ) -> None:
        if task.over or attempt not in self._tries:
            return
        self._report(attempt, task, kind, exit_code if signum is None else None, signum)
        self._changed.set()

    def _report(
        self, attempt: str, task: _Task, kind: str, exit_code: int | None = None, signum: int | None = None
    ) -> None:
        where = task.where
        task.report = TaskReport(attempt, where.role, where.index, kind, self.clock.now(), exit_code, signum)
        self.tell(task.report)


def handle_of(attempt: str) -> str:
    """Return the handle of an attempt on fake machines."""
    return f'{{"fake": "{attempt}"}}'


def _things(where: Assignment) -> Iterator[tuple[str, str, int]]:
    """Yield the cards and ports that one task holds."""
    for index in where.gpus:
        yield "card", where.node, index
    for _, numbers in where.ports:
        for number in numbers:
            yield "port", where.host, number


class FakeEngine:
    """One server's connection to the fake machines. See engines/base for what each method promises."""

    def __init__(self, machines: FakeMachines, name: str = "fake") -> None:
        self.machines, self.name = machines, name
        self.flags = Flags(owns_queue=machines.owns_queue)
        self._sink: Sink | None = None

    async def start(self, sink: Sink) -> None:
        """Connect; facts are pushed from now on. Raises Unavailable when the machines cannot be reached."""
        self._reach()
        self._sink = sink
        self.machines.connect(sink)

    async def close(self) -> None:
        """Disconnect; tasks go on."""
        if self._sink is not None:
            self.machines.disconnect(self._sink)
            self._sink = None

    async def nodes(self) -> tuple[Node, ...]:
        """Return the machines."""
        self._reach()
        return self.machines.nodes()

    def card_usage(self) -> Mapping[str, Sequence[CardUsage]]:
        """Return nothing: fake machines are never busy."""
        return {}

    def isolation(self) -> dict[str, str]:
        """Return that there is none."""
        return {"kind": "none", "detail": "fake machines"}

    async def owner_problem(self, owner: str) -> Problem | None:
        """Return None: nobody has anything to do with a system user here."""
        return None

    def prepare(self, gang: Gang) -> NativeRequest:
        """Return what `launch` would ask for: the gang itself."""
        return NativeRequest("fake", gang_to_json(gang))

    def places(self) -> tuple[str, ...]:
        """Return none: a fake task sees nothing."""
        return ()

    def objections(self, roles: Sequence[Role], asked: Asked) -> tuple[Problem, ...]:
        """Object to nothing."""
        return ()

    async def estimate(self, gang: Gang) -> Waiting | Refused | None:
        """Return what a cluster foresees; None of machines without a queue. Raises Unavailable."""
        self._reach()
        return self.machines.estimate(gang)

    def announce(self, gang: Gang) -> None:
        """Do nothing: a fake is always ready."""

    async def launch(self, gang: Gang) -> str:
        """Start all tasks or none; return the handle. Raises LaunchRefused."""
        self._reach()
        return self.machines.launch(gang)

    async def adjust(self, attempt: str, asked: Asked) -> None:
        """Note what is asked now."""
        self._reach()
        self.machines.adjusted[attempt] = asked

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Return what is known of each attempt, in the same order."""
        self._reach()
        return tuple(self.machines.report(attempt) for attempt in attempts)

    async def signal(self, attempt: str, signum: int) -> None:
        """Send a signal to the running tasks of `attempt`."""
        self._reach()
        self.machines.signal(attempt, signum)

    async def reap(self, attempt: str, handle: str | None, grace_s: float) -> None:
        """End everything of `attempt`; return only when nothing is left."""
        self._reach()
        await self.machines.reap(attempt, grace_s)

    async def attach(
        self, attempt: str, role: int, index: int, argv: Sequence[str], window: Window | None, *, kept: bool = False
    ) -> Terminal:
        """Raise Unavailable: a fake task has no process, files or variables to be among."""
        raise Unavailable("Fake tasks have no environment to enter", remedy="Use the local engine.")

    def _reach(self) -> None:
        if not self.machines.reachable:
            raise Unavailable("The fake machines do not answer", remedy="Set `reachable` again.")
