"""What 20 well-behaved clients notice of a hostile user and a hostile stranger, and how much memory these make the server take.

Quiet and hostile spells take turns. The hostile crowd (`abusing`) sends the small requests that ask for much and the heads without
end as fast as they are answered, and holds 200 silent connections; its own CPU is on the same machine.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.record import Record
from bench.server import PLAIN, Server, spec
from bench.stage import Stage

MIB: Final = 1024


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    rounds, seconds = (2, 5.0) if quick else (5, 15.0)
    server = Server(stage, PLAIN)
    client = server.client()
    body = spec("sleep 3600")
    body["spec"]["roles"][0]["resources"]["cpu"] = PLAIN["cpu"]
    client.ask("POST", "/jobs", body)  # nothing that is submitted here starts
    client.close()
    _behaved(server, 2.0)
    before = _memory(server, "VmRSS")
    quiet: list[list[float]] = []
    beside: list[list[float]] = []
    asked = {"user": 0, "stranger": 0}
    for _ in range(rounds):
        quiet.append(_behaved(server, seconds))
        crowd = _crowd(server, "hostile", seconds + 2)
        beside.append(_behaved(server, seconds))
        for who, count in json.loads(crowd.communicate()[0]).items():
            asked[who] += count
    grown = (_memory(server, "VmHWM") - before) / MIB
    title = "the same clients alone"
    for metric, of in (
        ("median of 20 well-behaved clients beside hostile ones", statistics.median),
        ("p95 of 20 well-behaved clients beside hostile ones", _p95),
    ):
        values, alone = [of(found) for found in beside], [of(found) for found in quiet]
        yield stage.record(metric, values, "ms", against=title, peer=alone)
    longest = [max(found) for found in beside]
    yield stage.record(
        "longest answer to one of them", longest, "ms", against=title, peer=[max(found) for found in quiet]
    )
    yield stage.record("memory that the server grew by, at most", [grown], "MiB")
    yield stage.record("hostile requests of a user that were answered", [float(asked["user"])], "requests")
    yield stage.record("hostile heads of a stranger that were refused", [float(asked["stranger"])], "requests")


def _behaved(server: Server, seconds: float) -> list[float]:
    found: list[float] = json.loads(_crowd(server, "behaved", seconds).communicate()[0])["took"]
    return found


def _crowd(server: Server, name: str, seconds: float) -> "subprocess.Popen[str]":
    token = Path(server.home, "secrets", "cli-token").read_text().strip()
    command = [sys.executable, "-m", "bench.abusing", name, str(server.port), token, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _memory(server: Server, key: str) -> float:
    """Return what /proc says of the server's memory, in KiB: ``VmRSS`` now, ``VmHWM`` at most so far."""
    lines: dict[str, Any] = dict(
        line.split(":", 1) for line in Path(f"/proc/{server.pid}/status").read_text().splitlines()
    )
    return float(lines[key].split()[0])


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
