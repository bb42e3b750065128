"""How far the upper end of a forecast is stretched, learnt from what became of earlier forecasts. Pure."""

import math
from dataclasses import dataclass
from typing import Final

from trainmaster.queue.forecast import Foreseen

MISSED: Final = 0.12
"""Share of the jobs that had to wait which may start after the upper end of their range."""

RATE, LEAST, GREATEST = 0.05, 0.5, 8.0
"""The length of a step, and the bounds of the scale."""


@dataclass(slots=True)
class Calibration:
    """How far the upper end of a forecast is stretched, so that as many jobs as are meant to start before it.

    A stochastic search for a quantile (Robbins and Monro 1951): every job that started later moves the end out by
    RATE x (1 - MISSED), every other one in by RATE x MISSED, in powers of e. `scale` multiplies the time from the forecast
    to its upper end, within [LEAST, GREATEST].
    """

    scale: float = 1.0

    def seen(self, made_at: float, foreseen: Foreseen, started_at: float) -> None:
        """Learn from one job whose start was foreseen at `made_at`."""
        if foreseen.high == math.inf:
            return
        late = started_at > self.high(made_at, foreseen)
        self.scale = min(max(self.scale * math.exp(RATE * (late - MISSED)), LEAST), GREATEST)

    def high(self, made_at: float, foreseen: Foreseen) -> float:
        """Return the upper end of the range, not before its middle."""
        return max(made_at + self.scale * (foreseen.high - made_at), foreseen.at)
