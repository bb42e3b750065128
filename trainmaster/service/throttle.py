"""Slows down guessing: failed tries per key cost ever longer waits. In memory, bounded, and without a clock of its own.

After FREE failures each further one doubles the wait, up to LONGEST_S; a key is forgotten when its wait is over and it was
quiet for FORGET_S. Invariant: at most KEYS keys are held, the longest quiet one goes first.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

FREE: Final = 5
FIRST_S: Final = 1.0
LONGEST_S: Final = 300.0
FORGET_S: Final = 900.0
KEYS: Final = 10_000


@dataclass(slots=True)
class _Record:
    failures: int = 0
    last: float = 0.0
    until: float = 0.0


class Throttle:
    """One per kind of secret. `now` is any monotonic number of seconds."""

    def __init__(self) -> None:
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def wait_s(self, key: str, now: float) -> float:
        """Return how long `key` must still wait; 0 when it may try."""
        record = self._records.get(key)
        if record is None:
            return 0.0
        if now > record.until and now - record.last > FORGET_S:
            del self._records[key]
            return 0.0
        return max(0.0, record.until - now)

    def failed(self, key: str, now: float) -> None:
        """Note a failed try."""
        record = self._records.setdefault(key, _Record())
        self._records.move_to_end(key)
        record.failures += 1
        record.last = now
        if record.failures >= FREE:
            record.until = now + min(LONGEST_S, FIRST_S * 2.0 ** min(record.failures - FREE, 30))
        while len(self._records) > KEYS:
            self._records.popitem(last=False)

    def succeeded(self, key: str) -> None:
        """Forget the failures of `key`."""
        self._records.pop(key, None)
