"""The waiting jobs, grouped by what they ask for: the mutable index the service keeps between passes.

Jobs of one request class ask for exactly the same, so that one that does not fit speaks for all of them. Owned by one
thread; never looks at nodes. Invariant: every job is in exactly one class, and a class without jobs does not exist.
"""

from collections.abc import Sequence
from dataclasses import replace

from trainmaster.core.records import Job, Role
from trainmaster.core.states import Priority
from trainmaster.queue.order import Ordered, order_key
from trainmaster.queue.snapshot import Pending, RequestClass


def class_key(roles: Sequence[Role], pool: str) -> str:
    """Return the name of the request class: everything that decides whether a gang fits, and nothing else."""
    return f"{pool}:{[_shape(role) for role in roles]}"


def _shape(role: Role) -> tuple[object, ...]:
    ask = role.resources
    ports = [(p.count, p.begin_at) for p in role.ports]
    return (role.replicas, ask.cpu, ask.memory_mib, ask.gpu, ask.gpu_type if ask.gpu else None, ports)


def pending_of(job: Job) -> Pending:
    """Return `job` as the queue sees it."""
    return Pending(job.id, order_key(job.priority, job.seq), job.roles, job.pool, job.queued_at)


class PendingQueue:
    """Every waiting job. All operations are O(log n); `snapshot_classes` is O(number of classes)."""

    def __init__(self) -> None:
        self._classes: dict[str, RequestClass] = {}
        self._jobs: dict[str, tuple[str, Pending]] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, job: str) -> bool:
        return job in self._jobs

    def get(self, job: str) -> Pending | None:
        """Return the waiting job with this id, or None."""
        found = self._jobs.get(job)
        return found[1] if found else None

    def add(self, job: Job) -> None:
        """Let `job` wait. Adding it again replaces what was known of it (its priority may have changed)."""
        self._put(class_key(job.roles, job.pool), pending_of(job))

    def remove(self, job: str) -> None:
        """Forget `job` (started, stopped or expired); nothing happens when it does not wait."""
        found = self._jobs.pop(job, None)
        if found is None:
            return
        key, pending = found
        jobs = self._ordered(key)
        jobs.remove(pending.order)
        if not jobs:
            del self._classes[key]

    def change_priority(self, job: str, priority: Priority) -> None:
        """Move a waiting job to its place in another priority class; nothing happens when it does not wait."""
        found = self._jobs.get(job)
        if found is not None:
            key, pending = found
            self._put(key, replace(pending, order=order_key(priority, int(pending.order[-1]))))

    def snapshot_classes(self) -> Sequence[RequestClass]:
        """Return the classes for a Snapshot. Their jobs are not copied: valid until the next change of this queue."""
        return tuple(self._classes.values())

    def _put(self, key: str, pending: Pending) -> None:
        self.remove(pending.job)
        if key not in self._classes:
            self._classes[key] = RequestClass(key, Ordered())
        self._ordered(key).add(pending)
        self._jobs[pending.job] = (key, pending)

    def _ordered(self, key: str) -> Ordered:
        jobs = self._classes[key].jobs
        assert isinstance(jobs, Ordered), "only this class makes the sequences it keeps"
        return jobs
