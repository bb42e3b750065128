"""How far a job is and how long it will take: one count, the pace of lately, and silence where nobody can know
(R206).
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.answers import ProgressView
from trainmaster.core.records import Attempt, Job, Role
from trainmaster.core.states import JobState, Phase
from trainmaster.service.curves.curves import JobCurves, Key, Told
from trainmaster.service.curves.progress import progress_of
from trainmaster.spec.job import JobSpec
from trainmaster.storage.points import Curve

BEGAN = 1000.0
Line = tuple[Key, float, float, float]
"""(curve, when, step, value)"""


def job(attempt: int = 1) -> Job:
    running = Attempt(attempt, "first", Phase.RUNNING, (), (), BEGAN, started_at=BEGAN)
    made = Job("t" + "0" * 32, "j", "me", (Role("w", 1),), "d", BEGAN, state=JobState.ACTIVE)
    return replace(made, attempts_used=attempt, attempt=running)


def spec(**parameters: Any) -> JobSpec:
    return JobSpec.model_validate({"name": "j", "roles": [{"name": "w", "command": "x", "parameters": parameters}]})


def key(name: str = "loss", source: str = "log", task: str = "task0-0", attempt: int = 1) -> Key:
    return Key(source, attempt, task, name)


def curves_of(lines: list[Line]) -> JobCurves:
    made = JobCurves("", None)
    for of, at, step, value in lines:
        made.curves.setdefault(of, Curve()).add(step, at, value)
    return made


def shown(lines: list[Line], now: float, attempt: int = 1, **parameters: Any) -> ProgressView | None:
    return progress_of(job(attempt), spec(**parameters), curves_of(lines), now)


def counted(times: list[float], of: Key | None = None) -> list[Line]:
    return [(of or key(), at, float(step), 1.0) for step, at in enumerate(times, 1)]


def test_a_job_that_slowed_down_is_foreseen_by_how_it_goes_now() -> None:
    """230 quick steps, then 4 s each: at step 258 of 400 it takes 9m 28s more, not the 71 s of its mean pace (D5)."""
    times = [BEGAN + 30 + 0.05 * step for step in range(230)]
    times += [times[-1] + 4 * step for step in range(1, 29)]
    found = shown(counted(times), times[-1], epochs=400)
    assert found is not None
    assert (found.step, found.of) == (258, 400)
    assert found.eta_s == pytest.approx(568, rel=0.02)
    assert found.step_s == pytest.approx(4, rel=0.02)
    later = shown(counted(times), times[-1] + 3, epochs=400)
    assert later is not None
    assert later.eta_s == pytest.approx(565, rel=0.02)


@given(
    of=st.integers(60, 600),
    pace=st.floats(0.01, 600),
    part=st.floats(0.05, 1.0),
    start=st.floats(0, 3600),
    jitter=st.lists(st.floats(-0.15, 0.15), min_size=1, max_size=40),
)
def test_a_steady_job_is_foreseen_from_the_first_steps_on(
    of: int, pace: float, part: float, start: float, jitter: list[float]
) -> None:
    """Within 20 % once 5 % of the steps are done, however long it took to load."""
    done = max(3, min(of, round(of * part)))
    times = [BEGAN + start]
    while len(times) < done:
        times.append(times[-1] + pace * (1 + jitter[len(times) % len(jitter)]))
    found = shown(counted(times), times[-1], steps=of)
    assert found is not None
    assert found.fraction == done / of
    assert found.eta_s == pytest.approx((of - done) * pace, rel=0.2, abs=1e-6)


def test_reports_that_come_together_are_one() -> None:
    """A script whose output is buffered is heard of ten steps at a time; between, time goes on."""
    times = [BEGAN + 40.0 * (step // 10 + 1) + 0.001 * (step % 10) for step in range(200)]
    found = shown(counted(times), times[-1], steps=400)
    assert found is not None
    assert found.eta_s == pytest.approx(800, rel=0.1)


def test_a_pause_for_an_evaluation_is_part_of_the_pace() -> None:
    times, at = [], BEGAN
    for step in range(1, 1001):
        at += 31 if step % 10 == 0 else 1
        times.append(at)
    found = shown(counted(times), at, steps=2000)
    assert found is not None
    assert found.eta_s == pytest.approx(4000, rel=0.1)


@pytest.mark.parametrize("heard", [0, 1, 2])
def test_nothing_is_said_before_there_is_a_pace(heard: int) -> None:
    found = shown(counted([BEGAN + 60 + 4 * step for step in range(heard)]), BEGAN + 70, epochs=100)
    assert (found and found.eta_s) is None
    assert (found is None) == (heard == 0)


def test_nothing_is_said_of_a_job_that_fell_silent() -> None:
    times = [BEGAN + step for step in range(50)]
    just, long_ago = (shown(counted(times), times[-1] + waited, steps=100) for waited in (2, 600))
    assert just is not None
    assert long_ago is not None
    assert just.eta_s == pytest.approx(49, abs=1)
    assert (long_ago.fraction, long_ago.eta_s) == (0.5, None)


STORY: list[Line] = [
    *((key("train_loss", "sdk"), BEGAN + 2 * step, float(step), 1.0) for step in range(1, 301)),
    *((key("val_loss", "sdk"), BEGAN + 200.0 * epoch, float(epoch), 1.0) for epoch in range(1, 4)),
    (key("warm_up", "sdk"), BEGAN + 1, 1.0, 1.0),
]
"""A script that logs by step and by epoch, 100 steps an epoch, and one thing only once."""


@given(st.permutations([0, 1, 2]), st.integers(1, 300))
def test_which_curve_came_last_changes_nothing(order: list[int], until: int) -> None:
    """The same lines, read in another order of their curves, say the same; epochs are counted by what counts epochs."""
    past = [line for line in STORY if line[1] <= BEGAN + 2 * until]
    keys = list(dict.fromkeys(line[0] for line in STORY))
    other = [line for nth in order for line in past if line[0] == keys[nth]]
    now = BEGAN + 2 * until
    for total in ({"epochs": 3}, {"steps": 300}):
        assert shown(past, now, **total) == shown(other, now, **total)


@pytest.mark.parametrize(("total", "wanted"), [({"epochs": 3}, 2), ({"max_steps": 300}, 250)])
def test_the_count_is_of_what_the_total_counts(total: dict[str, int], wanted: int) -> None:
    found = shown([line for line in STORY if line[1] <= BEGAN + 500], BEGAN + 500, **total)
    assert found is not None
    assert found.step == wanted


def test_progress_never_goes_back_while_the_job_goes_on() -> None:
    """Whatever is written in between, step by step and epoch by epoch."""
    for total in ({"steps": 300}, {"epochs": 10}):
        lines = [line for line in STORY if total == {"steps": 300} or line[0].name == "val_loss"]
        said = [shown([one for one in lines if one[1] <= at], at, **total) for at in range(1010, 1600, 7)]
        fractions = [one.fraction for one in said if one is not None]
        assert fractions == sorted(fractions)


def test_a_metric_that_is_a_count_counts() -> None:
    """As some trainers log it: the epoch as a value, over the steps of all."""
    lines = [(key("epoch", "tensorboard"), BEGAN + step, float(step), step / 100) for step in range(1, 151)]
    lines += [(key("loss", "sdk"), BEGAN + step, float(step), 1.0) for step in range(1, 4)]
    found = shown(lines, BEGAN + 150, num_train_epochs=3)
    assert found is not None
    assert found.fraction == 0.5
    assert found.eta_s == pytest.approx(150, rel=0.02)


def test_batches_that_begin_again_with_each_epoch_are_no_progress() -> None:
    lines = [(key(), BEGAN + step, float(step % 50), 1.0) for step in range(400)]
    assert shown(lines, BEGAN + 400, steps=400) is None


def test_an_attempt_from_a_checkpoint_goes_on_where_it_was() -> None:
    """Its own pace counts, and its steps: back to the checkpoint, not to the beginning."""
    first = counted([BEGAN + step for step in range(1, 81)])
    again = [(key(attempt=2), BEGAN + 500 + 3 * step, 60.0 + step, 1.0) for step in range(1, 21)]
    found = shown([*first, *again], BEGAN + 560, attempt=2, steps=100)
    assert found is not None
    assert found.fraction == 0.8
    assert found.eta_s == pytest.approx(60, rel=0.01)


def test_what_the_script_tells_is_one_tasks_word() -> None:
    """Two replicas tell their own: the first one counts, and its pace."""
    made = JobCurves("", None)
    for task, ahead in (("task0-1", 7), ("task0-0", 0)):
        told = made.told[1, task] = Told(Curve(), 100.0)
        for step in range(10):
            told.counts.add(step + ahead, BEGAN + 5 * step, 0.0)
    found = progress_of(job(), None, made, BEGAN + 45)
    assert found is not None
    assert (found.fraction, found.step, found.of, found.eta_s) == (0.09, 9, 100, pytest.approx(455))
