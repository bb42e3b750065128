"""What administrators do to the cluster: pools, virtual clusters, workspaces, flavors, nodes in and out of service.

Every change is decided, checked as a whole (all problems at once), stored, and then holds at once. PUT means "be so":
the same request twice is the same as once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import (
    ANY,
    DEFAULT,
    JOBS,
    RESOURCES,
    STORAGE,
    Flavor,
    Limits,
    Most,
    NodeSetting,
    Pool,
    VirtualCluster,
    Workspace,
)
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.messages.cluster import cluster
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit, requests
from trainmaster.queue.ordering.rights import amounts_of
from trainmaster.service.context import Context
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.spec.problems import problem

Evict = Literal["none", "preemptible", "all"]


class Administer:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._pools = context, context.pools

    # -- pools and their shares --------------------------------------------------------------------------------

    async def put_pool(
        self, pool: Pool, who: Principal, price_gpu: int | None = None, price_cpu: int | None = None
    ) -> None:
        """Make or change a pool (R10, R11); prices of None stay as they are. Raises Forbidden, InvalidSpec,
        StorageFailed.
        """
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            found = [*_taken(pool.name, self._pools.virtual_clusters), *self._like_a_pool(pool.name)]
            found += unknown(pool.workspaces, self._pools.workspaces, "workspaces", rules.unknown_workspace)
            if pool.kind == "dedicated" and not pool.workspaces:
                found.append(problem("workspaces", rules.dedicated_to_nobody()))
            refuse(found)
            known = self._pools.pools.get(pool.name, Pool(pool.name))
            by_gpu, by_cpu = (
                before if price is None else price
                for price, before in ((price_gpu, known.price_gpu), (price_cpu, known.price_cpu))
            )
            await self._pools.put("pool", pool.name, replace(pool, price_gpu=by_gpu, price_cpu=by_cpu), who.actor)

    async def drop_pool(self, name: str, who: Principal) -> None:
        """Remove a pool that nobody uses. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            if name not in self._pools.pools:
                raise NotFound(cluster.pool_not_found(name, sorted(self._pools.pools)))
            nodes = [node.name for node in self._pools.nodes if node.pool == name]
            shares = [share.name for share in self._pools.shares_of(name)]
            _refuse_used(name, name == DEFAULT, [*nodes, *shares], self._jobs_of("pool", name))
            await self._pools.drop("pool", name, who.actor)

    async def put_virtual_cluster(self, share: VirtualCluster, who: Principal) -> None:
        """Guarantee a share of a pool (R6). Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            found = [*_taken(share.name, self._pools.pools), *self._like_a_pool(share.name)]
            found += unknown((share.pool,), self._pools.pools, "pool", rules.unknown_pool)
            found += limit_problems(share.share, "share")
            if not found:
                found += self._guaranteed_twice(share)
            known = self._pools.virtual_clusters.get(share.name)
            if known is not None and known.pool != share.pool:
                _refuse_used(share.name, False, [], self._jobs_of("virtual_cluster", share.name))
            refuse(found)
            await self._pools.put("virtual_cluster", share.name, share, who.actor)

    def _like_a_pool(self, name: str) -> Iterator[Problem]:
        return _like(name, {*self._pools.pools, *self._pools.virtual_clusters})

    def _guaranteed_twice(self, share: VirtualCluster) -> Iterator[Problem]:
        total = amounts_of(node for node in self._pools.nodes if node.pool == share.pool)
        others = [one for one in self._pools.shares_of(share.pool) if one.name != share.name]
        for name, limit in share.share.items():
            given = sum(one.share[name].nominal for one in others if name in one.share)
            if limit.nominal > 0 and given + limit.nominal > total.get(name, 0.0):
                most = total.get(name, 0.0)
                said = rules.over_guaranteed(
                    share.pool, total=most, name=name, given=given, left=max(most - given, 0.0)
                )
                yield problem(f"share.{name}", said, limit.nominal)

    async def drop_virtual_cluster(self, name: str, who: Principal) -> None:
        """Take back a share that no job counts against. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "cluster:write").demand()
        async with self._pools.changing():
            if name not in self._pools.virtual_clusters:
                raise NotFound(cluster.virtual_cluster_not_found(name, sorted(self._pools.virtual_clusters)))
            _refuse_used(name, False, [], self._jobs_of("virtual_cluster", name))
            await self._pools.drop("virtual_cluster", name, who.actor)

    # -- workspaces and flavors --------------------------------------------------------------------------------

    async def put_workspace(self, workspace: Workspace, who: Principal) -> None:
        """Make or change a workspace with its quotas and limits. Raises Forbidden, InvalidSpec, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            found = [*_like(workspace.name, self._pools.workspaces), *workspace_problems(workspace, self._pools.pools)]
            refuse(found)
            await self._pools.put("workspace", workspace.name, workspace, who.actor)

    async def put_limits(
        self,
        name: str,
        per_person: Mapping[str, Most],
        people: Mapping[str, Mapping[str, Most]],
        who: Principal,
        storage_per_person: Most | None = None,
        storage_people: Mapping[str, Most] | None = None,
    ) -> None:
        """Say what each person in a workspace may hold and keep at most, and what some may instead; what is None stays.
        Its owners and admins do that, too: it divides what the workspace may have, and gives it nothing. Raises
        Forbidden, NotFound, InvalidSpec, StorageFailed.
        """
        async with self._pools.changing():
            demand_inside(who, "limits:write", name, self._pools.workspaces)
            known = self._pools.workspaces[name]
            workspace = replace(
                known,
                per_person=per_person,
                people=people,
                storage_per_person=known.storage_per_person if storage_per_person is None else storage_per_person,
                storage_people=known.storage_people if storage_people is None else storage_people,
            )
            refuse(workspace_problems(workspace, self._pools.pools))
            await self._pools.put("workspace", name, workspace, who.actor)

    async def drop_workspace(self, name: str, who: Principal) -> None:
        """Remove a workspace that nobody uses. Raises Forbidden, NotFound, Conflict, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            if name not in self._pools.workspaces:
                raise NotFound(cluster.workspace_not_found(name, sorted(self._pools.workspaces)))
            pools = [pool.name for pool in self._pools.pools.values() if name in pool.workspaces]
            used = [*pools, *self._pools.flavors.get(name, ())]
            _refuse_used(name, name == DEFAULT, used, self._jobs_of("workspace", name))
            await self._pools.drop("workspace", name, who.actor)
            self._ctx.purses.closed(name)

    async def put_flavor(self, flavor: Flavor, who: Principal) -> None:
        """Make or change a flavor; jobs submitted before keep what it was. Raises Forbidden, InvalidSpec,
        StorageFailed.
        """
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            found = unknown((flavor.workspace,), self._pools.workspaces, "workspace", rules.unknown_workspace)
            found += unknown(flavor.pools, self._pools.pools, "pools", rules.unknown_pool)
            found += _like(flavor.name, self._pools.flavors.get(flavor.workspace, {}))
            if flavor.gpu_milli < 1000 and flavor.gpu != 1:
                found.append(problem("gpu_share", rules.share_one_card()))
            refuse(found)
            await self._pools.put("flavor", f"{flavor.workspace}/{flavor.name}", flavor, who.actor)

    async def drop_flavor(self, workspace: str, name: str, who: Principal) -> None:
        """Remove a flavor; jobs submitted before keep what it was. Raises Forbidden, NotFound, StorageFailed."""
        decide(who, "workspaces:write").demand()
        async with self._pools.changing():
            known = self._pools.flavors.get(workspace, {})
            if name not in known:
                raise NotFound(cluster.flavor_not_found(name, sorted(known)))
            await self._pools.drop("flavor", f"{workspace}/{name}", who.actor)

    # -- nodes -------------------------------------------------------------------------------------------------

    async def assign(self, node: str, pool: str, who: Principal) -> None:
        """Move a node to a pool; what runs there goes on. Raises Forbidden, NotFound, InvalidSpec, StorageFailed."""
        found = unknown((pool,), self._pools.pools, "pool", rules.unknown_pool)
        if not found and self._ctx.engines.of(pool) is not self._ctx.engines.first:
            found.append(problem("pool", rules.pool_elsewhere(name=pool, engine=self._ctx.engines.of(pool).name)))
        await self._set(node, who, lambda setting: replace(setting, pool=pool), audit.node_moved(node, pool), found)

    async def cordon(self, node: str, note: str, who: Principal) -> None:
        """Start nothing on a node any more; what runs there goes on. Raises Forbidden, NotFound, StorageFailed."""
        said = audit.node_cordoned_because(node, note) if note else audit.node_cordoned(node)
        await self._set(node, who, self._out_of_service("cordoned", note, who), said)

    async def uncordon(self, node: str, who: Principal) -> None:
        """Put a node into service again. Raises Forbidden, NotFound, StorageFailed."""
        await self._set(node, who, lambda setting: NodeSetting(setting.name, setting.pool), audit.node_back(node))

    async def drain(self, node: str, note: str, evict: Evict, who: Principal) -> None:
        """Cordon a node and let it become empty: jobs of the kind `evict` go back to the queue, the others end by
        themselves.

        Raises Forbidden, NotFound, StorageFailed.
        """
        done = audit.node_emptied_because(node, note) if note else audit.node_emptied(node)
        await self._set(node, who, self._out_of_service("draining", note, who), done)
        said = cluster.node_drained(node, note) if note else cluster.node_drains(node)
        leaving = [
            job for job in self._running_on(node) if evict == "all" or (evict == "preemptible" and job.preemptible)
        ]
        for job in leaving:
            attempt = job.attempt.number if job.attempt else 0
            data = {"by": "", "said": said.to_json()}
            self._ctx.master.apply(
                Event(job.id, Kind.PREEMPTED, self._ctx.clock(), who.name, attempt, data, by=who.actor)
            )
        if leaving:
            await self._ctx.master.durable()

    def _out_of_service(
        self, service: Literal["cordoned", "draining"], note: str, who: Principal
    ) -> Callable[[NodeSetting], NodeSetting]:
        now = self._ctx.clock()
        return lambda setting: replace(setting, service=service, note=note, by=who.name, since=now)

    async def _set(
        self,
        node: str,
        who: Principal,
        change: Callable[[NodeSetting], NodeSetting],
        said: Said,
        found: Iterable[Problem] = (),
    ) -> None:
        decide(who, "cluster:write").demand()
        refuse(list(found))
        async with self._pools.changing():
            known = next((one for one in self._pools.nodes if one.name == node), None)
            if known is None:
                raise NotFound(cluster.node_not_found(node, sorted(one.name for one in self._pools.nodes)))
            engine = self._ctx.engines.of(known.pool)
            if engine.owns_queue:
                raise Conflict(cluster.cluster_decides_itself(engine.name))
            setting = self._pools.node_settings.get(node, NodeSetting(node))
            await self._pools.put("node", node, change(setting), who.actor, said)

    def _running_on(self, node: str) -> list[Job]:
        active = [job for job in self._ctx.master.live.values() if job.state is JobState.ACTIVE and job.attempt]
        return [job for job in active if job.attempt and any(a.node == node for a in job.attempt.placement)]

    def _jobs_of(self, *account: str) -> int:
        sums = self._ctx.tally.of(*account)
        return sums.waiting + sums.running


def _taken(name: str, others: Collection[str]) -> Iterator[Problem]:
    if name in others:
        yield problem("name", rules.name_taken(name))
    if name == ANY:
        yield problem("name", rules.pool_any())


def _like(name: str, known: Collection[str]) -> Iterator[Problem]:
    """Yield that a new name would be taken for another one."""
    other = None if name in known else next((one for one in known if one.casefold() == name.casefold()), None)
    if other is not None:
        yield problem("name", rules.name_like_another(name, other))


def unknown(
    names: Iterable[str], known: Collection[str], path: str, said: Callable[[str, list[str]], Said]
) -> list[Problem]:
    """Return a problem for each name that nothing known has. `said`: says so of it, and what there is."""
    return [problem(path, said(name, sorted(known))) for name in names if name not in known]


def workspace_problems(one: Workspace, pools: Collection[str], path: str = "") -> list[Problem]:
    """Return what is wrong with the limits of a workspace, whose fields stand at `path`."""
    found = unknown(one.quotas, pools, f"{path}quotas", rules.unknown_pool)
    for pool, limits in one.quotas.items():
        found += limit_problems({name: limit for name, limit in limits.items() if name != JOBS}, f"{path}quotas.{pool}")
    limited = {f"{path}per_person": one.per_person}
    limited |= {f"{path}people.{person}": most for person, most in one.people.items()}
    for at, most_of in limited.items():
        found += unknown(most_of, pools, at, rules.unknown_pool)
        for pool, most in most_of.items():
            found += _most_problems(most, f"{at}.{pool}")
    kept = {"storage": one.storage, "storage_per_person": one.storage_per_person}
    kept |= {f"storage_people.{person}": most for person, most in one.storage_people.items()}
    for field, most in kept.items():
        found += [problem(f"{path}{field}.{name}", rules.bad_storage(name)) for name in most if name not in STORAGE]
    return found


def _most_problems(most: Most, path: str) -> Iterator[Problem]:
    for name in most:
        if name != JOBS and not _is_resource(name):
            yield problem(f"{path}.{name}", rules.bad_limit(name))


def _is_resource(name: str) -> bool:
    return name in RESOURCES or (name.startswith("gpu:") and len(name) > len("gpu:"))


def limit_problems(limits: Limits, path: str) -> Iterator[Problem]:
    """Yield what is wrong with limits."""
    for name, limit in limits.items():
        if not _is_resource(name):
            yield problem(f"{path}.{name}", rules.bad_resource(name))
        if limit.cap is not None and limit.cap < limit.nominal:
            yield problem(f"{path}.{name}", rules.cap_below_nominal(limit.cap, limit.nominal))


def refuse(found: list[Problem]) -> None:
    """Raise InvalidSpec when there are problems."""
    if found:
        raise InvalidSpec(requests.change_not_valid(), problems=tuple(found))


def _refuse_used(name: str, always: bool, used: list[str], jobs: int) -> None:
    """Raise Conflict for what `always` exists, what is `used` by these, and what so many `jobs` count against."""
    if always:
        raise Conflict(cluster.cannot_be_removed(), problems=(problem("", rules.stays(name)),))
    found = [problem("", rules.in_use(name=name, by=sorted(used[:5])))] if used else []
    if jobs:
        found.append(problem_of("", cluster.used_by_jobs(name, jobs)))
    if found:
        raise Conflict(cluster.cannot_be_removed(), problems=tuple(found))
