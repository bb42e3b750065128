"""The cluster page: nodes, cards, who uses what, and the queue in numbers."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from trainmaster.access.roles import Principal
from trainmaster.core.ids import task_name
from trainmaster.core.records import Assignment, Job, Node
from trainmaster.core.states import JobState, Shown
from trainmaster.queue.need import WHOLE
from trainmaster.service.context import Context
from trainmaster.service.language import both


def cluster_view(context: Context, measured: dict[str, Any], who: Principal) -> dict[str, Any]:
    """Return `GET /cluster` for `who`: of jobs they may not know of, only how much they hold.

    `measured` is the engine's `node_usage`: the machine as a whole, and real cards by node.
    """
    held: dict[str, list[tuple[Job, Assignment]]] = defaultdict(list)
    waiting = running = 0
    for job in context.master.live.values():
        waits = job.shown in (Shown.QUEUED, Shown.PENDING)
        waiting += waits
        running += not waits and not job.terminal
        if job.state is JobState.ACTIVE and job.attempt is not None:
            for assignment in job.attempt.placement:
                held[assignment.node].append((job, assignment))
    nodes = list(context.scheduling.nodes.values())
    cards: dict[str, list[dict[str, Any]]] = measured.get("gpus", {})
    return {
        "machine": {key: value for key, value in measured.items() if key != "gpus"},
        "nodes": [
            node_view(node, held[node.name], cards.get(node.name, []), lambda job: context.knows(who, job))
            for node in nodes
        ],
        "pools": [{"name": name} for name in sorted({node.pool for node in nodes})],
        "queue": {"waiting": waiting, "running": running},
        "sandbox": context.engines.first.isolation(),
    }


def node_view(
    node: Node, held: list[tuple[Job, Assignment]], cards: list[dict[str, Any]], known: Callable[[Job], bool]
) -> dict[str, Any]:
    """Return one node with what its tasks hold and, of real cards, what is really used."""
    on: dict[int, list[tuple[Job, Assignment]]] = defaultdict(list)
    for job, a in held:
        for index in a.gpus:
            on[index].append((job, a))
    return {
        "name": node.name, "host": node.host, "pool": node.pool, "schedulable": node.schedulable,
        "reason": both(node.reason) if node.reason else None,
        "simulated": node.simulated, "facts": facts_of(node),
        "cpu": {"used": round(sum(j.roles[a.role].resources.cpu for j, a in held), 3), "total": node.cpu},
        "memory_mib": {"used": sum(j.roles[a.role].resources.memory_mib for j, a in held), "total": node.memory_mib},
        "gpus": [
            _card(index, model, on.get(index, []), cards[index] if index < len(cards) else {}, known)
            for index, model in enumerate(node.gpus)
        ],
        "tasks": [
            {**_identity(job, a, known(job)), "cpu": job.roles[a.role].resources.cpu,
             "memory_mib": job.roles[a.role].resources.memory_mib, "gpus": list(a.gpus),
             "share": job.roles[a.role].resources.gpu_milli / WHOLE}
            for job, a in held
        ],
    }  # fmt: skip


def facts_of(node: Node) -> dict[str, str]:
    """Return everything that is told about a node by name."""
    return {"os": node.os, "kernel": node.kernel, "driver": node.driver or "none", **dict(node.facts)}


def _identity(job: Job, place: Assignment, known: bool) -> dict[str, Any]:
    if not known:
        return dict.fromkeys(("job", "name", "owner", "task", "state"))
    task = task_name(place.role, place.index)
    return {"job": job.id, "name": job.name, "owner": job.owner, "task": task, "state": job.shown.value}


def _card(
    index: int, model: str, held: list[tuple[Job, Assignment]], measured: dict[str, Any], known: Callable[[Job], bool]
) -> dict[str, Any]:
    return {
        "index": index, "model": model,
        "uses": [
            {**_identity(job, a, known(job)), "share": job.roles[a.role].resources.gpu_milli / WHOLE} for job, a in held
        ],
        "utilisation": measured.get("utilisation"), "memory_mib": measured.get("memory_mib"),
        "memory_total_mib": measured.get("memory_total_mib"),
    }  # fmt: skip
