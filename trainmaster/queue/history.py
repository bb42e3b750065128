"""How long jobs ran of late, and how long one that runs or waits may run. Kept in memory, bounded however much ended.

A job with a limit runs that limit times a share that its owner's last jobs used of theirs; one without a limit as long as
those ran. Who has ended few jobs is taken to be like everybody. Pure. Invariant: no window holds more than its size.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence
from typing import Final

OWN, ALL, FEW = 200, 2_000, 10
"""Jobs remembered of one owner, and of all; with fewer than FEW of its own an owner is like everybody."""

OWNERS: Final = 10_000
"""Owners remembered; the one whose first job ended longest ago is forgotten."""


class Window:
    """The last `size` numbers, also sorted. `add` is O(size) moves of references, `pick` O(log size)."""

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

    def pick(self, above: float, shares: Sequence[float]) -> list[float] | None:
        """Return the numbers at `shares` (0..1) of those greater than `above`, None when there is none."""
        known = self._sorted
        first = bisect_right(known, above) if above > 0 else 0
        left = len(known) - first
        return [known[first + int(share * left)] for share in shares] if left else None


class _Past:
    """What one owner's jobs, or all, did: shares of their limits, and seconds."""

    __slots__ = ("run_s", "shares")

    def __init__(self, size: int) -> None:
        self.shares, self.run_s = Window(size), Window(size)

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
        mine = self._of.get(owner, self._all)
        if limit_s < math.inf:
            past = mine.shares if len(mine.shares) >= FEW else self._all.shares
            found = past.pick(elapsed_s / limit_s, shares) if limit_s > 0 else None
            return [limit_s] * len(shares) if found is None else [share * limit_s for share in found]
        past = mine.run_s if len(mine.run_s) >= FEW else self._all.run_s
        found = past.pick(elapsed_s, shares)
        if found is not None:
            return found
        longer = 2 * elapsed_s if len(past) else math.inf  # longer than any known: as long again as until now
        return [longer] * len(shares)
