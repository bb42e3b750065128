"""The platform's own past as a workload."""

from typing import Any

from trainmaster.core.records import Job, Resources, Role, replace
from trainmaster.service.views import job_view
from trainmaster.simulate.history import from_history, nodes_of


def ended(name: str, submitted: float, started: float | None, end: float, roles: tuple[Role, ...]) -> dict[str, Any]:
    job = Job(name, name, "ann", roles, "", submitted, workspace="lab", started_at=started, ended_at=end)
    return job_view(replace(job, policy=replace(job.policy, duration_s=600.0)), end)


def test_ended_jobs_become_records() -> None:
    one, two = Role("worker", 1, Resources(2, 512, 1)), Role("worker", 4, Resources(1, 256, 8))
    items = [
        ended("b", 1100.5, 1105.0, 1200.0, (one, two)),
        ended("a", 1000.2, 1001.0, 1031.4, (one,)),
        ended("c", 1150.0, None, 1160.0, (one,)),
    ]
    asked: list[str] = []

    def detail(job: str) -> dict[str, Any]:
        asked.append(job)
        return {"roles": [{"name": r.name, "replicas": r.replicas, "resources": {
            "cpu": r.resources.cpu, "memory_mib": r.resources.memory_mib, "gpu": r.resources.gpu, "gpu_type": None,
        }, "ports": [{"label": "http", "count": 1, "begin_at": 80}]} for r in (one, two)]}  # fmt: skip

    work = from_history(items, detail)
    first, second = work.jobs
    assert (first.id, first.submit_s, first.work_s, first.limit_s, first.workspace) == ("a", 0, 30, 600, "lab")
    assert (second.submit_s, second.work_s, second.cards) == (100, 95, 33)
    assert asked == ["b"]
    assert work.notes == ("1 jobs that never ran are left out",)


def test_the_machines_of_the_cluster_page() -> None:
    cluster = {"nodes": [{
        "name": "n1", "host": "10.0.0.1", "pool": "default", "cpu": {"total": 8}, "memory_mib": {"total": 1024},
        "gpus": [{"model": "A100"}],
    }]}  # fmt: skip
    (node,) = nodes_of(cluster)
    assert (node.cpu, node.memory_mib, node.gpus, node.schedulable) == (8.0, 1024, ("A100",), True)
