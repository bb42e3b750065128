"""How long a job will still take, by the pace at which it counted lately. Pure.

The pace is that of the last tenth of what was counted: a job that is slower since an hour is not helped by how fast it
began. Reports that come together (a buffer that is written out, a log that was read late) count as one. Invariant:
nothing is said before there are three moments to go by, nor of a job that has fallen silent.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from trainmaster.storage.points import Curve

Mark = tuple[float, float]
"""(count, when)"""

LEAST_SPANS: Final = 2
ENOUGH_SPANS: Final = 8
FEWEST: Final = 16
"""How many reports are looked at in any case."""
LATELY: Final = 0.1
TOGETHER: Final = 1 / 64
"""Reports nearer to each other than this share of the time looked at came together."""
OTHER_PACE: Final = 2.0
"""What was this many times slower or faster before says nothing of now."""
SILENT_S: Final = 60.0
SILENT_SPANS: Final = 4


class StepPace(NamedTuple):
    """How many seconds are left, and how many one more takes."""

    left_s: float
    each_s: float


def pace_of(counts: Curve, missing: float, now: float) -> StepPace | None:
    """Return how long it takes until `missing` more are counted; None when nobody can know. O(points of the last
    tenth).
    """
    spans = _spans(counts)
    if len(spans) < LEAST_SPANS:
        return None
    steps, seconds = _of_one_pace(spans)
    waited = max(0.0, now - counts.times[-1])
    usual = max(span[1] for span in spans)
    if waited > max(SILENT_S, SILENT_SPANS * usual):
        return None
    return StepPace(max(0.0, missing * seconds / steps - min(waited, usual)), seconds / steps)


def _spans(counts: Curve) -> list[Mark]:
    """Return (steps, seconds) between reports, newest first: of the last tenth, or as far back as gives enough of
    them.
    """
    marks = _marks(counts)
    wanted = FEWEST
    while wanted < len(marks) and marks[0][0] - marks[wanted][0] < LATELY * (marks[0][0] - marks[-1][0]):
        wanted += 1
    while True:
        merged = _merged(marks[: wanted + 1])
        if len(merged) > ENOUGH_SPANS or wanted >= len(marks):
            break
        wanted *= 2
    return [(a[0] - b[0], a[1] - b[1]) for a, b in pairwise(merged)]


def _marks(counts: Curve) -> list[Mark]:
    """Return each count with the moment it was first reached, newest first, back to where the counting began
    (again).
    """
    marks: list[Mark] = []
    for step, at in zip(reversed(counts.steps), reversed(counts.times), strict=True):
        if at < counts.begun or (marks and step > marks[-1][0]):
            break
        if marks and step == marks[-1][0]:
            marks[-1] = (step, at)
        else:
            marks.append((step, at))
    return marks


def _merged(marks: Sequence[Mark]) -> list[Mark]:
    """Return `marks` with one for those that came together: their highest count."""
    near = (marks[0][1] - marks[-1][1]) * TOGETHER if marks else 0.0
    merged: list[Mark] = []
    for mark in marks:
        if not merged or merged[-1][1] - mark[1] > near:
            merged.append(mark)
    return merged


def _of_one_pace(spans: Sequence[Mark]) -> Mark:
    """Return (steps, seconds) of the newest spans, as many as go at one pace; a single slow or fast one among them
    counts, too.
    """
    size = ENOUGH_SPANS
    while size < len(spans):
        newer, older = (median(s / n for n, s in part) for part in (spans[:size], spans[size : 2 * size]))
        if not newer / OTHER_PACE <= older <= newer * OTHER_PACE:
            break
        size *= 2
    return sum(n for n, _ in spans[:size]), sum(s for _, s in spans[:size])
