"""Jobs by state and owner, without counting rows."""

from dataclasses import replace

from tests.fixtures.histories import new_job
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Shown
from trainmaster.service.counts import StateCounts


def ended(job: Job) -> Job:
    return replace(job, state=JobState.SUCCEEDED)


def test_every_durable_change_is_counted_once() -> None:
    counts = StateCounts()
    ann, bob = new_job(1, owner="ann"), new_job(2, owner="bob")
    counts.changed([ann, bob], [])
    counts.changed([ann], [])  # nothing that shows
    assert counts.by_state() == {Shown.QUEUED: 2}
    counts.changed([ended(ann)], [])
    assert counts.by_state() == {Shown.QUEUED: 1, Shown.SUCCEEDED: 1}
    assert counts.by_state("ann") == {Shown.SUCCEEDED: 1}
    counts.changed([], [ended(ann)])
    assert counts.by_state("ann") == counts.by_state("nobody") == {}
    assert counts.by_state() == counts.by_state("bob") == {Shown.QUEUED: 1}


def test_a_batch_may_hold_a_whole_life() -> None:
    counts = StateCounts()
    counts.changed([ended(new_job(1))], [])
    assert counts.by_state() == {Shown.SUCCEEDED: 1}


def test_it_begins_anew_from_the_rows() -> None:
    counts = StateCounts()
    live = new_job(1, owner="ann")
    counts.changed([new_job(5)], [])
    counts.restore({("ann", "queued"): 1, ("ann", "failed"): 3, ("bob", "no state at all"): 1}, [live])
    assert counts.by_state() == {Shown.QUEUED: 1, Shown.FAILED: 3}
    counts.changed([ended(live)], [])
    assert counts.by_state("ann") == {Shown.FAILED: 3, Shown.SUCCEEDED: 1}


def test_what_was_set_aside_is_no_job_any_more() -> None:
    counts = StateCounts()
    live = new_job(1, owner="ann")
    counts.restore({("ann", "queued"): 1, ("bob", "succeeded"): 2}, [live])
    counts.set_aside(live.id, "ann", "broken too")
    counts.set_aside("t123", "bob", "succeeded")
    counts.set_aside("t124", "bob", "no state at all")
    assert counts.by_state() == counts.by_state("bob") == {Shown.SUCCEEDED: 1}
