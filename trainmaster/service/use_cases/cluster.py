"""The cluster page: nodes, cards, who uses what, and the queue in numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster.access.visible import Visible
from trainmaster.answers import (
    CardHolder,
    CardView,
    ClusterView,
    NodeTask,
    NodeView,
    PoolName,
    QueueView,
    Sandbox,
    Used,
)
from trainmaster.core.errors import NotFound
from trainmaster.core.ids import task_name
from trainmaster.core.records import Assignment, Job, Node
from trainmaster.core.states import JobState, Shown
from trainmaster.engines.base import CardUsage
from trainmaster.messages.cluster import cluster
from trainmaster.queue.placing.need import WHOLE
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.views import identity

NOT_MEASURED: Final = CardUsage()


def cluster_view(context: Context, visible: Visible, cards: Mapping[str, Sequence[CardUsage]]) -> ClusterView:
    """Return `GET /cluster`: of jobs that are not `visible`, only how much they hold and whose they are. `cards`: the
    real ones by node.
    """
    held, waiting, running = _held(context), 0, 0
    for job in context.master.live.values():
        waits = job.shown in (Shown.QUEUED, Shown.PENDING)
        waiting += waits
        running += not waits and not job.terminal
    nodes = list(context.scheduling.nodes.values())
    return ClusterView(
        nodes=[node_view(visible, node, held[node.name], cards.get(node.name, ())) for node in nodes],
        pools=[PoolName(name=name) for name in sorted({node.pool for node in nodes})],
        queue=QueueView(waiting=waiting, running=running),
        sandbox=Sandbox(**context.engines.first.isolation()),
    )


def node_use(context: Context, visible: Visible, name: str, cards: Mapping[str, Sequence[CardUsage]]) -> NodeView:
    """Return `GET /cluster/nodes/{name}`: one node as `cluster_view` shows it. Raises NotFound."""
    node = context.scheduling.nodes.get(name)
    if node is None:
        raise NotFound(cluster.node_not_found(name, sorted(context.scheduling.nodes)))
    return node_view(visible, node, _held(context)[name], cards.get(name, ()))


def _held(context: Context) -> defaultdict[str, list[tuple[Job, Assignment]]]:
    """Return who holds something on each node. O(live tasks)."""
    held: defaultdict[str, list[tuple[Job, Assignment]]] = defaultdict(list)
    for job in context.master.live.values():
        if job.state is JobState.ACTIVE and job.attempt is not None:
            for assignment in job.attempt.placement:
                held[assignment.node].append((job, assignment))
    return held


def node_view(visible: Visible, node: Node, held: list[tuple[Job, Assignment]], cards: Sequence[CardUsage]) -> NodeView:
    """Return one node with what its tasks hold and, of real cards, what is really used."""
    on: dict[int, list[tuple[Job, Assignment]]] = defaultdict(list)
    for job, a in held:
        for index in a.gpus:
            on[index].append((job, a))
    return NodeView(
        name=node.name,
        host=node.host,
        pool=node.pool,
        schedulable=node.schedulable,
        reason=both(node.reason) if node.reason else None,
        simulated=node.simulated,
        facts=facts_of(node),
        cpu=Used(used=round(sum(j.roles[a.role].resources.cpu for j, a in held), 3), total=node.cpu),
        memory_mib=Used(used=sum(j.roles[a.role].resources.memory_mib for j, a in held), total=node.memory_mib),
        gpus=[
            _card(visible, index, model, on.get(index, []), cards[index] if index < len(cards) else NOT_MEASURED)
            for index, model in enumerate(node.gpus)
        ],
        tasks=[_task(visible, job, a) for job, a in held],
    )


def facts_of(node: Node) -> dict[str, str]:
    """Return everything that is told about a node by name."""
    return {"os": node.os, "kernel": node.kernel, "driver": node.driver or "none", **dict(node.facts)}


def _task(visible: Visible, job: Job, place: Assignment) -> NodeTask:
    seen = identity(visible, job)
    need = job.roles[place.role].resources
    return NodeTask(
        job=seen.job,
        name=seen.name,
        owner=seen.owner,
        workspace=job.workspace,
        task=task_name(place.role, place.index) if seen.known else None,
        state=job.shown if seen.known else None,
        cpu=need.cpu,
        memory_mib=need.memory_mib,
        gpus=list(place.gpus),
        share=need.gpu_milli / WHOLE,
    )


def _card(visible: Visible, index: int, model: str, held: list[tuple[Job, Assignment]], used: CardUsage) -> CardView:
    holders = [_task(visible, job, place) for job, place in held]
    return CardView(
        index=index,
        model=model,
        uses=[
            CardHolder(
                job=one.job,
                name=one.name,
                owner=one.owner,
                workspace=one.workspace,
                task=one.task,
                state=one.state,
                share=one.share,
            )
            for one in holders
        ],
        utilisation=used.utilisation,
        memory_mib=used.memory_mib,
        memory_total_mib=used.memory_total_mib,
    )
