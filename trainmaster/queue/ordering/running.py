"""The live attempts as a pass wants them: by the time they end, and what each account holds. Kept between passes.

Owned by one thread. Invariant: `releases` is sorted and `held` adds up exactly what the attempts in it are charged for.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping

from trainmaster.core.ids import attempt_id
from trainmaster.core.records import Attempt, Job, Node
from trainmaster.queue.ordering.classes import tenant_of
from trainmaster.queue.ordering.quota import Account, accounts_of, asks, charges
from trainmaster.queue.snapshot import Usage

_Entry = tuple[float, float, str]


class Running:
    """Attempts by id. `add` and `remove` are O(log n) and one move of references."""

    def __init__(self, usages: Iterable[Usage] = ()) -> None:
        self._usages: dict[str, Usage] = {}
        self._ends: dict[str, list[_Entry]] = {}
        self.held: dict[tuple[Account, str, str], int] = {}
        self.changes = 0
        """How often an attempt was noted, noted anew or forgotten."""
        for usage in usages:
            self.add(usage)

    def __len__(self) -> int:
        return len(self._usages)

    def __iter__(self) -> Iterator[Usage]:
        return iter(self._usages.values())

    def get(self, attempt: str) -> Usage | None:
        """Return this attempt, or None when it is not here."""
        return self._usages.get(attempt)

    def add(self, usage: Usage) -> None:
        """Note an attempt; what was known of the same one before is replaced (its limit may have changed)."""
        self.remove(usage.attempt)
        self._usages[usage.attempt] = usage
        insort(self._ends.setdefault(usage.pool, []), _entry(usage))
        self._charge(usage, 1)

    def remove(self, attempt: str) -> Usage | None:
        """Forget an attempt and return it; nothing happens when it is not here."""
        usage = self._usages.pop(attempt, None)
        if usage is not None:
            ends = self._ends[usage.pool]
            del ends[bisect_left(ends, _entry(usage))]
            self._charge(usage, -1)
        return usage

    def releases(self, pool: str) -> list[Usage]:
        """Return the attempts of `pool` in the order they end: limits first, then those without one, oldest first."""
        return [self._usages[attempt] for _, _, attempt in self._ends.get(pool, ())]

    def _charge(self, usage: Usage, sign: int) -> None:
        self.changes += 1
        for resource, amount in usage.held or asks(usage.roles):
            for account in accounts_of(usage.tenant):
                key = account, usage.pool, resource
                self.held[key] = self.held.get(key, 0) + sign * amount


def usage_of(job: Job, attempt: Attempt, nodes: Mapping[str, Node]) -> Usage:
    """Return what the live `attempt` of `job` holds, as the queue sees it."""
    return Usage(
        attempt=attempt_id(job.id, attempt.number),
        job=job.id,
        roles=job.roles,
        placement=attempt.placement,
        pool=job.pool,
        started_at=attempt.created_at,
        ends_at=_ends_at(job, attempt),
        priority=int(job.priority),
        tenant=tenant_of(job),
        held=charges(job.roles, attempt.placement, nodes),
        preemptible=job.preemptible,
        preempted_at=job.preempted_at if job.preempted_at is not None else -math.inf,
    )


def _ends_at(job: Job, attempt: Attempt) -> float:
    """Return when the attempt ends at the latest: now for one that is being cleared away, else by its limit."""
    if attempt.draining_at is not None:
        return attempt.draining_at
    if attempt.retained_at is not None:
        return attempt.retained_at + job.policy.debug_hold_s
    if job.expires_at is not None:
        return job.expires_at
    return math.inf if job.policy.duration_s is None else attempt.created_at + job.policy.duration_s


def _entry(usage: Usage) -> _Entry:
    return usage.ends_at, usage.started_at, usage.attempt


def running_of(usages: Iterable[Usage]) -> Running:
    """Return `usages` themselves where they are kept as Running, else an index of them."""
    return usages if isinstance(usages, Running) else Running(usages)
