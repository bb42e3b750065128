"""The pictures of a server with two engines: the demo's job file on this machine and on a Slurm cluster of four
nodes.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.world import CONFIG as MACHINE
from tests.e2e.world import World
from tests.slurm.bed import Bed

DEMO = Path(__file__).resolve().parents[1] / "examples/digits-ddp/job.yaml"
Shot = tuple[str, str, str, Callable[..., None] | None]


def config(bed: Bed) -> str:
    """Return the configuration of a server with the end-to-end tests' machine and this cluster."""
    return f"""\
[server]
data = "{bed.folder}/data"

{MACHINE}
[[engines]]
name = "workstation"

[[engines]]
name = "alps"
kind = "slurm"
pools = ["gpu"]
conf = "{bed.conf}"
partitions = {{gpu = "batch"}}
environment = "{sys.prefix}"
"""


@contextmanager
def cluster() -> Iterator[str]:
    """Give the configuration of a server with such a cluster, for as long as the context lasts."""
    folder = Path(tempfile.mkdtemp(prefix="tm-bed-"))
    bed = Bed(folder)
    try:
        bed.start()
        yield config(bed)
    finally:
        bed.stop()
        shutil.rmtree(folder, ignore_errors=True)


def on_both(world: World) -> dict[str, str]:
    """Let the demo run on both engines, and another job wait in Slurm. Returns their ids."""
    jobs = {}
    with world.client() as client:
        for name, pool in (("here", "default"), ("there", "gpu")):
            jobs[name] = client.submit(DEMO, set={"pool": pool}).id
        for job in jobs.values():
            assert client.get(job).wait(300).succeeded, client.get(job).verdict
        wide = {"pool": "gpu", "roles.0.replicas": 3, "duration": "2h", "roles.0.parameters.pause": 20}
        world.until(client.submit(DEMO, set=wide, name="digits-wide").id, lambda view: view["state"] == "running")
        jobs["waits"] = client.submit(DEMO, set=wide, name="digits-again").id
        world.until(jobs["waits"], lambda view: bool((view["reason"] or {}).get("message")))
    return jobs


def cluster_shots(jobs: dict[str, str]) -> list[Shot]:
    """The list with both jobs, what the one on the cluster shows, and one that waits there."""
    there = f"/jobs/{jobs['there']}"
    return [
        ("clusters", "/jobs", "jobs", None),
        ("clusters-job", there, "tasks", None),
        ("clusters-metrics", f"{there}?tab=metrics", "metric-loss", None),
        ("clusters-waiting", f"/jobs/{jobs['waits']}", "wait", None),
    ]
