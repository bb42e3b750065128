"""Early stopping: of the curves of a sweep's entries, which entries to stop, and why. Pure.

An entry is judged at *rungs*, which are steps of its metric: what counts is how it did up to there, and what the others
did up to the same step, whether they still run or ended long ago. So nobody is judged by who merely got further.
Halving is the asynchronous successive halving of Li et al., "A System for Massively Parallel Hyperparameter Tuning"
(MLSys 2020): nobody waits at a rung for the others. The median rule is that of Golovin et al., "Google Vizier" (KDD
2017). Invariant: the best at a rung is never stopped there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, NamedTuple

MOST_RUNGS: Final = 100
"""Of one entry: behind them nobody is judged any more."""

Goal = Literal["min", "max"]


@dataclass(frozen=True, slots=True)
class EarlyRule:
    """By what entries are judged: `kind`, at the step `after` first. `factor` is of halving, `every` of the median."""

    kind: Literal["halving", "median"]
    goal: Goal
    after: float
    factor: int = 3
    every: float = 0.0
    least: int = 3

    def step(self, rung: int) -> float:
        """Return the step of a rung, counted from 0."""
        if self.kind == "halving":
            return self.after * float(self.factor**rung)
        return self.after + rung * (self.every or self.after)

    def rungs(self, reached: float) -> int:
        """Return how many rungs lie at or below the step `reached`."""
        if not reached >= self.after:
            return 0
        if self.kind == "halving":
            below = math.log(reached / self.after, self.factor)
        else:
            below = (reached - self.after) / (self.every or self.after)
        count = int(min(below + 2, MOST_RUNGS))  # tiny steps may go into it infinitely often
        while count and self.step(count - 1) > reached:  # rounding
            count -= 1
        return count


class RungMark(NamedTuple):
    """How an entry did up to a rung: its best value and the mean of its values; None: none of them was a number."""

    best: float | None
    mean: float | None


class Point(NamedTuple):
    """A value of the metric at a step; NaN and infinite ones are none."""

    step: float
    value: float


class EarlyStop(NamedTuple):
    """Why an entry is stopped: at which step, with what at best. `rank` 1 is the best `of` so many, of which `kept` go
    on; `median`: of the others' means, where that is the rule.
    """

    step: float
    value: float | None
    rank: int
    of: int
    kept: int
    median: float | None = None


def marks_of(rule: EarlyRule, points: Sequence[Point]) -> list[RungMark]:
    """Return a mark for every rung that a curve has passed: it has a value at that step or behind it. O(points)."""
    ordered = sorted(points)
    count = rule.rungs(ordered[-1].step) if ordered else 0
    found: list[RungMark] = []
    best: float | None = None
    total, number, at = 0.0, 0, 0
    for rung in range(count):
        until = rule.step(rung)
        while at < len(ordered) and ordered[at].step <= until:
            value = ordered[at].value
            if math.isfinite(value):
                best = value if best is None else _better(rule.goal, best, value)
                total, number = total + value, number + 1
            at += 1
        found.append(RungMark(best, total / number if number else None))
    return found


def best_of(goal: Goal, points: Iterable[Point]) -> Point | None:
    """Return the best point of a curve, the first of equals; None where no value is a number. O(points)."""
    finite = [point for point in points if math.isfinite(point.value)]
    sign = 1 if goal == "min" else -1
    return min(finite, key=lambda point: (sign * point.value, point.step), default=None)


def to_stop(rule: EarlyRule, marks: Mapping[int, Sequence[RungMark]], running: Iterable[int]) -> dict[int, EarlyStop]:
    """Return which of the entries `running` are to be stopped. `marks`: of every entry that has any, those that ended
    included. O(entries).
    """
    found: dict[int, EarlyStop] = {}
    reached: dict[int, list[int]] = {}
    for entry in running:
        if mine := marks.get(entry):
            reached.setdefault(len(mine) - 1, []).append(entry)
    for rung, entries in sorted(reached.items()):
        there = {entry: known[rung] for entry, known in marks.items() if len(known) > rung}
        if len(there) < rule.least:
            continue
        judge = _halved if rule.kind == "halving" else _below_median
        found |= judge(rule, rung, there, entries)
    return found


def _halved(rule: EarlyRule, rung: int, there: Mapping[int, RungMark], entries: Sequence[int]) -> dict[int, EarlyStop]:
    kept = math.ceil(len(there) / rule.factor)
    ranks = _ranks(rule, there)
    return {
        entry: EarlyStop(rule.step(rung), there[entry].best, ranks[entry], len(there), kept)
        for entry in entries
        if ranks[entry] > kept
    }


def _below_median(
    rule: EarlyRule, rung: int, there: Mapping[int, RungMark], entries: Sequence[int]
) -> dict[int, EarlyStop]:
    ranks = _ranks(rule, there)
    found = {}
    for entry in entries:
        others = [_worth(rule.goal, mark.mean) for other, mark in there.items() if other != entry]
        middle, mine = median(others), _worth(rule.goal, there[entry].best)
        if mine > middle or (math.isinf(mine) and ranks[entry] > 1):
            told = None if math.isinf(middle) else middle if rule.goal == "min" else -middle
            of = len(there)
            found[entry] = EarlyStop(rule.step(rung), there[entry].best, ranks[entry], of, of // 2, told)
    return found


def _ranks(rule: EarlyRule, there: Mapping[int, RungMark]) -> dict[int, int]:
    """Return the rank of each, 1 the best; who are alike share the better one, so that none of two equals is worse."""
    worths = sorted(_worth(rule.goal, mark.best) for mark in there.values())
    first = {worth: at for at, worth in reversed([*enumerate(worths, 1)])}
    return {entry: first[_worth(rule.goal, mark.best)] for entry, mark in there.items()}


def _worth(goal: Goal, value: float | None) -> float:
    """Return a value as a number of which less is better; what is none is the worst."""
    if value is None or not math.isfinite(value):
        return math.inf
    return value if goal == "min" else -value


def _better(goal: Goal, one: float, other: float) -> float:
    return min(one, other) if goal == "min" else max(one, other)
