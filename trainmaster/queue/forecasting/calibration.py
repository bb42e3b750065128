"""How far the upper end of a forecast is stretched, learnt from what became of the forecasts before it. Pure.

Starts are later than foreseen by a factor that differs from cluster to cluster, as jobs that are yet to come are not
foreseen. Its quantile is estimated as in a study of survival (Kaplan and Meier 1958): a job that still waits, or left
without a start, counts for as long as it waited. Whoever asks only those that started hears of the short waits first,
and of the long ones too late. While few are known, ten that nobody made keep the range wide. Where the factor grows the
past is no guide: the quantile is then moved out by how often ends were missed, as adaptive conformal inference does
(Gibbs and Candes 2021), each end being judged when it is reached and not before. Invariant: the window is of forecasts
in the order made, so that what became of one does not decide whether it counts.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.queue.forecasting.forecast import Foreseen

MISSED: Final = 0.14
"""Share of the jobs that have to wait which may start after the upper end of their range. Counted with those that start
at once, which are foreseen rightly anyway, it is less: where half the jobs wait, 6 of 100."""

WINDOW: Final = 1_000
"""So many forecasts are remembered, the last that were made."""

LEAST, GREATEST = 0.5, 8.0
"""The bounds of the scale."""

STEP, LEAST_MISSED = 0.002, 0.01
"""By how much one end that was missed lowers the share that the quantile leaves, and how far at most."""

IMAGINED: Final = tuple(-math.log2(1 - (nth + 0.5) / 10) for nth in range(10))
"""Ratios of ten forecasts that nobody made, which outweigh the first few real ones: half started within the time
foreseen, of the rest half within as long again, and so on. A range is wide until it is known how late starts are here.
"""

_SHORTEST_S: Final = 1.0


@dataclass(slots=True)
class _Told:
    """A forecast: made when, for how far ahead, stretched until when; when the job left the queue, and whether it then
    started.
    """

    made_at: float
    ahead_s: float
    until: float
    left_at: float | None = None
    started: bool = False

    def ratio(self, now: float) -> float:
        """Return how many times as long as foreseen the job waited, or has until now."""
        return max((now if self.left_at is None else self.left_at) - self.made_at, 0.0) / self.ahead_s

    def late(self, now: float) -> bool | None:
        """Return whether the end told was missed; None while that is not known, and if it never will be."""
        if now < self.until:
            return None
        waited = self.left_at is None or self.left_at > self.until
        return waited or (False if self.started else None)


class Calibration:
    """One object per server. `scale` multiplies the time from a forecast to its upper end, within [LEAST, GREATEST]."""

    def __init__(self) -> None:
        self.scale = _quantile((), MISSED)
        self._told: dict[str, _Told] = {}  # by job, in the order made

    def remember(self, job: str, made_at: float, foreseen: Foreseen) -> None:
        """Remember a forecast of a job. While it waits its first one counts, and none that says nothing."""
        known = self._told.get(job)
        if foreseen.high == math.inf or (known is not None and known.left_at is None):
            return
        self._told.pop(job, None)
        self._told[job] = _Told(made_at, _ahead_s(made_at, foreseen), self.high(made_at, foreseen))
        if len(self._told) > WINDOW:
            del self._told[next(iter(self._told))]

    def until(self, job: str) -> float | None:
        """Return the end that was told first of a job that waits, None where none was."""
        told = self._told.get(job)
        return None if told is None or told.left_at is not None else told.until

    def left(self, job: str, at: float, started: bool) -> None:
        """Note that a job no longer waits, because it started or otherwise."""
        told = self._told.get(job)
        if told is not None and told.left_at is None:
            told.left_at, told.started = at, started

    def clock_set(self, by_s: float) -> None:
        """Take all that is remembered `by_s` seconds later: the clock was set. O(WINDOW)."""
        for told in self._told.values():
            told.made_at, told.until = told.made_at + by_s, told.until + by_s
            told.left_at = None if told.left_at is None else told.left_at + by_s

    def learn(self, now: float) -> None:
        """Find the scale anew. O(WINDOW log WINDOW)."""
        missed = MISSED
        for told in self._told.values():
            if (late := told.late(now)) is not None:
                missed = min(max(missed + STEP * (MISSED - late), LEAST_MISSED), MISSED)
        ratios = [(told.ratio(now), told.started) for told in self._told.values()]
        self.scale = min(max(_quantile(ratios, missed), LEAST), GREATEST)

    def high(self, made_at: float, foreseen: Foreseen) -> float:
        """Return the upper end of the range, not before its middle, nor beyond what limits promise: whoever reads until
        when others run at the latest would find the two at odds.
        """
        stretched = min(made_at + self.scale * _ahead_s(made_at, foreseen), max(foreseen.latest, foreseen.high))
        return max(stretched, foreseen.at)

    def to_json(self) -> list[Any]:
        """Return what is remembered, for `restore`."""
        return [
            [job, told.made_at, told.ahead_s, told.until, told.left_at, told.started]
            for job, told in self._told.items()
        ]

    def restore(self, document: Any) -> None:
        """Take up what `to_json` returned. Raises ValueError or TypeError, and then changes nothing."""
        told = {str(job): _known(*rest) for job, *rest in document}
        self._told = dict(list(told.items())[-WINDOW:])

    def only(self, waits: Callable[[str], bool]) -> None:
        """Forget forecasts of jobs that are taken to wait and do not: nobody saw what became of them."""
        self._told = {job: told for job, told in self._told.items() if told.left_at is not None or waits(job)}


def _ahead_s(made_at: float, foreseen: Foreseen) -> float:
    return max(foreseen.high - made_at, _SHORTEST_S)


def _known(made_at: Any, ahead_s: Any, until: Any, left_at: Any, started: Any) -> _Told:
    left_at = None if left_at is None else float(left_at)
    found = _Told(float(made_at), float(ahead_s), float(until), left_at, bool(started))
    times = (found.made_at, found.ahead_s, found.until, left_at or 0.0)
    if found.ahead_s < _SHORTEST_S or not all(map(math.isfinite, times)):
        raise ValueError("not a forecast")
    return found


def _quantile(ratios: Iterable[tuple[float, bool]], missed: float) -> float:
    """Return up to which ratio all but a share of `missed` started, the greatest known if fewer did.

    `ratios`: how many times as long as foreseen a job waited, and whether it then started.
    """
    known = sorted([*((ratio, False) for ratio in IMAGINED), *((ratio, not started) for ratio, started in ratios)])
    waiting = 1.0
    for at_risk, (ratio, censored) in zip(range(len(known), 0, -1), known, strict=True):
        if not censored:
            waiting *= 1 - 1 / at_risk
            if waiting <= missed:
                return ratio
    return known[-1][0]
