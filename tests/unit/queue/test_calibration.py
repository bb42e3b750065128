"""The upper end of a forecast: on streams of starts that are later than foreseen, it holds as often as is meant."""

import heapq
import json
import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.queue.forecasting.calibration import GREATEST, LEAST, MISSED, WINDOW, Calibration
from trainmaster.queue.forecasting.forecast import Foreseen

AHEAD_S = 100.0
Late = Callable[[random.Random, int], float]
"""How many times later than its upper end the nth job of a stream starts."""


def told(at: float, ahead_s: float = AHEAD_S) -> Foreseen:
    return Foreseen(at + ahead_s / 2, at + ahead_s / 5, at + ahead_s)


def held(late: Late, jobs: int, every_s: float, learnt: Calibration | None = None) -> list[bool]:
    """Whether each job of a stream started before its upper end. One comes every `every_s` and is foreseen AHEAD_S
    ahead.
    """
    chance, learnt = random.Random(7), learnt or Calibration()
    found, starts = [], list[tuple[float, str]]()
    for nth in range(jobs):
        now = nth * every_s
        while starts and starts[0][0] <= now:
            at, job = heapq.heappop(starts)
            learnt.left(job, at, started=True)
        if nth % 10 == 0:
            learnt.learn(now)
        wait_s = late(chance, nth) * AHEAD_S
        found.append(now + wait_s <= learnt.high(now, told(now)))
        learnt.remember(str(nth), now, told(now))
        heapq.heappush(starts, (now + wait_s, str(nth)))
    return found


STEADY: dict[str, Late] = {
    "as foreseen": lambda chance, nth: chance.uniform(0.2, 1.1),
    "much later": lambda chance, nth: 0.5 + chance.expovariate(1.0),
    "heavy tail": lambda chance, nth: 0.3 * chance.paretovariate(1.2),
    "log-normal": lambda chance, nth: chance.lognormvariate(-0.5, 1.0),
}
DRIFTS: dict[str, tuple[float, Late]] = {
    "ever later": (0.80, lambda chance, nth: chance.uniform(0.2, 1.0) * (1 + nth / 1500)),
    "four times as late at once": (0.85, lambda chance, nth: chance.uniform(0.2, 1.0) * (4 if nth > 1000 else 1)),
    "now early, now late": (0.85, lambda chance, nth: chance.uniform(0.2, 1.0) * (2 + math.sin(nth / 200))),
}
"""How often the upper end must hold, and the stream. What grows without an end is followed at a distance."""


@pytest.mark.parametrize("every_s", [1.0, 300.0])
@pytest.mark.parametrize("stream", STEADY)
def test_the_upper_end_holds_for_85_to_95_of_100(stream: str, every_s: float) -> None:
    """After the first 200; also where a hundred and more wait before it is seen what became of the first."""
    found = held(STEADY[stream], 2000, every_s)[200:]
    assert 0.85 <= sum(found) / len(found) <= 0.95


@pytest.mark.parametrize("stream", DRIFTS)
def test_it_holds_while_starts_become_later(stream: str) -> None:
    least, late = DRIFTS[stream]
    found = held(late, 3000, 30.0)[200:]
    assert least <= sum(found) / len(found) <= 0.95


def test_a_steady_stream_is_met_exactly() -> None:
    found = held(STEADY["much later"], 4000, 30.0)[1000:]
    assert abs(sum(found) / len(found) - (1 - MISSED)) < 0.02


def test_it_learns_that_starts_became_late_and_forgets_it_again() -> None:
    learnt = Calibration()
    held(lambda chance, nth: chance.uniform(0.2, 1.0) * 4, 500, 30.0, learnt)
    assert learnt.scale > 3
    for nth in range(WINDOW):
        learnt.remember(f"again {nth}", 0.0, told(0.0))
        learnt.left(f"again {nth}", AHEAD_S, started=True)
    learnt.learn(0.0)
    assert learnt.scale == 1


def test_who_still_waits_counts() -> None:
    """Nobody has started, and everybody waits three times as long as foreseen: nobody has to start for that to be
    known.
    """
    learnt = Calibration()
    for nth in range(200):
        learnt.remember(str(nth), 0.0, told(0.0))
    for elapsed in (0.9, 3.0, 5.0):
        learnt.learn(elapsed * AHEAD_S)
        assert learnt.scale >= elapsed
    learnt.learn(100 * AHEAD_S)
    assert learnt.scale == GREATEST


def test_who_left_without_a_start_waited_at_least_so_long() -> None:
    """Half are stopped while they wait; of those the rest would have started like the others."""
    started, censored = Calibration(), Calibration()
    chance = random.Random(1)
    for nth in range(WINDOW):
        late, stopped = chance.expovariate(1.0), chance.expovariate(1.0)
        for learnt, at in ((started, late), (censored, min(late, stopped))):
            learnt.remember(str(nth), 0.0, told(0.0))
            learnt.left(str(nth), at * AHEAD_S, started=at == late)
    started.learn(0.0)
    censored.learn(0.0)
    assert started.scale == pytest.approx(-math.log(MISSED), rel=0.15)
    assert censored.scale == pytest.approx(started.scale, rel=0.15)


def test_an_end_is_judged_when_it_is_reached_and_not_before() -> None:
    """300 wait. Those that start early say nothing yet; once ends are reached, all of them count, and move the quantile
    out.
    """
    learnt, chance = Calibration(), random.Random(5)
    end = learnt.scale
    for nth in range(300):
        learnt.remember(str(nth), 0.0, told(0.0))
        learnt.left(str(nth), chance.uniform(0.0, 1.2 * end) * AHEAD_S, started=True)
    learnt.learn(0.99 * end * AHEAD_S)
    before = learnt.scale
    learnt.learn(end * AHEAD_S)
    assert before < learnt.scale < 1.2 * end


def test_the_range_is_wide_until_it_is_known_how_late_starts_are() -> None:
    """A fresh server: of the first fifty that wait most hold, though starts are later than foreseen; then it
    narrows.
    """
    late = STEADY["much later"]
    assert sum(held(late, 50, 10.0)) >= 0.85 * 50
    learnt = Calibration()
    assert 2 < learnt.scale < 4
    held(STEADY["as foreseen"], 300, 300.0, learnt)
    assert 0.8 < learnt.scale < 1.2


def test_one_forecast_does_not_move_it_far_and_bounds_hold() -> None:
    learnt = Calibration()
    before = learnt.scale
    learnt.remember("a", 0.0, told(0.0))
    learnt.left("a", 50 * AHEAD_S, started=True)
    learnt.learn(50 * AHEAD_S)
    assert before <= learnt.scale < 2 * before
    for nth in range(WINDOW):
        learnt.remember(str(nth), 0.0, told(0.0))
        learnt.left(str(nth), 0.0, started=True)
    learnt.learn(0.0)
    assert learnt.scale == LEAST
    assert learnt.high(0.0, Foreseen(70.0, 5.0, 100.0)) == 70.0, "not before the middle"


def test_the_first_forecast_counts_while_a_job_waits_and_a_new_one_once_it_waits_again() -> None:
    learnt = Calibration()
    end_s = learnt.scale * AHEAD_S
    learnt.remember("a", 0.0, told(0.0))
    learnt.remember("a", 50.0, told(50.0))
    learnt.remember("b", 50.0, Foreseen(math.inf, math.inf, math.inf))
    assert [(job, made_at) for job, made_at, *_ in learnt.to_json()] == [("a", 0.0)]
    learnt.left("a", 60.0, started=True)
    learnt.left("a", 90.0, started=False)
    assert learnt.to_json() == [["a", 0.0, AHEAD_S, end_s, 60.0, True]]
    learnt.remember("a", 70.0, told(70.0))
    assert learnt.to_json() == [["a", 70.0, AHEAD_S, 70.0 + end_s, None, False]]


def test_the_window_is_bounded_and_in_the_order_made() -> None:
    learnt = Calibration()
    for nth in range(WINDOW + 50):
        learnt.remember(str(nth), nth, told(nth))
    learnt.left("10", 2000.0, started=True)
    assert [job for job, *_ in learnt.to_json()] == [str(nth) for nth in range(50, WINDOW + 50)]


def test_who_vanished_is_forgotten_unless_it_is_known_what_became_of_it() -> None:
    learnt = Calibration()
    for job in "abc":
        learnt.remember(job, 0.0, told(0.0))
    learnt.left("a", 10.0, started=True)
    learnt.only("b".__eq__)
    assert [job for job, *_ in learnt.to_json()] == ["a", "b"]


moments = st.floats(0, 1e9)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(moments, st.floats(0, 1e7), st.floats(0, 1e7), st.booleans()), max_size=60), moments)
def test_it_survives_a_restart_and_the_range_is_in_order(
    stream: list[tuple[float, float, float, bool]], now: float
) -> None:
    learnt = Calibration()
    for nth, (made_at, ahead_s, wait_s, started) in enumerate(stream):
        learnt.remember(str(nth), made_at, told(made_at, ahead_s))
        if wait_s < 1e6:
            learnt.left(str(nth), made_at + wait_s, started)
    again = Calibration()
    again.restore(json.loads(json.dumps(learnt.to_json())))
    for one in (learnt, again):
        one.learn(now)
        assert LEAST <= one.scale <= GREATEST
        for _, ahead_s, *_ in stream:
            foreseen = told(now, ahead_s)
            assert now <= foreseen.low <= foreseen.at <= one.high(now, foreseen)
    assert again.to_json() == learnt.to_json()
    assert again.scale == learnt.scale


TIMES = {"made_at": 0.0, "ahead_s": 5.0, "until": 9.0, "left_at": 3.0}
DAMAGED = [
    *(None, 3, "scale", {"scale": 1.5}, [3], [["a"]], [["a", 0.0, 5.0, 9.0, 3.0, False, 1]]),
    *([["a", *{**TIMES, name: value}.values(), True]] for name in TIMES for value in ("x", [], math.nan, math.inf)),
    *([["a", *{**TIMES, "ahead_s": value}.values(), True]] for value in (None, 0.0, -5.0)),
]


@pytest.mark.parametrize("document", DAMAGED, ids=repr)
def test_what_is_no_record_is_refused_and_changes_nothing(document: object) -> None:
    learnt = Calibration()
    learnt.remember("a", 0.0, told(0.0))
    before = learnt.to_json()
    with pytest.raises((ValueError, TypeError)):
        learnt.restore(document)
    assert learnt.to_json() == before
