"""Does the platform slow training: steps/s of the same 2-rank DDP loop as a sandboxed, sampled job, under bare
torchrun, and under torchrun started as batch work, as the platform starts its tasks.

Runs take turns; the ratio is the median of the ratios of neighbours. The loop tells its own speed after warm-up. On a
shared machine runs of the same loop differ by a third; the fastest ones, least disturbed, are compared as well.
"""

import importlib.util
import json
import operator
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.record import Record
from bench.server import Client, Server, spec
from bench.stage import Stage

LOOP: Final = r"""
import json, sys, time
import torch, torch.distributed as dist
torch.set_num_threads(1)
torch.manual_seed(0)
dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 256), torch.randint(0, 10, (64,))
steps, warm_up, began, used = int(sys.argv[1]), 50, 0.0, 0.0
for step in range(steps + warm_up):
    if step == warm_up:
        began, used = time.monotonic(), time.process_time()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    if dist.get_rank() == 0:
        print(f"step={step} loss={loss.item():.4f} " + "." * 60, flush=True)
took, cpu = time.monotonic() - began, time.process_time() - used
if dist.get_rank() == 0:
    print("RESULT " + json.dumps({"steps_per_s": steps / took, "cpu_ms": cpu / steps * 1e3}), flush=True)
dist.barrier()
dist.destroy_process_group()
# gloo's threads may still hold the last tensors; an interpreter that ends under them aborts, one run in eight
time.sleep(0.3)
"""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records; nothing where torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        print("training: torch is not installed in this environment; nothing measured", file=sys.stderr)
        return
    steps, rounds = (200, 2) if quick else (1500, 12)
    # The environment tasks see is the one that has torch, not the stage's with the small programs.
    server = Server(stage, {"cpu": 16.0, "memory_mib": 100_000, "environment": sys.prefix}, limits="sample_s = 2.0")
    client = server.client()
    script = stage.path("loop")
    os.makedirs(script)
    Path(script, "loop.py").write_text(LOOP)
    found: dict[str, list[dict[str, float]]] = {"job": [], "bare": [], "batch": []}
    for number in range(rounds):
        for name in ("job", "bare", "batch") if number % 2 else ("batch", "bare", "job"):
            found[name].append(
                _job(server, client, script, steps) if name == "job" else _bare(script, steps, batch=name == "batch")
            )
    rates = [[one["steps_per_s"] for one in found[name]] for name in ("job", "bare", "batch")]
    ratio, as_batch = (statistics.median(map(operator.truediv, rates[0], peer)) for peer in rates[1:])
    yield stage.record(
        "steps/s, fastest run", [max(rates[0])], "steps/s", against="fastest bare run", peer=[max(rates[1])]
    )
    costs = [[one["cpu_ms"] for one in found[name]] for name in ("job", "bare")]
    title = "bare torchrun"
    yield stage.record(
        "steps/s, 2-rank DDP, sandboxed and sampled", rates[0], "steps/s", against=title, peer=rates[1], ratio=ratio
    )
    yield stage.record(
        "steps/s, beside the same class",
        rates[0],
        "steps/s",
        against="chrt --batch torchrun",
        peer=rates[2],
        ratio=as_batch,
    )
    yield stage.record("CPU per step of rank 0", costs[0], "ms", against=title, peer=costs[1])


def _bare(script: str, steps: int, *, batch: bool) -> dict[str, float]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = ["--nnodes=1", "--nproc-per-node=2", "--master-addr=127.0.0.1", f"--master-port={port}"]
    first = ["chrt", "--batch", "0"] if batch else []
    command = [*first, sys.executable, "-m", "torch.distributed.run", *place, f"{script}/loop.py", str(steps)]
    log = f"{script}.log"
    same = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}  # as the platform sets them for this job
    with open(log, "wb") as file:
        done = subprocess.run(command, stdout=file, stderr=file, env={**os.environ, **same}, check=False)
    if done.returncode:
        raise RuntimeError("the bare run failed: " + Path(log).read_text(errors="replace")[-2000:])
    return result(log)


def _job(server: Server, client: Client, script: str, steps: int) -> dict[str, float]:
    framework = {"kind": "pytorch", "processes_per_node": 2}
    inputs = [{"name": "script", "path": script, "mount": "/script"}]
    body = spec(
        f"python /script/loop.py {steps}",
        framework=framework,
        inputs=inputs,
        metrics=[{"pattern": r"step=(?P<step>\d+) loss=(?P<loss>[\d.]+)"}],
    )
    body["spec"]["roles"][0]["resources"] = {"cpu": 2, "memory": "4GiB"}
    job = client.ask("POST", "/jobs", body)["id"]
    while (found := client.ask("GET", f"/jobs/{job}"))["ended_at"] is None:
        time.sleep(0.5)
    if found["state"] != "succeeded":
        raise RuntimeError(f"the training job ended otherwise: {found['verdict']}")
    return result(server.log_path(job))


def result(log: str) -> dict[str, float]:
    """Return what rank 0 of the loop told last, by the log it wrote."""
    lines = [line for line in Path(log).read_text(errors="replace").splitlines() if line.startswith("RESULT ")]
    found: dict[str, float] = json.loads(lines[-1][7:])
    return found
