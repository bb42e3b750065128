"""kill -9 of the server, the agent and its keeper at random instants, while 200 jobs run, 10 slots turn over and 1,000 jobs wait.

A feeder goes on submitting single jobs with idempotency keys and repeats what was not answered. Every task notes its start in
a file that all share, so a job that ran twice shows whatever the platform believes. At the end every job is accounted for.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.record import Record
from bench.server import SANDBOXED, Client, Server, spec
from bench.stage import Stage

SIZE: Final = tuple(int(text) for text in os.environ.get("TRAINMASTER_BENCH_CRASH", "200,1000,100").split(","))
"""Running jobs, waiting jobs, kills."""
SLOTS: Final = 10
LONG: Final = (
    "sh -c 'echo $TRAINMASTER_JOB >> /marks/started; i=0; "
    "while [ ! -e /marks/go ]; do i=$((i+1)); echo line $i; sleep 5; done; echo end'"
)
SHORT: Final = "sh -c 'echo $TRAINMASTER_JOB >> /marks/started; echo line 1; sleep 0.5; echo end'"
ENDED: Final = frozenset({"succeeded", "failed", "stopped", "expired"})


class Feeder(threading.Thread):
    """Submits one short job after another until told to stop; remembers every job it was promised."""

    def __init__(self, server: Server, body: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.server, self.body = server, body
        self.promised: list[str] = []
        self.enough = threading.Event()

    def run(self) -> None:
        """Submit; what was not answered is asked again under the same key."""
        number, client = 0, None
        while not self.enough.is_set():
            try:
                client = client or self.server.client()
                request = client.request_bytes("POST", "/jobs", self.body)
                head = f"Idempotency-Key: feed-{number}\r\nContent-Length".encode()
                self.promised.append(client.send(request.replace(b"Content-Length", head, 1))["id"])
                number += 1
                time.sleep(0.2)
            except (OSError, RuntimeError, ValueError):
                client = None
                time.sleep(0.05)


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    running, queued, kills = (20, 50, 8) if quick else SIZE
    marks = stage.path("marks")
    os.makedirs(marks)
    server = Server(stage, {**SANDBOXED, "cpu": float(running + SLOTS)})
    inputs = [{"name": "marks", "path": marks, "mount": "/marks", "read_only": False}]
    client = server.client()
    items = [spec(LONG, inputs=inputs)] * running
    long = [item["id"] for item in client.ask("POST", "/jobs/batch", {"items": items})["items"]]
    _wait(lambda: len(_started(marks)) >= running)
    short = [
        item["id"]
        for item in client.ask("POST", "/jobs/batch", {"items": [spec(SHORT, inputs=inputs)] * queued})["items"]
    ]
    feeder = Feeder(server, spec(SHORT, inputs=inputs))
    feeder.start()
    listing = _storm(server, kills, running + queued)
    feeder.enough.set()
    feeder.join()
    Path(marks, "go").touch()
    promised = [*long, *short, *feeder.promised]
    found = _outcome(server, promised)
    yield from _account(stage, server, marks, long, promised, found)
    yield stage.record("kills survived", [float(kills)], "kills")
    yield stage.record("listing again after a kill of the server, longest", [max(listing)], "s")
    yield stage.record("listing again after a kill of the server, median", listing, "s")


def _storm(server: Server, kills: int, expected: int) -> list[float]:
    """Kill one of the three at a time; return the seconds from each start of a server to its first complete list."""
    chance = random.Random(time.time_ns())
    listing: list[float] = []
    for number in range(kills):
        time.sleep(chance.uniform(0.02, 1.0))
        victim = ("server", "agent", "server", "keeper")[number % 4]
        if victim == "server":
            server.kill()
            began = time.monotonic()
            server.start()
            total = server.client().ask("GET", "/jobs?limit=50")["counts"]
            if sum(total.values()) < expected:
                raise RuntimeError(f"the list holds {total}, at least {expected} were accepted")
            listing.append(time.monotonic() - began)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server.pid_of(victim), signal.SIGKILL)
    return listing


def _started(marks: str) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(marks, "started").read_text().split()
    return []


def _wait(done: Any, limit_s: float = 900.0) -> None:
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > limit_s:
            raise TimeoutError("the jobs did not come to their end")
        time.sleep(0.5)


def _outcome(server: Server, promised: list[str]) -> dict[str, dict[str, Any]]:
    """Return every promised job the server knows, once all of them have ended."""
    client = server.client()
    _wait(lambda: not {"queued", "initialising", "running", "stopping"} & _counts(client).keys())
    return {job: found for job in promised if (found := _look(client, job)) is not None}


def _counts(client: Client) -> dict[str, int]:
    return {state: count for state, count in client.ask("GET", "/jobs?limit=1")["counts"].items() if count}


def _look(client: Client, job: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
        return found
    except RuntimeError:
        return None


def _account(
    stage: Stage, server: Server, marks: str, long: list[str], promised: list[str], found: dict[str, dict[str, Any]]
) -> Iterator[Record]:
    starts = Counter(_started(marks))
    good = {job for job, view in found.items() if view["state"] == "succeeded"}
    harmed = [job for job in long if job not in good or (found[job]["attempts"] and starts[job] != 1)]
    torn = [job for job in promised if not _whole(server.log_path(job))]
    yield stage.record("jobs accepted", [float(len(promised))], "jobs")
    yield stage.record("jobs lost", [float(sum(job not in good or not starts[job] for job in promised))], "jobs")
    yield stage.record("jobs run twice", [float(sum(count > 1 for count in starts.values()))], "jobs")
    yield stage.record("running jobs harmed", [float(len(harmed))], "jobs")
    yield stage.record("logs not whole", [float(len(torn))], "logs")


def _explain(server: Server, jobs: set[str]) -> None:
    """Say on stderr all that is known of jobs for which the promise was not kept; their home is kept to look into."""
    client = server.client()
    for job in sorted(jobs):
        print(json.dumps(_look(client, job)), file=sys.stderr)
        print(json.dumps(client.ask("GET", f"/jobs/{job}/events")), file=sys.stderr)
        with contextlib.suppress(OSError):
            print(Path(server.log_path(job)).read_text()[-500:], file=sys.stderr)
    if jobs:
        kept = f"{server.home}-{os.getpid()}".replace("/", "_")
        shutil.copytree(server.home, os.path.join(tempfile.gettempdir(), kept), ignore=shutil.ignore_patterns("*.sock"))
        print(f"the home was copied to {os.path.join(tempfile.gettempdir(), kept)}", file=sys.stderr, flush=True)


def _whole(log: str) -> bool:
    """Return whether a log counts without a gap from line 1 to its end."""
    with contextlib.suppress(OSError):
        lines = Path(log).read_text().splitlines()
        return lines == [*(f"line {number}" for number in range(1, len(lines))), "end"]
    return False
