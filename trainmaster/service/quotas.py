"""What administrators decided, in the queue's words: quotas of virtual clusters and workspaces, weights, the policy. Pure.

Jobs that count against no virtual cluster share what nobody is guaranteed: they are an account of their own, so that they
too only borrow what is guaranteed to others.
"""

from collections.abc import Iterable, Mapping

from trainmaster.core.cluster import Limit, Limits
from trainmaster.queue.policy import QueuePolicy, from_values, problems
from trainmaster.queue.quota import Account, Quota
from trainmaster.service.cluster_views import amounts_of
from trainmaster.service.pools import Pools

Quotas = Mapping[tuple[Account, str], Quota]
"""By account and pool."""


def quotas_of(pools: Pools) -> Quotas:
    """Return the quota of every account that has one. O(pools x nodes)."""
    found: dict[tuple[Account, str], Quota] = {}
    for workspace in pools.workspaces.values():
        for pool, limits in workspace.quotas.items():
            found[Account("workspace", workspace.name), pool] = _quota(limits)
    for name in {share.pool for share in pools.virtual_clusters.values()}:
        shares = pools.shares_of(name)
        total = amounts_of(node for node in pools.nodes if node.pool == name)
        found[Account("cluster", ""), name] = _quota(_rest([share.share for share in shares], total))
        for share in shares:
            found[Account("cluster", share.name), name] = _quota(share.share)
    return found


def weights_of(pools: Pools) -> dict[str, float]:
    """Return the weight of every workspace."""
    return {workspace.name: workspace.weight for workspace in pools.workspaces.values()}


def policy_of(pools: Pools) -> QueuePolicy:
    """Return the stored policy; a stored value that this version does not take is passed over."""
    return from_values({name: value for name, value in pools.policy.items() if not problems({name: value})})


def _rest(shares: Iterable[Limits], total: Mapping[str, float]) -> Limits:
    """Return what is guaranteed to nobody, of every resource that something is guaranteed of."""
    given: dict[str, float] = {}
    for share in shares:
        for name, limit in share.items():
            given[name] = given.get(name, 0.0) + limit.nominal
    return {name: Limit(max(0.0, total.get(name, 0.0) - amount)) for name, amount in given.items()}


def _quota(limits: Limits) -> Quota:
    return Quota(
        nominal={name: _exact(name, limit.nominal) for name, limit in limits.items()},
        cap={name: _exact(name, limit.cap) for name, limit in limits.items() if limit.cap is not None},
    )


def _exact(name: str, amount: float) -> int:
    return round(amount if name == "memory_mib" else amount * 1000)
