"""When is an attempt done? R36-R38, R85-R86, R136, D2, D3, D11, case by case and over random roles."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Story, job, placement
from trainmaster.core.actions import Hold, Notify, Reap, Save
from trainmaster.core.completion import judge
from trainmaster.core.events import Kind
from trainmaster.core.records import Role, Task, Verdict, to_json
from trainmaster.core.states import JobState, Phase, TaskPhase, Why
from trainmaster.core.verdicts import PLATFORM_STOPPED, SANDBOX_FAILED
from trainmaster.messages import render
from trainmaster.messages.said import verbatim

Ends = str
"""One letter per task: . waiting, r running, s succeeded, f failed (exit 1), k killed, l lost, p stopped with the
platform.
"""


def tasks(*ends: Ends) -> tuple[Task, ...]:
    made = {
        ".": {},
        "r": {"phase": TaskPhase.RUNNING},
        "s": {"phase": TaskPhase.EXITED, "exit_code": 0, "ended_at": 1.0},
        "f": {"phase": TaskPhase.EXITED, "exit_code": 1, "ended_at": 1.0},
        "k": {"phase": TaskPhase.EXITED, "signal": 9, "ended_at": 1.0},
        "l": {"phase": TaskPhase.LOST, "ended_at": 1.0},
        "p": {"phase": TaskPhase.LOST, "ended_at": 1.0, "verdict": Verdict(PLATFORM_STOPPED)},
    }
    return tuple(
        Task(role, index, **made[letter]) for role, letters in enumerate(ends) for index, letter in enumerate(letters)
    )


def outcome(roles: list[Role], *ends: Ends) -> bool | None:
    found = judge(tuple(roles), tasks(*ends))
    return None if found is None else found.ok


def worker(**rules: Any) -> Role:
    return Role("worker", 3, **rules)


def ps(**rules: Any) -> Role:
    return Role("ps", 1, **rules)


TABLE: list[tuple[str, list[Role], tuple[Ends, ...], bool | None]] = [
    ("D2: absent min-failed is 1", [worker()], ("rrf",), False),
    ("D2: a kill counts as a failure", [worker()], ("rrk",), False),
    ("D2: a loss counts as a failure", [worker()], ("rrl",), False),
    ("B2: a stop of the platform ends the attempt", [worker()], ("srp",), False),
    ("B2: whatever its rules for failures say", [worker(min_failed=None)], ("ppp",), False),
    ("B2: a stop of the platform is no end of a role that ends the job", [worker(main=True)], ("ssp",), False),
    ("B2: what was complete before counts", [worker(main=True), ps()], ("sss", "p"), True),
    ("R37: below min-failed it goes on", [worker(min_failed=2)], ("rrf",), None),
    ("R37: at min-failed it fails", [worker(min_failed=2)], ("rff",), False),
    ("R37: enough ended below min-failed succeeds", [worker(min_failed=2)], ("ssf",), True),
    ("R85: null never fails the job", [worker(min_failed=None)], ("rff",), None),
    ("R85: null succeeds even when all failed", [worker(min_failed=None)], ("fff",), True),
    ("R86: null min-succeeded waits for all", [worker()], ("ssr",), None),
    ("R86: null min-succeeded, all ended", [worker()], ("sss",), True),
    ("R36: min-succeeded completes the role", [worker(min_succeeded=2)], ("ssr",), True),
    ("R36: not yet", [worker(min_succeeded=2)], ("srr",), None),
    ("R36: can no longer be reached, all ended", [worker(min_succeeded=2, min_failed=None)], ("sff",), False),
    ("D11: completing a role does not end the job", [worker(min_succeeded=1), ps()], ("srr", "r"), None),
    ("D11: ends_job does", [worker(min_succeeded=1, ends_job=True), ps()], ("srr", "r"), True),
    ("R136: so does main", [worker(main=True), ps()], ("sss", "r"), True),
    ("R136: main waits for all its tasks", [worker(main=True), ps()], ("ssr", "r"), None),
    ("R136: a failed main fails the job", [worker(main=True), ps()], ("ssf", "r"), False),
    ("R136: the other role ending does not complete", [worker(main=True), ps()], ("rrr", "s"), None),
    ("R136: the other role failing does fail", [worker(main=True), ps()], ("rrr", "f"), False),
    ("D11: all roles complete", [worker(), ps()], ("sss", "s"), True),
    ("D3: main complete beats another's failure", [worker(main=True), ps()], ("sss", "f"), True),
    ("D3: ends_job by min-succeeded beats its own failure", [worker(min_succeeded=1, ends_job=True)], ("sfr",), True),
    ("D3: failure beats all roles complete", [worker(min_succeeded=2), ps()], ("ssf", "s"), False),
    ("nothing has begun", [worker(), ps()], ("...", "."), None),
]


@pytest.mark.parametrize(("roles", "ends", "ok"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_completion_table(roles: list[Role], ends: tuple[Ends, ...], ok: bool | None) -> None:
    assert outcome(roles, *ends) is ok


roles_strategy = st.builds(
    Role,
    name=st.just("r"),
    replicas=st.integers(1, 3),
    min_succeeded=st.none() | st.integers(1, 3),
    min_failed=st.none() | st.integers(1, 3),
    main=st.booleans(),
    ends_job=st.booleans(),
).filter(lambda role: (role.min_succeeded or 0) <= role.replicas)


@given(st.lists(roles_strategy, min_size=1, max_size=3), st.data())
def test_every_attempt_is_decided_once_all_tasks_ended(roles: list[Role], data: st.DataObject) -> None:
    """And what is decided stays decided the same way, unless a main role completes afterwards (D3)."""
    ends = [data.draw(st.text("rsfkl", min_size=role.replicas, max_size=role.replicas)) for role in roles]
    found = outcome(roles, *ends)
    if not any("r" in letters for letters in ends):
        assert found is not None
    if found:
        later = [letters.replace("r", data.draw(st.sampled_from("sfkl"))) for letters in ends]
        no_failure_rule = all(role.min_failed is None for role in roles)
        if no_failure_rule:
            assert outcome(roles, *later) is True
    anyone = "".join(ends)
    if "f" not in anyone and "k" not in anyone and "l" not in anyone:
        assert found is not False


def test_the_verdict_names_the_first_task_that_failed() -> None:
    story = Story(job().role("w", 3, min_failed=2).done()).to_running().exits(7, index=2).exits(8, index=0)
    verdict = story.reaped().job.verdict
    assert verdict is not None
    assert (verdict.code, verdict.index, verdict.exit_code) == ("exit_code", 2, 7)
    assert render.text(verdict.said) == "w-2 ended with exit code 7"


def test_too_few_successes_are_told_with_numbers() -> None:
    found = judge((worker(min_succeeded=3, min_failed=None),), tasks("ssf"))
    assert found is not None
    assert found.verdict.code == "too_many_failures"
    assert "2 of the 3" in render.text(found.verdict.said)


# -- the same rules through a whole life ---------------------------------------------------------------------------


def test_a_successful_life() -> None:
    story = Story(job().role("w", 2).done()).to_running().exits(0).exits(0, index=1)
    story.expect(Save).is_now(JobState.ACTIVE, Phase.SAVING)
    story.saved("m1@3").expect(Reap).is_now(JobState.ACTIVE, Phase.DRAINING)
    story.reaped().expect(Notify).is_now(JobState.SUCCEEDED).nothing_else()
    assert (story.job.model, story.job.verdict and story.job.verdict.code) == ("m1@3", "ok")


def test_a_failed_command_is_retried_as_often_as_allowed() -> None:
    """R88: two retries are three tries in all."""
    story = Story(job().retries(2).done())
    for cause in ("first", "retry", "retry"):
        story.to_running().exits(1).expect(Reap)
        assert story.job.attempt is not None
        assert story.job.attempt.cause == cause
        story.reaped()
    story.is_now(JobState.FAILED)
    assert (story.job.attempts_used, story.job.retries_used) == (3, 2)


def test_a_lost_task_costs_a_fault_before_a_retry() -> None:
    """R181: what the platform lost is not charged to the user's retries while fault restarts are left."""
    story = Story(job().retries(1).fault_restarts(1).done())
    story.to_running().lost().reaped().is_now(JobState.QUEUED)
    assert (story.job.faults_used, story.job.retries_used) == (1, 0)
    story.to_running().lost().reaped().is_now(JobState.QUEUED)
    assert (story.job.faults_used, story.job.retries_used) == (1, 1)


def test_a_sandbox_that_was_not_made_costs_no_retry() -> None:
    """Nor may it fail for it, however long the trouble lasts: it waits twice as long each time, five minutes at
    most.
    """
    story = Story(job().policy(bad_node_limit=2, debug_hold_s=60.0).done())
    failed = to_json(Verdict(SANDBOX_FAILED, verbatim("it")))
    for pause_s in (5, 10, 20, 40, 80, 160, 300, 300):
        story.to_running().happens(Kind.TASK_EXITED, role=0, index=0, exit_code=1, verdict=failed)
        story.reaped().is_now(JobState.QUEUED)
        assert story.job.pause_s == pause_s
        assert (story.job.bad_nodes_used, story.job.retries_used, story.job.faults_used) == (0, 0, 0)
    story.to_running().happens(Kind.PREEMPTED).reaped().is_now(JobState.QUEUED)
    assert story.job.pause_s == 0


def test_a_stop_of_the_platform_costs_nothing() -> None:
    """Neither a retry nor a fault restart, however often, and it is not held for debugging."""
    story = Story(job().retries(1).fault_restarts(1).policy(debug_hold_s=60.0).done())
    for _ in range(3):
        story.to_running().happens(Kind.TASK_LOST, role=0, index=0, reason="rebooted", code=PLATFORM_STOPPED)
        assert story.job.attempt is not None
        assert story.job.attempt.verdict == Verdict(PLATFORM_STOPPED, verbatim("rebooted"), role=0, index=0)
        story.reaped().is_now(JobState.QUEUED)
    assert (story.job.faults_used, story.job.retries_used) == (0, 0)


def test_a_failed_attempt_is_held_for_debugging() -> None:
    """R90: resources stay until the hold ends or somebody stops it; then it has failed, or was stopped."""
    story = Story(job().policy(debug_hold_s=60.0).done()).to_running().exits(1)
    (hold,) = story.orders
    assert isinstance(hold, Hold)
    assert hold.until == story.now + 60.0
    story.orders.clear()
    story.happens(Kind.RELEASED).expect(Reap).reaped().is_now(JobState.FAILED)
    stopped = Story(job().policy(debug_hold_s=60.0).done()).to_running().exits(1).stop().reaped()
    stopped.is_now(JobState.STOPPED)


def test_tasks_that_ended_before_started_was_heard_count() -> None:
    """Short tasks may end while the launch is still being confirmed: the outcome is judged on `started`."""
    story = Story(job().done()).placed().happens(Kind.CHECKED).happens(Kind.STAGED).exits(0)
    story.is_now(JobState.ACTIVE, Phase.STARTING)
    story.orders.clear()
    story.happens(Kind.STARTED).expect(Save).is_now(JobState.ACTIVE, Phase.SAVING)


def test_a_task_that_was_lost_before_it_ran_started_nothing() -> None:
    """R191: the duration counts from the first task that ran."""
    story = Story(job().policy(duration_s=10.0).done()).placed().lost()
    assert story.job.started_at is None
    assert story.job.expires_at is None


def test_a_launch_that_is_answered_after_the_stop_changes_nothing() -> None:
    """B2: what was started meanwhile is reaped with the rest."""
    story = Story(job().done()).placed().happens(Kind.CHECKED).happens(Kind.STAGED).stop()
    story.happens(Kind.STARTED).is_now(JobState.ACTIVE, Phase.DRAINING)
    assert story.job.attempt is not None
    assert story.job.attempt.why is Why.STOP


def test_a_placement_that_is_not_the_whole_gang_is_refused() -> None:
    story = Story(job().role("w", 2).done())
    half = to_json(placement(story.job)[:1])
    for wrong in (half, half * 2, [{**half[0], "index": 5}, half[0]]):
        with pytest.raises(ValueError, match="exactly once"):
            story.happens(Kind.PLACED, attempt=1, placement=wrong)
