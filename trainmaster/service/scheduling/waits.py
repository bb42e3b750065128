"""Why engines let jobs wait that were handed to them: the words of a queue of their own, or why the hand-over does not
succeed; how far fetching their inputs is; and why outputs cannot be saved yet. Kept until the job gets further, never
in the ledger.

Such a reason is the engine's to give and to change; after a restart it is told anew. Invariant: kept only for live
attempts that have not started, or are being saved.
"""

from typing import Final

from trainmaster.answers import ForecastView, ReasonView, Text
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Phase
from trainmaster.engines.base import Waiting
from trainmaster.messages.cluster import queue
from trainmaster.service.language import both

NOT_STARTED: Final = frozenset({Phase.STARTING, Phase.PENDING})
WAITING: Final = NOT_STARTED | {Phase.STAGING, Phase.SAVING}


class Waits:
    """One object per server; all methods in the loop's thread."""

    def __init__(self) -> None:
        self._told: dict[str, Waiting] = {}  # by job

    def note(self, waiting: Waiting) -> None:
        """Keep what was said last of an attempt that waits."""
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


def reason_view(waiting: Waiting, engine: str | None) -> ReasonView:
    """Return an engine's reason as the API shows it: in its words, and said to be its decision; None: ours."""
    said = both(waiting.said)
    message = Text(zh=said.zh, en=said.en[:1].upper() + said.en[1:])
    return ReasonView(code=waiting.code, message=message, evidence={"told_at": waiting.at}, decided_by=engine)


def forecast_view(waiting: Waiting | None, engine: str) -> ForecastView:
    """Return an engine's estimate of a start as the API shows a forecast."""
    at = waiting.starts_at if waiting is not None else None
    return ForecastView(
        when="unknown" if at is None else "about",
        at=at,
        low=at,
        high=at,
        why=both(queue.cluster_gives_no_estimate()) if at is None else None,
        made_at=waiting.at if waiting is not None else None,
        by=engine,
        nodes=list(waiting.nodes) if waiting is not None else [],
    )


def _waits(job: Job) -> bool:
    return job.state is JobState.ACTIVE and job.attempt is not None and job.attempt.phase in WAITING
