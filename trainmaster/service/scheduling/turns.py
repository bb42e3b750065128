"""Entries of sweeps of which only so many run at a time: the others stand in no queue until it is their turn. Pure.

An entry has its turn from then on until it ends, whatever becomes of it meanwhile. Invariant: of no sweep more entries
have theirs than `Job.sweep_most`; who was submitted first comes first.
"""

from collections.abc import Iterator

from trainmaster.answers import ReasonView
from trainmaster.core.records import Job
from trainmaster.messages.jobs import sweeps
from trainmaster.service.language import both


class SweepTurns:
    """Those of one server."""

    def __init__(self) -> None:
        self._out: dict[str, set[str]] = {}  # by sweep: jobs that have their turn
        self._waiting: dict[str, dict[str, Job]] = {}  # by sweep, by job, in order

    def holds(self, job: Job) -> bool:
        """Return whether a queued `job` has to wait for its turn, and remember it as it is now; else it has it."""
        if job.sweep is None or not job.sweep_most:
            return False
        out = self._out.setdefault(job.sweep, set())
        if job.id in out:
            return False
        if len(out) < job.sweep_most and not self._waiting.get(job.sweep):
            out.add(job.id)
            return False
        self._waiting.setdefault(job.sweep, {})[job.id] = job
        return True

    def moved(self, job: Job) -> Iterator[Job]:
        """See that `job` does not wait in line any more, and yield those whose turn comes by that."""
        if job.sweep is None or not job.sweep_most:
            return
        out, waiting = self._out.setdefault(job.sweep, set()), self._waiting.get(job.sweep, {})
        waiting.pop(job.id, None)
        out.discard(job.id) if job.terminal else out.add(job.id)
        while waiting and len(out) < job.sweep_most:
            first = waiting.pop(next(iter(waiting)))
            out.add(first.id)
            yield first
        if not waiting:
            self._waiting.pop(job.sweep, None)
        if not out and not waiting:
            self._out.pop(job.sweep, None)

    def reason(self, job: Job) -> ReasonView | None:
        """Return why `job` waits here, as the API shows reasons; None when it does not."""
        if job.sweep is None or job.id not in self._waiting.get(job.sweep, ()):
            return None
        out = len(self._out.get(job.sweep, ()))
        evidence = {"most": job.sweep_most, "running": out}
        return ReasonView(code="sweep_turn", message=both(sweeps.waits_for_its_turn(job.sweep_most)), evidence=evidence)
