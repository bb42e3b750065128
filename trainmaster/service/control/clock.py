"""The platform's clock: seconds since the epoch that only pass. The machine's own clock is set now and then; this one
is not.

It starts at the machine's time and counts on by what the kernel counts since the machine was started, asleep or not.
When the machine's clock was set meanwhile (`moved`), the platform moves the times of all that is live together with
this clock (`follow`): dates are the machine's again, and no duration has changed. Between two servers on one start of
the machine the ledger holds where the clock stood (`stand`), so that a clock that is set while no server runs is
noticed, too.
"""

import json
import time
from collections.abc import Callable
from typing import Any, Final

from trainmaster.agent.host import procs

TOLERATED_S: Final = 1.0
"""By how much dates may differ from the machine's before they follow it: a leap second, and reading two clocks one
after the other.
"""


class Clock:
    """Call it for the time. `wall`: the machine's clock; `steady`: what passes since its start, by the name `boot`."""

    def __init__(
        self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = procs.since_boot, boot: str = ""
    ) -> None:
        self._wall, self._steady, self._boot = wall, steady, boot or procs.boot_name()
        self._ahead = wall() - steady()

    def __call__(self) -> float:
        """Return the seconds since the epoch."""
        return self._steady() + self._ahead

    def of(self, stamp: str) -> float | None:
        """Return the time of a `procs.stamp` of this start of the machine; None for any other."""
        boot, _, seconds = stamp.rpartition(" ")
        return float(seconds) + self._ahead if boot and boot == self._boot else None

    def moved(self) -> float:
        """Return by how many seconds the machine's clock was set since; 0.0 when it was not."""
        by_s = self._wall() - self()
        return by_s if abs(by_s) > TOLERATED_S else 0.0

    def follow(self, by_s: float) -> None:
        """Go on `by_s` seconds later: together with the times of all that is live."""
        self._ahead += by_s

    def stand(self) -> str:
        """Return where the clock stands, for `resume`."""
        return json.dumps({"boot": self._boot, "ahead": self._ahead})

    def resume(self, stand: str | None, newest: float) -> bool:
        """Go on from where an earlier clock stood; return whether that was on this start of the machine.

        Otherwise it is not set before `newest`, the time of the last event: a machine may start with no idea of the
        date.
        """
        try:
            known: Any = json.loads(stand or "{}")
            if known["boot"] == self._boot:
                self._ahead = float(known["ahead"])
                return True
        except (ValueError, KeyError, TypeError):
            pass  # none yet, or damaged: as after a start of the machine
        self._ahead = max(self._ahead, newest - self._steady())
        return False
