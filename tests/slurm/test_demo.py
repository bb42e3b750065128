"""The same job file on this machine and on a cluster: the demo's training, 2 nodes x 2 processes of PyTorch."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.slurm.bed import Bed
from tests.slurm.served import POOL, Served
from trainmaster.sdk.jobs import Job

DEMO: Final = Path(__file__).parents[2] / "examples" / "digits-ddp" / "job.yaml"


@pytest.fixture(scope="module")
def served(bed: Bed) -> Iterator[Served]:
    """Start a server with the nodes of the demo beside the cluster, whose nodes have torch where this machine has
    it.
    """
    nodes = {"virtual_nodes": 2, "simulated_gpus": 2, "cpu": 4, "memory_mib": 8192}
    folder = Path(tempfile.mkdtemp(prefix="demo-", dir=bed.folder))
    made = Served(bed, folder, {"environment": sys.prefix}, nodes)
    yield made.whole()
    made.end()


def tree(folder: Path) -> set[str]:
    """Return the files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def shown(served: Served, job: Job) -> dict[str, Any]:
    """Return what people see of a job's end, times and places aside."""
    model, _, version = (job.model or "").partition("@")
    saved = Path(served.data, "models", model, version)
    (found,) = saved.rglob("metrics.json")
    tasks = job.refresh().detail.task_list
    return {
        "tasks": [(task.name, task.state, task.exit_code, len(task.gpus)) for task in tasks],
        "files": tree(Path(served.layout.outputs(job.id))),
        "curves": [replace(curve, t=[]) for curve in job.metrics().series],
        "model": tree(saved),
        "result": json.loads(found.read_text()),
    }


@pytest.mark.timeout(600)
def test_the_demo_gives_the_same_on_both_engines(served: Served) -> None:
    with served.sdk() as client:
        jobs = [client.submit(DEMO, set={"pool": pool}) for pool in ("default", POOL)]
        for job in jobs:
            assert job.wait(240).succeeded, (job.verdict, job.logs("worker-0", tail=30))
        here, there = (shown(served, job) for job in jobs)
        assert here == there
        assert here["result"]["accuracy"] >= 0.95
