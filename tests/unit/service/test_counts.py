"""Jobs by state and owner, without counting rows."""

from dataclasses import replace

from tests.fixtures.histories import new_job
from tests.fixtures.seeing import ALL, only
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Shown
from trainmaster.service.scheduling.counts import Group, StateCounts


def ended(job: Job) -> Job:
    return replace(job, state=JobState.SUCCEEDED)


def test_every_durable_change_is_counted_once() -> None:
    counts = StateCounts()
    ann, bob = new_job(1, owner="ann"), new_job(2, owner="bob")
    counts.changed([ann, bob], [])
    counts.changed([ann], [])  # nothing that shows
    assert counts.by_state(ALL) == {Shown.QUEUED: 2}
    counts.changed([ended(ann)], [])
    assert counts.by_state(ALL) == {Shown.QUEUED: 1, Shown.SUCCEEDED: 1}
    assert counts.by_state(only("ann")) == {Shown.SUCCEEDED: 1}
    counts.changed([], [ended(ann)])
    assert counts.by_state(only("ann")) == counts.by_state(only("nobody")) == {}
    assert counts.by_state(ALL) == counts.by_state(only("bob")) == {Shown.QUEUED: 1}


def test_a_batch_may_hold_a_whole_life() -> None:
    counts = StateCounts()
    counts.changed([ended(new_job(1))], [])
    assert counts.by_state(ALL) == {Shown.SUCCEEDED: 1}


def test_it_begins_anew_from_the_rows() -> None:
    counts = StateCounts()
    live = new_job(1, owner="ann")
    counts.changed([new_job(5)], [])
    counts.restore(
        {
            ("ann", "default", "none", "queued"): 1,
            ("ann", "default", "read", "failed"): 3,
            ("bob", "default", "none", "no state at all"): 1,
        },
        [live],
    )
    assert counts.by_state(ALL) == {Shown.QUEUED: 1, Shown.FAILED: 3}
    counts.changed([ended(live)], [])
    assert counts.by_state(only("ann")) == {Shown.FAILED: 3, Shown.SUCCEEDED: 1}


def test_what_was_set_aside_is_no_job_any_more() -> None:
    counts = StateCounts()
    live = new_job(1, owner="ann")
    counts.restore({("ann", "default", "none", "queued"): 1, ("bob", "default", "none", "succeeded"): 2}, [live])
    counts.set_aside(live.id, Group("ann", "default"), "broken too")
    counts.set_aside("t123", Group("bob", "default"), "succeeded")
    counts.set_aside("t124", Group("bob", "default"), "no state at all")
    assert counts.by_state(ALL) == counts.by_state(only("bob")) == {Shown.SUCCEEDED: 1}
