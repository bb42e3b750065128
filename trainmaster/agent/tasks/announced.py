"""Gangs that were made ready for a launch that may follow. One that waits for long is given up: its launch got lost,
with the decision behind it. Starts and ends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainmaster.agent.tasks.live import LiveAttempt

READY_S: Final = 5.0
"""A gang that was made ready is launched within milliseconds; one that was not after once to twice this long is
dropped.
"""


class Announced:
    """Those of one supervisor, by attempt. `later(seconds, call)` sets a timer, `give_up(name)` takes one out and ends
    it.
    """

    def __init__(self, later: Callable[[float, Callable[[], None]], None], give_up: Callable[[str], None]) -> None:
        self._later, self._give_up = later, give_up
        self._waiting: dict[str, LiveAttempt] = {}
        self._before: dict[str, LiveAttempt] = {}  # what waited at the last `_drop_overdue`
        self._looking = False  # a timer for `_drop_overdue` is set

    def find(self, name: str) -> LiveAttempt | None:
        """Return the gang that waits as `name`."""
        return self._waiting.get(name)

    def add(self, attempt: LiveAttempt) -> None:
        """Let `attempt` wait for its launch."""
        self._waiting[attempt.id] = attempt
        self._look_later()

    def take(self, name: str) -> LiveAttempt | None:
        """Return the gang that waits as `name`, which waits no longer."""
        return self._waiting.pop(name, None)

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            self._later(READY_S, self._drop_overdue)

    def _drop_overdue(self) -> None:
        """Give up what has waited since the last look. Looks again while anything waits."""
        self._looking = False
        for name, attempt in self._before.items():
            if self._waiting.get(name) is attempt:
                self._give_up(name)
        self._before = dict(self._waiting)
        if self._waiting:
            self._look_later()
