"""The exhaustive walk: what design.md section 4 promises of the state machines, proven for every state of small jobs.

B2, R88, R90, R181, R191-R192. The numbers of states and edges are in docs/design/states.md.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from tests.builders import EPOCH
from tests.unit.core.walk import DUE, Edge, Graph, shapes, walk
from trainmaster.core.actions import (
    Action,
    Adjust,
    Hold,
    Launch,
    Notify,
    Precheck,
    Reap,
    Save,
    Stage,
    WakePlanner,
    Watch,
)
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.reduce import reduce
from trainmaster.core.states import TERMINAL, JobShare, JobState, Phase, Why
from trainmaster.core.verdicts import FREE

SHAPES = shapes()
graph_of: Callable[[str], Graph] = cache(lambda name: walk(SHAPES[name]))

ORDER_OF: dict[Phase, type[Action]] = {
    Phase.PLACED: Precheck,
    Phase.STAGING: Stage,
    Phase.STARTING: Launch,
    Phase.SAVING: Save,
    Phase.RETAINED: Hold,
    Phase.DRAINING: Reap,
}
"""What entering a phase orders; PENDING and RUNNING order nothing."""

ANSWERS: dict[Phase, tuple[Kind, ...]] = {
    Phase.PLACED: (Kind.CHECKED, Kind.BAD_NODE),
    Phase.STAGING: (Kind.STAGED, Kind.LAUNCH_FAILED),
    Phase.STARTING: (Kind.STARTED, Kind.ACCEPTED, Kind.LAUNCH_FAILED),
    Phase.PENDING: (Kind.STARTED, Kind.LAUNCH_FAILED, Kind.FAULT),
    Phase.RUNNING: (Kind.TASK_RUNNING, Kind.TASK_EXITED),
    Phase.SAVING: (Kind.SAVED, Kind.SAVE_FAILED),
    Phase.RETAINED: (Kind.RELEASED,),
    Phase.DRAINING: (Kind.REAPED,),
}
"""What engine and shell answer to the order of a phase. Nothing else is needed to bring a job to its end."""

DATA = {Kind.SAVED: {"model": None}}


@pytest.fixture(params=list(SHAPES))
def graph(request: pytest.FixtureRequest) -> Graph:
    return graph_of(request.param)


def phase(job: Job) -> Phase | None:
    return job.attempt.phase if job.attempt is not None and job.state is JobState.ACTIVE else None


def why(job: Job) -> Why | None:
    return job.attempt.why if job.attempt is not None else None


def answer(job: Job, kind: Kind) -> Job:
    return reduce(job, Event(job.id, kind, EPOCH, attempt=job.attempts_used, data=dict(DATA.get(kind, {}))))[0]


def outputs_decide(job: Job) -> bool:
    """The outputs are saved: a stop comes too late."""
    return phase(job) is Phase.DRAINING and why(job) is Why.OK


def test_terminal_states_absorb(graph: Graph) -> None:
    for state, edge in graph.moves():
        if state.state in TERMINAL:
            assert edge.after is state
            assert edge.actions == ()


def test_only_an_active_job_holds_resources(graph: Graph) -> None:
    """Neither a terminal nor a queued job has a live attempt; an active one always has (B2)."""
    for state in graph.edges:
        live = state.attempt is not None and state.attempt.phase is not Phase.ENDED
        assert live == (state.state is JobState.ACTIVE)


def test_the_only_door_out_of_active_is_reaped(graph: Graph) -> None:
    for state, edge in graph.moves():
        if state.state is JobState.ACTIVE and edge.after.state is not JobState.ACTIVE:
            assert edge.event.kind is Kind.REAPED
            assert edge.event.attempt in (0, state.attempts_used)
            assert phase(state) is not Phase.SAVING


def test_no_dead_end(graph: Graph) -> None:
    """From every state some path of answers alone reaches a terminal state."""
    before: dict[Job, list[Job]] = {}
    for state, edge in graph.moves():
        kinds = (Kind.PLACED,) if state.state is JobState.QUEUED else ANSWERS.get(phase(state) or Phase.ENDED, ())
        if edge.event.kind in kinds:
            before.setdefault(edge.after, []).append(state)
    reached = {state for state in graph.edges if state.terminal}
    todo = list(reached)
    while todo:
        for state in before.get(todo.pop(), ()):
            if state not in reached:
                reached.add(state)
                todo.append(state)
    assert reached == graph.edges.keys()


def test_succeeded_only_through_saved(graph: Graph) -> None:
    for state, edge in graph.moves():
        if edge.after.state is JobState.SUCCEEDED and edge.after is not state:
            assert phase(state) is Phase.DRAINING
            assert why(state) is Why.OK
        if why(edge.after) is Why.OK and why(state) is not Why.OK:
            assert phase(state) is Phase.SAVING
            assert edge.event.kind is Kind.SAVED


def test_saving_ends_only_by_its_own_answer_or_a_stop(graph: Graph) -> None:
    """Neither a late refusal to launch nor a fault throws outputs away that are being saved."""
    for state, edge in graph.moves():
        if phase(state) is Phase.SAVING and phase(edge.after) is not Phase.SAVING:
            assert edge.event.kind in (Kind.SAVED, Kind.SAVE_FAILED, Kind.STOP_REQUESTED)


def test_a_stop_is_final(graph: Graph) -> None:
    """From every live state in which outputs are not saved yet, stop and reaped lead to stopped, never to the queue."""
    for state in graph.edges:
        if state.terminal:
            continue
        stopped = answer(state, Kind.STOP_REQUESTED)
        if outputs_decide(state):
            assert replace(stopped, version=0) == state
        elif state.state is JobState.QUEUED:
            assert stopped.state is JobState.STOPPED
        else:
            assert (phase(stopped), why(stopped)) == (Phase.DRAINING, Why.STOP)
            assert answer(stopped, Kind.REAPED).state is JobState.STOPPED
    for state, edge in graph.moves():
        if why(state) is Why.STOP and phase(state) is Phase.DRAINING:
            assert why(edge.after) is Why.STOP or edge.after.state is JobState.STOPPED


def test_an_engine_that_loses_everything_strands_nobody(graph: Graph) -> None:
    """Reaped out of the blue ends the try in every phase but saving, and never counts as success."""
    for state in graph.edges:
        if state.state is not JobState.ACTIVE:
            continue
        after = answer(state, Kind.REAPED)
        if phase(state) is Phase.SAVING:
            assert replace(after, version=0) == state
            assert answer(answer(state, Kind.SAVE_FAILED), Kind.REAPED).state is JobState.FAILED
        else:
            assert after.state is not JobState.ACTIVE
            assert after.state is not JobState.SUCCEEDED or why(state) is Why.OK


def test_budgets_are_respected(graph: Graph) -> None:
    """A way back to the queue costs one of retries (R88), faults (R181) or bad nodes; a preemption and a trouble of the
    platform alone are free.
    """
    for state, edge in graph.moves():
        after, policy = edge.after, edge.after.policy
        assert after.retries_used <= policy.retries
        assert after.faults_used <= policy.fault_restarts
        assert after.bad_nodes_used <= policy.bad_node_limit
        paid = _spent(after) - _spent(state)
        back = state.state is JobState.ACTIVE and after.state is JobState.QUEUED
        assert paid == (1 if back and why(state) is not Why.PREEMPTED and not _troubled(state) else 0)


def _troubled(job: Job) -> bool:
    verdict = job.attempt.verdict if job.attempt is not None else None
    return why(job) is Why.FAULT and verdict is not None and verdict.code in FREE


def _spent(job: Job) -> int:
    return job.retries_used + job.faults_used + job.bad_nodes_used


def test_every_phase_orders_what_it_needs(graph: Graph) -> None:
    """Entering a phase orders exactly its one action for the current try; becoming terminal notifies exactly once."""
    for state, edge in graph.moves():
        orders = [a for a in edge.actions if not isinstance(a, Watch | WakePlanner | Adjust)]
        assert all(a.job == state.id for a in edge.actions)
        entered = phase(edge.after)
        if entered is not None and (entered, why(edge.after)) != (phase(state), why(state)):
            wanted = [ORDER_OF[entered]] if entered in ORDER_OF else []
            assert [type(a) for a in orders] == wanted, (state, edge.event)
            number = edge.event.attempt if edge.event.kind is Kind.PLACED else state.attempts_used
            assert all(a.attempt == number for a in orders)
        elif edge.after.terminal and not state.terminal:
            assert [a.state for a in orders if isinstance(a, Notify)] == [edge.after.state.value]
            assert len(orders) == 1
        elif edge.event.kind is Kind.CLOCK_SET and entered is Phase.RETAINED:
            assert [type(a) for a in orders] == [Hold], "what is waited for is set again"
        else:
            assert orders == []


def test_every_order_has_an_answer_that_moves_on(graph: Graph) -> None:
    """And the answer of an order that is still open is never refused, whatever happened to the tasks meanwhile."""
    for state in graph.edges:
        for kind in ANSWERS.get(phase(state) or Phase.ENDED, ()):
            if kind in ANSWERS[Phase.RUNNING]:
                continue
            assert (phase(answer(state, kind)), why(answer(state, kind))) != (phase(state), why(state))


def test_facts_about_another_try_change_nothing(graph: Graph) -> None:
    """The attempt number is the fence: old and future numbers are ignored, but for what is about the job itself."""
    job_wide = {Kind.STOP_REQUESTED, Kind.EXPIRED, Kind.DURATION_CHANGED, Kind.PRIORITY_CHANGED, Kind.CLOCK_SET}
    for state, edge in graph.moves():
        if edge.event.attempt in (0, state.attempts_used) or edge.event.kind in job_wide:
            continue
        if edge.event.kind is Kind.PLACED and state.state is JobState.QUEUED:
            assert edge.event.attempt == state.attempts_used + 1 or edge.after is state
            continue
        assert edge.after is state
        assert edge.actions == ()


def test_the_duration_ends_every_try(graph: Graph) -> None:
    """A due expiry ends waiting and running in any try; one that comes early sets the watch again (R191-R192)."""
    for state, edge in graph.moves():
        if edge.event.kind is not Kind.EXPIRED or state.terminal:
            continue
        if state.expires_at is None or edge.event.at < DUE:
            assert edge.after is state
            assert edge.actions == (Watch(state.id, edge.actions[0].attempt, state.expires_at),)
        elif state.state is JobState.QUEUED:
            assert edge.after.state is JobState.EXPIRED
        elif phase(state) in (Phase.PLACED, Phase.STAGING, Phase.STARTING, Phase.PENDING, Phase.RUNNING):
            assert (phase(edge.after), why(edge.after)) == (Phase.DRAINING, Why.EXPIRE)


def test_a_change_of_the_limit_or_the_priority_is_planned_at_once(graph: Graph) -> None:
    """R170, R191: it may let this job start, or another one that waits for its end."""
    for state, edge in graph.moves():
        if edge.event.kind in (Kind.DURATION_CHANGED, Kind.PRIORITY_CHANGED) and not state.terminal:
            assert WakePlanner(state.id) in edge.actions


def test_how_a_job_is_shared_changes_in_every_state_and_nothing_else_does(graph: Graph) -> None:
    """R223: also after the end, which absorbs all else."""
    for state in graph.edges:
        event = Event(state.id, Kind.SHARED, EPOCH, "ann", data={"share": "read", "before": "none"})
        after, actions = reduce(state, event)
        assert after == replace(state, share=JobShare.READ, version=state.version + 1)
        assert actions == ()


def test_tags_and_note_change_in_every_state_and_nothing_else_does(graph: Graph) -> None:
    """Also after the end; what an event does not name stays."""
    for state in graph.edges:
        event = Event(state.id, Kind.ANNOTATED, EPOCH, "ann", data={"tags": ["a", "b"], "before": {"tags": []}})
        after, actions = reduce(state, event)
        assert after == replace(state, tags=("a", "b"), version=state.version + 1)
        assert actions == ()
        noted, _ = reduce(after, replace(event, data={"note": "x", "before": {"note": ""}}))
        assert (noted.tags, noted.note) == (("a", "b"), "x")


def test_a_second_copy_of_an_event_changes_nothing_more(graph: Graph) -> None:
    """Answers may come twice (a restarted server asks again): the copy is ignored."""
    twice: set[Kind] = {kind for kinds in ANSWERS.values() for kind in kinds} | {
        Kind.PLACED,
        Kind.TASK_LOST,
        Kind.FAULT,
    }
    for state, edge in graph.moves():
        if edge.event.kind in twice and edge.event.attempt and edge.after is not state:
            again = _edge(graph, edge)
            if again is not None:
                assert again.after is edge.after or again.after == edge.after
                assert again.actions == ()


def _edge(graph: Graph, edge: Edge) -> Edge | None:
    """The edge of the very same event in the state that it led to."""
    if edge.after.attempts_used != edge.event.attempt:
        return None  # tries are capped in the walk: the number means another try there
    return next((e for e in graph.edges[edge.after] if e.event == edge.event), None)
