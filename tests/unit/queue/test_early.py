"""Which entries of a sweep are stopped early, by their curves alone."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from trainmaster.queue.stopping.early import EarlyRule, Point, RungMark, best_of, marks_of, to_stop

HALVING = EarlyRule("halving", "min", after=10, factor=3)
MEDIAN = EarlyRule("median", "max", after=5, every=5)
NAN = float("nan")

values = st.one_of(st.floats(-1e6, 1e6), st.just(NAN), st.just(float("inf")))
curves = st.lists(st.tuples(st.floats(0, 200), values).map(lambda one: Point(*one)), max_size=30)
rules = st.builds(
    EarlyRule,
    st.sampled_from(["halving", "median"]),
    st.sampled_from(["min", "max"]),
    st.floats(0.5, 50),
    st.integers(2, 5),
    st.floats(0, 20),
    st.integers(2, 5),
)


def flat(value: float, until: int) -> list[Point]:
    return [Point(step, value) for step in range(until + 1)]


def judged(rule: EarlyRule, curves: dict[int, list[Point]], running: set[int] | None = None) -> set[int]:
    marks = {entry: found for entry, points in curves.items() if (found := marks_of(rule, points))}
    return set(to_stop(rule, marks, sorted(running if running is not None else curves)))


def test_rungs_of_halving_grow_by_the_factor() -> None:
    assert [HALVING.step(rung) for rung in range(4)] == [10, 30, 90, 270]
    assert [HALVING.rungs(reached) for reached in (0, 9.9, 10, 29, 30, 89, 90, 269, 270)] == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert [MEDIAN.rungs(reached) for reached in (4, 5, 9, 10, 1e12)] == [0, 1, 1, 2, 100]


def test_a_mark_is_what_was_done_up_to_the_rung() -> None:
    points = [Point(step, 100.0 - step) for step in range(0, 41, 5)]
    assert marks_of(HALVING, points) == [RungMark(90.0, 95.0), RungMark(70.0, 85.0)]
    assert marks_of(HALVING, [Point(9, 1.0)]) == []
    assert marks_of(HALVING, [Point(11, 1.0)]) == [RungMark(None, None)]  # it began behind the rung
    assert marks_of(HALVING, [Point(5, NAN), Point(6, 3.0), Point(12, 0.0)]) == [RungMark(3.0, 3.0)]


def test_halving_keeps_the_best_third_at_each_rung() -> None:
    nine = {number: flat(float(number), 10) for number in range(1, 10)}
    assert judged(HALVING, nine) == {4, 5, 6, 7, 8, 9}
    further = {number: flat(float(number), 30 if number < 4 else 10) for number in range(1, 10)}
    assert judged(HALVING, further, {1, 2, 3}) == {2, 3}  # three reached the second rung, one goes on
    [(entry, stop)] = to_stop(HALVING, {n: marks_of(HALVING, flat(n, 10)) for n in (1, 2, 3)}, [3]).items()
    assert (entry, stop) == (3, (10, 3.0, 3, 3, 1, None))


def test_nobody_is_judged_before_enough_have_come_so_far() -> None:
    assert judged(HALVING, {1: flat(1.0, 10), 2: flat(2.0, 10)}) == set()
    assert judged(HALVING, {1: flat(1.0, 10), 2: flat(2.0, 10), 3: flat(3.0, 9)}) == set()
    assert judged(HALVING, {1: flat(1.0, 10), 2: flat(2.0, 10), 3: flat(3.0, 10)}) == {2, 3}


def test_who_ended_is_still_what_others_are_judged_by() -> None:
    three = {1: flat(1.0, 100), 2: flat(2.0, 100), 3: flat(9.0, 10)}
    assert judged(HALVING, three, {3}) == {3}
    assert judged(HALVING, {1: flat(9.0, 100), 2: flat(8.0, 100), 3: flat(1.0, 10)}, {3}) == set()


def test_the_median_rule_stops_who_is_worse_than_half() -> None:
    five = {number: flat(float(number), 5) for number in range(1, 6)}
    assert judged(MEDIAN, five) == {1, 2}  # more is better; of the others' means the median is 3.5 and 3.5
    late = {1: [*flat(0.0, 4), Point(5, 9.0)], 2: flat(2.0, 5), 3: flat(3.0, 5)}
    assert judged(MEDIAN, late) == {2}  # its best counts, not its mean
    stop = to_stop(MEDIAN, {number: marks_of(MEDIAN, points) for number, points in five.items()}, [1])[1]
    assert (stop.value, stop.median, stop.rank, stop.of) == (1.0, 3.5, 5, 5)


def test_what_is_no_number_is_the_worst() -> None:
    for rule in (HALVING, EarlyRule("median", "min", after=10)):
        three = {1: flat(1.0, 10), 2: flat(2.0, 10), 3: [Point(0, NAN), Point(10, NAN)]}
        assert 3 in judged(rule, three)
        assert judged(rule, {number: [Point(10, NAN)] for number in range(3)}) == set()  # who could say which


def test_equals_are_stopped_together_or_not_at_all() -> None:
    assert judged(HALVING, {number: flat(1.0, 10) for number in range(9)}) == set()


@given(rules, st.dictionaries(st.integers(1, 12), curves, max_size=12))
def test_the_best_at_a_rung_is_never_stopped(rule: EarlyRule, found: dict[int, list[Point]]) -> None:
    marks = {entry: known for entry, points in found.items() if (known := marks_of(rule, points))}
    stops = to_stop(rule, marks, list(found))
    assert set(stops) <= set(marks)
    for entry, stop in stops.items():
        rung = len(marks[entry]) - 1
        there = [known[rung].best for known in marks.values() if len(known) > rung]
        assert len(there) == stop.of >= rule.least
        assert stop.step == rule.step(rung)
        assert stop.rank > 1
        better = [value for value in there if value is not None]
        assert stop.value is None or stop.value != (min(better) if rule.goal == "min" else max(better))


@given(rules, st.dictionaries(st.integers(1, 12), curves, max_size=12))
def test_the_same_is_decided_whatever_was_known_before(rule: EarlyRule, found: dict[int, list[Point]]) -> None:
    """A server that starts reads the marks that the one before kept: they are those of the beginning of a curve."""
    for points in found.values():
        whole = marks_of(rule, points)
        for cut in (50.0, 100.0):
            part = marks_of(rule, [point for point in points if point.step <= cut])
            assert part == whole[: len(part)] or any(point.step > cut for point in points)
            assert [mark.best for mark in part[:-1]] == [mark.best for mark in whole[: max(0, len(part) - 1)]]


@given(curves, st.sampled_from(["min", "max"]))
def test_the_best_point_is_the_first_of_the_best(points: list[Point], goal: Literal["min", "max"]) -> None:
    best, finite = best_of(goal, points), [point for point in points if abs(point.value) <= 1e6]
    assert (best is None) == (not finite)
    if best is not None:
        assert best.value == (min if goal == "min" else max)(point.value for point in finite)
        assert best.step == min(point.step for point in finite if point.value == best.value)
