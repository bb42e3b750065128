"""The waiting jobs, grouped into classes of completely alike ones: the mutable index the service keeps between passes.

Jobs of one class ask for the same, for as long, on the same account, so that one that cannot start speaks for all.
Owned by one thread; never looks at nodes. Invariant: every job is in exactly one class, and a class without jobs does
not exist.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from trainmaster.core import records
from trainmaster.core.records import Job, Role, to_json
from trainmaster.core.states import Priority
from trainmaster.queue.ordering.lanes import Lane, Lanes, LineUp, Sorted, lanes_of
from trainmaster.queue.ordering.order import Ordered, Ranking, Rule
from trainmaster.queue.placing.elastic import sized
from trainmaster.queue.snapshot import ClassKey, Pending, Request, RequestClass, Start, Tenant


def request_of(job: Job) -> Request:
    """Return what `job` asks of the nodes."""
    shapes = job.shapes or (job.roles,)
    return Request(
        job.pool,
        tuple(tuple(_shape_of(role) for role in shape) for shape in shapes),
        frozenset(job.node_names),
        job.driver,
    )


def _shape_of(role: Role) -> Role:
    """Return `role` without what does not matter for where it fits."""
    ask = role.resources
    model = ask.gpu_type if ask.gpu else None
    resources = records.replace(ask, gpu_type=model, shm_mib=0)
    return records.replace(role, resources=resources, min_succeeded=None, min_failed=None, main=False, ends_job=False)


def tenant_of(job: Job) -> Tenant:
    """Return whom `job` is charged to."""
    return Tenant(job.virtual_cluster or "", job.workspace, job.owner)


def pending_of(job: Job) -> Pending:
    """Return `job` as the queue sees it."""
    left = math.inf if job.policy.duration_s is None else job.policy.duration_s
    if job.expires_at is not None:
        left = max(job.expires_at - job.queued_at, 0.0)
    return Pending(
        job=job.id,
        request=request_of(job),
        order=(job.submitted_at, job.seq),
        priority=int(job.priority),
        tenant=tenant_of(job),
        limit_s=left,
        queued_at=job.queued_at,
    )


class PendingQueue:
    """Every waiting job. All operations are O(log n); `snapshot_classes` is O(number of classes) after a change, then
    O(1).
    """

    def __init__(self) -> None:
        self.changes = 0
        """How often it changed: what was found out about it holds while this stands still."""
        self.lanes = Lanes()
        self._classes: dict[ClassKey, RequestClass] = {}
        self._jobs: dict[str, tuple[ClassKey, Pending]] = {}
        self._snapshot: tuple[int, Sequence[RequestClass]] = (-1, ())

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, job: str) -> bool:
        return job in self._jobs

    def get(self, job: str) -> Pending | None:
        """Return the waiting job with this id, or None."""
        found = self._jobs.get(job)
        return found[1] if found else None

    def add(self, job: Job) -> None:
        """Let `job` wait. Adding it again replaces what was known of it (its priority or limit may have changed)."""
        self.put(pending_of(job))

    def remove(self, job: str) -> None:
        """Forget `job` (started, stopped or expired); nothing happens when it does not wait."""
        found = self._jobs.pop(job, None)
        if found is None:
            return
        self.changes += 1
        key, pending = found
        cls, jobs = self._classes[key], self._ordered(key)
        was_first = jobs[0] is pending
        if was_first:
            self.lanes.remove(cls)
        jobs.remove(pending.order)
        if not jobs:
            del self._classes[key]
        elif was_first:
            self.lanes.add(cls)

    def change_priority(self, job: str, priority: Priority) -> None:
        """Move a waiting job to its place in another priority class; nothing happens when it does not wait."""
        found = self._jobs.get(job)
        if found is not None:
            self.put(replace(found[1], priority=int(priority)))

    def snapshot_classes(self) -> Sequence[RequestClass]:
        """Return the classes for a Snapshot. Their jobs are not copied: valid until the next change of this queue."""
        if self._snapshot[0] != self.changes:
            self._snapshot = self.changes, Sorted(self._classes.values(), self.lanes)
        return self._snapshot[1]

    def put(self, pending: Pending) -> None:
        """Let a job wait that is already in the queue's own words."""
        self.remove(pending.job)
        self.changes += 1
        key = ClassKey.of(pending)
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = RequestClass(key, Ordered())
        jobs = self._ordered(key)
        comes_first = not jobs or pending.order < jobs[0].order
        if jobs and comes_first:
            self.lanes.remove(found)
        jobs.add(pending)
        if comes_first:
            self.lanes.add(found)
        self._jobs[pending.job] = (found.key, pending)

    def _ordered(self, key: ClassKey) -> Ordered:
        jobs = self._classes[key].jobs
        assert isinstance(jobs, Ordered), "only this class makes the sequences it keeps"
        return jobs


class _Joined(Lanes):
    """The `kept` lanes together with that of one more class. A view: the kept lanes are never changed."""

    def __init__(self, kept: Lanes, cls: RequestClass) -> None:
        super().__init__((cls,))
        self._kept = kept

    def sorted_by(self, rule: Rule) -> Iterable[Lane]:
        return chain(self._kept.sorted_by(rule), super().sorted_by(rule))

    @property
    def tenants(self) -> set[Tenant]:
        return self._kept.tenants | super().tenants


def joined(classes: Sequence[RequestClass], job: Pending) -> Sequence[RequestClass]:
    """Return `classes` as they would be if `job` waited as well; they are left as they are. O(1) where lanes are
    kept.
    """
    cls = RequestClass(ClassKey.of(job), (job,))
    return Sorted((*classes, cls), _Joined(lanes_of(classes), cls))


class _Spared(Lanes):
    """The `kept` lanes with `rest` instead of the class `whole`. A view: the kept lanes are never changed."""

    def __init__(self, kept: Lanes, whole: RequestClass, rest: Sequence[RequestClass], alone: bool) -> None:
        super().__init__((whole,))
        self._kept, self._whole, self._rest, self._alone = kept, whole, rest, alone

    def sorted_by(self, rule: Rule) -> Iterable[Lane]:
        (mine,) = super().sorted_by(rule)
        found = (self._changed(lane) if lane.key == mine.key else lane for lane in self._kept.sorted_by(rule))
        return [lane for lane in found if lane.rows]

    def _changed(self, lane: Lane) -> Lane:
        row = self._row(self._whole)
        at = bisect_left(lane.rows, row[:2])
        if lane.rows[at : at + 1] != [row]:
            return lane  # a lane that `_Joined` added has the same key, without the class
        changed = Lane(lane.key)
        changed.rows = [*lane.rows[:at], *lane.rows[at + 1 :]]
        for cls in self._rest:
            changed.add(self._row(cls))
        return changed

    @property
    def tenants(self) -> set[Tenant]:
        return self._kept.tenants - super().tenants if self._alone else self._kept.tenants


def without(classes: Sequence[RequestClass], job: Pending) -> Sequence[RequestClass]:
    """Return `classes` as they would be if `job` did not wait; they are left as they are.

    Where lanes are kept, O(classes) for finding the one, and O(jobs) of its own.
    """
    key = ClassKey.of(job)
    sought = hash(key.request)  # cached: comparing hashes first is much cheaper than comparing requests
    alike = (at for at, cls in enumerate(classes) if hash(cls.key.request) == sought and cls.key == key)
    at = next((at for at in alike if any(one.job == job.job for one in classes[at].jobs)), None)
    if at is None:
        return classes
    left = tuple(one for one in classes[at].jobs if one.job != job.job)
    rest = (RequestClass(key, left),) if left else ()
    others = (*classes[:at], *rest, *classes[at + 1 :])
    alone = all(cls.key.tenant != job.tenant for cls in others)
    return Sorted(others, _Spared(lanes_of(classes), classes[at], rest, alone))


def in_order(classes: Sequence[RequestClass], ranking: Ranking, pool: str | None = None) -> Iterator[Pending]:
    """Yield the jobs by place, borrowing aside; with `pool` only those there. Not to be changed meanwhile.

    O(lanes) where they are kept, and O(log lanes) each.
    """
    lanes = lanes_of(classes).sorted_by(ranking.rule)
    line = LineUp(ranking, [lane for lane in lanes if pool in (None, lane.key.pool)])
    while line:
        yield line.first[2]
        line.started()


def placing(job: Job | None, start: Start) -> dict[str, Any]:
    """Return the data of the `placed` event of `start`: where each replica goes and, where it is not `job.roles`, as
    what.

    `job` may be None when it has one shape of one size.
    """
    data = {"placement": to_json(start.placement)}
    if job is None:
        return data
    shape = (job.shapes or (job.roles,))[start.shape]
    roles = tuple(sized(role, placed.replicas) for role, placed in zip(shape, start.roles, strict=True))
    return data if roles == job.roles else {**data, "roles": to_json(roles)}
