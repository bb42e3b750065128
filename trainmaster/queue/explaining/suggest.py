"""The cheapest changes that would let a waiting job start now (B1). Pure.

Every change is tried on the state in which the pass ended, under the very rules of the pass, as what it will be
(`changes`). Invariant: a job changed as stated starts in the next pass if nothing else happens.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Final

from trainmaster.core.records import Resources
from trainmaster.queue.explaining.changes import LAST, Changes, Suggestion
from trainmaster.queue.ordering.classes import joined, without
from trainmaster.queue.ordering.quota import BORROWS, OWN, Books, charges
from trainmaster.queue.ordering.running import running_of
from trainmaster.queue.ordering.ways import Way, models_of, ways
from trainmaster.queue.placing.failures import Failures
from trainmaster.queue.placing.fit import largest, place
from trainmaster.queue.plan import capacity_of, plan
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.rules.shortage import away
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Reason, Snapshot

MINUTE_S: Final = 60.0
"""Limits are suggested in whole minutes, from one on."""

LONGEST_S: Final = 365 * 86400.0
"""The longest limit that is suggested to a job without one."""

DECIDING_S: Final = 60.0
"""What a person has for reading a suggestion and applying it: meanwhile the start of the head of the line comes
nearer, and what is still to be submitted comes later.
"""

AMOUNTS: Final = ("gpu", "cpu", "memory_mib")


def suggest(
    snapshot: Snapshot,
    job: Pending,
    reason: Reason,
    made: Plan,
    flavors: Mapping[str, Resources] | None = None,
    policy: QueuePolicy = DEFAULT,
    spent_s: float = 0.0,
) -> tuple[Suggestion, ...]:
    """Return changes, those that give up least first, each of which alone would let `job` start now.

    Another pool or virtual cluster, another class, a shorter limit, and by role another flavor of `flavors`, another
    card model, less of an amount, fewer replicas. A role with a flavor is changed as a whole. `snapshot`: after the
    starts of `made`, which was made under `policy`; `spent_s`: what is over of the time of its limit. Quota that is
    kept for somebody counts as kept, though the changed job might come first: such a change may be missed. Costs
    O(roles x (log of the numbers asked + card models + flavors) + pools + virtual clusters) fits, and for the first in
    line a pass.
    """
    if made.room is None or made.more or reason.code == "next_pass":
        return ()
    changes = Changes(job, made.at, spent_s)
    trial = _Trial(snapshot, made, changes, policy)
    return tuple(sorted(_working(snapshot, changes, trial, flavors or {}), key=attrgetter("loss")))


class _Trial:
    """The state in which a pass ended, asked about jobs that were not in it."""

    def __init__(self, snapshot: Snapshot, made: Plan, changes: Changes, policy: QueuePolicy) -> None:
        self.snapshot, self.made, self._changes, self._policy = snapshot, made, changes, policy
        self._capacity = snapshot.capacity or capacity_of(snapshot)
        self._by_name = {node.name: node for node in snapshot.nodes}

    def works(self, one: Suggestion) -> bool:
        """Return whether the job as changed would start, in its place of the line; who borrows comes behind those of
        its class.
        """
        return self._starts(one.job, borrows=False) or (
            bool(self.snapshot.quotas) and self._starts(one.job, borrows=True)
        )

    def _starts(self, job: Pending, *, borrows: bool) -> bool:
        made = self._seen_by(job)
        line = made.lines.get(job.pool)
        assert made.room is not None
        assert made.ranking is not None
        room, unfit = made.room, line.unfit if line is not None else Failures()
        books, right = self._books(made, job.pool), (OWN, BORROWS) if borrows else (OWN,)
        ends_at = made.at + DECIDING_S + job.limit_s
        models = models_of(() if books.empty else self.snapshot.nodes, job.pool)
        found = ways(ClassKey.of(job), books, models, ends_at, job.job)
        if line is not None and line.head_at is not None:
            borrowing = borrows and not self._closes(made, job, found)
            late = made.ranking.place(self._when_decided(job), borrowing) > line.head_at
            if late and line.closed:
                return False
            if late and not line.in_time(ends_at):
                room, unfit = line.behind(room), line.unfit_behind
        for way in found:
            placed = place(room, way.demand, unfit, made.packing) if way.verdict in right else None
            if placed is None:
                continue
            held = charges(way.demand.roles, placed, self._by_name)
            if books.judge(job.tenant, held, ends_at, job.job) in right:
                return True
        return False

    def _when_decided(self, job: Pending) -> Pending:
        """Return `job` as it will stand in the line: what is still to be submitted comes later by what that takes."""
        (came, seq), first = job.order, self._changes.job
        line = self.made.lines.get(first.pool)
        leads = line is not None and line.head is not None and line.head.job == first.job  # nobody is before it
        return job if leads or first.order[1] < LAST else replace(job, order=(came + DECIDING_S, seq))

    def _closes(self, made: Plan, job: Pending, found: Iterable[Way]) -> bool:
        """Return whether `job` would close the line if it cannot start without borrowing: then it may borrow in its own
        turn, before those behind it.
        """
        if self._policy.backfill != "none" or away(self._capacity, job.request) is not None:
            return False
        assert made.room is not None
        own = (way.demand for way in found if way.verdict == OWN)
        return any(place(made.room, demand, Failures(), made.packing) is None for demand in own)

    def _seen_by(self, job: Pending) -> Plan:
        """Return the pass that decides about `job`: a copy of who keeps others waiting comes when that has left its
        place.
        """
        first = self._changes.job
        line = self.made.lines.get(first.pool)
        leads = line is not None and line.head is not None and line.head.job == first.job
        leads = leads or (first.pool in self.made.books and self.made.books[first.pool].claims.of(first.job))
        return self._without if leads and job.pool == first.pool and job.order != first.order else self.made

    @cached_property
    def _without(self) -> Plan:
        """The pass as it is made when the job has gone to the end of its class."""
        classes = without(self.snapshot.pending, self._changes.job)
        return plan(replace(self.snapshot, pending=joined(classes, self._changes.copy)), self.made.at, self._policy)

    def _books(self, made: Plan, pool: str) -> Books:
        """Return what the accounts of a pool hold; the pass has looked at pools only where somebody waits."""
        books = made.books.get(pool)
        return books or Books(pool, self.snapshot.quotas, running_of(self.snapshot.running).held)


def _working(
    snapshot: Snapshot, changes: Changes, trial: _Trial, flavors: Mapping[str, Resources]
) -> Iterator[Suggestion]:
    yield from filter(trial.works, changes.elsewhere(snapshot))
    for at, role in enumerate(changes.job.roles):
        if role.flavor is not None:
            yield from filter(trial.works, changes.flavors(at, flavors))
        else:
            yield from filter(trial.works, changes.models(at, snapshot))
            for field in AMOUNTS:
                yield from _largest(
                    partial(changes.amount, at, field), math.ceil(getattr(role.resources, field)), trial
                )
        yield from _largest(partial(changes.replicas, at), role.min_replicas or role.replicas, trial)
    yield from _shorter(changes, trial)
    yield from filter(trial.works, changes.more_urgent())


def _shorter(changes: Changes, trial: _Trial) -> Iterator[Suggestion]:
    """A limit with which it is gone before the head of the line starts, or with which its turn is before that one's."""
    asked = math.ceil(min(changes.job.limit_s, LONGEST_S) / MINUTE_S)
    return _largest(lambda minutes: changes.limit(minutes * MINUTE_S), asked, trial)


def _largest(change: Callable[[int], Suggestion], asked: int, trial: _Trial) -> Iterator[Suggestion]:
    """The change to the largest number below `asked` that works, if any does."""
    found = largest(lambda number: trial.works(change(number)), asked)
    if found is not None:
        yield change(found)
