"""What administrators decided, as it is stored, in the queue's words: rights and the policy. Pure."""

from trainmaster.queue.ordering.rights import Rights
from trainmaster.queue.policy import QueuePolicy, from_values, problems
from trainmaster.service.cluster.pools import Pools


def rights_of(pools: Pools) -> Rights:
    """Return the workspaces and virtual clusters with what they are entitled to."""
    return Rights(tuple(pools.workspaces.values()), tuple(pools.virtual_clusters.values()))


def policy_of(pools: Pools) -> QueuePolicy:
    """Return the stored policy; a stored value that this version does not take is passed over."""
    return from_values({name: value for name, value in pools.policy.items() if not problems({name: value})})
