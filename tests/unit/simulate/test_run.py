"""The simulator: a virtual clock around the very plan and reduce, and a queue that never learns true run times."""

from typing import Any

import pytest

from tests.unit.simulate.workloads import drawn, job, machines, of
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.snapshot import Plan, Snapshot
from trainmaster.simulate import world
from trainmaster.simulate.run import Fault, Row, SimulationOutcome, SimulationSetting, parse_fault, simulate
from trainmaster.simulate.workload import Workload


def run(work: Workload, text: str = "4x8", **rest: Any) -> SimulationOutcome:
    return simulate(work, machines(text), SimulationSetting(**rest))


def waits(outcome: SimulationOutcome) -> list[int]:
    return [row.wait_s for row in outcome.rows]


def test_what_ends_frees_its_cards_for_what_arrives_in_the_same_second() -> None:
    outcome = run(of(job(0, 0, 100, 8), job(1, 100, 50, 8)), "1x8")
    assert waits(outcome) == [0, 0]


def test_everybody_who_arrives_in_one_second_is_in_the_same_pass() -> None:
    outcome = run(of(*(job(row, 7, 10, 8) for row in range(4))))
    assert (waits(outcome), outcome.passes) == ([0] * 4, 1)


def test_a_pass_is_made_only_at_seconds_at_which_something_happens() -> None:
    outcome = run(of(job(0, 0, 1000), job(1, 500, 1000)))
    assert outcome.passes <= 4


def test_a_job_without_any_work_ends_in_the_second_it_starts() -> None:
    outcome = run(of(job(0, 5, 0, 8), job(1, 5, 10, 8)), "1x8")
    assert [(row.start_s, row.end_s) for row in outcome.rows] == [(5, 5), (5, 15)]


def test_a_limit_ends_a_job_only_after_work_that_takes_as_long() -> None:
    assert run(of(job(0, 0, 60, limit_s=60))).rows[0].state == "succeeded"


def test_a_start_costs_and_may_run_into_the_limit() -> None:
    row = run(of(job(0, 0, 60, limit_s=60)), start_cost_s=30).rows[0]
    assert (row.state, row.end_s) == ("expired", 60)


def test_what_can_never_run_is_refused_and_holds_nobody_up() -> None:
    outcome = run(of(job(0, 0, 10, 64), job(1, 0, 10)), "1x8")
    assert [row.state for row in outcome.rows] == ["refused", "succeeded"]


def test_equal_input_gives_equal_rows() -> None:
    assert run(drawn(1)).rows == run(drawn(1)).rows


@pytest.mark.parametrize("seed", range(4))
def test_no_card_is_held_twice_and_every_job_runs_its_work(seed: int) -> None:
    outcome = run(drawn(seed))
    assert all(row.run_s == row.job.work_s and row.state == "succeeded" for row in outcome.rows)
    for second in {row.start_s for row in outcome.rows}:
        assert sum(row.job.cards for row in outcome.rows if _runs(row, second or 0)) <= 32


def _runs(row: Row, second: int) -> bool:
    return row.start_s is not None and row.end_s is not None and row.start_s <= second < row.end_s


def test_the_queue_never_sees_true_run_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the first of two workloads ends something earlier, all passes see the same."""

    def seen(work: Workload) -> list[str]:
        pictures: list[str] = []

        def looking(snapshot: Snapshot, now: float, policy: QueuePolicy) -> Plan:
            jobs = [[repr(one) for one in cls.jobs] for cls in snapshot.pending]
            pictures.append(f"{now} {list(snapshot.running)} {jobs}")
            return plan(snapshot, now, policy)

        monkeypatch.setattr(world, "plan", looking)
        run(work, "1x8")
        return pictures

    submits = [job(row, row, 1000 + row, 8, limit_s=9999) for row in range(50)]
    other = [job(row, row, 2000 - row, 8, limit_s=9999) for row in range(50)]
    assert seen(of(*submits))[:50] == seen(of(*other))[:50]


def test_a_failed_node_loses_what_ran_there_and_the_work_begins_again() -> None:
    outcome = run(of(job(0, 0, 100, 8), job(1, 0, 100, 8)), "2x8", faults=(Fault(40, "node-0", 1000),))
    first, second = outcome.rows
    assert (first.attempts, first.lost_s, first.end_s, first.nodes) == (2, 40, 200, ("node-1",))
    assert (second.attempts, second.end_s) == (1, 100)


def test_a_node_is_back_after_its_time() -> None:
    outcome = run(of(job(0, 50, 10, 8)), "1x8", faults=(Fault(40, "node-0", 60),))
    assert outcome.rows[0].start_s == 100


def test_a_fault_is_written_as_node_when_and_how_long() -> None:
    assert parse_fault("node-3@2d+6h", {"node-3"}) == Fault(172800, "node-3", 21600)
    for text in ("node-9@1d+1h", "node-3@1d", "node-3"):
        with pytest.raises(ValueError, match="node"):
            parse_fault(text, {"node-3"})


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    simulate(drawn(1, 1200), machines("64x8"), SimulationSetting(), lambda done, jobs: told.append((done, jobs)))
    assert told[-1] == (1200, 1200)
    assert 2 <= len(told) <= 4
