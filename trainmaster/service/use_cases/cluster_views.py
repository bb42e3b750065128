"""Pools, nodes, workspaces and flavors as the JSON that the API shows. Reads; changes nothing.

Of jobs that the reader may not know of, only what they hold is told, and whose they are.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace, Visible
from trainmaster.answers import (
    Amount,
    CardDemand,
    CardModel,
    ClusterResources,
    EnginesView,
    EngineView,
    Flavors,
    NodeDetail,
    NodePage,
    NodeRow,
    PoolQuota,
    ResourcePool,
    ResourcePools,
    Room,
    Service,
    UrgentView,
    Used,
    VirtualClusters,
    VirtualClusterView,
    WorkspacesView,
    WorkspaceView,
)
from trainmaster.core.cluster import DEFAULT, Flavor, Pool, VirtualCluster, Workspace
from trainmaster.core.errors import NotFound
from trainmaster.core.ids import split_attempt_id
from trainmaster.core.money.amounts import amount_text
from trainmaster.core.records import Assignment, Job, Node
from trainmaster.messages.cluster import cluster
from trainmaster.queue.ordering.rights import amounts_of
from trainmaster.queue.placing.need import WHOLE, millicores
from trainmaster.service.cluster.node_free import carries, has_room, used_cards
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.use_cases.cluster_parts import (
    abilities_of,
    card_uses,
    dedicated,
    flavor_view,
    limits_of,
    shares_of,
    storage_of,
    used_of,
)

Held = Mapping[str, Sequence[tuple[Job, Assignment]]]
"""By node: who holds something there."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which nodes are looked for. `q`: a part of the name or the address; `model`: of one of its cards; `owner`: of a
    job that holds something there. Empty: any.
    """

    q: str = ""
    model: str = ""
    owner: str = ""

    def covers(self, node: Node) -> bool:
        """Return whether `node` is one of them, whoever uses it."""
        q = self.q.strip().casefold()
        found = not q or q in node.name.casefold() or q in node.host.casefold()
        return found and (not self.model or self.model in node.gpus)


ANY_NODE: Final = Wanted()


class ClusterViews:
    """One object per server. Every method costs O(nodes + running tasks) at most, whatever waits."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._pools = context, context.pools

    async def engines(self, who: Principal) -> EnginesView:
        """Return all engines, each asked whether it answers (5 s at most). Raises Forbidden."""
        decide(who, "cluster:read").demand()
        engines, kinds = self._ctx.engines, {one.name: one.kind for one in self._ctx.config.engines}
        answers, items = await engines.health(), []
        for engine in engines:
            nodes = [node for node in self._pools.nodes if engines.of(node.pool) is engine]
            answer = answers[engine.name]
            items.append(
                EngineView(
                    name=engine.name,
                    kind=kinds.get(engine.name, ""),
                    label=both(engines.label(engine)),
                    can=abilities_of(engine, engines.abilities(engine)),
                    pools=[name for name in self._pools.pools if engines.of(name) is engine],
                    nodes=len(nodes),
                    nodes_in_service=sum(node.schedulable for node in nodes),
                    trouble=both(answer) if answer is not None else None,
                )
            )
        return EnginesView(items=items)

    def pools(self, who: Principal, workspace: str = DEFAULT) -> ResourcePools:
        """Return all pools, each with whether `workspace` may use it (R11). Raises Forbidden."""
        decide(who, "cluster:read").demand()
        return ResourcePools(items=[self._pool(pool, workspace) for pool in self._pools.pools.values()])

    def pool(self, name: str, who: Principal) -> ResourcePool:
        """Return one pool. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        if name not in self._pools.pools:
            raise NotFound(cluster.pool_not_found(name, sorted(self._pools.pools)))
        return self._pool(self._pools.pools[name], DEFAULT)

    def _pool(self, pool: Pool, workspace: str) -> ResourcePool:
        nodes = [node for node in self._pools.nodes if node.pool == pool.name]
        sums = self._ctx.tally.of("pool", pool.name)
        total = amounts_of(nodes)
        return ResourcePool(
            name=pool.name,
            kind=pool.kind,
            engine=self._ctx.engines.of(pool.name).name,
            workspaces=list(pool.workspaces),
            description=pool.description,
            nodes=len(nodes),
            nodes_in_service=sum(node.schedulable for node in nodes),
            amounts=[
                Amount(
                    resource=name,
                    used=sums.used[name] / 1000,
                    total=total.get(name, 0.0),
                    asked=sums.asked[name] / 1000,
                )
                for name in sorted({*total, *(+sums.used), *(+sums.asked)})
            ],
            virtual_clusters=[self._virtual_cluster(share) for share in self._pools.shares_of(pool.name)],
            waiting=sums.waiting,
            running=sums.running,
            selectable=pool.open_to(workspace),
            why=None if pool.open_to(workspace) else dedicated(pool),
            price_gpu=amount_text(pool.price_gpu),
            price_cpu=amount_text(pool.price_cpu),
        )

    def virtual_clusters(self, who: Principal) -> VirtualClusters:
        """Return all virtual clusters with what counts against them. Raises Forbidden."""
        decide(who, "cluster:read").demand()
        return VirtualClusters(items=[self._virtual_cluster(share) for share in self._pools.virtual_clusters.values()])

    def virtual_cluster(self, name: str, who: Principal) -> VirtualClusterView:
        """Return one virtual cluster. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        if name not in self._pools.virtual_clusters:
            raise NotFound(cluster.virtual_cluster_not_found(name, sorted(self._pools.virtual_clusters)))
        return self._virtual_cluster(self._pools.virtual_clusters[name])

    def _virtual_cluster(self, share: VirtualCluster) -> VirtualClusterView:
        sums = self._ctx.tally.of("virtual_cluster", share.name)
        return VirtualClusterView(
            name=share.name,
            pool=share.pool,
            description=share.description,
            share=shares_of(share.share, sums.used),
            waiting=sums.waiting,
            running=sums.running,
        )

    def workspaces(self, who: Principal) -> WorkspacesView:
        """Return all workspaces with quotas and what counts against them. Raises Forbidden."""
        decide(who, "cluster:read").demand()
        return WorkspacesView(items=[self._workspace(one, who) for one in self._pools.workspaces.values()])

    def workspace(self, name: str, who: Principal) -> WorkspaceView:
        """Return one workspace. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        if name not in self._pools.workspaces:
            raise NotFound(cluster.workspace_not_found(name, sorted(self._pools.workspaces)))
        return self._workspace(self._pools.workspaces[name], who)

    def _workspace(self, one: Workspace, who: Principal) -> WorkspaceView:
        sums, urgent = self._ctx.tally.of("workspace", one.name), self._ctx.followers.urgent
        quotas = [
            PoolQuota(pool=pool, share=shares_of(limits, used_of(self._ctx.tally.of("workspace", one.name, pool))))
            for pool, limits in sorted(one.quotas.items())
        ]
        return WorkspaceView(
            name=one.name,
            description=one.description,
            weight=one.weight,
            quotas=quotas,
            urgent=UrgentView(
                per_user=one.urgent_per_user,
                total=one.urgent_total,
                used=urgent.used(one.name),
                mine=urgent.used(one.name, who.name),
            ),
            sharing=one.sharing,
            require_duration=one.require_duration,
            waiting=sums.waiting,
            running=sums.running,
            per_person={pool: dict(most) for pool, most in one.per_person.items()},
            people=one.people if decide(who, "members:read", InWorkspace(one.name)).allowed else {},  # type: ignore[arg-type]
            mine=limits_of(one, who.name, self._ctx.scheduling.running.held),
            storage=storage_of(self._ctx.kept, one, who),
        )

    def flavors(
        self, who: Principal, workspace: str, kind: str = "", model: str = "", pool: str = "", vendor: str = ""
    ) -> Flavors:
        """Return the flavors of a workspace, of a type (R14), card model (R169), vendor and offered in a pool (R2)
        where asked. Raises Forbidden.
        """
        decide(who, "cluster:read").demand()
        found = [
            flavor_view(flavor)
            for flavor in self._pools.flavors.get(workspace, {}).values()
            if kind in ("", flavor.kind)
            and model in ("", flavor.gpu_type)
            and (not pool or flavor.offered_in(pool))
            and vendor.lower() in ("", flavor.vendor.lower())
        ]
        return Flavors(items=found, demand=self.demand(pool), currency=self._ctx.config.money.currency)

    # -- nodes -------------------------------------------------------------------------------------------------

    def nodes(self, who: Principal) -> NodePage:
        """Return all nodes. Raises Forbidden."""
        decide(who, "cluster:read").demand()
        held, visible = self.held(), decide(who, "jobs:read").visible
        return NodePage(items=[self._node(visible, node, held) for node in self._pools.nodes])

    def node(self, name: str, who: Principal) -> NodeDetail:
        """Return one node. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        found = next((node for node in self._pools.nodes if node.name == name), None)
        if found is None:
            raise NotFound(cluster.node_not_found(name, sorted(node.name for node in self._pools.nodes)))
        return self._node(decide(who, "jobs:read").visible, found, self.held())

    def resources(
        self,
        who: Principal,
        names: Sequence[str],
        workspace: str,
        pool: str = "",
        *,
        wanted: Wanted = ANY_NODE,
        offset: int = 0,
        limit: int | None = None,
    ) -> ClusterResources:
        """Return the nodes in service that could carry one of the flavors, all nodes when none is named (R164 to R169),
        by pool. `limit` None: all that match.

        Raises Forbidden, NotFound for a flavor that the workspace does not have.
        """
        decide(who, "cluster:read").demand()
        known = self._pools.flavors.get(workspace, {})
        for name in names:
            if name not in known:
                raise NotFound(cluster.flavor_not_found(name, sorted(known)))
        chosen, held = [known[name] for name in dict.fromkeys(names)], self.held()
        visible = decide(who, "jobs:read").visible
        nodes = [node for node in self._pools.nodes if pool in ("", node.pool) and wanted.covers(node)]
        if wanted.owner:
            nodes = [node for node in nodes if _used_by(visible, wanted.owner, held.get(node.name, ()))]
        if chosen:
            nodes = [node for node in nodes if node.schedulable and self._suits(node, chosen)]
        nodes.sort(key=lambda node: node.pool)  # in a pool they stay as their engine tells them
        page = nodes[offset:] if limit is None else nodes[offset : offset + limit]
        return ClusterResources(
            flavors=list(map(flavor_view, chosen)),
            nodes=[self._row(visible, node, chosen, held) for node in page],
            total=len(nodes),
            demand=self.demand(pool),
        )

    def _suits(self, node: Node, chosen: Sequence[Flavor]) -> list[Flavor]:
        """Return the flavors that `node` carries when nothing runs on it."""
        idle = self._ctx.scheduling.capacity.empty().on(node.name)
        return [flavor for flavor in chosen if idle is not None and carries(idle, flavor.resources())]

    def _row(self, visible: Visible, node: Node, chosen: Sequence[Flavor], held: Held) -> NodeRow:
        now, suits = self._ctx.scheduling.capacity.on(node.name), self._suits(node, chosen)
        state: Room
        if chosen:
            state = "idle" if now and any(carries(now, flavor.resources()) for flavor in suits) else "tight"
        else:
            state = "free" if now and has_room(now) else "full"
        state = state if node.schedulable else "away"
        return NodeRow(
            **asdict(self._node(visible, node, held)), flavors=[flavor.name for flavor in suits], state=state
        )

    def demand(self, pool: str = "") -> list[CardDemand]:
        """Return cards by model: how many there are, are held, and are asked for by waiting jobs (R169)."""
        nodes = [node for node in self._pools.nodes if pool in ("", node.pool)]
        total = Counter(model for node in nodes for model in node.gpus)
        used: Counter[str] = Counter()
        for node in nodes:
            used.update(used_cards(node, self._ctx.scheduling.capacity))
        asked: Counter[str | None] = Counter()
        jobs: Counter[str | None] = Counter()
        for (of, model), cards in self._ctx.tally.demand.items():
            if pool in ("", of):
                asked[model] += cards
                jobs[model] += self._ctx.tally.demand_jobs[of, model]
        models: list[str | None] = [*sorted({*total, *(model for model in +asked if model)})]
        if asked[None]:
            models.append(None)
        return [
            CardDemand(
                model=model,
                total=sum(total.values()) if model is None else total[model],
                used=(sum(used.values()) if model is None else used[model]) / WHOLE,
                asked=asked[model] / WHOLE,
                jobs=jobs[model],
            )
            for model in models
        ]

    def held(self) -> Held:
        """Return who holds something on each node. O(running tasks)."""
        found: defaultdict[str, list[tuple[Job, Assignment]]] = defaultdict(list)
        for key, (_, placement) in self._ctx.scheduling.capacity.holders.items():
            job = self._ctx.master.live.get(split_attempt_id(key)[0])
            for assignment in placement if job is not None else ():
                found[assignment.node].append((job, assignment))  # type: ignore[arg-type]
        return found

    def service_of(self, node: Node, held: Held) -> Service:
        """Return in_service, cordoned, draining or drained."""
        setting = self._pools.node_settings.get(node.name)
        service = setting.service if setting is not None else "in_service"
        return "drained" if service == "draining" and not held.get(node.name) else service

    def _node(self, visible: Visible, node: Node, held: Held) -> NodeDetail:
        setting, here = self._pools.node_settings.get(node.name), held.get(node.name, ())
        free, used = self._ctx.scheduling.capacity.on(node.name), used_cards(node, self._ctx.scheduling.capacity)
        out = setting is not None and setting.service != "in_service"
        return NodeDetail(
            name=node.name,
            host=node.host,
            pool=node.pool,
            service=self.service_of(node, held),
            reason=both(node.reason) if node.reason and not out else None,
            note=setting.note if setting and out else "",
            by=setting.by if setting and out else "",
            since=setting.since if setting and out else None,
            os=node.os,
            kernel=node.kernel,
            driver=node.driver,
            simulated=node.simulated,
            facts=dict(node.facts),
            cpu=Used(used=(millicores(node.cpu) - free.cpu) / 1000 if free else 0.0, total=node.cpu),
            memory_mib=Used(used=node.memory_mib - free.memory_mib if free else 0, total=node.memory_mib),
            cards=[
                CardModel(model=model, used=used[model] / WHOLE, total=count)
                for model, count in sorted(Counter(node.gpus).items())
            ],
            usage=[use for job, a in here for use in card_uses(visible, node, job, a)],
            jobs=len({job.id for job, _ in here}),
        )


def _used_by(visible: Visible, owner: str, here: Sequence[tuple[Job, Assignment]]) -> bool:
    return any(visible.owner_of(job) == owner for job, _ in here)
