"""kill -9 of the server, the agent and its keeper at random instants, while 200 jobs run, 10 slots turn over and 1,000
jobs wait.

A feeder goes on submitting single jobs with idempotency keys and repeats what was not answered. Every task notes its
start in a file that all share, so a job that ran twice shows whatever the platform believes. At the end every job is
accounted for.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench import crash_disks
from bench.promises import Feeder, look, outcome, started, wait
from bench.record import Record
from bench.server import SANDBOXED, Server, spec
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
    wait(lambda: len(started(marks)) >= running)
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
    found = outcome(server, promised)
    yield from _account(stage, server, marks, long, promised, found)
    yield stage.record("kills survived", [float(kills)], "kills")
    yield stage.record("listing again after a kill of the server, longest", [max(listing)], "s")
    yield stage.record("listing again after a kill of the server, median", listing, "s")
    server.end()
    fate = crash_disks.run(stage, quick)
    yield stage.record("full disks: jobs accepted", [float(fate.accepted)], "jobs")
    yield stage.record("full disks: jobs lost", [float(fate.lost)], "jobs")
    yield stage.record("full disks: jobs run twice", [float(fate.twice)], "jobs")
    yield stage.record("full disks: jobs failed", [float(fate.failed)], "jobs")
    yield stage.record("full disks: faults survived", [float(fate.faults)], "faults")


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


def _account(
    stage: Stage, server: Server, marks: str, long: list[str], promised: list[str], found: dict[str, dict[str, Any]]
) -> Iterator[Record]:
    starts = Counter(started(marks))
    good = {job for job, view in found.items() if view["state"] == "succeeded"}
    harmed = [job for job in long if job not in good or (found[job]["attempts"] and starts[job] != 1)]
    torn = [job for job in promised if not _whole(server.log_path(job))]
    yield stage.record("jobs accepted", [float(len(promised))], "jobs")
    yield stage.record("jobs lost", [float(sum(job not in good or not starts[job] for job in promised))], "jobs")
    yield stage.record("jobs run twice", [float(sum(count > 1 for count in starts.values()))], "jobs")
    yield stage.record("running jobs harmed", [float(len(harmed))], "jobs")
    yield stage.record("logs not whole", [float(len(torn))], "logs")
    _explain(server, {*harmed, *torn, *(job for job in promised if job not in good)})


def _explain(server: Server, jobs: set[str]) -> None:
    """Say on stderr all that is known of jobs for which the promise was not kept; their home is kept to look into."""
    client = server.client()
    for job in sorted(jobs):
        print(json.dumps(look(client, job)), file=sys.stderr)
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
