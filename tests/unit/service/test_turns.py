"""Of some sweeps only so many entries run at a time: the others wait for their turn, in no queue."""

from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.histories import new_job
from trainmaster.core.records import Job, replace
from trainmaster.core.states import JobState
from trainmaster.service.scheduling.turns import SweepTurns


def entry(number: int, most: int = 2, sweep: str = "s1") -> Job:
    return replace(new_job(number), sweep=sweep, sweep_index=number, sweep_most=most)


def in_state(job: Job, state: JobState) -> Job:
    return replace(job, state=state)


def test_the_first_have_their_turn_and_the_others_follow_in_order() -> None:
    turns, jobs = SweepTurns(), [entry(number) for number in range(1, 5)]
    assert [turns.holds(job) for job in jobs] == [False, False, True, True]
    assert [turns.holds(job) for job in jobs] == [False, False, True, True]  # asked again, of who is queued again
    assert list(turns.moved(in_state(jobs[0], JobState.ACTIVE))) == []
    assert [one.id for one in turns.moved(in_state(jobs[0], JobState.FAILED))] == [jobs[2].id]
    reason = turns.reason(jobs[3])
    assert reason is not None
    assert (reason.code, reason.evidence) == ("sweep_turn", {"most": 2, "running": 2})
    assert reason.message.en == "At most 2 entries of the sweep run at a time"
    assert turns.reason(jobs[2]) is None
    assert list(turns.moved(in_state(jobs[3], JobState.STOPPED))) == []  # stopped while it waited
    assert turns.reason(jobs[3]) is None


def test_sweeps_and_other_jobs_do_not_wait_for_one_another() -> None:
    turns = SweepTurns()
    assert not turns.holds(entry(1, 1))
    assert turns.holds(entry(2, 1))
    assert not turns.holds(entry(3, 1, "s2"))
    assert not turns.holds(new_job(4))
    assert not turns.holds(replace(new_job(5), sweep="s1", sweep_index=5))  # of one without a bound


@given(st.integers(1, 4), st.lists(st.integers(0, 20), max_size=60))
def test_never_more_than_so_many_and_nobody_is_forgotten(most: int, ends: list[int]) -> None:
    turns, jobs = SweepTurns(), [entry(number, most) for number in range(1, 12)]
    out = [job for job in jobs if not turns.holds(job)]
    left = jobs[len(out) :]
    for place in ends:
        assert len(out) <= most
        if not out:
            break
        gone = out.pop(place % len(out))
        for job in turns.moved(in_state(gone, JobState.SUCCEEDED)):
            assert job.id == left.pop(0).id
            out.append(job)
    while out:
        out += turns.moved(in_state(out.pop(0), JobState.SUCCEEDED))
        assert len(out) <= most
    assert turns._out == turns._waiting == {}
