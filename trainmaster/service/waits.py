"""Why engines with queues of their own let jobs wait: their words, kept while the job is in their queue. Never in the ledger.

Such a reason is the engine's to give and to change; after a restart it is told anew. Invariant: kept only for live attempts
that have not started.
"""

from typing import Final

from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Phase
from trainmaster.engines.base import Waiting

NOT_STARTED: Final = frozenset({Phase.STARTING, Phase.PENDING})


class Waits:
    """One object per server; all methods in the loop's thread."""

    def __init__(self) -> None:
        self._told: dict[str, Waiting] = {}  # by job

    def note(self, waiting: Waiting) -> None:
        """Keep what an engine said last of an attempt that has not started."""
        self._told[split_attempt_id(waiting.attempt)[0]] = waiting

    def of(self, job: Job) -> Waiting | None:
        """Return what the engine said of the job's attempt, None when nothing, or when it does not wait there."""
        found = self._told.get(job.id)
        if found is None or job.attempt is None or not _waits(job):
            return None
        return found if found.attempt == attempt_id(job.id, job.attempt.number) else None

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job."""
        if after.id in self._told and not _waits(after):
            del self._told[after.id]

    def restore(self) -> None:
        """Begin anew; the engines are asked."""
        self._told.clear()


def _waits(job: Job) -> bool:
    return job.state is JobState.ACTIVE and job.attempt is not None and job.attempt.phase in NOT_STARTED
