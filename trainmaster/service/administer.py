"""What administrators do to the cluster: pools, virtual clusters, workspaces, flavors, nodes in and out of service.

Every change is decided, checked as a whole (all problems at once), stored, and then holds at once. PUT means "be so":
the same request twice is the same as once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import (
    ANY,
    DEFAULT,
    RESOURCES,
    Flavor,
    Limits,
    NodeSetting,
    Pool,
    VirtualCluster,
    Workspace,
)
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.queue.rights import amounts_of
from trainmaster.service.context import Context
from trainmaster.service.places import listed, there_are
from trainmaster.spec.problems import problem

Evict = Literal["none", "preemptible", "all"]
REMEDY: Final = "Mend the fields listed."


class Administer:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._pools = context, context.pools

    # -- pools and their shares --------------------------------------------------------------------------------

    async def put_pool(self, pool: Pool, who: Principal) -> None:
        """Make or change a pool (R10, R11). Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            found = list(_taken(pool.name, self._pools.virtual_clusters))
            found += unknown(pool.workspaces, self._pools.workspaces, "workspaces", "unknown_workspace")
            if pool.kind == "dedicated" and not pool.workspaces:
                found.append(problem("dedicated_to_nobody", "workspaces"))
            refuse(found)
            await self._pools.put("pool", pool.name, pool, who.name)

    async def drop_pool(self, name: str, who: Principal) -> None:
        """Remove a pool that nobody uses. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            if name not in self._pools.pools:
                raise NotFound(f"There is no pool {name}", remedy=there_are(self._pools.pools))
            nodes = [node.name for node in self._pools.nodes if node.pool == name]
            shares = [share.name for share in self._pools.shares_of(name)]
            _refuse_used(name, name == DEFAULT, [*nodes, *shares, *self._jobs_of("pool", name)])
            await self._pools.drop("pool", name)

    async def put_virtual_cluster(self, share: VirtualCluster, who: Principal) -> None:
        """Guarantee a share of a pool (R6). Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            found = list(_taken(share.name, self._pools.pools))
            found += unknown((share.pool,), self._pools.pools, "pool", "unknown_pool")
            found += limit_problems(share.share, "share")
            if not found:
                found += self._guaranteed_twice(share)
            known = self._pools.virtual_clusters.get(share.name)
            if known is not None and known.pool != share.pool:
                _refuse_used(share.name, False, self._jobs_of("virtual_cluster", share.name))
            refuse(found)
            await self._pools.put("virtual_cluster", share.name, share, who.name)

    def _guaranteed_twice(self, share: VirtualCluster) -> Iterator[Problem]:
        total = amounts_of(node for node in self._pools.nodes if node.pool == share.pool)
        others = [one for one in self._pools.shares_of(share.pool) if one.name != share.name]
        for name, limit in share.share.items():
            given = sum(one.share[name].nominal for one in others if name in one.share)
            if limit.nominal > 0 and given + limit.nominal > total.get(name, 0.0):
                most = total.get(name, 0.0)
                shown = {"total": f"{most:g}", "given": f"{given:g}", "left": f"{max(most - given, 0.0):g}"}
                yield problem(
                    "over_guaranteed", f"share.{name}", value=limit.nominal, pool=share.pool, name=name, **shown
                )

    async def drop_virtual_cluster(self, name: str, who: Principal) -> None:
        """Take back a share that no job counts against. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            if name not in self._pools.virtual_clusters:
                raise NotFound(f"There is no virtual cluster {name}", remedy=there_are(self._pools.virtual_clusters))
            _refuse_used(name, False, self._jobs_of("virtual_cluster", name))
            await self._pools.drop("virtual_cluster", name)

    # -- workspaces and flavors --------------------------------------------------------------------------------

    async def put_workspace(self, workspace: Workspace, who: Principal) -> None:
        """Make or change a workspace with its quotas and limits. Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            found = unknown(workspace.quotas, self._pools.pools, "quotas", "unknown_pool")
            for pool, limits in workspace.quotas.items():
                found += limit_problems(limits, f"quotas.{pool}")
            refuse(found)
            await self._pools.put("workspace", workspace.name, workspace, who.name)

    async def drop_workspace(self, name: str, who: Principal) -> None:
        """Remove a workspace that nobody uses. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            if name not in self._pools.workspaces:
                raise NotFound(f"There is no workspace {name}", remedy=there_are(self._pools.workspaces))
            pools = [pool.name for pool in self._pools.pools.values() if name in pool.workspaces]
            used = [*pools, *self._pools.flavors.get(name, ()), *self._jobs_of("workspace", name)]
            _refuse_used(name, name == DEFAULT, used)
            await self._pools.drop("workspace", name)

    async def put_flavor(self, flavor: Flavor, who: Principal) -> None:
        """Make or change a flavor; jobs submitted before keep what it was. Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            found = unknown((flavor.workspace,), self._pools.workspaces, "workspace", "unknown_workspace")
            if flavor.gpu_milli < 1000 and flavor.gpu != 1:
                found.append(problem("share_one_card", "gpu_share"))
            refuse(found)
            await self._pools.put("flavor", f"{flavor.workspace}/{flavor.name}", flavor, who.name)

    async def drop_flavor(self, workspace: str, name: str, who: Principal) -> None:
        """Remove a flavor; jobs submitted before keep what it was. Raises Forbidden, NotFound, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            if name not in self._pools.flavors.get(workspace, {}):
                raise NotFound(f"There is no flavor {name}", remedy=there_are(self._pools.flavors.get(workspace, ())))
            await self._pools.drop("flavor", f"{workspace}/{name}")

    # -- nodes -------------------------------------------------------------------------------------------------

    async def assign(self, node: str, pool: str, who: Principal) -> None:
        """Move a node to a pool; what runs on it runs on. Raises Forbidden, NotFound, InvalidSpec, StorageFailed."""
        found = unknown((pool,), self._pools.pools, "pool", "unknown_pool")
        if not found and self._ctx.engines.of(pool) is not self._ctx.engines.first:
            found.append(problem("pool_elsewhere", "pool", name=pool, engine=self._ctx.engines.of(pool).name))
        await self._set(node, who, lambda setting: replace(setting, pool=pool), found)

    async def cordon(self, node: str, note: str, who: Principal) -> None:
        """Start nothing on a node any more; what runs on it runs on. Raises Forbidden, NotFound, StorageFailed."""
        await self._set(node, who, self._out_of_service("cordoned", note, who))

    async def uncordon(self, node: str, who: Principal) -> None:
        """Put a node into service again. Raises Forbidden, NotFound, StorageFailed."""
        await self._set(node, who, lambda setting: NodeSetting(setting.name, setting.pool))

    async def drain(self, node: str, note: str, evict: Evict, who: Principal) -> None:
        """Cordon a node and let it become empty: jobs of the kind `evict` go back to the queue, the others end by themselves.

        Raises Forbidden, NotFound, StorageFailed.
        """
        await self._set(node, who, self._out_of_service("draining", note, who))
        reason = f"node {node} is being drained: {note}" if note else f"node {node} is being drained"
        leaving = [
            job for job in self._running_on(node) if evict == "all" or (evict == "preemptible" and job.preemptible)
        ]
        for job in leaving:
            attempt = job.attempt.number if job.attempt else 0
            data = {"by": "", "reason": reason}
            self._ctx.master.apply(Event(job.id, Kind.PREEMPTED, self._ctx.clock(), who.name, attempt, data))
        if leaving:
            await self._ctx.master.durable()

    def _out_of_service(
        self, service: Literal["cordoned", "draining"], note: str, who: Principal
    ) -> Callable[[NodeSetting], NodeSetting]:
        now = self._ctx.clock()
        return lambda setting: replace(setting, service=service, note=note, by=who.name, since=now)

    async def _set(
        self, node: str, who: Principal, change: Callable[[NodeSetting], NodeSetting], found: Iterable[Problem] = ()
    ) -> None:
        decide(who, "cluster:write").demand()
        refuse(list(found))
        async with self._pools.changing():
            known = next((one for one in self._pools.nodes if one.name == node), None)
            if known is None:
                raise NotFound(f"There is no node {node}", remedy=there_are([one.name for one in self._pools.nodes]))
            engine = self._ctx.engines.of(known.pool)
            if engine.flags.owns_queue:
                text = f"The cluster {engine.name} decides itself what its nodes are for"
                raise Conflict(text, remedy="Use the cluster's own tools.")
            setting = self._pools.node_settings.get(node, NodeSetting(node))
            await self._pools.put("node", node, change(setting), who.name)

    def _running_on(self, node: str) -> list[Job]:
        active = [job for job in self._ctx.master.live.values() if job.state is JobState.ACTIVE and job.attempt]
        return [job for job in active if job.attempt and any(a.node == node for a in job.attempt.placement)]

    def _jobs_of(self, *account: str) -> list[str]:
        sums = self._ctx.tally.of(*account)
        return [f"{sums.waiting + sums.running} jobs"] if sums.waiting or sums.running else []


def _taken(name: str, others: Collection[str]) -> Iterator[Problem]:
    if name in others:
        yield problem("name_taken", "name", name=name)
    if name == ANY:
        yield problem("pool_any", "name")


def unknown(names: Iterable[str], known: Collection[str], path: str, code: str) -> list[Problem]:
    """Return a problem for each name that nothing known has."""
    return [problem(code, path, name=name, known=listed(known)) for name in names if name not in known]


def limit_problems(limits: Limits, path: str) -> Iterator[Problem]:
    """Yield what is wrong with limits."""
    for name, limit in limits.items():
        if name not in RESOURCES and not (name.startswith("gpu:") and len(name) > len("gpu:")):
            yield problem("bad_resource", f"{path}.{name}", name=name)
        if limit.cap is not None and limit.cap < limit.nominal:
            yield problem("cap_below_nominal", f"{path}.{name}", cap=f"{limit.cap:g}", nominal=f"{limit.nominal:g}")


def refuse(found: list[Problem]) -> None:
    """Raise InvalidSpec when there are problems."""
    if found:
        raise InvalidSpec("The change is not valid", remedy=REMEDY, problems=tuple(found))


def _refuse_used(name: str, always: bool, used: list[str]) -> None:
    if always:
        raise Conflict("This cannot be removed", problems=(problem("stays", "", name=name),))
    if used:
        raise Conflict("This cannot be removed", problems=(problem("in_use", "", name=name, by=listed(used[:5])),))
