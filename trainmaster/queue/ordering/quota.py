"""Quotas: what an account may hold by right, what it may borrow while others do not use theirs, and what is held. Pure.

An account is a virtual cluster (R6), a workspace, a user, or a member: a user within one workspace. A job is charged to
one of each. Amounts are integers: thousandths of cards, cores and jobs, MiB. Resources are named gpu, gpu:<model>, cpu,
memory_mib and jobs. An account without a quota has no limit; a member without one has that of each member of the
workspace. Invariant: nobody holds more than its cap, and nobody gets more than its nominal amount while the
accounts of its kind with a quota in the pool, its cohort, would then hold more than their nominal amounts together.
What the first job that waits for an account's own quota claims is left to it (claims.py).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from trainmaster.core.records import Assignment, Node, Role
from trainmaster.queue.ordering.claims import Claim, Claims, KeptForHead, Key, Promised, Release, promise
from trainmaster.queue.placing.need import millicores
from trainmaster.queue.snapshot import Tenant, Usage

Charges = tuple[tuple[str, int], ...]


class Account(NamedTuple):
    """`kind`: cluster, workspace, user, or member, who is a user `within` one workspace."""

    kind: str
    name: str
    within: str = ""


def each_member(workspace: str) -> Account:
    """Return the account whose quota every member of `workspace` has who has none of their own."""
    return Account("member", "", workspace)


@dataclass(frozen=True, slots=True)
class Quota:
    """`nominal`: held by right; `cap`: the most with what is borrowed, absent: as much as the cohort leaves unused."""

    nominal: Mapping[str, int] = field(default_factory=dict)
    cap: Mapping[str, int] = field(default_factory=dict)


class Excess(NamedTuple):
    """What stands in the way: `account` holds `used` of `resource`, asks `asks` more, may hold `limit`.

    `lent`: it would have to borrow, and others of the cohort have that much left to lend. `job`: there is enough now,
    but that job comes first and would have to wait longer.
    """

    account: Account
    resource: str
    used: int
    asks: int
    limit: int
    lent: int | None = None
    job: str | None = None


OWN: Final = "own"
BORROWS: Final = "borrows"
ONE_JOB: Final = ("jobs", 1000)
"""What every gang is charged, however large it is."""


@lru_cache(maxsize=4096)
def accounts_of(tenant: Tenant) -> tuple[Account, ...]:
    """Return whom a job of `tenant` is charged to."""
    cluster, workspace, owner = tenant
    return (
        Account("cluster", cluster),
        Account("workspace", workspace),
        Account("user", owner),
        Account("member", owner, workspace),
    )


def asks(roles: Iterable[Role]) -> Charges:
    """Return what a gang is charged for wherever it runs: cards of a model only where it asks for that model."""
    total = {"gpu": 0, "cpu": 0, "memory_mib": 0}
    for role in roles:
        ask = role.resources
        cards = ask.gpu * ask.gpu_milli * role.replicas
        total["gpu"] += cards
        total["cpu"] += millicores(ask.cpu) * role.replicas
        total["memory_mib"] += ask.memory_mib * role.replicas
        if cards and ask.gpu_type is not None:
            name = f"gpu:{ask.gpu_type}"
            total[name] = total.get(name, 0) + cards
    return (*((name, amount) for name, amount in total.items() if amount), ONE_JOB)


def charges(roles: Sequence[Role], placement: Iterable[Assignment], nodes: Mapping[str, Node]) -> Charges:
    """Return what a placed gang is charged for: `asks`, with every card under the model that it turned out to be.

    One that is placed nowhere yet is charged for what it asks.
    """
    placement = tuple(placement)
    if placement and not placement[0].node:
        return asks(roles)
    total = {name: amount for name, amount in asks(roles) if not name.startswith("gpu:")}
    for a in placement:
        models = nodes[a.node].gpus if a.node in nodes else ()
        for card in a.gpus:
            if card < len(models):
                name = f"gpu:{models[card]}"
                total[name] = total.get(name, 0) + roles[a.role].resources.gpu_milli
    return tuple(total.items())


class Books:
    """What every account holds in one pool during a pass, and whether more may be charged to it.

    `releases`: the attempts that run in the pool, by the time they end; asked for once somebody's claim is looked at.
    """

    def __init__(
        self,
        pool: str,
        quotas: Mapping[tuple[Account, str], Quota],
        held: Mapping[tuple[Account, str, str], int],
        releases: Callable[[], Iterable[Usage]] = tuple,
    ) -> None:
        self._quotas = {account: quota for (account, where), quota in quotas.items() if where == pool}
        self._pool, self._before = pool, held
        self._held: dict[Key, int] = {}
        self._left: dict[tuple[str, str], int] = {}  # (kind, resource) -> nominal of the cohort that nobody holds
        self._rights: dict[Key, int] = {}  # what an account may hold whatever others do
        self.claims, self._releases = Claims(), releases
        self._running: dict[Account, list[Usage]] | None = None  # what `releases` gave
        self._started: list[Release] = []
        for account, quota in sorted(self._quotas.items()):
            self._open(account, quota)

    def _open(self, account: Account, quota: Quota) -> None:
        """Begin the book of an account with what it held before the pass."""
        for resource in sorted({*quota.nominal, *quota.cap}):
            used = self._held[account, resource] = self._before.get((account, self._pool, resource), 0)
            self._rights[account, resource] = quota.nominal.get(resource, quota.cap.get(resource, 0))
            if resource in quota.nominal:
                cohort = account.kind, resource
                self._left[cohort] = self._left.get(cohort, 0) + quota.nominal[resource] - used

    def _quota_of(self, account: Account) -> Quota | None:
        """Return the quota of an account: of a member without one that of each member, whose book is opened when it is
        first looked at.
        """
        quota = self._quotas.get(account)
        if quota is None and account.within and (each := self._quotas.get(each_member(account.within))) is not None:
            quota = self._quotas[account] = Quota(cap=each.cap)
            self._open(account, quota)
        return quota

    @property
    def empty(self) -> bool:
        """True when nobody has a quota here."""
        return not self._quotas

    def models(self, tenant: Tenant) -> bool:
        """Return whether an account of `tenant` has a quota of some card model."""
        quotas = [self._quota_of(account) for account in accounts_of(tenant)]
        return any(name.startswith("gpu:") for quota in quotas if quota for name in (*quota.nominal, *quota.cap))

    def judge(self, tenant: Tenant, wanted: Charges, ends_at: float = math.inf, job: str = "") -> str | Excess:
        """Return OWN, BORROWS, or what stands in the way of charging `wanted` to `tenant` as well.

        `job`: who asks, and will end by `ends_at`, for what others claim.
        """
        verdict = OWN
        for account in accounts_of(tenant):
            quota = self._quota_of(account)
            for resource, amount in wanted if quota is not None else ():
                assert quota is not None
                cap, nominal = quota.cap.get(resource), quota.nominal.get(resource)
                used = self._held.get((account, resource), 0)
                if cap is not None and used + amount > cap:
                    return Excess(account, resource, used, amount, cap)
                if nominal is None or used + amount <= nominal:
                    continue
                left = self._left[account.kind, resource]
                if amount > left:
                    own = max(nominal - used, 0)  # which the cohort leaves over, too, but nobody needs to lend
                    return Excess(account, resource, used, amount, nominal, max(left - own, 0))
                verdict = BORROWS
        asked = self._limited(tenant, wanted) if self.claims.any else {}
        refused = self.claims.refused(job, asked, ends_at)
        if refused is None:
            return verdict
        key, first = refused
        return Excess(*key, self._held[key], asked[key], self._rights[key], job=first)

    def charge(self, tenant: Tenant, held: Charges, sign: int = 1) -> None:
        """Note that `tenant` holds this from now on, or with `sign` -1 no longer."""
        for account in accounts_of(tenant):
            quota = self._quota_of(account)
            for resource, amount in held if quota is not None else ():
                assert quota is not None
                if (account, resource) in self._held:
                    self._held[account, resource] += sign * amount
                if resource in quota.nominal:
                    self._left[account.kind, resource] -= sign * amount

    def start(self, job: str, tenant: Tenant, held: Charges, ends_at: float) -> None:
        """Charge what `job` takes from now until `ends_at`; what it claimed is no longer claimed."""
        asked = self._limited(tenant, held)
        self.claims.withdraw(job)
        self.claims.took(job, asked, ends_at)
        self._started.append((ends_at, asked))
        self.charge(tenant, held)

    def claim(self, job: str, tenant: Tenant, wanted: Charges, now: float) -> bool:
        """Let `job` have `wanted`, if its accounts have a right to so much, before others of those that nobody claims
        yet.
        """
        asked = self._limited(tenant, wanted)
        if any(amount > self._rights[key] for key, amount in asked.items()):
            return False
        free = {key: amount for key, amount in asked.items() if not self.claims.on(key[0])}
        if free:
            self.claims.add(
                Claim(job, free, lambda: promise(asked, self._held, self._rights, self._given_back(asked), now))
            )
        return True

    def keep(self, job: str, tenant: Tenant, wanted: Charges, now: float, ends_at: float) -> None:
        """Leave `wanted` to `job` from now on: it starts when its nodes are free, and will end by `ends_at`."""
        asked = self._limited(tenant, wanted)
        self.claims.withdraw(job)
        spare = {key: self._rights[key] - self._held[key] - amount for key, amount in asked.items()}
        self.claims.keep(KeptForHead(job, asked, ends_at), Claim(job, asked, lambda: Promised(now, spare)))

    def _limited(self, tenant: Tenant, wanted: Charges) -> dict[Key, int]:
        """Return what of `wanted` counts against a quota, by account and resource."""
        return {
            (account, resource): amount
            for account in accounts_of(tenant)
            if self._quota_of(account) is not None
            for resource, amount in wanted
            if (account, resource) in self._rights
        }

    def _given_back(self, asked: Mapping[Key, int]) -> list[Release]:
        """Return what the accounts in `asked` get back, by the time they do."""
        if self._running is None:
            self._running = {}
            for usage in self._releases():
                for account in accounts_of(usage.tenant):
                    if self._quota_of(account) is not None:
                        self._running.setdefault(account, []).append(usage)
        usages = {usage.attempt: usage for account, _ in asked for usage in self._running.get(account, ())}
        back = [(u.ends_at, self._limited(u.tenant, u.held or asks(u.roles))) for u in usages.values()]
        return sorted([*back, *self._started], key=itemgetter(0))

    def borrows(self, tenant: Tenant, held: Charges) -> bool:
        """Return whether some of `held` is of what an account of `tenant` holds beyond its nominal amount."""
        for account in accounts_of(tenant):
            quota = self._quota_of(account)
            nominal = quota.nominal if quota is not None else {}
            if any(amount and self._held[account, name] > nominal[name] for name, amount in held if name in nominal):
                return True
        return False
