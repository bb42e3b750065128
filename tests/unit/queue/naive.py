"""A second plan, deliberately naive: no classes, no memory, no sorted structures; everything is added up anew every
time.

It shares the fit, the fair shares and the quota rules of one moment with the real one, and takes the head's nodes from
it - any placement that is possible at the earliest time is right - but finds order, heads, claims, times and who may
pass them by itself.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.unit.queue.worlds import World
from trainmaster.core.records import Assignment, Role, replace
from trainmaster.queue.ordering.order import Place, Ranking
from trainmaster.queue.ordering.quota import BORROWS, OWN, Account, Books, Charges, Excess, accounts_of, asks
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.elastic import fewest, shrunk, steps
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.packing import Packing
from trainmaster.queue.plan import ranking_of
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.rules.backfill import Promise
from trainmaster.queue.snapshot import ClassKey, Pending, Start, Usage


class Outcome(NamedTuple):
    """Who starts as what and where, in order, and when each pool's head does."""

    starts: list[Start]
    heads: dict[str, tuple[str, float]]


class _Claim(NamedTuple):
    """What a job will take of its accounts, and when; `waits`: for quota, else for its nodes, with its quota kept from
    now on. `gone`: the attempts that end for it.
    """

    job: Pending
    wanted: dict[tuple[Account, str], int]
    at: float
    ends_at: float = math.inf
    waits: bool = True
    gone: frozenset[str] = frozenset()


def naive(world: World, policy: QueuePolicy, promises: Iterable[Promise | None]) -> Outcome:
    """Return what must happen. Raises AssertionError when one of `promises`, the rehearsals of the real plan, is
    wrong.
    """
    out = Outcome([], {})
    tenants = {job.tenant for job in world.waiting.values()}
    ranking = ranking_of(world.snapshot(), world.now, policy, tenants)
    told, packing = iter(promises), Packing(policy.packing, policy.rest_rule, world.mix)
    for pool in sorted({job.pool for job in world.waiting.values()}):
        _Pool(world, policy, packing, pool, told, out, ranking).run()
    assert not list(told)
    return out


class _Pool:
    def __init__(
        self,
        world: World,
        policy: QueuePolicy,
        packing: Packing,
        pool: str,
        promises: Iterator[Promise | None],
        out: Outcome,
        ranking: Ranking,
    ) -> None:
        self.world, self.policy, self.pool, self.promises, self.out = world, policy, pool, promises, out
        self.ranking, self.packing = ranking, packing
        self.settled: set[str] = set()
        self.borrowers: set[str] = set()  # whose turn is after the others', because they exceed what is theirs
        self.claims: dict[str, _Claim] = {}  # by who waits for quota; "head": the head's
        self.at: float | None = None
        self.promised: str | None = None
        self.promise: Promise | None = None
        self.refused: set[tuple[ClassKey, tuple[tuple[int, str | None], ...], tuple[str, ...]]] = set()
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

    def consider(self, job: Pending, borrows: bool = False) -> None:
        world, borrows = self.world, borrows or job.job in self.borrowers
        right = (OWN, BORROWS) if borrows else (OWN,)
        ends_at = world.now + job.limit_s
        late = self.at is not None and self.promised != job.job and not (ends_at <= self.at and ends_at < math.inf)
        room = self.behind() if late else world.room()
        found = [(at, model, self.judge(job, asks(fewest(self.of(at, job, model))))) for at, model in self.ways(job)]
        verdicts = [verdict for *_, verdict in found]
        fine = [(at, model) for at, model, verdict in found if verdict in right]
        lacks = False  # nodes, for one of these
        for at in sorted({at for at, _ in fine}):
            for step in range(steps(job.request.shapes[at]) + 1):
                roles = shrunk(job.request.shapes[at], step)
                for model in [model for way, model in fine if way == at]:
                    placed = fit(room, only(roles, model), job.pool, packing=self.packing)
                    if placed is None:
                        lacks = lacks or step == steps(job.request.shapes[at])
                        continue
                    verdicts.append(self.judge(job, world.charged(roles, placed)))
                    if verdicts[-1] in right:
                        self.take(job, at, roles, placed, ends_at)
                        return
        if self.at is None and self.carried(job) and not self.head(job, fine, right, lacks):
            self.claim(job, found)
        if BORROWS in verdicts and not borrows:
            self.borrowers.add(job.job)
            if self.policy.backfill == "none" and self.at is not None:  # nobody else has a turn any more
                self.at = None
                self.consider(job, borrows=True)
        else:
            self.settled.add(job.job)

    def ways(self, job: Pending) -> list[tuple[int, str | None]]:
        """The numbers of the shapes, each also with every model where somebody counts models."""
        counted = [
            name
            for (account, pool), quota in self.world.quotas.items()
            for name in (*quota.nominal, *quota.cap)
            if pool == self.pool and account in accounts_of(job.tenant)
        ]
        models = {model for node in self.world.nodes if node.pool == self.pool for model in node.gpus}
        out: list[tuple[int, str | None]] = []
        for at, shape in enumerate(job.request.shapes):
            out.append((at, None))
            if any(name.startswith("gpu:") for name in counted) and any(
                only((role,), "?") != (role,) for role in shape
            ):
                out += [(at, model) for model in sorted(models)]
        return out

    @staticmethod
    def of(at: int, job: Pending, model: str | None) -> tuple[Role, ...]:
        return only(job.request.shapes[at], model)

    def judge(self, job: Pending, wanted: Charges, at: float | None = None) -> str | Excess:
        """What the quotas say, and those who claimed theirs before."""
        verdict = self.books().judge(job.tenant, wanted)
        ends_at = (self.world.now if at is None else at) + job.limit_s
        if isinstance(verdict, Excess):
            return verdict
        for claim in self.claims.values():
            if claim.job.job == job.job or (ends_at <= claim.at and ends_at < math.inf):
                continue
            for account, resource in claim.wanted:
                mine = dict(wanted).get(resource, 0) if account in accounts_of(job.tenant) else 0
                if mine and self.used(account, resource, claim, job.job) + mine > self.rights()[account, resource]:
                    return Excess(account, resource, 0, mine, 0, job=claim.job.job)
        return verdict

    def used(self, account: Account, resource: str, claim: "_Claim", asks: str = "") -> int:
        """What of an account is spoken for when that claim is to be met, for one who asks for more."""
        total = claim.wanted[account, resource]
        for usage in self.world.running.values():
            gone = claim.waits and (usage.attempt in claim.gone or usage.ends_at <= claim.at < math.inf)
            if usage.pool == self.pool and account in accounts_of(usage.tenant) and not gone:
                total += dict(usage.held).get(resource, 0)
        head = self.claims.get("head")
        if head is not None and head is not claim and head.job.job != asks:
            late = not (head.ends_at <= claim.at and head.ends_at < math.inf)
            total += head.wanted.get((account, resource), 0) if late else 0
        return total

    def rights(self) -> dict[tuple[Account, str], int]:
        out: dict[tuple[Account, str], int] = {}
        for (account, pool), quota in self.world.quotas.items():
            if pool == self.pool:
                out |= {(account, name): most for name, most in {**quota.cap, **quota.nominal}.items()}
        return out

    def asked(self, job: Pending, wanted: Charges) -> dict[tuple[Account, str], int]:
        keys = {(account, name): amount for account in accounts_of(job.tenant) for name, amount in wanted}
        return {key: amount for key, amount in keys.items() if key in self.rights()}

    def claim(self, job: Pending, found: list[tuple[int, str | None, str | Excess]]) -> None:
        """The first that waits for an account claims what it has a right to, for when the limits give it back."""
        for at, model, verdict in found:
            wanted = self.asked(job, asks(fewest(self.of(at, job, model))))
            short = verdict == BORROWS or (isinstance(verdict, Excess) and verdict.job is None)
            if not short or any(amount > self.rights()[key] for key, amount in wanted.items()):
                continue
            running = [usage for usage in self.world.running.values() if usage.pool == self.pool]
            running.sort(key=lambda usage: (usage.ends_at, usage.started_at, usage.attempt))
            for count in range(len(running) + 1):
                time = running[count - 1].ends_at if count else self.world.now
                gone = frozenset(usage.attempt for usage in running[:count])
                claim = _Claim(job, wanted, max(time, self.world.now), gone=gone)
                if all(self.used(*key, claim) <= self.rights()[key] for key in wanted):
                    break
            taken = {account for other in self.claims.values() for account, _ in other.wanted}
            mine = {key: amount for key, amount in wanted.items() if key[0] not in taken}
            if mine:
                self.claims[job.job] = claim._replace(wanted=mine)
            return

    def carried(self, job: Pending) -> bool:
        """Whether the machines in service could, if nothing ran."""
        empty = self.world.room(self.world.running)
        return any(fit(empty, fewest(shape), job.pool) is not None for shape in job.request.shapes)

    def take(
        self, job: Pending, at: int, roles: tuple[Role, ...], placed: tuple[Assignment, ...], ends_at: float
    ) -> None:
        del self.world.waiting[job.job]
        self.claims.pop(job.job, None)
        if self.promised == job.job:
            self.promised, self.at = None, None
            self.claims.pop("head", None)
            del self.out.heads[self.pool]
        held = self.world.charged(roles, placed)
        usage = Usage(
            job.job, job.job, roles, placed, job.pool, self.world.now, ends_at, job.priority, job.tenant, held
        )
        self.world.running[job.job] = usage
        self.out.starts.append(Start(job.job, placed, roles, at))

    def head(self, job: Pending, fine: list[tuple[int, str | None]], right: tuple[str, ...], lacks: bool) -> bool:
        """Let one attempt after the other end until `job` fits."""
        if self.policy.backfill == "none":
            self.at = math.inf if lacks else None
            return lacks
        running = [usage for usage in self.world.running.values() if usage.pool == self.pool]
        running.sort(key=lambda usage: (usage.ends_at, usage.started_at, usage.attempt))
        asked = (ClassKey.of(job), tuple(fine), right)
        if not fine or asked in self.refused:
            return False  # the real one asks one of a class
        self.refused.add(asked)
        promise = next(self.promises)
        if promise is not None:
            wanted = self.world.charged(promise.roles, promise.placement)
            assert self.judge(job, wanted, promise.at) in right
        for at, model in fine:
            time = self.earliest(job, at, model, running)
            exact = only(self.of(at, job, model), "?") == self.of(at, job, model)  # charged the same wherever it runs
            if time is not None and (exact or len(self.ways(job)) == len(job.request.shapes)):
                verdict = self.judge(job, asks(fewest(self.of(at, job, model))), time)
                assert verdict not in right or (promise is not None and promise.at <= time)
        if promise is None:
            return False
        times = [self.earliest(job, at, model, running) for at, model in fine]
        assert promise.at in times
        self.at, self.promised, self.promise = promise.at, job.job, promise
        gone = [usage for usage in running if usage.ends_at <= promise.at < math.inf]
        self.releases = gone or running[: promise.releases]
        self.out.heads[self.pool] = (job.job, promise.at)
        self.claims.pop(job.job, None)
        mine = self.asked(job, wanted)
        if mine:
            self.claims["head"] = _Claim(job, mine, self.world.now, promise.at + job.limit_s, waits=False)
        return True

    def earliest(self, job: Pending, at: int, model: str | None, running: list[Usage]) -> float | None:
        for count in range(len(running) + 1):
            room = self.world.room(usage.attempt for usage in running[:count])
            if fit(room, fewest(self.of(at, job, model)), job.pool) is not None:
                return max(running[count - 1].ends_at if count else self.world.now, self.world.now)
        return None

    def behind(self) -> Room:
        promise = self.promise
        assert promise is not None
        gone = {usage.attempt for usage in self.releases}
        limited = [usage for usage in self.world.running.values() if usage.ends_at < math.inf]
        gone |= {usage.attempt for usage in limited if usage.ends_at <= promise.at}
        return self.world.room().reduced(self.world.room(gone), promise.roles, promise.placement)


def only(roles: tuple[Role, ...], model: str | None) -> tuple[Role, ...]:
    """Return `roles` with cards of any model all of `model`, None: as they are."""
    asks_any = [role.resources.gpu > 0 and role.resources.gpu_type is None and model is not None for role in roles]
    return tuple(
        replace(role, resources=replace(role.resources, gpu_type=model)) if any_ else role
        for role, any_ in zip(roles, asks_any, strict=True)
    )
