"""Jobs that wait for a trouble of the platform to pass: they stand in no queue until it is time to try them again.
Pure.

How long is the reducer's to say (`Job.pause_s`, from `queued_at`).
"""

from collections.abc import Iterator

from trainmaster.answers import ReasonView
from trainmaster.core.records import Job
from trainmaster.service.language import both


class Pausing:
    """Those of one server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        """Let `job` wait, as it is now."""
        self._jobs[job.id] = job

    def remove(self, job: str) -> None:
        """Forget `job`; nothing happens when it does not wait here."""
        self._jobs.pop(job, None)

    def over(self, now: float) -> Iterator[Job]:
        """Take out and yield those whose time has come."""
        for job in [job for job in self._jobs.values() if _until(job) <= now]:
            del self._jobs[job.id]
            yield job

    def next_at(self) -> float | None:
        """Return when the next one's time comes, None when nobody waits."""
        return min(map(_until, self._jobs.values()), default=None)

    def reason(self, job: Job) -> ReasonView | None:
        """Return why `job` waits here and until when, as the API shows reasons; None when it does not."""
        found = self._jobs.get(job.id)
        verdict = found.attempt.verdict if found is not None and found.attempt is not None else None
        if found is None or verdict is None:
            return None
        evidence = {"again_at": _until(found), "tries": found.attempts_used}
        return ReasonView(code=verdict.code, message=both(verdict.said), evidence=evidence)


def _until(job: Job) -> float:
    return job.queued_at + job.pause_s
