"""Whether a job may go where it wants: its workspace, pool, virtual cluster, nodes and driver against what there is.
Pure.
"""

from collections.abc import Sequence
from typing import Final

from trainmaster.access.clamping import UsedShare, narrower
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Problem
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.messages.jobs import rules
from trainmaster.service.admission.limits import limit_problems
from trainmaster.service.cluster.pools import Pools
from trainmaster.spec.problems import problem


def place_problems(job: Job, pools: Pools, who: Principal) -> list[Problem]:
    """Return everything that speaks against where `job` of `who` wants to run (R6, R10 to R13)."""
    found = []
    if job.workspace not in pools.workspaces:
        found.append(problem("workspace", rules.unknown_workspace(name=job.workspace, known=sorted(pools.workspaces))))
    else:
        found += member_problems(job.workspace, who)
        found += limit_problems(job, pools.workspaces[job.workspace])
    pool = pools.pools.get(job.pool)
    share = pools.virtual_clusters.get(job.virtual_cluster) if job.virtual_cluster is not None else None
    if pool is None:
        known = sorted([*pools.pools, *pools.virtual_clusters])
        found.append(problem("pool", rules.unknown_pool(name=job.pool, known=known)))
    elif not pool.open_to(job.workspace):
        found.append(problem("pool", rules.pool_dedicated(pool=pool.name, workspaces=sorted(pool.workspaces))))
    if job.virtual_cluster is not None and share is None:
        known = sorted(pools.virtual_clusters)
        found.append(problem("virtual_cluster", rules.unknown_pool(name=job.virtual_cluster, known=known)))
    elif share is not None and share.pool != job.pool:
        found.append(problem("virtual_cluster", rules.other_pool(name=share.name, pool=share.pool)))
    if pool is not None:
        found += _node_problems(job, pools)
        found += _flavor_problems(job, pools)
        if job.node_names and pool.kind == "dedicated":
            found.append(problem("nodes", rules.nodes_with_dedicated(pool.name)))
    return found


def _node_problems(job: Job, pools: Pools) -> list[Problem]:
    nodes = {node.name: node for node in pools.nodes if node.pool == job.pool}
    found = [
        problem("nodes", rules.unknown_node(pool=job.pool, name=name, known=sorted(nodes)))
        for name in job.node_names
        if name not in nodes
    ]
    drivers = {node.driver for node in nodes.values() if node.driver}
    if job.driver is not None and job.driver not in drivers:
        found.append(problem("driver", rules.unknown_driver(pool=job.pool, driver=job.driver, known=sorted(drivers))))
    return found


def _flavor_problems(job: Job, pools: Pools) -> list[Problem]:
    """Return which flavors of the job are not offered in its pool (R2)."""
    known, found = pools.flavors.get(job.workspace, {}), {}
    for shape in job.shapes or (job.roles,):
        for at, role in enumerate(shape):
            flavor = known.get(role.flavor or "")
            if flavor is not None and not flavor.offered_in(job.pool):
                said = rules.flavor_elsewhere(flavor.name, job.pool, sorted(flavor.pools))
                found[at, flavor.name] = problem(f"roles.{at}.flavors", said)
    return list(found.values())


def member_problems(name: str, who: Principal) -> list[Problem]:
    """Return what speaks against a job of `who` in the workspace `name`: nobody spends the quota of one they are not
    in.
    """
    if decide(who, "jobs:submit", InWorkspace(name)).allowed:
        return []
    role = who.role_in(name)
    mine = [one for one, _ in who.memberships if decide(who, "jobs:submit", InWorkspace(one)).allowed]
    instead = rules.one_of_your_workspaces(name, mine) if mine else rules.ask_to_submit(name)
    if role is None:
        said = rules.not_in_workspace(name, instead)
    elif role == "viewer":
        said = rules.only_views(name, instead)
    else:  # the person may, what they came with may not
        said = rules.token_submits_nothing(name, "jobs:submit")
    return [problem("workspace", said)]


def time_limit_problems(duration_s: float | None, workspace: Workspace | None, path: str = "duration") -> list[Problem]:
    """Return what speaks against a job in its workspace that names this time limit, in seconds; None: none (R56)."""
    if duration_s is not None or workspace is None or not workspace.require_duration:
        return []
    return [problem(path, rules.duration_asked(workspace.name))]


def sharing_problems(share: JobShare | None, workspace: Workspace | None) -> list[Problem]:
    """Return what speaks against sharing a job so in its workspace (R57, R225). None: its document does not say."""
    if workspace is None:
        return []
    if share is None:
        return [problem("share", rules.share_required(workspace.name))] if workspace.sharing == "required" else []
    if workspace.sharing == "off" and share is not JobShare.NONE:
        return [problem("share", rules.sharing_off(workspace.name), share.value)]
    return []


_USED: Final = {
    "dataset": rules.used_dataset,
    "volume": rules.used_volume,
    "algorithm": rules.used_algorithm,
    "image": rules.used_image,
}


def clamp_problems(share: JobShare, used: Sequence[UsedShare]) -> list[Problem]:
    """Return what speaks against sharing a job so that uses these (R224): all of them are named."""
    found = narrower(share, used)
    levels = {JobShare.NONE: rules.share_of_private, JobShare.READ: rules.share_of_readable}
    named = {level: [_USED[one.kind](one.name) for one in found if one.share is level] for level in levels}
    return [problem("share", say(named[level]), share.value) for level, say in levels.items() if named[level]]
