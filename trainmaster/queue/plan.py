"""`plan(snapshot, now, policy) -> Plan`: who starts now and where, and why everybody else waits. Pure.

Take the waiting jobs of each pool in order. Start each one that fits, all of its replicas or none. One that does not
fit although the machines could carry it gets what is freed next, so nobody behind it in its pool may start - except,
while it lacks cards, jobs that ask for no cards. One that the present machines cannot carry at all (a node is away)
holds nobody up. Equal requests share a class: what is known of one is known of all. docs/design/queue.md shows why
nobody starves.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from trainmaster.queue.capacity import Capacity, Room
from trainmaster.queue.fit import fit
from trainmaster.queue.shortage import Shortage, away, shortage
from trainmaster.queue.snapshot import Pending, Plan, QueuePolicy, Reason, RequestClass, Snapshot, Start

DEFAULT_POLICY: Final = QueuePolicy()


def plan(snapshot: Snapshot, now: float, policy: QueuePolicy = DEFAULT_POLICY) -> Plan:
    """Return the starts of this pass and the reasons of who still waits. `snapshot` is left as it is.

    O(classes log classes + starts x nodes): a class that is known not to fit costs a look-up, not a fit.
    """
    work = _Pass(snapshot.capacity or capacity_of(snapshot))
    for cls, job in _line(snapshot.pending, work.reasons):
        if len(work.starts) == policy.max_starts:
            return Plan(tuple(work.starts), work.reasons, more=True, at=now)
        work.consider(cls.key, job)
    return Plan(tuple(work.starts), work.reasons, at=now)


def capacity_of(snapshot: Snapshot) -> Capacity:
    """Return what is free in `snapshot`, added up from its running attempts. O(nodes + running tasks)."""
    capacity = Capacity(snapshot.nodes, snapshot.port_first, snapshot.port_last, snapshot.busy_ports)
    for usage in snapshot.running:
        capacity.hold(usage.job, usage.roles, usage.placement)
    return capacity


def _line(classes: Sequence[RequestClass], settled: dict[str, Reason]) -> Iterator[tuple[RequestClass, Pending]]:
    """Yield (class, job) over all classes in order; a class that is in `settled` is passed over from then on."""
    members = [iter(cls.jobs) for cls in classes]
    heads = [(first.order, at, first) for at, jobs in enumerate(members) if (first := next(jobs, None))]
    heapq.heapify(heads)
    while heads:
        _, at, job = heads[0]
        yield classes[at], job
        after = next(members[at], None) if classes[at].key not in settled else None
        if after is None:
            heapq.heappop(heads)
        else:
            heapq.heapreplace(heads, (after.order, at, after))


@dataclass(slots=True)
class _Pass:
    """One pass: what has been started, who is settled as waiting, and who is first in line in each pool."""

    capacity: Capacity
    starts: list[Start] = field(default_factory=list)
    reasons: dict[str, Reason] = field(default_factory=dict)
    first: dict[str, tuple[Pending, bool]] = field(default_factory=dict)  # pool -> who gets what is freed, lacks cards
    room: Room | None = None  # the capacity minus this pass's starts, made at the first of them

    def consider(self, key: str, job: Pending) -> None:
        """Start `job`, or settle its class with a reason."""
        if key in self.reasons:
            return
        holder = self.first.get(job.pool)
        if holder is not None and not (holder[1] and not asks_cards(job)):
            self.reasons[key] = Reason("behind", {"job": holder[0].job})
            return
        short = self.capacity.failures.get(key)
        placement = None if short is not None else fit(self.room or self.capacity, job.roles, job.pool)
        if placement is not None:
            self.room = self.room or self.capacity.fork()
            self.room.take(job.roles, placement)
            self.starts.append(Start(job.job, placement))
            return
        gone = away(self.capacity, key, job.roles, job.pool)
        if gone is not None:
            self.reasons[key] = gone
            return
        short = short or self._shortage(key, job)
        self.reasons[key] = short.reason
        self.first[job.pool] = (job, short.cards)

    def _shortage(self, key: str, job: Pending) -> Shortage:
        found = shortage(self.room or self.capacity, job.roles, job.pool)
        if self.room is None:  # true of the capacity itself: remembered until something is released
            self.capacity.failures[key] = found
        return found


def asks_cards(job: Pending) -> bool:
    """Return whether any role of `job` asks for cards."""
    return any(role.resources.gpu for role in job.roles)
