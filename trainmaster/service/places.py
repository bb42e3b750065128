"""Whether a job may go where it wants: its workspace, pool, virtual cluster, nodes and driver against what there is. Pure."""

from collections.abc import Iterable

from trainmaster.core.errors import Problem
from trainmaster.core.records import Job
from trainmaster.service.pools import Pools
from trainmaster.spec.problems import problem


def place_problems(job: Job, pools: Pools) -> list[Problem]:
    """Return everything that speaks against where `job` wants to run (R6, R10 to R13)."""
    found = []
    if job.workspace not in pools.workspaces:
        found.append(problem("unknown_workspace", "workspace", name=job.workspace, known=listed(pools.workspaces)))
    pool = pools.pools.get(job.pool)
    share = pools.virtual_clusters.get(job.virtual_cluster) if job.virtual_cluster is not None else None
    if pool is None:
        known = listed([*pools.pools, *pools.virtual_clusters])
        found.append(problem("unknown_pool", "pool", name=job.pool, known=known))
    elif not pool.open_to(job.workspace):
        found.append(problem("pool_dedicated", "pool", pool=pool.name, workspaces=listed(pool.workspaces)))
    if job.virtual_cluster is not None and share is None:
        known = listed(pools.virtual_clusters)
        found.append(problem("unknown_pool", "virtual_cluster", name=job.virtual_cluster, known=known))
    elif share is not None and share.pool != job.pool:
        found.append(problem("other_pool", "virtual_cluster", name=share.name, pool=share.pool))
    if pool is not None:
        found += _node_problems(job, pools)
        if job.node_names and pool.kind == "dedicated":
            found.append(problem("nodes_with_dedicated", "nodes", pool=pool.name))
    return found


def _node_problems(job: Job, pools: Pools) -> list[Problem]:
    nodes = {node.name: node for node in pools.nodes if node.pool == job.pool}
    found = [
        problem("unknown_node", "nodes", pool=job.pool, name=name, known=listed(nodes))
        for name in job.node_names
        if name not in nodes
    ]
    drivers = {node.driver for node in nodes.values() if node.driver}
    if job.driver is not None and job.driver not in drivers:
        found.append(problem("unknown_driver", "driver", pool=job.pool, driver=job.driver, known=listed(drivers)))
    return found


def there_are(names: Iterable[str]) -> str:
    """Return what to do about a name that nothing has: the names to choose from."""
    return f"There are: {listed(names)}."


def listed(names: Iterable[str]) -> str:
    """Return names as one text, a dash for none."""
    return ", ".join(sorted(names)) or "-"
