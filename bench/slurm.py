"""What the platform adds to a Slurm cluster: submitting, following and training, each beside Slurm used by hand.

Submits are measured while the partition is down, so that only the way into the queue counts and nothing that starts
disturbs it. Ours answers once a job is on its disk, before Slurm has heard of it: what counts is when Slurm has the
job, which its controller writes down, whoever submits. That this is known (sbatch has returned; the platform has
written down that it was accepted) is told as well. Starts, ends and rates are by the controller's log, too. See
slurm_cluster for the cluster, which is started and ended here.
"""

import json
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import slurm_training
from bench.crash import ENDED
from bench.fill import fill
from bench.measure import CpuGroup, quantile
from bench.record import Record
from bench.server import Client, Server, spec
from bench.slurm_cluster import Cluster, absent, until
from bench.slurm_feed import FeedWatcher
from bench.stage import Stage

CLIENTS: Final = 4
PAUSE_S: Final = 0.1
JOB: Final = spec("true")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `window_s`: of watching idly; `stored`: finished jobs in the ledger at the end."""

    turns: int = 60
    jobs: int = 500
    rounds: int = 3
    window_s: float = 20.0
    stored: int = 5000
    changes: int = 60
    steps: int = 300
    trainings: int = 3


QUICK: Final = Sizes(turns=10, jobs=100, rounds=1, window_s=5.0, stored=1000, changes=10, steps=100, trainings=1)


class Site:
    """The cluster and a server on it, each with what they cost."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.cluster = stage, Cluster(stage)
        self.cpu, self.clients_cpu = CpuGroup("trainmaster"), CpuGroup("clients")
        stage.closing(self.cpu.close)
        stage.closing(self.clients_cpu.close)
        self.begin()

    def begin(self, stored: int = 0) -> None:
        """Start a server with an empty home, but for `stored` finished jobs."""
        self.server = self.cluster.server(self.stage, sys.prefix, self.cpu)
        fill(self.server.home, JOB, stored)
        self.server.start()
        self.client = self.server.client()

    def submit(self) -> str:
        """Submit one job; return its id."""
        return str(self.client.ask("POST", "/jobs", JOB)["id"])

    def accepted_at(self, job: str) -> float | None:
        """Return when the platform wrote down that Slurm has `job`, None before."""
        events = self.client.ask("GET", f"/jobs/{job}/events")["items"]
        return next((event["at"] for event in events if event["kind"] == "accepted"), None)

    def submitted(self, job: str) -> dict[str, Any]:
        """Return what the platform wrote down of how it submitted `job`."""
        lines = Path(self.server.attempt_path(job), "slurm.jsonl").read_text().splitlines()
        return {key: value for line in lines for key, value in json.loads(line).items()}

    def number(self, job: str) -> int:
        """Return Slurm's id of `job`, which was submitted alone."""
        return int(self.submitted(job)["job"])

    def script(self, job: str) -> str:
        """Return the batch script of `job`, which was submitted alone."""
        return str(self.submitted(job)["script"])

    def live(self) -> int:
        """Return how many jobs have not ended."""
        counts: dict[str, int] = self.client.ask("GET", "/jobs?limit=1")["counts"]
        return sum(count for state, count in counts.items() if state not in ENDED)

    def empty(self, jobs: list[str]) -> None:
        """Stop `jobs`, and end all else that waits or runs."""
        for at in range(0, len(jobs), 100):
            self.client.ask("POST", "/jobs/stop", {"ids": jobs[at : at + 100]})
        self.cluster.empty()
        until(lambda: self.live() == 0, "all are stopped", 0.25)


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records; nothing where Slurm is not installed."""
    if why := absent():
        print(f"slurm: {why}; nothing measured", file=sys.stderr)
        return
    yield from measure(Site(stage), QUICK if quick else Sizes())


def measure(site: Site, sizes: Sizes) -> Iterator[Record]:
    """Yield the records of every part."""
    site.cluster.hold()
    fresh = _following(site, sizes.window_s)
    yield from _stored(site, sizes, fresh)
    yield from _latency(site, sizes.turns)
    yield from _rates(site, sizes)
    yield from _remembered(site, sizes.window_s, fresh)
    site.cluster.release()
    yield from _changes(site, sizes.changes)
    yield from _training(site, sizes)


# -- into the queue -------------------------------------------------------------------------------------------------


def _latency(site: Site, turns: int) -> Iterator[Record]:
    """One submit of ours, one of the very same script by hand, in turns. Nobody asks us anything until it is over."""
    ours: dict[str, list[float]] = {"answered": [], "queued": [], "told": []}
    by_hand: dict[str, list[float]] = {"queued": [], "told": []}
    jobs: list[str] = []
    for number in range(turns + 3):  # three to warm up
        began = time.time()
        jobs.append(job := site.submit())
        answered = time.time()
        time.sleep(PAUSE_S)
        until(lambda job=job: site.accepted_at(job) is not None, "accepted")
        script = site.script(job)
        start = time.time()
        other = site.cluster.sbatch(script)
        returned = time.time()
        time.sleep(PAUSE_S)
        if number >= 3:
            queued, told = site.cluster.log()["accepted"], site.accepted_at(job)
            assert told is not None
            for into, since, moments in (
                (ours, began, {"answered": answered, "queued": queued[site.number(job)], "told": told}),
                (by_hand, start, {"queued": queued[other], "told": returned}),
            ):
                for name, moment in moments.items():
                    into[name].append((moment - since) * 1e3)
    site.empty(jobs)
    stage, title = site.stage, f"sbatch of the same script, {site.cluster.title}"
    yield stage.record("submit until Slurm has the job", ours["queued"], "ms", against=title, peer=by_hand["queued"])
    yield stage.record("submit until that is known", ours["told"], "ms", against=title, peer=by_hand["told"])
    yield stage.record("submit until it is answered", ours["answered"], "ms", against=title, peer=by_hand["told"])


class Way:
    """One way of submitting many: `submit` returns our ids. Jobs per second into Slurm's queue, and CPU milliseconds of
    a job.
    """

    def __init__(self, site: Site, submit: Callable[[], list[str]]) -> None:
        self.site, self.submit = site, submit
        self.rate: list[float] = []
        self.cpu_ms: list[float] = []

    def turn(self, count: int) -> None:
        """Submit `count` jobs; return when the last one is in Slurm's queue and all are ended again."""
        used, began = _used(self.site), time.time()
        jobs = self.submit()
        until(lambda: len(self.site.cluster.queue()) >= count, "all are in the queue", 0.25)
        self.rate.append(count / (max(self.site.cluster.log()["accepted"].values()) - began))
        self.cpu_ms.append((_used(self.site) - used) / count * 1e3)
        self.site.empty(jobs)


def _rates(site: Site, sizes: Sizes) -> Iterator[Record]:
    """So many jobs until the last one is in Slurm's queue: four clients of ours, one batch, four clients of Slurm's."""
    stage, count, script = site.stage, sizes.jobs, site.stage.path("script.sh")
    job = site.submit()
    until(lambda: site.accepted_at(job) is not None, "accepted")
    Path(script).write_text(site.script(job))
    site.empty([job])
    clients = Way(site, lambda: _four(site.server, count))
    batch = Way(site, lambda: _batch(site.client, count))
    by_hand = Way(site, lambda: site.cluster.clients(script, count, site.clients_cpu))
    for _ in range(sizes.rounds):
        for way in (clients, batch, by_hand):
            way.turn(count)
    title = f"four sbatch clients, {site.cluster.title}"
    rate, cpu_ms = by_hand.rate, by_hand.cpu_ms
    yield stage.record("jobs into Slurm's queue, four clients", clients.rate, "jobs/s", against=title, peer=rate)
    yield stage.record("jobs into Slurm's queue, one batch", batch.rate, "jobs/s", against=title, peer=rate)
    yield stage.record("CPU per job, four clients", clients.cpu_ms, "ms", against=title, peer=cpu_ms)
    yield stage.record("CPU per job, one batch", batch.cpu_ms, "ms", against=title, peer=cpu_ms)


def _batch(client: Client, count: int) -> list[str]:
    return [item["id"] for item in client.ask("POST", "/jobs/batch", {"items": [JOB] * count})["items"]]


def _used(site: Site) -> float:
    return site.cpu.seconds() + site.clients_cpu.seconds() + site.cluster.cpu_s()


def _four(server: Server, count: int) -> list[str]:
    """Submit `count` jobs one by one over four connections; return their ids."""
    jobs: list[str] = []

    def submit(client: Client) -> None:
        jobs.extend(client.ask("POST", "/jobs", JOB)["id"] for _ in range(count // CLIENTS))

    threads = [threading.Thread(target=submit, args=(server.client(),)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return jobs


# -- following ------------------------------------------------------------------------------------------------------


def _following(site: Site, window_s: float) -> tuple[float, float]:
    """Return what following one waiting job costs, ours with the controller's share (ms of CPU a second), and one look
    (ms).
    """
    job = site.submit()
    until(lambda: site.accepted_at(job) is not None, "accepted")
    time.sleep(3)  # what the submit set off has come to rest
    used, began = _used(site), time.monotonic()
    time.sleep(window_s)
    cpu = (_used(site) - used) / (time.monotonic() - began) * 1e3
    took = statistics.median(site.cluster.look_ms() for _ in range(20))
    site.empty([job])
    return cpu, took


def _stored(site: Site, sizes: Sizes, fresh: tuple[float, float]) -> Iterator[Record]:
    """What following costs with finished jobs in our ledger."""
    site.server.stop()
    site.begin(sizes.stored)
    stored, title = _following(site, sizes.window_s), "the same before any job had ended"
    yield site.stage.record(
        "CPU of following, finished jobs stored", [stored[0]], "ms/s", against=title, peer=[fresh[0]]
    )


def _remembered(site: Site, window_s: float, fresh: tuple[float, float]) -> Iterator[Record]:
    """What it costs while Slurm itself remembers many jobs that have ended (MinJobAge, five minutes here)."""
    known = site.cluster.known()
    ended, title = _following(site, window_s), "the same before any job had ended"
    yield site.stage.record("jobs that Slurm still knew", [float(known)], "jobs")
    yield site.stage.record("CPU of following, ended in Slurm", [ended[0]], "ms/s", against=title, peer=[fresh[0]])
    yield site.stage.record("one question to Slurm, jobs ended", [ended[1]], "ms", against=title, peer=[fresh[1]])


def _changes(site: Site, count: int) -> Iterator[Record]:
    """How long after the controller a start and an end are told by our feed; before it counts as below zero."""
    watcher, chance, jobs = FeedWatcher(site.server), random.Random(5), []
    for _ in range(count):
        body = spec(f"sleep {chance.uniform(0.5, 3):.2f}")
        jobs.append(str(site.client.ask("POST", "/jobs", body)["id"]))
        time.sleep(chance.uniform(0.4, 1.0))
    until(lambda: all(job in watcher.ended for job in jobs), "all have ended")
    log, numbers = site.cluster.log(), {job: site.number(job) for job in jobs}
    stage = site.stage
    starts, ends, releases = (
        [told[job] - log[kind][numbers[job]] for job in jobs]
        for told, kind in ((watcher.running, "started"), (watcher.left, "ended"), (watcher.ended, "ended"))
    )
    yield stage.record("start told after Slurm's own", starts, "s")
    yield stage.record("start told after Slurm's own, p95", [quantile(starts, 0.95)], "s")
    yield stage.record("start told after Slurm's own, longest", [max(starts)], "s")
    yield stage.record("end told after Slurm's own", ends, "s")
    yield stage.record("end told after Slurm's own, p95", [quantile(ends, 0.95)], "s")
    yield stage.record("end told after Slurm's own, longest", [max(ends)], "s")
    yield stage.record("job over after Slurm's own end", releases, "s")
    yield stage.record("job over after Slurm's own end, longest", [max(releases)], "s")


# -- training -------------------------------------------------------------------------------------------------------


def _training(site: Site, sizes: Sizes) -> Iterator[Record]:
    """The same loop on 2 nodes x 2 processes: as a job of ours, and by hand in a batch script."""
    if not slurm_training.possible():
        print("slurm: torch is not installed in this environment; no training measured", file=sys.stderr)
        return
    pairs = slurm_training.pairs(site, sizes.steps, sizes.trainings)
    ours, bare = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    ratio = statistics.median(one / other for one, other in pairs)
    title = "torchrun in a batch script"
    yield site.stage.record(
        "steps/s, DDP on 2 nodes x 2 processes", ours, "steps/s", against=title, peer=bare, ratio=ratio
    )
    yield site.stage.record("steps/s, DDP, fastest run", [max(ours)], "steps/s", against=title, peer=[max(bare)])
