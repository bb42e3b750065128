"""What is known of a ledger outside its database: how far it was, in one small file. A loss is then never silent.

A database file that is gone, or whose newest pages were lost, looks like a new or an older one to whoever opens it. The mark says
which ledger it was and the number of its last event, never a later one than is durable. Invariant: an opened ledger is the
marked one and not behind it, or somebody accepted the loss.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trainmaster.core.errors import Conflict
from trainmaster.messages.said import Said
from trainmaster.messages.server import ledger as saying


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger was: its name, the number of its last event, and when that was written down."""

    ledger: str
    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class Past:
    """What a home knows of its ledger. `path`: the mark. `traces`: whether the home holds what only a ledger's jobs leave.

    `accept_loss`: somebody has said that what is missing is to be forgotten.
    """

    path: str
    traces: Callable[[], bool] = lambda: False
    accept_loss: bool = False

    def mark(self) -> Mark | None:
        """Return the mark, None where there is none, or none that can be read."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found: Any = json.load(file)
            return Mark(str(found["ledger"]), int(found["seq"]), float(found["at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, mark: Mark) -> None:
        """Replace the mark. Raises OSError."""
        fresh = f"{self.path}.new"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"ledger": mark.ledger, "seq": mark.seq, "at": mark.at}, file)
        os.replace(fresh, self.path)

    def refuse_empty(self, where: Said | str) -> None:
        """Return when the ledger at `where` may be empty. Raises Conflict where this home has had one."""
        if self.accept_loss:
            return
        mark = self.mark()
        if mark is not None:
            raise Conflict(saying.ledger_missing(where, mark.seq, mark.at))
        if self.traces():
            raise Conflict(saying.ledger_missing_beside_jobs(where))

    def refuse_behind(self, ledger: str, seq: int) -> int:
        """Return the number that the next event must be above, for a ledger that ends at event `seq`.

        Raises Conflict when the ledger is another one than the marked, or behind it.
        """
        mark = self.mark()
        if mark is None or (mark.ledger == ledger and mark.seq <= seq):
            return seq
        if self.accept_loss:
            return max(seq, mark.seq)
        if mark.ledger != ledger:
            raise Conflict(saying.another_ledger())
        raise Conflict(saying.ledger_behind(seq, mark.seq, mark.at))
