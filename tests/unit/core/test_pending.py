"""An attempt in the queue of an engine that has one: accepted, pending, started where the engine chose, or never."""

import pytest

from tests.builders import Story, job, node, placement
from trainmaster.core.actions import Launch, Notify, Precheck, Reap, Stage, Watch
from trainmaster.core.events import Kind
from trainmaster.core.records import attempt_from_json, to_json
from trainmaster.core.states import JobState, Phase, Shown
from trainmaster.messages import render


def accepted(**policy: float) -> Story:
    """Return the story of a job of two replicas that a cluster has accepted."""
    story = Story(job().role("w", 2, gpu=1).policy(**policy).done()).placed()
    return story.happens(Kind.CHECKED).happens(Kind.STAGED).happens(Kind.ACCEPTED)


def test_what_is_accepted_waits_in_the_cluster_and_starts_where_the_cluster_says() -> None:
    story = accepted().is_now(JobState.ACTIVE, Phase.PENDING).expect(Precheck, Stage, Launch)
    assert story.job.shown is Shown.PENDING
    assert story.job.started_at is None
    there = placement(story.job, node("n7", gpus=2), node("n8", gpus=2))
    story.happens(Kind.STARTED, placement=to_json(there[::-1])).is_now(JobState.ACTIVE, Phase.RUNNING).nothing_else()
    attempt = story.job.attempt
    assert attempt is not None
    assert attempt.placement == there, "in the order of the tasks"
    assert attempt_from_json(to_json(attempt)) == attempt


def test_the_duration_counts_from_the_first_running_task_not_from_the_wait() -> None:
    story = accepted(duration_s=10.0).happens(Kind.EXPIRED, after=100.0).is_now(JobState.ACTIVE, Phase.PENDING)
    story.happens(Kind.STARTED, after=100.0).happens(Kind.TASK_RUNNING, role=0, index=0)
    assert story.job.expires_at == story.now + 10.0
    story.expect(Precheck, Stage, Launch, Watch, Watch)


def test_a_stop_takes_it_out_of_the_cluster_again() -> None:
    story = accepted().stop().is_now(JobState.ACTIVE, Phase.DRAINING).expect(Precheck, Stage, Launch, Reap)
    story.happens(Kind.STARTED, placement=to_json(placement(story.job))).is_now(JobState.ACTIVE, Phase.DRAINING)
    story.reaped().is_now(JobState.STOPPED).expect(Notify)


def test_what_the_cluster_loses_before_it_ran_is_handed_over_again() -> None:
    """It costs a bad node, of which there are five, and no restart after a fault, of which there may be none."""
    story = accepted(bad_node_limit=1)
    story.happens(Kind.FAULT, reason="forgotten").is_now(JobState.ACTIVE, Phase.DRAINING).reaped()
    story.is_now(JobState.QUEUED)
    assert (story.job.bad_nodes_used, story.job.faults_used) == (1, 0)


def test_what_the_cluster_refuses_after_all_fails() -> None:
    story = accepted().happens(Kind.LAUNCH_FAILED, code="launch_failed", reason="cancelled by its administrator")
    story.reaped().is_now(JobState.FAILED)
    assert story.job.verdict is not None
    assert render.text(story.job.verdict.said) == "cancelled by its administrator"


def test_what_is_accepted_after_its_start_goes_on_running() -> None:
    """The cluster was faster than its own answer, and the server that asked was killed in between."""
    story = Story(job().done()).placed().happens(Kind.CHECKED).happens(Kind.STAGED)
    story.happens(Kind.STARTED, placement=to_json(placement(story.job))).happens(Kind.ACCEPTED)
    story.is_now(JobState.ACTIVE, Phase.RUNNING)


def test_half_a_placement_is_no_placement() -> None:
    story = accepted()
    with pytest.raises(ValueError, match="2 replicas exactly once"):
        story.happens(Kind.STARTED, placement=to_json(placement(story.job)[:1]))
