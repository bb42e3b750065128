"""What administrators decided about who may hold what, in the queue's words: quotas and weights. Pure.

Jobs that count against no virtual cluster share what nobody is guaranteed: they are an account of their own, so that
they too only borrow what is guaranteed to others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from trainmaster.core.cluster import Limit, Limits, Most, VirtualCluster, Workspace
from trainmaster.core.records import Node
from trainmaster.queue.ordering.quota import Account, Quota, each_member

Quotas = Mapping[tuple[Account, str], Quota]
"""By account and pool."""


@dataclass(frozen=True, slots=True)
class Rights:
    """Workspaces with weights and quotas, and the virtual clusters. Empty: nobody has a limit, all weigh the same."""

    workspaces: tuple[Workspace, ...] = ()
    virtual_clusters: tuple[VirtualCluster, ...] = ()

    def but(self, workspaces: Iterable[Workspace] = (), virtual_clusters: Iterable[VirtualCluster] = ()) -> Self:
        """Return these with some as given, by name."""
        return type(self)(
            tuple({one.name: one for one in (*self.workspaces, *workspaces)}.values()),
            tuple({one.name: one for one in (*self.virtual_clusters, *virtual_clusters)}.values()),
        )

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every workspace."""
        return {workspace.name: workspace.weight for workspace in self.workspaces}

    def quotas(self, nodes: Iterable[Node]) -> Quotas:
        """Return the quota of every account that has one on these machines. O(pools x nodes)."""
        found: dict[tuple[Account, str], Quota] = {}
        for workspace in self.workspaces:
            for pool, limits in workspace.quotas.items():
                found[Account("workspace", workspace.name), pool] = _quota(limits)
            for pool, most in workspace.per_person.items():
                found[each_member(workspace.name), pool] = _most(most)
            for person, pools in workspace.people.items():
                for pool in pools:
                    account = Account("member", person, workspace.name)
                    found[account, pool] = _most(workspace.most_of(person, pool))
        there = tuple(nodes)
        for name in {share.pool for share in self.virtual_clusters}:
            shares = [share for share in self.virtual_clusters if share.pool == name]
            total = amounts_of(node for node in there if node.pool == name)
            found[Account("cluster", ""), name] = _quota(_rest([share.share for share in shares], total))
            for share in shares:
                found[Account("cluster", share.name), name] = _quota(share.share)
        return found


def amounts_of(nodes: Iterable[Node]) -> dict[str, float]:
    """Return what nodes have together, by the name of the resource."""
    total: dict[str, float] = {"gpu": 0.0, "cpu": 0.0, "memory_mib": 0.0}
    for node in nodes:
        total["gpu"] += len(node.gpus)
        total["cpu"] += node.cpu
        total["memory_mib"] += node.memory_mib
        for model in node.gpus:
            total[f"gpu:{model}"] = total.get(f"gpu:{model}", 0.0) + 1
    return total


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


def _most(most: Most) -> Quota:
    return Quota(cap={name: _exact(name, amount) for name, amount in most.items() if amount is not None})


def _exact(name: str, amount: float) -> int:
    return round(amount if name == "memory_mib" else amount * 1000)
