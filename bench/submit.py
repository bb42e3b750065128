"""How fast jobs are taken in, durably: single submits over HTTP from 32 connections, and one batch of 10,000.

All cores of the cluster are held by one sleeper, so that nothing submitted here starts and only accepting is measured.
The reference of the single submits is the same server with its ledger taken out (`validating`).
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench import hyperqueue_peer
from bench.measure import CpuGroup
from bench.record import Record
from bench.server import PLAIN, Client, Server, spec
from bench.stage import Stage

CONNECTIONS: Final = 32


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    count, rounds = (960, 3) if quick else (6400, 7)
    groups = {name: CpuGroup(name) for name in ("durable", "validating")}
    for group in groups.values():
        stage.closing(group.close)
    durable = Server(stage, PLAIN, cpu=groups["durable"])
    validating = Server(stage, PLAIN, cpu=groups["validating"], module="bench.validating")
    client = durable.client()
    _fill(client)
    rates: dict[str, list[float]] = {"durable": [], "validating": []}
    costs: dict[str, list[float]] = {"durable": [], "validating": []}
    for number in range(rounds + 1):  # the first warms up
        for name, server in (("durable", durable), ("validating", validating)):
            used = groups[name].seconds()
            took = _storm(stage, server, count)
            if number:
                rates[name].append(count / took)
                costs[name].append((groups[name].seconds() - used) * 1e6 / count)
    title = "the same server validating only"
    yield stage.record("durable submits, 32 connections", rates["durable"], "jobs/s")
    yield stage.record(
        "durable submits, against validating only", rates["durable"], "jobs/s", against=title, peer=rates["validating"]
    )
    yield stage.record("server CPU per durable submit", costs["durable"], "us", against=title, peer=costs["validating"])
    yield from _batches(stage, 1000 if quick else 10_000, 2 if quick else 5)


def _fill(client: Client) -> None:
    """Hold the whole cluster."""
    body = spec("sleep 3600")
    body["spec"]["roles"][0]["resources"]["cpu"] = PLAIN["cpu"]
    client.ask("POST", "/jobs", body)


def _storm(stage: Stage, server: Server, count: int) -> float:
    path = Path(stage.path("request"))
    client = server.client()
    path.write_bytes(client.request_bytes("POST", "/jobs", spec("true")))
    client.close()
    command = [sys.executable, "-m", "bench.storm", str(server.port), str(path), str(CONNECTIONS), str(count)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _batches(stage: Stage, count: int, rounds: int) -> Iterator[Record]:
    ours: list[float] = []
    unlike: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):  # an empty queue for everybody, every time
        server = Server(stage, PLAIN)
        client = server.client()
        _fill(client)
        ours.append(_batch(client, [spec("true")] * count))
        unlike.append(_batch(client, [spec(f"true {number}") for number in range(count)]))
        server.end()
        if hyperqueue_peer.installed():
            theirs.append(_accepted(stage, count))
    title = hyperqueue_peer.title() if theirs else None
    yield stage.record("batch of 10,000 accepted", ours, "jobs/s", against=title, peer=theirs)
    yield stage.record("batch of 10,000 unlike jobs accepted", unlike, "jobs/s", against=title, peer=theirs)


def _batch(client: Client, items: list[dict[str, Any]]) -> float:
    request = client.request_bytes("POST", "/jobs/batch", {"items": items})
    began = time.monotonic()
    client.send(request)
    return len(items) / (time.monotonic() - began)


def _accepted(stage: Stage, count: int) -> float:
    peer = hyperqueue_peer.HyperQueue(stage)
    peer.submit(peer.job([["/bin/sleep", "3600"]] * hyperqueue_peer.CORES))
    jobs = [peer.job([["/bin/true"]]) for _ in range(count)]
    began = time.monotonic()
    for job in jobs:
        peer.submit(job)
    rate = count / (time.monotonic() - began)
    peer.close()
    return rate
