"""Walks every state a small job can reach, under every event, and keeps the graph for the properties to judge.

States are jobs with what cannot matter taken out: times become one instant (only None or not None is kept), texts of
verdicts and the cause of a try go, an ended try keeps its number only, the number of tries is capped (a preemption is
free, so tries are not bounded). Every event kind is tried in every state, for the current try, the one before, the one
to come, and for none.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.builders import EPOCH, job, placement
from trainmaster.core.actions import Action
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Attempt, Job, Verdict, replace, to_json
from trainmaster.core.reduce import reduce
from trainmaster.core.states import Phase
from trainmaster.core.verdicts import SANDBOX_FAILED

DURATION_S = 10.0
DUE = EPOCH + DURATION_S
MOST_TRIES = 2
"""Tries are counted up to here: the first and any later one."""

_TASK_KINDS = (Kind.TASK_RUNNING, Kind.TASK_EXITED, Kind.TASK_LOST)
_TROUBLE = to_json(Verdict(SANDBOX_FAILED))
_DATA: dict[Kind, dict[str, object]] = {
    Kind.SAVED: {"model": "m@1"},
    Kind.PRIORITY_CHANGED: {"priority": 1},
    Kind.SHARED: {"share": "none", "before": "none"},
    Kind.FAULT: {"reason": "fault"},
    Kind.CLOCK_SET: {"by_s": 0.5},
}


@dataclass(frozen=True, slots=True)
class Edge:
    """One event in one state: where it leads and what it orders."""

    event: Event
    after: Job
    actions: tuple[Action, ...]


@dataclass(slots=True)
class Graph:
    """Every reachable state with an edge per event, also those that change nothing."""

    start: Job
    edges: dict[Job, list[Edge]] = field(default_factory=dict)

    def moves(self) -> Iterator[tuple[Job, Edge]]:
        """Yield (state, edge) for every event tried."""
        for state, edges in self.edges.items():
            for edge in edges:
                yield state, edge

    @property
    def accepted(self) -> int:
        """Number of edges that lead to another state."""
        return sum(edge.after is not state for state, edge in self.moves())


def shapes() -> dict[str, Job]:
    """The small jobs that are walked: every policy alone and all together, one and two tasks, one and two roles."""

    def one(**policy: float) -> Job:
        return job().policy(**{"bad_node_limit": 0, "duration_s": DURATION_S, **policy}).done()

    one_elastic = job().role("worker", 2, min_replicas=1).policy(bad_node_limit=0, duration_s=DURATION_S).done()
    return {
        "one task": one(),
        "one task, bad nodes": one(bad_node_limit=2),
        "one task, retries": one(retries=2),
        "one task, fault restarts": one(fault_restarts=2),
        "one task, debug hold": one(debug_hold_s=60.0),
        "one task, everything": one(retries=1, fault_restarts=1, bad_node_limit=1, debug_hold_s=60.0),
        "one task, changing duration": job().policy(bad_node_limit=0).done(),
        "two tasks": job()
        .policy(bad_node_limit=0)
        .role("worker", 2, min_failed=2)
        .policy(duration_s=DURATION_S)
        .done(),
        "two roles": job()
        .policy(bad_node_limit=0, duration_s=DURATION_S)
        .role("ps", min_failed=None)
        .role("worker", main=True)
        .done(),
        "two roles, one ends": job()
        .policy(bad_node_limit=0, debug_hold_s=60.0, duration_s=DURATION_S)
        .role("a", ends_job=True, min_succeeded=1)
        .role("b")
        .done(),
        "one elastic role": one_elastic,
    }


def walk(small: Job) -> Graph:
    """Return the graph of every state that `small` can reach."""
    submitted = Event(small.id, Kind.SUBMITTED, EPOCH, data={"job": to_json(small)})
    graph = Graph(_abstract(reduce(None, submitted)[0]))
    wheres = tuple(_placings(small))
    durations = (None, DURATION_S) if small.policy.duration_s is None else (DURATION_S,)
    found = {graph.start: graph.start}
    todo = deque([graph.start])
    while todo:
        state = todo.popleft()
        edges = graph.edges[state] = []  # each state is one object, and its hash, which takes long, is asked for once
        for event in _events(state, wheres, durations):
            after, actions = reduce(state, event)
            assert after.version == 1
            if replace(after, version=0) == state:
                after = state
            else:
                reached = _abstract(after)
                after = found.setdefault(reached, reached)
                if after is reached:
                    todo.append(after)
            edges.append(Edge(event, after, actions))
    return graph


def _placings(small: Job) -> Iterator[dict[str, object]]:
    """Every way in which the planner may start `small`: with all replicas, or an elastic job with its fewest."""
    yield {"placement": to_json(placement(small))}
    fewest = replace(small, roles=tuple(replace(r, replicas=r.min_replicas or r.replicas) for r in small.roles))
    if fewest.roles != small.roles:
        yield {"placement": to_json(placement(fewest)), "roles": to_json(fewest.roles)}


def _events(state: Job, wheres: Sequence[dict[str, object]], durations: Sequence[float | None]) -> Iterator[Event]:
    current = state.attempts_used
    attempts = sorted({0, max(0, current - 1), current, current + 1})
    for attempt in attempts:
        for kind in Kind:
            if kind is Kind.PLACED:
                for where in wheres:
                    yield Event(state.id, kind, EPOCH, attempt=attempt, data=dict(where))
            elif kind in _TASK_KINDS:
                yield from _task_events(state, kind, attempt)
            elif kind is Kind.DURATION_CHANGED:
                for duration in durations:
                    yield Event(state.id, kind, EPOCH, attempt=attempt, data={"duration_s": duration})
            elif kind is Kind.EXPIRED:
                yield Event(state.id, kind, EPOCH, attempt=attempt)
                yield Event(state.id, kind, DUE, attempt=attempt)
            else:
                yield Event(state.id, kind, EPOCH, attempt=attempt, data=dict(_DATA.get(kind, {})))


def _task_events(state: Job, kind: Kind, attempt: int) -> Iterator[Event]:
    ends = (
        ({"exit_code": 0}, {"exit_code": 1}, {"exit_code": 1, "verdict": _TROUBLE})
        if kind is Kind.TASK_EXITED
        else ({},)
    )
    for role, members in enumerate(state.roles):
        for index in range(members.replicas):
            for end in ends:
                yield Event(state.id, kind, EPOCH, attempt=attempt, data={"role": role, "index": index, **end})


def _abstract(state: Job) -> Job:
    attempt = state.attempt
    if attempt is not None:
        assert attempt.number == state.attempts_used
        attempt = _abstract_attempt(attempt)
    return replace(
        state,
        version=0,
        priority=type(state.priority)(0),
        pause_s=0.0,
        attempts_used=min(state.attempts_used, MOST_TRIES),
        started_at=_instant(state.started_at),
        submitted_at=EPOCH,
        queued_at=EPOCH,
        next_cause="",
        preempted_at=None,
        ended_at=_instant(state.ended_at),
        verdict=_code(state.verdict),
        attempt=attempt,
    )


def _abstract_attempt(attempt: Attempt) -> Attempt:
    if attempt.phase is Phase.ENDED:
        return Attempt(min(attempt.number, MOST_TRIES), "", Phase.ENDED, (), (), EPOCH)
    tasks = tuple(
        replace(t, verdict=None, started_at=_instant(t.started_at), ended_at=_instant(t.ended_at))
        for t in attempt.tasks
    )
    return replace(
        attempt,
        cause="",
        number=min(attempt.number, MOST_TRIES),
        tasks=tasks,
        created_at=EPOCH,
        accepted_at=None,  # told to people; no rule asks for it
        started_at=_instant(attempt.started_at),
        draining_at=_instant(attempt.draining_at),
        retained_at=_instant(attempt.retained_at),
        ended_at=_instant(attempt.ended_at),
        verdict=_code(attempt.verdict),
    )


def _instant(at: float | None) -> float | None:
    return None if at is None else EPOCH


def _code(verdict: Verdict | None) -> Verdict | None:
    return None if verdict is None else Verdict(verdict.code)
