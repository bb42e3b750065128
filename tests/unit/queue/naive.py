"""A second plan, deliberately naive: no classes, no memory, no sorted structures; everything is added up anew every time.

It shares the fit, the fair shares and the quota rules with the real one, and takes the head's nodes from it - any placement
that is possible at the earliest time is right - but finds order, heads, times and who may pass them by itself.
"""

import math
from typing import NamedTuple

from tests.unit.queue.worlds import World
from trainmaster.core.records import Assignment, Role
from trainmaster.queue.capacity import Room
from trainmaster.queue.elastic import fewest, shrunk, steps
from trainmaster.queue.fit import fit
from trainmaster.queue.order import Place, Ranking
from trainmaster.queue.plan import ranking_of
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.quota import BORROWS, OWN, Books, asks
from trainmaster.queue.running import Running
from trainmaster.queue.snapshot import Pending, Plan, Usage


class Outcome(NamedTuple):
    """Who starts as what, in order, and when each pool's head does."""

    starts: list[tuple[str, int, int]]
    heads: dict[str, tuple[str, float]]


def naive(world: World, policy: QueuePolicy, real: Plan) -> Outcome:
    """Return what must happen. Raises AssertionError when a promise of `real` is not possible at its time."""
    out = Outcome([], {})
    tenants = {job.tenant for job in world.waiting.values()}
    ranking = ranking_of(world.snapshot(), world.now, policy, tenants)
    for pool in sorted({job.pool for job in world.waiting.values()}):
        _Pool(world, policy, pool, real, out, ranking).run()
    return out


class _Pool:
    def __init__(
        self, world: World, policy: QueuePolicy, pool: str, real: Plan, out: Outcome, ranking: Ranking
    ) -> None:
        self.world, self.policy, self.pool, self.real, self.out = world, policy, pool, real, out
        self.ranking = ranking
        self.settled: set[str] = set()
        self.borrowers: set[str] = set()  # whose turn is after the others', because they exceed what is theirs
        self.at: float | None = None
        self.releases: list[Usage] = []

    def run(self) -> None:
        world = self.world
        while True:
            left = [job for job in world.waiting.values() if job.pool == self.pool and job.job not in self.settled]
            if not left or (self.at is not None and self.policy.backfill == "none"):
                return
            self.consider(min(left, key=self.turn))

    def books(self) -> Books:
        return Books(self.pool, self.world.quotas, Running(self.world.running.values()).held)

    def turn(self, job: Pending) -> Place:
        return self.ranking.place(job, job.job in self.borrowers)

    def consider(self, job: Pending) -> None:
        world, books, borrows = self.world, self.books(), job.job in self.borrowers
        allowed = (OWN, BORROWS) if borrows else (OWN,)
        judged = [books.judge(job.tenant, asks(fewest(shape))) for shape in job.request.shapes]
        ends_at = world.now + job.limit_s
        late = self.at is not None and not (ends_at <= self.at and ends_at < math.inf)
        room = self.behind() if late else world.room()
        limited = not all(verdict in allowed for verdict in judged)
        for at, shape in enumerate(job.request.shapes):
            for step in range(steps(shape) + 1) if judged[at] in allowed else ():
                roles = shrunk(shape, step)
                placed = fit(room, roles, job.pool)
                if placed is None:
                    continue
                if books.judge(job.tenant, world.charged(roles, placed)) in allowed:
                    self.take(job, at, roles, placed, ends_at)
                    return
                limited = True
        if limited and not borrows:
            self.borrowers.add(job.job)
            return
        self.settled.add(job.job)
        if not limited and self.at is None:
            self.head(job)

    def take(
        self, job: Pending, at: int, roles: tuple[Role, ...], placed: tuple[Assignment, ...], ends_at: float
    ) -> None:
        del self.world.waiting[job.job]
        held = self.world.charged(roles, placed)
        usage = Usage(
            job.job, job.job, roles, placed, job.pool, self.world.now, ends_at, job.priority, job.tenant, held
        )
        self.world.running[job.job] = usage
        self.out.starts.append((job.job, at, sum(role.replicas for role in roles)))

    def head(self, job: Pending) -> None:
        """Let one attempt after the other end until `job` fits."""
        running = [usage for usage in self.world.running.values() if usage.pool == self.pool]
        running.sort(key=lambda usage: (usage.ends_at, usage.started_at, usage.attempt))
        for count in range(1, len(running) + 1):
            room = self.world.room(usage.attempt for usage in running[:count])
            if any(fit(room, fewest(shape), job.pool) is not None for shape in job.request.shapes):
                self.at = max(running[count - 1].ends_at, self.world.now)
                self.releases = running[:count]
                if self.at < math.inf:
                    self.releases = [usage for usage in running if usage.ends_at <= self.at]
                self.out.heads[self.pool] = (job.job, self.at)
                return

    def behind(self) -> Room:
        promise = self.real.lines[self.pool].promise
        assert promise is not None
        assert promise.at == self.at
        gone = {usage.attempt for usage in self.releases}
        gone |= {usage.attempt for usage in self.world.running.values() if usage.ends_at <= promise.at < math.inf}
        return self.world.room().reduced(self.world.room(gone), promise.roles, promise.placement)
