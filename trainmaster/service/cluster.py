"""The cluster page: nodes, cards, who uses what, and the queue in numbers."""

from collections import defaultdict
from typing import Any

from trainmaster.core.ids import task_name
from trainmaster.core.records import Assignment, Job, Node
from trainmaster.core.states import JobState
from trainmaster.service.context import Context


def cluster_view(context: Context, measured: dict[str, Any], sandbox: dict[str, str]) -> dict[str, Any]:
    """Return `GET /cluster`. `measured` is the engine's `node_usage`: the machine as a whole, and real cards by node."""
    held: dict[str, list[tuple[Job, Assignment]]] = defaultdict(list)
    waiting = running = 0
    for job in context.master.live.values():
        waiting += job.state is JobState.QUEUED
        running += job.state is JobState.ACTIVE
        if job.state is JobState.ACTIVE and job.attempt is not None:
            for assignment in job.attempt.placement:
                held[assignment.node].append((job, assignment))
    nodes = list(context.scheduling.nodes.values())
    cards: dict[str, list[dict[str, Any]]] = measured.get("gpus", {})
    return {
        "machine": {key: value for key, value in measured.items() if key != "gpus"},
        "nodes": [node_view(node, held[node.name], cards.get(node.name, [])) for node in nodes],
        "pools": [{"name": name} for name in sorted({node.pool for node in nodes})],
        "queue": {"waiting": waiting, "running": running},
        "sandbox": sandbox,
        "engine": context.engine.name,
    }


def node_view(node: Node, held: list[tuple[Job, Assignment]], cards: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one node with what its tasks hold and, of real cards, what is really used."""
    owner = {index: (job, a) for job, a in held for index in a.gpus}
    return {
        "name": node.name, "host": node.host, "pool": node.pool, "schedulable": node.schedulable, "reason": node.reason,
        "simulated": node.simulated, "facts": dict(node.facts),
        "cpu": {"used": round(sum(j.roles[a.role].resources.cpu for j, a in held), 3), "total": node.cpu},
        "memory_mib": {"used": sum(j.roles[a.role].resources.memory_mib for j, a in held), "total": node.memory_mib},
        "gpus": [
            _card(index, model, owner.get(index), cards[index] if index < len(cards) else {})
            for index, model in enumerate(node.gpus)
        ],
        "tasks": [
            {"job": job.id, "name": job.name, "owner": job.owner, "task": task_name(a.role, a.index), "state": job.shown.value,
             "cpu": job.roles[a.role].resources.cpu, "memory_mib": job.roles[a.role].resources.memory_mib, "gpus": list(a.gpus)}
            for job, a in held
        ],
    }  # fmt: skip


def _card(index: int, model: str, owner: tuple[Job, Assignment] | None, measured: dict[str, Any]) -> dict[str, Any]:
    job, place = owner if owner is not None else (None, None)
    return {
        "index": index, "model": model, "job": job.id if job is not None else None, "job_name": job.name if job is not None else None,
        "task": task_name(place.role, place.index) if place is not None else None,
        "utilisation": measured.get("utilisation"), "memory_mib": measured.get("memory_mib"),
        "memory_total_mib": measured.get("memory_total_mib"),
    }  # fmt: skip
