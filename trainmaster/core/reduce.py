"""`reduce(job, event) -> (job, actions)`: the only thing that changes a job. Pure.

Update first (the new record), then say what must be done (actions); nothing here does it. A fact that has no meaning
in the present state (an older attempt, a terminal job, a pair absent from the table) leaves the job as it is apart from
its `version`, and orders nothing. Invariants, walked exhaustively in the tests: terminal states absorb; neither a
terminal nor a queued job holds an attempt that is live; `succeeded` only through `saved`; a stop leads to `stopped`
from every live state in which the outputs are not yet all that counts; an engine that loses everything never strands a
job and never counts as success.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

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
from trainmaster.core.completion import judge
from trainmaster.core.events import Event, Kind
from trainmaster.core.money.rates import rates_from_json
from trainmaster.core.records import (
    Assignment,
    Attempt,
    Job,
    Task,
    Verdict,
    assignment_from_json,
    job_from_json,
    replace,
    role_from_json,
    verdict_from_json,
)
from trainmaster.core.shift import shifted
from trainmaster.core.states import (
    ATTEMPT_TABLE,
    FINAL_STATE,
    STRENGTH,
    Edge,
    JobShare,
    JobState,
    Phase,
    Priority,
    Signal,
    TaskPhase,
    Why,
)
from trainmaster.core.verdicts import FREE, WAITED_OUT, pause_after
from trainmaster.messages.jobs import tasks
from trainmaster.messages.said import said_in

Result = tuple[Job, tuple[Action, ...]]

_SIGNAL_OF: Final[dict[Kind, Signal]] = {
    Kind.CHECKED: Signal.CHECKED,
    Kind.BAD_NODE: Signal.BAD_NODE,
    Kind.STAGED: Signal.STAGED,
    Kind.ACCEPTED: Signal.ACCEPTED,
    Kind.STARTED: Signal.STARTED,
    Kind.LAUNCH_FAILED: Signal.BAD,
    Kind.STOP_REQUESTED: Signal.STOP,
    Kind.EXPIRED: Signal.EXPIRE,
    Kind.FAULT: Signal.FAULT,
    Kind.PREEMPTED: Signal.PREEMPT,
    Kind.RELEASED: Signal.RELEASE,
    Kind.SAVED: Signal.SAVED,
    Kind.SAVE_FAILED: Signal.UNSAVED,
    Kind.REAPED: Signal.REAPED,
}

_VERDICT_OF: Final[dict[Kind, str]] = {
    Kind.BAD_NODE: "bad_node",
    Kind.LAUNCH_FAILED: "launch_failed",
    Kind.STOP_REQUESTED: "stopped",
    Kind.EXPIRED: "expired",
    Kind.FAULT: "lost",
    Kind.SAVE_FAILED: "save_failed",
}


_ABOUT_THE_JOB: Final = frozenset({Kind.STOP_REQUESTED, Kind.EXPIRED})
"""Kinds that mean the job whatever attempt they name: who asks for a stop cannot know of the next try."""


def reduce(job: Job | None, event: Event) -> Result:
    """Return the job after `event` and the orders that follow. `job` is None only for `submitted`. O(tasks).

    Raises ValueError when the first event of a job is not `submitted`, and KeyError, TypeError or ValueError when the
    event's data is malformed (the ledger refuses such an event before it is stored).
    """
    if job is None:
        if event.kind is not Kind.SUBMITTED:
            raise ValueError(f"the first event of a job must be submitted, not {event.kind}")
        given = event.data["job"]  # as read back from the ledger, or the record itself before it was stored
        new = replace(given if isinstance(given, Job) else job_from_json(given), queued_at=event.at, version=1)
        return new, (WakePlanner(new.id),)
    after, actions = _apply(job, event)
    return replace(after, version=job.version + 1), actions


def _apply(job: Job, event: Event) -> Result:
    if event.kind is Kind.SHARED:  # also after the end
        return replace(job, share=JobShare(event.data["share"])), ()
    if event.kind is Kind.ANNOTATED:  # also after the end
        return replace(job, tags=tuple(event.data.get("tags", job.tags)), note=event.data.get("note", job.note)), ()
    if job.terminal or event.kind in (Kind.NOTED, Kind.ENTERED, Kind.SUBMITTED):
        return job, ()
    if event.kind is Kind.EXPIRED and (job.expires_at is None or event.at < job.expires_at):
        # The timer was early, or the duration was changed meanwhile (R191).
        return job, (Watch(job.id, _number(job), job.expires_at),)
    if event.kind is Kind.DURATION_CHANGED:
        changed = replace(job, policy=replace(job.policy, duration_s=event.data["duration_s"]))
        return changed, (Watch(job.id, _number(job), changed.expires_at), WakePlanner(job.id), *_adjust(job))
    if event.kind is Kind.PRIORITY_CHANGED:
        return replace(job, priority=Priority(event.data["priority"])), (WakePlanner(job.id), *_adjust(job))
    if event.kind is Kind.CLOCK_SET:
        return _clock_set(job, float(event.data["by_s"]))
    if job.state is JobState.QUEUED:
        return _apply_queued(job, event)
    return _apply_active(job, event)


def _number(job: Job) -> int:
    return job.attempt.number if job.attempt else 0


def _clock_set(job: Job, by_s: float) -> Result:
    """Move every time, so that no duration changes, and set again what is waited for."""
    job = shifted(job, by_s)
    actions: tuple[Action, ...] = (Watch(job.id, _number(job), job.expires_at),)
    if job.attempt is not None and job.attempt.phase is Phase.RETAINED and job.attempt.retained_at is not None:
        actions += (Hold(job.id, job.attempt.number, job.attempt.retained_at + job.policy.debug_hold_s),)
    return job, actions


def _adjust(job: Job) -> tuple[Action, ...]:
    """Order that the engine that has the job in its own queue is told of a change."""
    launched = job.attempt is not None and job.attempt.phase in (Phase.STARTING, Phase.PENDING, Phase.RUNNING)
    return (Adjust(job.id, _number(job)),) if launched else ()


def _apply_queued(job: Job, event: Event) -> Result:
    if event.kind is Kind.PLACED and event.attempt == job.attempts_used + 1:
        job = _as_placed(job, event)
        placement = _whole_gang(job, event)
        attempt = Attempt(
            number=event.attempt,
            cause=job.next_cause,
            phase=Phase.PLACED,
            placement=placement,
            tasks=tuple(Task(a.role, a.index) for a in placement),
            created_at=event.at,
            rates=rates_from_json(event.data.get("rates", ())),
        )
        active = replace(job, state=JobState.ACTIVE, attempt=attempt, attempts_used=event.attempt)
        return active, (Precheck(job.id, event.attempt),)
    if event.kind in (Kind.STOP_REQUESTED, Kind.EXPIRED):
        state = JobState.STOPPED if event.kind is Kind.STOP_REQUESTED else JobState.EXPIRED
        ended = replace(job, state=state, ended_at=event.at, verdict=_verdict(event))
        return ended, (Notify(job.id, 0, state.value), WakePlanner(job.id))
    return job, ()


def _as_placed(job: Job, event: Event) -> Job:
    """Return `job` with the roles that were really placed: another flavor, or fewer replicas of an elastic role."""
    given = event.data.get("roles")
    if given is None:
        return job
    return replace(job, roles=tuple(role_from_json(role) for role in given), shapes=job.shapes or (job.roles,))


def _whole_gang(job: Job, event: Event) -> tuple[Assignment, ...]:
    placement = tuple(assignment_from_json(a) for a in event.data["placement"])
    wanted = [(role, index) for role in range(len(job.roles)) for index in range(job.roles[role].replicas)]
    if sorted((a.role, a.index) for a in placement) != wanted:
        raise ValueError(f"a placement of {job.id} must place each of its {len(wanted)} replicas exactly once")
    return placement


def _apply_active(job: Job, event: Event) -> Result:
    attempt = job.attempt
    assert attempt is not None, "an active job has an attempt"
    if event.attempt not in (0, attempt.number) and event.kind not in _ABOUT_THE_JOB:
        return job, ()
    if event.kind in _TASK_RULES:
        return _apply_task(job, attempt, event)
    signal = _SIGNAL_OF.get(event.kind)
    return _step(job, attempt, signal, event) if signal is not None else (job, ())


def _apply_task(job: Job, attempt: Attempt, event: Event) -> Result:
    """Change one task, then ask the completion rules, which count only while the attempt runs."""
    old = attempt.task(event.data["role"], event.data["index"])
    new = _TASK_RULES[event.kind](old, event) if old is not None and not old.ended else None
    if old is None or new is None:
        return job, ()
    attempt = replace(attempt, tasks=tuple(new if task is old else task for task in attempt.tasks))
    actions: tuple[Action, ...] = ()
    if new.started_at is not None and attempt.started_at is None:  # a task lost before it ran started nothing
        attempt = replace(attempt, started_at=event.at)
        if job.started_at is None:
            job = replace(job, started_at=event.at)
            actions = (Watch(job.id, attempt.number, job.expires_at),)
    job = replace(job, attempt=attempt)
    if attempt.phase is not Phase.RUNNING:
        return job, actions
    return _judged(job, attempt, event, actions)


def _judged(job: Job, attempt: Attempt, event: Event, before: tuple[Action, ...]) -> Result:
    outcome = judge(job.roles, attempt.tasks)
    if outcome is None:
        return job, before
    job = replace(job, attempt=replace(attempt, verdict=outcome.verdict))
    signal = Signal.DONE_OK if outcome.ok else Signal.DONE_FAIL
    assert job.attempt is not None
    after, actions = _step(job, job.attempt, signal, event)
    return after, before + actions


def _task_running(task: Task, event: Event) -> Task | None:
    return replace(task, phase=TaskPhase.RUNNING, started_at=event.at) if task.phase is TaskPhase.WAITING else None


def _task_exited(task: Task, event: Event) -> Task | None:
    data = event.data
    verdict = verdict_from_json(data.get("verdict"))
    return replace(
        task,
        phase=TaskPhase.EXITED,
        exit_code=data.get("exit_code"),
        signal=data.get("signal"),
        started_at=task.started_at or event.at,
        ended_at=event.at,
        verdict=verdict,
    )


def _task_lost(task: Task, event: Event) -> Task | None:
    code = event.data.get("code", "lost")
    verdict = Verdict(code, said_in(event.data), role=task.role, index=task.index)
    return replace(task, phase=TaskPhase.LOST, ended_at=event.at, verdict=verdict)


_TASK_RULES: Final[dict[Kind, Callable[[Task, Event], Task | None]]] = {
    Kind.TASK_RUNNING: _task_running,
    Kind.TASK_EXITED: _task_exited,
    Kind.TASK_LOST: _task_lost,
}


def _verdict(event: Event, code: str | None = None) -> Verdict | None:
    code = code or event.data.get("code") or _VERDICT_OF.get(event.kind)
    return Verdict(code, said_in(event.data)) if code else None


def _step(job: Job, attempt: Attempt, signal: Signal, event: Event) -> Result:
    """Move the attempt along ATTEMPT_TABLE and order what the new phase needs."""
    edge = ATTEMPT_TABLE.get((attempt.phase, signal))
    if edge is None:
        return job, ()
    if edge.phase is Phase.ENDED:
        return _reaped(job, attempt, event)
    if signal is Signal.DONE_FAIL:
        edge = _failure_edge(job, attempt)
    if edge.phase is Phase.DRAINING:
        return _drain(job, attempt, edge, event)
    return _enter(job, attempt, edge.phase, event)


def _failure_edge(job: Job, attempt: Attempt) -> Edge:
    """A failed attempt is retried, held for debugging, or fails the job, in this order of what the policy allows."""
    if _of(attempt, FREE):
        return Edge(Phase.DRAINING, Why.FAULT)
    lost = attempt.verdict is not None and attempt.verdict.code == "lost"
    if lost and job.faults_used < job.policy.fault_restarts:
        return Edge(Phase.DRAINING, Why.FAULT)
    if job.retries_used < job.policy.retries:
        return Edge(Phase.DRAINING, Why.RETRY)
    if job.policy.debug_hold_s > 0 and not lost:
        return Edge(Phase.RETAINED)
    return Edge(Phase.DRAINING, Why.FAIL)


def _of(attempt: Attempt | None, codes: frozenset[str]) -> bool:
    return attempt is not None and attempt.verdict is not None and attempt.verdict.code in codes


def _pause(job: Job, why: Why | None) -> float:
    """Return how long to wait before the next try: twice as long as before the last one, while a trouble lasts."""
    return pause_after(job.pause_s) if why is Why.FAULT and _of(job.attempt, WAITED_OUT) else 0.0


def _drain(job: Job, attempt: Attempt, edge: Edge, event: Event) -> Result:
    why = edge.why
    assert why is not None
    if attempt.phase is Phase.DRAINING and attempt.why is not None and STRENGTH[why] <= STRENGTH[attempt.why]:
        return job, ()
    verdict = _verdict(event) if event.kind in _VERDICT_OF else attempt.verdict
    attempt = replace(
        attempt,
        phase=Phase.DRAINING,
        why=why,
        verdict=verdict or attempt.verdict,
        draining_at=attempt.draining_at if attempt.draining_at is not None else event.at,
    )
    job = replace(job, attempt=attempt)
    if event.kind is Kind.SAVED:
        job = replace(job, model=event.data.get("model"))
    if event.kind is Kind.PREEMPTED:
        job = replace(job, preempted_at=event.at)
    return job, (Reap(job.id, attempt.number, job.policy.grace_s),)


def _enter(job: Job, attempt: Attempt, phase: Phase, event: Event) -> Result:
    number = attempt.number
    if phase is Phase.STAGING:
        return _in_phase(job, attempt, phase), (Stage(job.id, number),)
    if phase is Phase.STARTING:
        return _in_phase(job, attempt, phase), (Launch(job.id, number),)
    if phase is Phase.PENDING:
        return replace(job, attempt=replace(attempt, phase=phase, accepted_at=event.at)), ()
    if phase is Phase.RUNNING:
        # Another job may be handed to the engine's own queue, which has room now.
        before: tuple[Action, ...] = (WakePlanner(job.id),) if attempt.phase is Phase.PENDING else ()
        attempt = _where_it_runs(job, replace(attempt, phase=phase), event)
        return _judged(replace(job, attempt=attempt), attempt, event, before)  # tasks may have ended before we heard
    if phase is Phase.SAVING:
        return _in_phase(job, attempt, phase), (Save(job.id, number),)
    assert phase is Phase.RETAINED
    attempt = replace(attempt, phase=phase, retained_at=event.at)
    return replace(job, attempt=attempt), (Hold(job.id, number, event.at + job.policy.debug_hold_s),)


def _where_it_runs(job: Job, attempt: Attempt, event: Event) -> Attempt:
    """Return `attempt` with the places in the event, if its engine chose them."""
    if "placement" not in event.data:
        return attempt
    places = {(place.role, place.index): place for place in _whole_gang(job, event)}
    return replace(attempt, placement=tuple(places[task.role, task.index] for task in attempt.tasks))


def _in_phase(job: Job, attempt: Attempt, phase: Phase) -> Job:
    return replace(job, attempt=replace(attempt, phase=phase))


def _reaped(job: Job, attempt: Attempt, event: Event) -> Result:
    """The engine confirms that nothing is left: decide the job."""
    why = attempt.why
    ended = replace(attempt, phase=Phase.ENDED, ended_at=event.at)
    job = replace(job, attempt=ended)
    if attempt.phase is Phase.RETAINED:
        why = Why.FAIL
    state = FINAL_STATE.get(why) if why is not None else None
    if state is not None:
        return _finish(job, state, event)
    again = _charge(job, why)
    if again is None:
        return _finish(job, JobState.FAILED, event)
    cause = why.value if why is not None else "fault"
    roles = again.shapes[0] if again.shapes else again.roles
    waits = replace(
        again, state=JobState.QUEUED, queued_at=event.at, next_cause=cause, roles=roles, pause_s=_pause(job, why)
    )
    return waits, (WakePlanner(job.id),)


def _charge(job: Job, why: Why | None) -> Job | None:
    """Take the next attempt from the budget its reason names; None when that is spent.

    A preemption is free, and so is what ended by the platform's own trouble.
    """
    policy = job.policy
    if why is Why.PREEMPTED or (why is Why.FAULT and _of(job.attempt, FREE)):
        return job
    if why is Why.RETRY:
        return replace(job, retries_used=job.retries_used + 1) if job.retries_used < policy.retries else None
    nothing_ran = job.attempt is not None and job.attempt.started_at is None
    if why is Why.BAD_NODE or (why in (None, Why.FAULT) and nothing_ran):
        spent = job.bad_nodes_used
        return replace(job, bad_nodes_used=spent + 1) if spent < policy.bad_node_limit else None
    return replace(job, faults_used=job.faults_used + 1) if job.faults_used < policy.fault_restarts else None


def _finish(job: Job, state: JobState, event: Event) -> Result:
    verdict = job.attempt.verdict if job.attempt else None
    if verdict is None and state is JobState.FAILED:
        verdict = Verdict("lost", tasks.nothing_left_of_attempt())
    done = replace(job, state=state, ended_at=event.at, verdict=verdict)
    return done, (Notify(job.id, _number(job), state.value), WakePlanner(job.id))
