"""How long jobs ran of late, and how long one that runs or waits may run. Kept in memory, bounded however much ended.

A job with a limit runs that limit times a share that its owner's last jobs used of theirs; one without a limit as long
as those ran. Beside the jobs of an owner DOUBT jobs of everybody count, and beside those of everybody DOUBT that nobody
saw: who has ended few jobs is like everybody, and where few have ended anything may be. That is the posterior mean of a
Dirichlet process (Ferguson 1973). Pure. Invariant: no window holds more than its size.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

OWN, ALL = 200, 2_000
"""Jobs remembered of one owner, and of all."""

DOUBT: Final = 10
"""So many jobs of everybody count beside those of an owner, and so many that nobody saw beside those of everybody."""

USUAL_S: Final = 900.0
"""Of the jobs that nobody saw half run longer than this, one in ten nine times as long. Half of those recorded run
longer than 8 (openb), 14 (kth-sp2) and 24 minutes (philly-68k)."""

OWNERS: Final = 10_000
"""Owners remembered; the one whose first job ended longest ago is forgotten."""


Tail = tuple[float, Callable[[float], float]]
"""How many there are, and the one at a share (0..1) of them."""


class RecentNumbers:
    """The last `size` numbers, also sorted. `add` is O(size) moves of references, `beyond` O(log size)."""

    __slots__ = ("_came", "_size", "_sorted")

    def __init__(self, size: int) -> None:
        self._size, self._came, self._sorted = size, deque[float](), list[float]()

    def __len__(self) -> int:
        return len(self._came)

    def add(self, value: float) -> None:
        """Remember one more, and forget the oldest beyond the size."""
        if len(self._came) == self._size:
            del self._sorted[bisect_left(self._sorted, self._came.popleft())]
        self._came.append(value)
        insort(self._sorted, value)

    def beyond(self, above: float) -> "Tail":
        """Return those greater than `above`, all of them when it is 0."""
        known = self._sorted
        first = bisect_right(known, above) if above > 0 else 0
        left = len(known) - first
        return left, lambda share: known[first + int(share * left)]


class _Past:
    """What one owner's jobs, or all, did: shares of their limits, and seconds."""

    __slots__ = ("run_s", "shares")

    def __init__(self, size: int) -> None:
        self.shares, self.run_s = RecentNumbers(size), RecentNumbers(size)

    def add(self, run_s: float, limit_s: float) -> None:
        self.run_s.add(run_s)
        if 0 < limit_s < math.inf:
            self.shares.add(min(run_s / limit_s, 1.0))


class History:
    """One object per server; in the simulator one per run."""

    def __init__(self) -> None:
        self._all = _Past(ALL)
        self._of: dict[str, _Past] = {}

    def add(self, owner: str, run_s: float, limit_s: float = math.inf) -> None:
        """Note that a job of `owner` ended after `run_s` seconds. O(1) up to the constant size of a window."""
        run_s = max(run_s, 0.0)
        self._all.add(run_s, limit_s)
        if owner not in self._of:
            if len(self._of) >= OWNERS:
                del self._of[next(iter(self._of))]
            self._of[owner] = _Past(OWN)
        self._of[owner].add(run_s, limit_s)

    def run_s(self, owner: str, limit_s: float, elapsed_s: float, shares: Sequence[float]) -> list[float]:
        """Return how long a job that has run for `elapsed_s` runs in all, at each of `shares` (0..1) of what may be.

        With a limit never longer than that; infinite where no limit is set and nothing that ended is known.
        """
        mine = self._of.get(owner, _NOTHING)
        if limit_s < math.inf:
            used = elapsed_s / limit_s if limit_s > 0 else 1.0
            if used >= 1:
                return [limit_s] * len(shares)
            drawn = _drawn(mine.shares, self._all.shares, used, _any_share(used), shares)
            return [share * limit_s for share in drawn]
        if not len(self._all.run_s):
            return [math.inf] * len(shares)
        return _drawn(mine.run_s, self._all.run_s, elapsed_s, _any_time(elapsed_s), shares)


_NOTHING: Final = _Past(0)


def _any_share(used: float) -> Tail:
    """Return which share of its limit one uses of which nobody knows more than that it is above `used`: any alike."""
    return 1 - used, lambda share: used + (1 - used) * share


def _any_time(elapsed_s: float) -> Tail:
    """Return how long one runs that has run for so long: half go on for USUAL_S and as long again at least (Lomax
    1954).
    """
    scale_s = USUAL_S + elapsed_s
    return USUAL_S / scale_s, lambda share: elapsed_s + scale_s * share / (1 - share)


def _drawn(
    own: RecentNumbers, everybody: RecentNumbers, above: float, unseen: Tail, shares: Sequence[float]
) -> list[float]:
    """Return for each of `shares` one number greater than `above`, of an owner's, of everybody's or of those that
    nobody saw.

    Each of the three has the part of [0, 1) that is its weight. `unseen`: of those that nobody saw, the share that is
    greater.
    """
    doubt = DOUBT / (len(everybody) + DOUBT)
    (mine, of_mine), (known, of_known), (left, of_unseen) = own.beyond(above), everybody.beyond(above), unseen
    known, left = known * doubt, left * DOUBT * doubt
    total = mine + known + left
    out = []
    for share in shares:
        at = share * total
        if at < mine:
            out.append(of_mine(at / mine))
            continue
        at -= mine
        out.append(of_known(at / known) if at < known else of_unseen((at - known) / left))
    return out
