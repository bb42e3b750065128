"""Names of things: job, attempt and task identifiers. Pure; randomness is passed in.

Invariant: an attempt id is ``<job id>-<number>`` and a task is addressed by its system name ``task<role>-<index>``
inside an attempt (R111), so that every id can be taken apart again without a look-up.
"""

from __future__ import annotations

from collections.abc import Callable


def job_id(random_bytes: Callable[[int], bytes]) -> str:
    """Return a new job id: ``t`` and 32 hex digits (R111). `random_bytes` returns so many."""
    return "t" + random_bytes(16).hex()


def attempt_id(job: str, number: int) -> str:
    """Return the id of attempt `number` (from 1) of `job`."""
    return f"{job}-{number}"


def split_attempt_id(attempt: str) -> tuple[str, int]:
    """Return (job id, attempt number). Raises ValueError when `attempt` is not an attempt id."""
    job, _, number = attempt.rpartition("-")
    if not job:
        raise ValueError(f"not an attempt id: {attempt!r}")
    return job, int(number)


def role_system_name(role: int) -> str:
    """Return the system's name of the role at index `role` (from 0): ``task0``, ``task1``... (R108, R111)."""
    return f"task{role}"


def task_name(role: int, index: int) -> str:
    """Return the system name of replica `index` of role `role`: ``task0-0`` (R111)."""
    return f"task{role}-{index}"


def split_task_name(name: str) -> tuple[int, int]:
    """Return (role index, replica index) of a system task name. Raises ValueError for anything else."""
    if not name.startswith("task"):
        raise ValueError(f"not a task name: {name!r}")
    role, dash, index = name[4:].partition("-")
    if not dash or not (role.isascii() and role.isdigit() and index.isascii() and index.isdigit()):
        raise ValueError(f"not a task name: {name!r}")
    return int(role), int(index)
