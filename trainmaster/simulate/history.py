"""The platform's own past as a workload: what the API tells of jobs that have ended, turned into records.

A list item says everything but how a gang is divided; for a job of more than one task its own page is asked. What the
past says of a job that was restarted is its time from first start to end.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from trainmaster.core.records import Node, PortRequest, Resources, Role
from trainmaster.core.states import Priority
from trainmaster.simulate.workload import Recorded, Workload, workload

ENDED: Final = ("succeeded", "failed", "stopped", "expired")
"""States of jobs that make the past."""


def from_history(items: Iterable[Mapping[str, Any]], detail: Callable[[str], Mapping[str, Any]]) -> Workload:
    """Return the workload of ended jobs as the API shows them; `detail` returns the whole job by id.

    Jobs that never ran are left out. The clock begins with the first of them.
    """
    jobs: list[Recorded] = []
    left_out = 0
    found = sorted(items, key=lambda item: (item["submitted_at"], item["id"]))
    first = int(found[0]["submitted_at"]) if found else 0
    for row, item in enumerate(found):
        if item["started_at"] is None:
            left_out += 1
            continue
        jobs.append(_recorded(row, item, _roles(item, detail), first))
    notes = [f"{left_out} jobs that never ran are left out"] if left_out else []
    return workload("history", jobs, any(job.limit_s is not None for job in jobs), notes)


def _recorded(row: int, item: Mapping[str, Any], roles: tuple[Role, ...], first: int) -> Recorded:
    limit = item["duration_s"]
    return Recorded(
        id=item["id"], row=row, submit_s=int(item["submitted_at"]) - first, work_s=max(0, round(item["run_s"] or 0)),
        roles=roles, limit_s=None if limit is None else int(limit), workspace=item["workspace"], owner=item["owner"],
        pool=item["pool"], priority=Priority[item["priority"].upper()], preemptible=bool(item.get("preemptible")),
    )  # fmt: skip


def _roles(item: Mapping[str, Any], detail: Callable[[str], Mapping[str, Any]]) -> tuple[Role, ...]:
    if item["tasks"]["total"] == 1:
        return (_role("worker", 1, item["resources"]),)
    roles = detail(item["id"])["roles"]
    return tuple(_role(role["name"], role["replicas"], role["resources"], role.get("ports", ())) for role in roles)


def _role(name: str, replicas: int, needs: Mapping[str, Any], ports: Iterable[Mapping[str, Any]] = ()) -> Role:
    resources = Resources(
        needs["cpu"], needs["memory_mib"], needs["gpu"], needs.get("gpu_type"), 0, needs.get("gpu_milli", 1000)
    )
    return Role(name, replicas, resources, tuple(PortRequest(p["label"], p["count"], p["begin_at"]) for p in ports))


def nodes_of(cluster: Mapping[str, Any]) -> tuple[Node, ...]:
    """Return the machines of `GET /cluster`; one taken out of service counts, for the past had it."""
    return tuple(
        Node(
            node["name"], node["host"], float(node["cpu"]["total"]), int(node["memory_mib"]["total"]),
            tuple(card["model"] for card in node["gpus"]), node["pool"],
        )
        for node in cluster["nodes"]
    )  # fmt: skip
