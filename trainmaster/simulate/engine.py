"""The engine of the simulator: answers the orders of `reduce` at once, and ends what it started after its true run
time.

Knows the true run times; nobody else does. Answers are events, as those of every engine. Invariant: every launched
attempt gets exactly one end unless it was reaped before; facts that come later are about an older attempt, which
`reduce` ignores.
"""

import heapq
import math
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from trainmaster.core.actions import Action, Hold, Launch, Precheck, Reap, Save, Stage, Watch
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job, Task
from trainmaster.messages.jobs import tasks as say


class Turn(IntEnum):
    """What comes first within one second. The pass comes after all of them."""

    END = 0
    FAULT = 1
    SUBMIT = 2
    TIMER = 3


class Due(NamedTuple):
    """Something that will happen. `number` breaks ties: first asked for, first to happen."""

    at: int
    turn: Turn
    number: int
    what: object


class End(NamedTuple):
    """The work of an attempt is done."""

    job: str
    attempt: int


class Agenda:
    """The virtual clock: what will happen, by second, turn and number. Every operation is O(log n)."""

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at: int, turn: Turn, what: object) -> None:
        """Let `what` happen at second `at`."""
        self._number += 1
        heapq.heappush(self._heap, Due(at, turn, self._number, what))

    @property
    def now(self) -> int:
        """The second of what comes next. Raises IndexError when nothing does."""
        return self._heap[0].at

    def due(self, now: int) -> Due | None:
        """Take out and return what comes next at second `now`, None when nothing does."""
        return heapq.heappop(self._heap) if self._heap and self._heap[0].at == now else None


_PLAIN: Final[dict[type[Action], tuple[Kind, dict[str, Any]]]] = {
    Precheck: (Kind.CHECKED, {}),
    Stage: (Kind.STAGED, {}),
    Save: (Kind.SAVED, {"model": None, "files": 0, "size_bytes": 0}),
    Reap: (Kind.REAPED, {}),
}
"""Orders whose answer needs no thought."""


class Work(NamedTuple):
    """What a job truly has to do: seconds with all of its `tasks`; with fewer it takes longer in proportion."""

    seconds: int
    tasks: int


class SimulatedEngine:
    """`work`: by job. `start_cost_s`: what every start costs before its work begins."""

    def __init__(self, agenda: Agenda, work: Mapping[str, Work], start_cost_s: int = 0) -> None:
        self._agenda, self._work, self._start_cost_s = agenda, work, start_cost_s

    def answer(self, action: Action, job: Job, now: int) -> tuple[Event, ...]:
        """Return the events that answer `action` about `job` at once; what takes time is put on the agenda."""
        plain = _PLAIN.get(type(action))
        if plain is not None:
            return (Event(job.id, plain[0], now, "agent", action.attempt, plain[1]),)
        if isinstance(action, Launch):
            return self._launch(job, action.attempt, now)
        if isinstance(action, Watch) and action.expires_at is not None:
            at = max(now, math.ceil(action.expires_at))
            self._agenda.add(at, Turn.TIMER, Event(job.id, Kind.EXPIRED, at, "system", action.attempt))
        if isinstance(action, Hold):
            until = math.ceil(action.until)
            self._agenda.add(until, Turn.TIMER, Event(job.id, Kind.RELEASED, until, "system", action.attempt))
        return ()

    def _launch(self, job: Job, attempt: int, now: int) -> tuple[Event, ...]:
        assert job.attempt is not None, "a launch is of an attempt"
        tasks, work = job.attempt.tasks, self._work[job.id]
        runs_s = self._start_cost_s + -(-work.seconds * work.tasks // len(tasks))
        self._agenda.add(now + runs_s, Turn.END, End(job.id, attempt))
        started = Event(job.id, Kind.STARTED, now, "agent", attempt)
        return (started, *_about(tasks, Kind.TASK_RUNNING, job.id, attempt, now))

    @staticmethod
    def ended(job: Job, attempt: int, now: int) -> Iterable[Event]:
        """Return that all tasks of an attempt ended well; nothing when it is not the current one."""
        if job.attempt is None or job.attempt.number != attempt:
            return ()
        return _about(job.attempt.tasks, Kind.TASK_EXITED, job.id, attempt, now, {"exit_code": 0})

    @staticmethod
    def lost(job: Job, node: str, now: int) -> Iterable[Event]:
        """Return that the tasks of `job` on `node` are lost."""
        if job.attempt is None:
            return ()
        there = {(a.role, a.index) for a in job.attempt.placement if a.node == node}
        tasks = [task for task in job.attempt.tasks if (task.role, task.index) in there]
        return _about(tasks, Kind.TASK_LOST, job.id, job.attempt.number, now, {"said": say.node_failed(node).to_json()})


def _about(
    tasks: Iterable[Task], kind: Kind, job: str, attempt: int, now: int, data: Mapping[str, Any] | None = None
) -> tuple[Event, ...]:
    more = data or {}
    return tuple(
        Event(job, kind, now, "agent", attempt, {"role": task.role, "index": task.index, **more}) for task in tasks
    )
