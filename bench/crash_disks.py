"""Full disks beside kill -9: the home on one small disk, what jobs write on another. Both are filled to the last byte
and emptied again, by somebody else and by jobs, while others run, wait and are submitted.

The jobs themselves write nothing there: what a program does about a full disk is its own matter. So each of them must
succeed, having run once: for the platform a full disk is a reason to wait.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.promises import Feeder, look, outcome, started, wait
from bench.server import SANDBOXED, Client, Server, spec
from bench.stage import Stage

SIZE: Final = (20, 200, 60)
"""Running jobs, waiting jobs, faults."""
QUICK: Final = (4, 10, 10)
DISK_MIB: Final = 160
SLOTS: Final = 6
LONG: Final = "sh -c 'echo $TRAINMASTER_JOB >> /marks/started; while [ ! -e /marks/go ]; do sleep 1; done'"
SHORT: Final = "sh -c 'echo $TRAINMASTER_JOB >> /marks/started; sleep 0.5'"
FILLS: Final = "sh -c 'head -c 1G /dev/zero > /workspace/outputs/all; sleep 600'"
FAULTS: Final = (
    "fill home",
    "server",
    "free",
    "agent",
    "fill data",
    "server",
    "agent",
    "free",
    "job",
    "keeper",
    "clear",
    "server",
)
"""In turn: a process that is killed, a disk that is filled, what fills one given back, a job that fills one submitted
or deleted.
"""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the jobs that were accepted."""

    accepted: int
    lost: int
    twice: int
    failed: int
    faults: int


def run(stage: Stage, quick: bool) -> Fate:
    """Let it storm, and count when it is over."""
    running, queued, faults = QUICK if quick else SIZE
    marks = stage.fresh("marks")
    os.makedirs(marks)
    storm = Storm(
        {name: _disk(stage, name) for name in ("home", "data")}, {**SANDBOXED, "cpu": float(running + SLOTS)}, stage
    )
    inputs = [{"name": "marks", "path": marks, "mount": "/marks", "read_only": False}]
    client = storm.server.client()
    made = [
        client.ask("POST", "/jobs/batch", {"items": [spec(text, inputs=inputs)] * count})["items"]
        for text, count in ((LONG, running), (SHORT, queued))
    ]
    feeder = Feeder(storm.server, spec(SHORT, inputs=inputs))
    feeder.start()
    for number in range(faults):
        time.sleep(storm.chance.uniform(0.1, 1.5))
        storm.fault(FAULTS[number % len(FAULTS)])
    storm.calm()
    feeder.enough.set()
    feeder.join()
    Path(marks, "go").touch()
    promised = [*(item["id"] for items in made for item in items), *feeder.promised]
    found = outcome(storm.server, promised)
    starts = Counter(started(marks))
    for job, view in found.items():
        if view["state"] != "succeeded":
            print(job, view["state"], json.dumps(view["verdict"]), file=sys.stderr, flush=True)
    return Fate(
        len(promised),
        sum(job not in found for job in promised),
        sum(count > 1 for count in starts.values()),
        sum(view["state"] != "succeeded" for view in found.values()),
        faults,
    )


class Storm:
    """A server on two disks of its own, and what happens to it."""

    def __init__(self, disks: dict[str, str], local: dict[str, float], stage: Stage) -> None:
        self.disks = disks
        self.chance = random.Random(time.time_ns())
        self._fillers: list[str] = []
        data = os.path.join(disks["data"], "bulk")
        home = os.path.join(disks["home"], "home")
        settings = f"[server]\ndata = {json.dumps(data)}"
        # Without a budget: one would end the job that fills the disk before it has.
        self.server = Server(stage, local, limits="disk_share = 0.0", engines=settings, home=home)

    def fault(self, what: str) -> None:
        """Do one thing of FAULTS."""
        match what.split():
            case ["fill", disk]:
                _fill(self.disks[disk])
            case ["free"]:
                self._free()
            case ["job"]:
                with contextlib.suppress(RuntimeError, OSError):
                    self._fillers.append(self.server.client().ask("POST", "/jobs", spec(FILLS))["id"])
            case ["clear"]:
                self._clear(self.server.client())
            case ["server"]:
                self.server.kill()
                self.server.start()
            case [name]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.server.pid_of(name), signal.SIGKILL)

    def _free(self) -> None:
        for disk in self.disks.values():
            Path(disk, "ballast").unlink(missing_ok=True)

    def _clear(self, client: Client) -> bool:
        """Stop and delete the jobs that fill the disk; return whether none is left."""
        for job in list(self._fillers):
            with contextlib.suppress(RuntimeError, OSError):
                client.ask("POST", f"/jobs/{job}/stop", {})
                client.ask("DELETE", f"/jobs/{job}")
            if look(client, job) is None:
                self._fillers.remove(job)
        return not self._fillers

    def calm(self) -> None:
        """Give everything back that was taken."""
        self._free()
        wait(lambda: self._clear(self.server.client()))


def _disk(stage: Stage, name: str) -> str:
    folder = stage.fresh(f"disk-{name}")
    os.makedirs(folder)
    with open(f"{folder}.img", "wb") as image:  # not in memory: what jobs write there would count as theirs
        image.truncate(DISK_MIB << 20)
    # -m 0: no room is kept for root, so that full is full for everybody.
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", image.name], check=True)
    subprocess.run(["mount", "-o", "loop", image.name, folder], check=True)
    stage.closing(lambda: subprocess.run(["umount", "-l", folder], check=True) and None)
    return folder


def _fill(disk: str) -> None:
    """Take every byte."""
    with contextlib.suppress(OSError), open(os.path.join(disk, "ballast"), "ab", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
