"""Quotas: what an account may hold by right, what it may borrow while others do not use theirs, and what is held. Pure.

An account is a virtual cluster (R6), a workspace or a user; a job is charged to one of each. Amounts are integers:
thousandths of cards and cores, MiB. Resources are named gpu, gpu:<model>, cpu and memory_mib. An account without a quota
has no limit. Invariant: nobody holds more than its cap, and nobody gets more than its nominal amount while the accounts
of its kind with a quota in the pool, its cohort, would then hold more than their nominal amounts together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trainmaster.core.records import Assignment, Node, Role
from trainmaster.queue.need import millicores
from trainmaster.queue.snapshot import Tenant

Charges = tuple[tuple[str, int], ...]


class Account(NamedTuple):
    """`kind`: cluster, workspace or user."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Quota:
    """`nominal`: held by right; `cap`: the most with what is borrowed, absent: as much as the cohort leaves unused."""

    nominal: Mapping[str, int] = field(default_factory=dict)
    cap: Mapping[str, int] = field(default_factory=dict)


class Excess(NamedTuple):
    """What stands in the way: `account` holds `used` of `resource`, asks `asks` more, may hold `limit`.

    `lent`: it would have to borrow, and the cohort has that much left to lend.
    """

    account: Account
    resource: str
    used: int
    asks: int
    limit: int
    lent: int | None = None


OWN: Final = "own"
BORROWS: Final = "borrows"


def accounts_of(tenant: Tenant) -> tuple[Account, Account, Account]:
    """Return whom a job of `tenant` is charged to."""
    return Account("cluster", tenant.cluster), Account("workspace", tenant.workspace), Account("user", tenant.owner)


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
    return tuple((name, amount) for name, amount in total.items() if amount)


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
    """What every account holds in one pool during a pass, and whether more may be charged to it."""

    def __init__(
        self, pool: str, quotas: Mapping[tuple[Account, str], Quota], held: Mapping[tuple[Account, str, str], int]
    ) -> None:
        self._quotas = {account: quota for (account, where), quota in quotas.items() if where == pool}
        self._held: dict[tuple[Account, str], int] = {}
        self._left: dict[tuple[str, str], int] = {}  # (kind, resource) -> nominal of the cohort that nobody holds
        for account, quota in sorted(self._quotas.items()):
            for resource in sorted({*quota.nominal, *quota.cap}):
                used = self._held[account, resource] = held.get((account, pool, resource), 0)
                if resource in quota.nominal:
                    cohort = account.kind, resource
                    self._left[cohort] = self._left.get(cohort, 0) + quota.nominal[resource] - used

    @property
    def empty(self) -> bool:
        """True when nobody has a quota here."""
        return not self._quotas

    def judge(self, tenant: Tenant, wanted: Charges) -> str | Excess:
        """Return OWN, BORROWS, or what stands in the way of charging `wanted` to `tenant` as well."""
        verdict = OWN
        for account in accounts_of(tenant):
            quota = self._quotas.get(account)
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
                    return Excess(account, resource, used, amount, nominal, max(left, 0))
                verdict = BORROWS
        return verdict

    def charge(self, tenant: Tenant, held: Charges, sign: int = 1) -> None:
        """Note that `tenant` holds this from now on, or with `sign` -1 no longer."""
        for account in accounts_of(tenant):
            quota = self._quotas.get(account)
            for resource, amount in held if quota is not None else ():
                assert quota is not None
                if (account, resource) in self._held:
                    self._held[account, resource] += sign * amount
                if resource in quota.nominal:
                    self._left[account.kind, resource] -= sign * amount

    def borrows(self, tenant: Tenant) -> bool:
        """Return whether an account of `tenant` holds more than its nominal amount of something."""
        for account in accounts_of(tenant):
            quota = self._quotas.get(account)
            if quota is not None and any(self._held[account, name] > most for name, most in quota.nominal.items()):
                return True
        return False
