"""Cost and rate of many tiny jobs: `true`, durable, each with an exit record and a log file, without a sandbox.

Peers take turns; CPU counts everything of a platform (daemons, agents, the jobs themselves) and the client's share in
ours. The last job stamps the clock, so that nobody's way of waiting is measured.
"""

import time
from collections.abc import Callable, Iterator

from bench import hyperqueue_peer, slurm_peer
from bench.measure import CpuGroup
from bench.record import Record
from bench.server import PLAIN, Client, Server, read_stamps, spec
from bench.stage import Stage


class Costs:
    """CPU milliseconds and jobs per second of one peer, round by round."""

    def __init__(self, cpu: CpuGroup) -> None:
        self.cpu = cpu
        self.cpu_ms: list[float] = []
        self.rate: list[float] = []

    def turn(self, count: int, work: Callable[[], float]) -> None:
        """Run `work`, which returns when its last job ran, and note what it cost."""
        used, mine, began = self.cpu.seconds(), time.process_time(), time.monotonic()
        ended = work()
        self.cpu_ms.append((self.cpu.seconds() - used + time.process_time() - mine) * 1e3 / count)
        self.rate.append(count / (ended - began))


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    count, rounds = (300, 2) if quick else (1000, 7)
    ours = Costs(CpuGroup("trainmaster"))
    stage.closing(ours.cpu.close)
    client = Server(stage, PLAIN, cpu=ours.cpu).client()
    jobs, array = Costs(CpuGroup("hyperqueue")), None
    if hyperqueue_peer.installed():
        stage.closing(jobs.cpu.close)
        peer = hyperqueue_peer.HyperQueue(stage, jobs.cpu)
        array = Costs(jobs.cpu)
    for number in range(rounds + 1):  # the first warms up
        ours.turn(count, lambda: _ours(stage, client, count))
        if array is not None:
            jobs.turn(count, lambda: _singles(stage, peer, count))
            array.turn(count, lambda: _array(stage, peer, count))
        if number == 0:
            for costs in (ours, jobs, *([array] if array else [])):
                costs.cpu_ms.clear()
                costs.rate.clear()
    title = hyperqueue_peer.title() if array is not None else None
    arrays = array.cpu_ms if array else []
    yield stage.record("CPU per completed job, against single jobs", ours.cpu_ms, "ms", against=title, peer=jobs.cpu_ms)
    yield stage.record("CPU per completed job, against one array", ours.cpu_ms, "ms", against=title, peer=arrays)
    yield stage.record("completed, against single jobs", ours.rate, "jobs/s", against=title, peer=jobs.rate)
    yield stage.record(
        "completed, against one array", ours.rate, "jobs/s", against=title, peer=array.rate if array else []
    )
    slurm = slurm_peer.completed(stage, 40 if quick else 200, 2 if quick else 3)
    yield stage.record(
        "completed, against Slurm", ours.rate, "jobs/s", against=slurm_peer.title() if slurm else None, peer=slurm
    )


def _ours(stage: Stage, client: Client, count: int) -> float:
    stamp = stage.fresh("end")
    before = ended(client)
    items = [spec("true")] * (count - 1) + [spec(f"{stage.programs['stamp']} {stamp}")]
    client.ask("POST", "/jobs/batch", {"items": items})
    while not read_stamps(stamp):
        time.sleep(0.005)
    completed_since(client, before + count)  # the last to start is not the last to have its exit recorded
    return read_stamps(stamp)[0]


def completed_since(client: Client, count: int) -> None:
    """Wait until so many jobs of this server have succeeded."""
    while ended(client) < count:
        time.sleep(0.25)


def ended(client: Client) -> int:
    """Return how many jobs have succeeded. Raises RuntimeError when one failed."""
    counts = client.ask("GET", "/jobs?limit=1")["counts"]
    if counts.get("failed"):
        raise RuntimeError(f"jobs failed: {counts}")
    return int(counts.get("succeeded", 0))


def _singles(stage: Stage, peer: hyperqueue_peer.HyperQueue, count: int) -> float:
    stamp = stage.fresh("end")
    made = [peer.job([["/bin/true"]]) for _ in range(count - 1)] + [peer.job([[stage.programs["stamp"], stamp]])]
    peer.wait([peer.submit(job) for job in made])
    return read_stamps(stamp)[0]


def _array(stage: Stage, peer: hyperqueue_peer.HyperQueue, count: int) -> float:
    stamp = stage.fresh("end")
    peer.wait([peer.submit(peer.job([["/bin/true"]] * (count - 1) + [[stage.programs["stamp"], stamp]]))])
    return read_stamps(stamp)[0]
