"""The platform's own past as a workload: what the jobs that ended asked for, turned into records.

`asked_view` writes it and `from_history` reads it, on the server and over the API alike. What the past says of a job
that was restarted is its time from first start to end. Invariant: a record asks for exactly what its job did.
"""

from collections.abc import Iterable, Mapping

from trainmaster.answers import (
    PRIORITY_NAMES,
    AskedRole,
    AskedView,
    ClusterView,
    NeedView,
    PortView,
    ShareView,
    VirtualClusterView,
    WorkspaceView,
)
from trainmaster.core.cluster import Limit, Limits, VirtualCluster, Workspace
from trainmaster.core.records import Job, Node, PortRequest, Resources, Role
from trainmaster.core.states import Priority
from trainmaster.queue.ordering.rights import Rights
from trainmaster.queue.placing.need import WHOLE
from trainmaster.simulate.workload import Recorded, Workload, workload


def asked_view(job: Job) -> AskedView:
    """Return what `job` asked for, how long it ran and as how many tasks.

    `shapes` are the ways in which it might have run, in the order tried; `nodes` empty: any.
    """
    ran = job.started_at is not None and job.ended_at is not None
    return AskedView(
        id=job.id,
        owner=job.owner,
        workspace=job.workspace,
        pool=job.pool,
        virtual_cluster=job.virtual_cluster,
        priority=PRIORITY_NAMES[job.priority],
        preemptible=job.preemptible,
        submitted_at=job.submitted_at,
        ended_at=job.ended_at,
        duration_s=job.policy.duration_s,
        run_s=max(0.0, (job.ended_at or 0.0) - (job.started_at or 0.0)) if ran else None,
        tasks=job.tasks_total,
        nodes=list(job.node_names),
        driver=job.driver,
        shapes=[[_role_view(role) for role in shape] for shape in job.shapes or (job.roles,)],
    )


def _role_view(role: Role) -> AskedRole:
    return AskedRole(
        name=role.name,
        replicas=role.replicas,
        min_replicas=role.min_replicas,
        flavor=role.flavor,
        resources=need_view(role.resources),
        ports=[PortView(label=port.label, count=port.count, begin_at=port.begin_at) for port in role.ports],
    )


def need_view(need: Resources) -> NeedView:
    """Return what one replica asks for."""
    return NeedView(
        cpu=need.cpu,
        memory_mib=need.memory_mib,
        gpu=need.gpu,
        gpu_type=need.gpu_type,
        shm_mib=need.shm_mib,
        gpu_share=need.gpu_milli / WHOLE,
    )


def from_history(items: Iterable[AskedView]) -> Workload:
    """Return the workload of jobs that ended, as `asked_view` tells of them; of one second, in the order given.

    Jobs that never ran are left out. The clock begins with the first of them.
    """
    found = sorted(items, key=lambda item: item.submitted_at)
    first = int(found[0].submitted_at) if found else 0
    ran = [(item, item.run_s) for item in found if item.run_s is not None]
    jobs = [_recorded(row, item, run_s, first) for row, (item, run_s) in enumerate(ran)]
    left_out = len(found) - len(ran)
    notes = (
        [f"{left_out} {'job that never ran is' if left_out == 1 else 'jobs that never ran are'} left out"]
        if left_out
        else []
    )
    return workload("history", jobs, any(job.limit_s is not None for job in jobs), notes)


def _recorded(row: int, item: AskedView, run_s: float, first: int) -> Recorded:
    limit, shapes = item.duration_s, tuple(tuple(map(_role, shape)) for shape in item.shapes)
    whole = sum(role.replicas for role in shapes[0])  # an elastic job may have run with fewer, and longer
    return Recorded(
        id=item.id,
        row=row,
        submit_s=int(item.submitted_at) - first,
        work_s=max(0, round(run_s * item.tasks / whole)),
        roles=shapes[0],
        limit_s=None if limit is None else int(limit),
        workspace=item.workspace,
        owner=item.owner,
        pool=item.pool,
        priority=Priority[item.priority.upper()],
        preemptible=item.preemptible,
        shapes=shapes if len(shapes) > 1 else (),
        node_names=tuple(item.nodes),
        driver=item.driver,
        virtual_cluster=item.virtual_cluster,
    )


def _role(said: AskedRole) -> Role:
    needs = said.resources
    resources = Resources(
        needs.cpu, needs.memory_mib, needs.gpu, needs.gpu_type, needs.shm_mib, round(needs.gpu_share * WHOLE)
    )
    ports = tuple(PortRequest(port.label, port.count, port.begin_at) for port in said.ports)
    return Role(said.name, said.replicas, resources, ports, min_replicas=said.min_replicas, flavor=said.flavor)


def nodes_of(cluster: ClusterView) -> tuple[Node, ...]:
    """Return the machines of `GET /cluster`; one taken out of service counts, for the past had it."""
    return tuple(
        Node(
            node.name,
            node.host,
            node.cpu.total,
            int(node.memory_mib.total),
            tuple(card.model for card in node.gpus),
            node.pool,
            driver=_driver(node.facts),
        )
        for node in cluster.nodes
    )


def rights_of(workspaces: Iterable[WorkspaceView], virtual_clusters: Iterable[VirtualClusterView]) -> Rights:
    """Return what `GET /workspaces` and `GET /virtual-clusters` tell: the rules that hold now."""
    return Rights(
        tuple(
            Workspace(
                one.name,
                one.weight,
                {quota.pool: _limits(quota.share) for quota in one.quotas},
                per_person=one.per_person,
                people=one.people,
            )
            for one in workspaces
        ),
        tuple(VirtualCluster(one.name, one.pool, _limits(one.share)) for one in virtual_clusters),
    )


def _limits(share: Iterable[ShareView]) -> Limits:
    return {one.resource: Limit(one.nominal, one.cap) for one in share}


def _driver(facts: Mapping[str, str]) -> str:
    version = facts.get("driver", "")
    return "" if version == "none" else version
