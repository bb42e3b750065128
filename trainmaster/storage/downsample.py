"""Fewer points, same picture: every extreme of a curve survives (R209, R211). Pure.

A series is cut into equal buckets of its x axis; each gives its lowest and its highest point, in the order they came.
A mean would hide the spike that somebody is looking for. None and NaN are gaps: never an extreme, kept only when a
bucket holds nothing else.
"""

import math
from collections.abc import Sequence


def keep(xs: Sequence[float], ys: Sequence[float | None], points: int) -> list[int]:
    """Return the ascending positions of at most `points` points of (xs, ys) to show. xs ascends. O(n).

    First and last point are always among them, and so are the lowest and the highest value.
    """
    count = len(xs)
    points = max(points, 4)
    if count <= points:
        return list(range(count))
    buckets = (points - 2) // 2
    first, width = xs[0], (xs[-1] - xs[0]) / buckets or 1.0
    lows: list[int] = [-1] * buckets
    highs: list[int] = [-1] * buckets
    gaps: list[int] = [-1] * buckets
    for position in range(count):
        value = ys[position]
        bucket = min(max(int((xs[position] - first) / width), 0), buckets - 1)
        if value is None or math.isnan(value):
            gaps[bucket] = position
            continue
        low, high = lows[bucket], highs[bucket]
        if low < 0 or value < ys[low]:  # type: ignore[operator]
            lows[bucket] = position
        if high < 0 or value > ys[high]:  # type: ignore[operator]
            highs[bucket] = position
    chosen = {0, count - 1}
    for low, high, gap in zip(lows, highs, gaps, strict=True):
        chosen.update((low, high) if low >= 0 else (gap,) if gap >= 0 else ())
    return sorted(chosen)
