"""The first page of the jobs list, as the console asks for it, with no finished job stored and with 100,000."""

import time
from collections.abc import Iterator

from bench.fill import fill
from bench.measure import quantile
from bench.record import Record
from bench.server import PLAIN, Client, Server, spec
from bench.stage import Stage


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    stored, rounds = (10_000, 20) if quick else (100_000, 200)
    small, large = Server(stage, PLAIN, wait=False), Server(stage, PLAIN, wait=False)
    fill(small.home, spec("true"), 50)
    fill(large.home, spec("true"), stored)
    small.start()
    large.start()
    clients = {"small": small.client(), "large": large.client()}
    paths = {
        "first page": "/jobs?limit=50",
        "first page of succeeded": "/jobs?limit=50&state=succeeded",
        "search": "/jobs?limit=50&q=bench",
    }
    for what, path in paths.items():
        found: dict[str, list[float]] = {name: [] for name in clients}
        for _ in range(rounds):
            for name, client in clients.items():
                found[name].append(_page(client, path))
        yield stage.record(
            f"{what}, {stored:,} finished jobs", found["large"], "ms", against="50 finished jobs", peer=found["small"]
        )
        yield stage.record(f"{what}, {stored:,} finished jobs, p95", [quantile(found["large"], 0.95)], "ms")


def _page(client: Client, path: str) -> float:
    began = time.monotonic()
    assert len(client.ask("GET", path)["items"]) == 50
    return (time.monotonic() - began) * 1e3
