"""How many jobs are in each state, by owner, so that a list can say it without counting rows. All methods in the loop's thread.

Follows the ledger: made from its rows at start, and again after a commit that failed; changed by every batch that became
durable. Invariant: the counts are those of the stored rows as of the newest batch that was answered.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from trainmaster.core.records import Job
from trainmaster.core.states import Shown

EVERYBODY: Final = ""


class StateCounts:
    """One object per server. A change costs O(1), an answer O(states)."""

    def __init__(self) -> None:
        self._of: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by owner, and EVERYBODY
        self._live: dict[str, Shown] = {}  # what is counted of each job that has not ended

    def restore(self, stored: Mapping[tuple[str, str], int], live: Iterable[Job]) -> None:
        """Begin anew from the ledger's rows: jobs by (owner, state), and those that have not ended."""
        self._of.clear()
        for (owner, shown), number in stored.items():
            self._add(owner, shown, number)
        self._live = {job.id: job.shown for job in live}

    def changed(self, jobs: Iterable[Job], deleted: Iterable[Job]) -> None:
        """See a durable batch: each job it changed as it is now, and the ended jobs whose rows it removed."""
        for job in jobs:
            before, shown = self._live.pop(job.id, None), job.shown
            if not job.terminal:
                self._live[job.id] = shown
            if before is not shown:
                if before is not None:
                    self._add(job.owner, before, -1)
                self._add(job.owner, shown, 1)
        for job in deleted:
            self._add(job.owner, job.shown, -1)

    def set_aside(self, job: str, owner: str, shown: str) -> None:
        """See that the record of `job`, which said these, was moved out of the jobs because it cannot be read."""
        self._add(owner, self._live.pop(job, shown), -1)

    def by_state(self, owner: str = EVERYBODY) -> dict[Shown, int]:
        """Return the number of jobs of `owner`, or of everybody, in each state that has any."""
        counts: Mapping[str, int] = self._of.get(owner, {})
        return {shown: number for shown in Shown if (number := counts.get(shown, 0)) > 0}

    def _add(self, owner: str, shown: str, number: int) -> None:
        self._of[owner][shown] += number
        self._of[EVERYBODY][shown] += number
