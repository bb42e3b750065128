"""Plays on this machine's NVIDIA GPUs what docs/guide/gpus.md promises, and says what holds.

    python scripts/try_gpu.py [--environment /srv/envs/torch] [--home FOLDER]

Run it with a Python that has trainmaster[server]. The tasks use the environment, which needs PyTorch built for the
driver; by default it is this Python's. Nobody else should use the GPUs meanwhile: their memory is counted. Minutes.
Ends with 0, or with 1 at the first promise that is broken.
"""

import argparse
import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainmaster.sdk.client import Client

PATIENCE_S = 60.0
HOLD_MIB = 4096
HOLD = """\
import sys, time
import torch
held = torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
print("holding", flush=True)
step = 0
while True:
    for _ in range(200):
        a = (a @ a).clamp(-1, 1)
    torch.cuda.synchronize()
    step += 1
    print(f"step={step}", flush=True)
"""
SEEN = """\
import glob, torch
print("seen", torch.cuda.is_available(), torch.cuda.device_count())
print("files", *sorted(glob.glob("/dev/nvidia[0-9]*")))
"""
LEAVES = """\
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "/code/hold.py"], start_new_session=True, stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), "and the parent ends", flush=True)
"""
TOO_MUCH = """\
import torch
torch.empty(10 << 40, dtype=torch.uint8, device="cuda")
"""
NCCL = """\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
one = torch.ones(1 << 20, device="cuda")
dist.all_reduce(one)
model = DistributedDataParallel(torch.nn.Linear(64, 1).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(512, 64, device="cuda")
for epoch in range(1, 51):
    optimizer.zero_grad()
    loss = (model(x) - x.sum(dim=1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    print(f"epoch={epoch} loss={loss.item():.5f}", flush=True)
print("reduced to", one[0].item(), "by", dist.get_backend(), "of", dist.get_world_size(), flush=True)
dist.destroy_process_group()
"""
TIMED = """\
import time
import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
for _ in range(20):
    b = a @ a
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(200):
    b = a @ a
torch.cuda.synchronize()
print(f"product_ms={(time.perf_counter() - begin) * 5:.4f}")
small = torch.randn(64, 64, device="cuda")
begin = time.perf_counter()
for _ in range(20000):
    small = small * 1.0001
torch.cuda.synchronize()
print(f"launch_us={(time.perf_counter() - begin) * 50:.4f}")
"""
CODE = {
    "hold.py": HOLD,
    "seen.py": SEEN,
    "leaves.py": LEAVES,
    "too_much.py": TOO_MUCH,
    "nccl.py": NCCL,
    "timed.py": TIMED,
}


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def until(true: Callable[[], Any], what: str, limit_s: float = PATIENCE_S) -> float:
    """Wait until it is so; return how long that took."""
    begin = time.monotonic()
    while not true():
        assert time.monotonic() < begin + limit_s, f"never: {what}"
        time.sleep(0.02)
    return time.monotonic() - begin


def smi(what: str) -> list[str]:
    command = ["nvidia-smi", f"--query-{what}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def used_mib() -> int:
    return sum(int(line) for line in smi("gpu=memory.used"))


class Server:
    """The platform on this machine, with a home of its own."""

    def __init__(self, home: Path, environment: str) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(f'[local]\nenvironment = "{environment}"\n')
        self.code = home.parent / "code"
        self.code.mkdir(exist_ok=True)
        for name, text in CODE.items():
            (self.code / name).write_text(text)
        self._process: subprocess.Popen[bytes] | None = None

    def tm(self, *words: str) -> str:
        command = [sys.executable, "-m", "trainmaster", "--home", str(self.home), "--lang", "en", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def start(self) -> None:
        log = self.home / "server.log"
        begin = log.stat().st_size if log.exists() else 0
        command = [sys.executable, "-m", "trainmaster", "--home", str(self.home), "serve", "--port", "0"]
        with log.open("ab") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        until(lambda: re.search(rb"is ready at (http://\S+)", log.read_bytes()[begin:]), "the server is ready")

    def end(self, sig: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sig)
        self._process.wait(60)

    def client(self) -> Client:
        return Client(home=str(self.home))

    def submit(self, name: str, **fields: Any) -> str:
        fields.setdefault("resources", {"gpu": 1, "cpu": 1, "memory": "8GiB"})
        document = {"name": name, "code": str(self.code), "command": f"python {name}.py", "duration": "20m", **fields}
        document.setdefault("model", {"save": False})
        with self.client() as client:
            return client.submit(document).id

    def show(self, job: str) -> dict[str, Any]:
        with self.client() as client:
            return dict(client.http.json("GET", f"/jobs/{job}"))

    def comes_to(self, job: str, *states: str) -> float:
        until(lambda: self.show(job)["state"] in ("succeeded", "failed", "stopped", *states), f"{job}: {states}")
        view = self.show(job)
        assert view["state"] in states, (view["state"], view["reason"], view["verdict"], self.log(job))
        return time.monotonic()

    def log(self, job: str) -> str:
        return self.tm("logs", job)

    def says(self, job: str, text: str) -> float:
        return until(lambda: text in self.log(job), f"{job} prints {text!r}")

    def stop(self, *jobs: str) -> None:
        with self.client() as client:
            for job in jobs:
                client.get(job).stop()


def found(server: Server) -> None:
    cards = sorted(smi("gpu=name"))
    with server.client() as client:
        told = sorted(card.model for node in client.cluster().nodes for card in node.gpus)
    assert told == cards, (told, cards)
    line = next(line for line in server.tm("doctor").splitlines() if " gpus " in line)
    say(f"found: {told}; {' '.join(line.split())}")


def seen(server: Server) -> None:
    job = server.submit("seen")
    server.comes_to(job, "succeeded")
    assert "seen True 1" in server.log(job), server.log(job)
    none = server.submit("seen", resources={"cpu": 1, "memory": "4GiB"})
    server.comes_to(none, "succeeded")
    lines = server.log(none)
    assert "seen False 0" in lines, lines
    assert "/dev/nvidia" not in lines, lines
    say("a job sees the GPU it was given; a job without GPUs sees none and has no device file")


def one_at_a_time(server: Server, idle: int) -> None:
    """GPUs are given to one job at a time; its usage is told; a stop gives the memory back at once."""
    whole = {"gpu": len(smi("gpu=name")), "cpu": 1, "memory": "8GiB"}
    first, second = server.submit("hold", resources=whole), server.submit("hold", resources=whole)
    server.says(first, "step=3")
    view = server.show(second)
    assert view["state"] == "queued", view["state"]
    say(f"the second waits: {view['reason']}")
    time.sleep(6)  # a few samples
    with server.client() as client:
        (usage,) = client.http.json("GET", f"/jobs/{first}/usage")["tasks"].values()
    share, memory = usage["gpu"][-1], usage["gpu_memory_mib"][-1]
    assert share > 0.5, usage
    assert HOLD_MIB < memory <= used_mib() + 1, (usage, used_mib())
    say(f"its usage: {share:.0%}, {memory:.0f} MiB; nvidia-smi: {smi('gpu=utilization.gpu,memory.used')}")
    server.stop(first)
    begin = time.monotonic()
    until(lambda: server.show(first)["state"] == "stopped", "the first is stopped")
    stopped = time.monotonic() - begin
    server.comes_to(second, "running")
    running = time.monotonic() - begin
    server.says(second, "holding")
    server.stop(second)
    server.comes_to(second, "stopped")
    freed = until(lambda: used_mib() < idle + 200, "the memory of the GPU is free")
    say(f"stopped after {stopped:.2f} s, the next runs after {running:.2f} s, memory is free {freed:.2f} s later")


def shares(server: Server) -> None:
    half = {"gpu": 1, "gpu_share": 0.5, "cpu": 1, "memory": "8GiB"}
    jobs = [server.submit("hold", resources=half) for _ in range(2 * len(smi("gpu=name")))]
    for job in jobs:
        server.says(job, "step=2")
    say(f"{len(jobs)} jobs of half a GPU run at once: {used_mib()} MiB in use")
    server.stop(*jobs)
    for job in jobs:
        server.comes_to(job, "stopped")


def left_behind(server: Server, idle: int) -> None:
    job = server.submit("leaves")
    server.comes_to(job, "succeeded")
    assert "and the parent ends" in server.log(job)
    freed = until(lambda: used_mib() < idle + 200 and not smi("compute-apps=pid"), "what was left behind is gone")
    say(f"a child that was left behind in a session of its own holds no memory {freed:.2f} s after its job's end")


def crashes(server: Server, idle: int) -> None:
    job = server.submit("hold")
    server.says(job, "step=3")
    agents = _agents(server.home)
    assert agents, "no agent"
    for pid in agents:
        os.kill(pid, signal.SIGKILL)
    server.end(signal.SIGKILL)
    server.start()
    said = len(server.log(job))
    until(lambda: len(server.log(job)) > said, "it trains on")
    assert server.show(job)["attempts"] == 1
    server.stop(job)
    server.comes_to(job, "stopped")
    freed = until(lambda: used_mib() < idle + 200, "the memory of the GPU is free")
    say(f"agent and server killed: the job trained on, and a stop still frees the GPU ({freed:.2f} s)")


def _agents(home: Path) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = folder.joinpath("cmdline").read_bytes().split(b"\0")
            if b"trainmaster.agent" in words and str(home).encode() in b" ".join(words):
                found.append(int(folder.name))
    return found


def out_of_memory(server: Server) -> None:
    job = server.submit("too_much")
    server.comes_to(job, "failed")
    view = server.show(job)
    say(f"out of the GPU's memory is told as: {view['reason']}")


def nccl(server: Server) -> None:
    cards = len(smi("gpu=name"))
    job = server.submit(
        "nccl",
        framework="pytorch",
        resources={"gpu": cards, "cpu": 4, "memory": "16GiB"},
        metrics=[{"pattern": r"epoch=(?P<step>\d+) loss=(?P<loss>[\d.]+)"}],
    )
    server.comes_to(job, "succeeded")
    line = next(line for line in server.log(job).splitlines() if "reduced to" in line)
    loss = server.show(job)["metrics"]["loss"]
    say(f"DDP on {cards}: {line.strip()}; loss as read from the log: {loss}")


def as_fast(server: Server, environment: str) -> None:
    python = str(Path(environment, "bin/python"))
    bare: dict[str, list[float]] = {"product_ms": [], "launch_us": []}
    boxed: dict[str, list[float]] = {"product_ms": [], "launch_us": []}
    for _ in range(3):
        said = subprocess.run(
            [python, str(server.code / "timed.py")], capture_output=True, text=True, check=True
        ).stdout
        job = server.submit("timed", resources={"gpu": 1, "cpu": 2, "memory": "16GiB"})
        server.comes_to(job, "succeeded")
        for into, text in ((bare, said), (boxed, server.log(job))):
            for key, value in re.findall(r"(\w+)=([\d.]+)", text):
                into[key].append(float(value))
    for key, values in bare.items():
        outside, inside = statistics.median(values), statistics.median(boxed[key])
        say(f"{key}: {outside:.3f} outside, {inside:.3f} in the sandbox, ratio {inside / outside:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=sys.prefix)
    parser.add_argument("--home", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tm-gpu-") as folder:
        server = Server(Path(asked.home or folder, "home"), asked.environment)
        server.start()
        try:
            idle = used_mib()
            say(f"{smi('gpu=name,driver_version,memory.total')}, {idle} MiB in use before")
            failed = []
            story: list[tuple[str, Callable[[], None]]] = [
                ("found", lambda: found(server)),
                ("seen", lambda: seen(server)),
                ("one at a time", lambda: one_at_a_time(server, idle)),
                ("shares", lambda: shares(server)),
                ("left behind", lambda: left_behind(server, idle)),
                ("crashes", lambda: crashes(server, idle)),
                ("out of memory", lambda: out_of_memory(server)),
                ("nccl", lambda: nccl(server)),
                ("as fast", lambda: as_fast(server, asked.environment)),
            ]
            for name, part in story:
                try:
                    part()
                except Exception as error:  # every promise is tried
                    failed.append(name)
                    say(f"BROKEN, {name}: {type(error).__name__}: {error}")
                    with server.client() as client:
                        server.stop(*(job.id for job in client.list(None) if not job.ended))
        finally:
            server.end(signal.SIGTERM)
    if failed:
        sys.exit(f"broken: {', '.join(failed)}")
    say("all of it holds")


if __name__ == "__main__":
    main()
