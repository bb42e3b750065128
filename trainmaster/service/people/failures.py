"""Which failed sign-ins the audit is told of: the first, second, fourth, eighth ... of a name from an address within a
day, so that who guesses for a week leaves a line for each doubling and not a full disk.

In memory, bounded; names that no account has are one name, since people type passwords where a name belongs.
Invariant: at most MOST entries begin in an hour, whatever comes in.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

FORGET_S: Final = 86400.0
KEYS: Final = 10_000
MOST: Final = 500
HOUR_S: Final = 3600.0


class Telling(Enum):
    """What the audit is told of a failure: nothing, that it happened, or that no more are listed this hour."""

    NOTHING = "nothing"
    FAILURE = "failure"
    NO_MORE = "no more"


@dataclass(slots=True)
class _Count:
    since: float
    failures: int = 0


class SignInFailures:
    """One per server. `clock` returns seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counts: OrderedDict[tuple[str, str], _Count] = OrderedDict()
        self._hour = _Count(0.0)

    def note(self, name: str, address: str) -> tuple[Telling, int]:
        """Count a failure of `name` (empty: no account's) from `address`; return what is told, and how many there
        were.
        """
        now = self._clock()
        count = self._counts.pop((name, address), None)
        if count is None or not 0 <= now - count.since < FORGET_S:
            count = _Count(now)
        self._counts[name, address] = count
        if len(self._counts) > KEYS:
            self._counts.popitem(last=False)
        count.failures += 1
        told = self._place(now) if count.failures & (count.failures - 1) == 0 else Telling.NOTHING
        return told, count.failures

    def forget(self, name: str, address: str) -> None:
        """Begin anew with a name that signed in from there."""
        self._counts.pop((name, address), None)

    def _place(self, now: float) -> Telling:
        if not 0 <= now - self._hour.since < HOUR_S:
            self._hour = _Count(now)
        self._hour.failures += 1
        if self._hour.failures > MOST:
            return Telling.NOTHING
        return Telling.NO_MORE if self._hour.failures == MOST else Telling.FAILURE
