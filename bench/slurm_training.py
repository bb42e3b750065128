"""The training loop of `bench.training` on two nodes with two processes each: as a job of ours and in a batch script by
hand.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.server import spec
from bench.training import LOOP, result

if TYPE_CHECKING:
    from bench.slurm import Site

BY_HAND: Final = """\
#!/bin/sh
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=2 --gpus-per-task=2 --mem-per-cpu=1024M --output={log}
export OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=lo TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
exec srun sh -c 'exec {python} -m torch.distributed.run --nnodes=2 --nproc-per-node=2 --node-rank=$SLURM_NODEID \\
    --master-addr=127.0.0.1 --master-port={port} {loop} {steps}'
"""
"""With what the platform sets for such a job."""


def possible() -> bool:
    """Return whether torch is there."""
    return importlib.util.find_spec("torch") is not None


def pairs(site: Site, steps: int, rounds: int) -> list[tuple[float, float]]:
    """Return steps/s of neighbours, ours and by hand; who comes first takes turns."""
    folder = Path(site.stage.path("loop"))
    folder.mkdir()
    (folder / "loop.py").write_text(LOOP)
    found = []
    for number in range(rounds):
        bare = _by_hand(site, folder, steps) if number % 2 else 0.0
        ours = _job(site, folder, steps)
        found.append((ours, bare or _by_hand(site, folder, steps)))
    return found


def _by_hand(site: Site, folder: Path, steps: int) -> float:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = folder / "by-hand.log"
    log.unlink(missing_ok=True)
    script = BY_HAND.format(log=log, python=sys.executable, port=port, loop=folder / "loop.py", steps=steps)
    try:
        site.cluster.sbatch(script, "--wait")
    except subprocess.CalledProcessError as error:
        raise RuntimeError("the run by hand failed: " + log.read_text(errors="replace")[-2000:]) from error
    return result(str(log))["steps_per_s"]


def _job(site: Site, folder: Path, steps: int) -> float:
    body = spec(
        f"python /script/loop.py {steps}",
        2,
        framework={"kind": "pytorch", "processes_per_node": 2},
        inputs=[{"name": "script", "path": str(folder), "mount": "/script"}],
        metrics=[{"pattern": r"step=(?P<step>\d+) loss=(?P<loss>[\d.]+)"}],
    )
    body["spec"]["roles"][0]["resources"] = {"cpu": 2, "memory": "2GiB", "gpu": 2}
    job = site.client.ask("POST", "/jobs", body)["id"]
    while (found := site.client.ask("GET", f"/jobs/{job}"))["ended_at"] is None:
        time.sleep(0.5)
    if found["state"] != "succeeded":
        raise RuntimeError(f"the training job ended otherwise: {found['verdict']}")
    return result(site.server.log_path(job))["steps_per_s"]
