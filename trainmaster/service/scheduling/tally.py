"""What waits and what runs, in numbers, by account: kept up with every change, so that no page has to walk over all
jobs.

Accounts are a pool; a workspace and a person, as a whole and in a pool; a virtual cluster. Amounts are counted in
thousandths as integers: taking and giving back is exact. All methods in the loop's thread. Invariant: the sums are
those of the live jobs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from trainmaster.core.cluster import amounts
from trainmaster.core.records import Job, Role
from trainmaster.core.states import JobState

Account = tuple[str, ...]
"""("pool", name), ("virtual_cluster", name), or ("workspace" or "owner", name) with or without a pool behind it."""

_LIVE: Final = (JobState.QUEUED, JobState.ACTIVE)


@dataclass(slots=True)
class Sums:
    """Of one account: jobs and thousandths of each resource, asked for by waiting jobs and held by running ones."""

    waiting: int = 0
    running: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)


class Tally:
    """One object per server. A change costs O(accounts x resources) when a job starts to wait, starts or ends, else
    O(1).
    """

    def __init__(self) -> None:
        self._of: defaultdict[Account, Sums] = defaultdict(Sums)
        self.demand: Counter[tuple[str, str | None]] = Counter()
        """Thousandths of cards asked for by waiting jobs, by (pool, model); model None: any."""
        self.demand_jobs: Counter[tuple[str, str | None]] = Counter()

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs."""
        self._of.clear()
        self.demand.clear()
        self.demand_jobs.clear()
        for job in jobs:
            self.moved(None, job)

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job."""
        if before is not None:
            if before.state is after.state and before.roles is after.roles:
                return
            self._count(before, -1)
        self._count(after, 1)

    def of(self, *account: str) -> Sums:
        """Return the sums of an account; all zero for one that nobody uses. Not to be changed."""
        return self._of.get(account) or Sums()

    def each(self, kind: str, pool: str = "") -> Iterator[tuple[str, Sums]]:
        """Yield the name and the sums of every account of `kind`, in a pool or as a whole, that holds or asks for
        something. O(accounts).
        """
        at = (pool,) if pool else ()
        for account, sums in self._of.items():
            if account[0] == kind and account[2:] == at and (sums.waiting or sums.running):
                yield account[1], sums

    def _count(self, job: Job, sign: int) -> None:
        if job.state not in _LIVE:
            return
        waits = job.state is JobState.QUEUED
        takes = _thousandths(job.roles)
        for account in accounts(job):
            sums = self._of[account]
            if waits:
                sums.waiting += sign
            else:
                sums.running += sign
            into = sums.asked if waits else sums.used
            for name, amount in takes:
                into[name] += sign * amount
        if waits:
            for model, cards in _cards(job.roles):
                self.demand[job.pool, model] += sign * cards
                self.demand_jobs[job.pool, model] += sign


def accounts(job: Job) -> tuple[Account, ...]:
    """Return the accounts that a job counts in."""
    own: tuple[Account, ...] = (("pool", job.pool),)
    for one in (("workspace", job.workspace), ("owner", job.owner)):
        own += (one, (*one, job.pool))
    return own if job.virtual_cluster is None else (*own, ("virtual_cluster", job.virtual_cluster))


@lru_cache(maxsize=4096)
def _thousandths(roles: tuple[Role, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((name, round(amount * 1000)) for name, amount in amounts(roles).items() if amount)


@lru_cache(maxsize=4096)
def _cards(roles: tuple[Role, ...]) -> tuple[tuple[str | None, int], ...]:
    asked: Counter[str | None] = Counter()
    for role in roles:
        if role.resources.gpu:
            asked[role.resources.gpu_type] += role.replicas * role.resources.gpu * role.resources.gpu_milli
    return tuple(asked.items())
