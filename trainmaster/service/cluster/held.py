"""How much was held over time, out of the spans in which attempts held it. Pure.

Invariant: the sum over all steps, each times its length, is what the spans hold within them.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple


class Span(NamedTuple):
    """Something held from `start` until `end`."""

    start: float
    end: float
    amount: float


def means(spans: Iterable[Span], since: float, step_s: float, steps: int) -> list[float]:
    """Return how much was held on average in each of `steps` steps of `step_s` seconds from `since` on.

    O(spans + steps), however long the spans are.
    """
    parts, changes = [0.0] * (steps + 1), [0.0] * (steps + 2)
    for span in spans:
        begin = max(0.0, (span.start - since) / step_s)
        end = min(float(steps), (span.end - since) / step_s)
        if end <= begin:
            continue
        first, last = int(begin), int(end)
        if first == last:
            parts[first] += span.amount * (end - begin)
            continue
        parts[first] += span.amount * (first + 1 - begin)
        parts[last] += span.amount * (end - last)
        changes[first + 1] += span.amount
        changes[last] -= span.amount
    whole = accumulate(changes)
    return [max(0.0, part + through) for part, through, _ in zip(parts, whole, range(steps), strict=False)]
