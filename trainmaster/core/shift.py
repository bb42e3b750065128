"""Moves every time of a live job by the same number of seconds: what the platform does when the machine's clock is set.

Invariant: no duration changes - neither how long the job waited or ran, nor how long it still may.
"""

from __future__ import annotations

from trainmaster.core.records import Attempt, Job, Task, replace


def _by(at: float | None, by_s: float) -> float | None:
    return None if at is None else at + by_s


def shifted(job: Job, by_s: float) -> Job:
    """Return `job` with the times of the job, its attempt and its tasks `by_s` seconds later. O(tasks)."""
    return replace(
        job,
        submitted_at=job.submitted_at + by_s,
        queued_at=job.queued_at + by_s,
        started_at=_by(job.started_at, by_s),
        ended_at=_by(job.ended_at, by_s),
        preempted_at=_by(job.preempted_at, by_s),
        attempt=None if job.attempt is None else _attempt(job.attempt, by_s),
    )


def _attempt(attempt: Attempt, by_s: float) -> Attempt:
    return replace(
        attempt,
        created_at=attempt.created_at + by_s,
        accepted_at=_by(attempt.accepted_at, by_s),
        started_at=_by(attempt.started_at, by_s),
        draining_at=_by(attempt.draining_at, by_s),
        retained_at=_by(attempt.retained_at, by_s),
        ended_at=_by(attempt.ended_at, by_s),
        tasks=tuple(_task(task, by_s) for task in attempt.tasks),
    )


def _task(task: Task, by_s: float) -> Task:
    return replace(task, started_at=_by(task.started_at, by_s), ended_at=_by(task.ended_at, by_s))
