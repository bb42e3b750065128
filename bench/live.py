"""The queue at work: does a long queue slow starts, and what became of forecasts, fairness and urgent limits in a live
run.

The long queue waits for cards, in fifty classes of three workspaces, while jobs that only need a core come and go
beside it. The live run is 200 jobs from three workspaces on 4 nodes with 4 simulated cards each.
`TRAINMASTER_BENCH_CHART` names a file for its chart: what was forecast when a job came, with its range, against how
long it waited.
"""

import os
import random
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.record import Record
from bench.server import PLAIN, Client, Server, spec
from bench.stage import Stage
from bench.throughput import completed_since, ended

NODES, CARDS = 4, 4
CLUSTER: Final = {**PLAIN, "virtual_nodes": NODES, "simulated_gpus": CARDS, "cpu": 64.0}
WORKSPACES: Final = {"vision": 2.0, "speech": 1.0, "physics": 1.0}
URGENT_LIMIT: Final = 5
ASKERS: Final = 50
CLASSES: Final = 50
LIMITS_S: Final = (10, 20, 40, 80)
LONG_QUEUES: Final = {
    10_000: "jobs started beside 10,000 waiting",
    100_000: "jobs started beside 100,000 waiting",
}
QUICK_QUEUES: Final = {2_000: "jobs started beside 2,000 waiting"}
WIDTH, HEIGHT, EDGE = 640, 420, 56


class Told(NamedTuple):
    """One job that waited: seconds from its submission, as forecast when it was first seen waiting, and as it came."""

    expected: float | None
    low: float | None
    high: float | None
    waited: float


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    yield from _rates(stage, quick)
    yield from _story(stage, 40 if quick else 200)


# -- a long queue ---------------------------------------------------------------------------------------------------


def _rates(stage: Stage, quick: bool) -> Iterator[Record]:
    """Jobs per second that start and end beside a queue, against the same server with nothing waiting."""
    count, rounds = (300, 2) if quick else (1000, 5)
    for waiting, metric in (QUICK_QUEUES if quick else LONG_QUEUES).items():
        servers = [Server(stage, {**CLUSTER, "cpu": 16.0}) for _ in range(2)]
        clients = [server.client() for server in servers]
        for client in clients:
            _let_wait(client, 0 if client is clients[0] else waiting)
        found: list[list[float]] = [[], []]
        for number in range(rounds + 1):  # the first warms up
            for at, client in enumerate(clients):
                rate = _starts(client, count)
                if number:
                    found[at].append(rate)
        yield stage.record(metric, found[1], "jobs/s", against="an empty queue", peer=found[0])
        for server in servers:
            server.end()


def _let_wait(client: Client, waiting: int) -> None:
    """Hold every card, then let `waiting` jobs wait for cards."""
    client.ask("POST", "/jobs", _gang("sleep 100000", NODES, CARDS))
    for name, weight in WORKSPACES.items():
        client.ask("PUT", f"/workspaces/{name}", {"weight": weight})
    names = list(WORKSPACES)
    items = [
        _gang("true", 1 + at % NODES, 1 + at // NODES % CARDS, workspace=names[at % 3], duration=f"{1 + at % CLASSES}h")
        for at in range(waiting)
    ]
    for at in range(0, waiting, 5000):
        client.ask("POST", "/jobs/batch", {"items": items[at : at + 5000]})


def _starts(client: Client, count: int) -> float:
    before, began = ended(client), time.monotonic()
    client.ask("POST", "/jobs/batch", {"items": [spec("true")] * count})
    completed_since(client, before + count)
    return count / (time.monotonic() - began)


def _gang(command: str, replicas: int, cards: int, **rest: Any) -> dict[str, Any]:
    body = spec(command, replicas, **rest)
    body["spec"]["roles"][0]["resources"]["gpu"] = cards
    return body


# -- the live run ---------------------------------------------------------------------------------------------------


def _story(stage: Stage, count: int) -> Iterator[Record]:
    chance = random.Random(3)
    server = Server(stage, CLUSTER)
    client = server.client()
    for name, weight in WORKSPACES.items():
        client.ask(
            "PUT",
            f"/workspaces/{name}",
            {"weight": weight, "urgent_per_user": URGENT_LIMIT, "urgent_total": 2 * URGENT_LIMIT},
        )
    seen = _Watcher(server)
    seen.start()
    jobs = []
    for _ in range(count):
        jobs.append(client.ask("POST", "/jobs", _one(chance))["id"])
        time.sleep(chance.expovariate(1 / 0.45))
    most_urgent = _rush(server)
    while any(
        client.ask("GET", "/jobs?limit=1")["counts"].get(state) for state in ("queued", "initialising", "running")
    ):
        time.sleep(0.5)
    seen.enough.set()
    seen.join()
    views = [client.ask("GET", f"/jobs/{job}") for job in jobs]
    told = [_told(view, seen.first.get(view["id"])) for view in views]
    asked = [one for one in told if one.expected is not None]
    if path := os.environ.get("TRAINMASTER_BENCH_CHART"):
        Path(path).write_text(_chart(asked), encoding="utf-8")
    waits = [one.waited for one in told]
    errors = [abs(one.waited - one.expected) for one in asked if one.expected is not None]
    covered = [one.high is not None and one.waited <= one.high + 1.0 for one in asked]
    yield stage.record(
        "live: jobs that never ran", [float(sum(view["state"] != "succeeded" for view in views))], "jobs"
    )
    yield stage.record("live: longest wait", [max(waits)], "s")
    yield stage.record("live: mean wait", [statistics.fmean(waits)], "s")
    if asked:
        yield stage.record("live: forecasts made", [float(len(asked))], "jobs")
        yield stage.record("live: mean error of forecasts", [statistics.fmean(errors)], "s")
        yield stage.record("live: upper end covers", [100 * statistics.fmean(covered)], "%")
    yield stage.record("live: urgent jobs let in of 50 at once", [float(most_urgent)], "jobs")


def _one(chance: random.Random) -> dict[str, Any]:
    replicas, cards = chance.choice([(1, 1), (1, 1), (1, 1), (1, 2), (1, 2), (1, 4), (2, 4), (4, 4), (3, 1)])
    runs = min(30.0, max(0.5, chance.lognormvariate(1.2, 0.9)))
    limit = next(limit for limit in LIMITS_S if limit >= 1.5 * runs)
    workspace = chance.choices(list(WORKSPACES), [3, 2, 1])[0]
    return _gang(f"sleep {runs:.1f}", replicas, cards, workspace=workspace, duration=f"{limit}s")


def _rush(server: Server) -> int:
    """Return how many of ASKERS simultaneous urgent jobs of one person in one workspace were let in."""
    clients = [server.client() for _ in range(ASKERS)]
    start = threading.Barrier(ASKERS)

    def ask(client: Client) -> bool:
        start.wait()
        try:
            client.ask(
                "POST", "/jobs", _gang("sleep 5", NODES, CARDS, workspace="physics", priority="urgent", duration="10s")
            )
        except RuntimeError:
            return False
        return True

    with ThreadPoolExecutor(ASKERS) as pool:
        return sum(pool.map(ask, clients))


class _Watcher(threading.Thread):
    """Notes the first forecast that the queue shows for every job."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.first: dict[str, dict[str, Any]] = {}
        self.enough = threading.Event()
        self._client = server.client()

    def run(self) -> None:
        """Look until told to stop."""
        while not self.enough.wait(0.5):
            for item in self._client.ask("GET", "/queue?limit=500")["items"]:
                if item["forecast"] is not None and item["forecast"]["when"] == "about":
                    self.first.setdefault(item["job"], item["forecast"])


def _told(view: dict[str, Any], forecast: dict[str, Any] | None) -> Told:
    since = view["submitted_at"]
    waited = (view["started_at"] or view["ended_at"]) - since
    if forecast is None:
        return Told(None, None, None, waited)
    at, low, high = (None if forecast[key] is None else forecast[key] - since for key in ("at", "low", "high"))
    return Told(at, low, high, waited)


def _chart(told: list[Told]) -> str:
    """Return an SVG: across what was forecast with its range, up what came; on the line both are equal.

    Ranges that end far beyond every wait are cut at the edge.
    """
    most = max(max(one.waited, one.expected or 0.0, 1.0) for one in told) * 1.2

    def x(value: float) -> float:
        return EDGE + min(value / most, 1.0) * (WIDTH - EDGE - 16)

    def y(value: float) -> float:
        return HEIGHT - EDGE - value / most * (HEIGHT - EDGE - 16)

    ranges = "".join(
        f'<line x1="{x(one.low or 0):.1f}" x2="{x(one.high or 0):.1f}" y1="{y(one.waited):.1f}" '
        f'y2="{y(one.waited):.1f}"/>'
        for one in told
        if one.high is not None
    )
    dots = "".join(f'<circle cx="{x(one.expected or 0):.1f}" cy="{y(one.waited):.1f}" r="3"/>' for one in told)
    step = next(step for step in (5, 10, 20, 30, 60, 120, 300, 600) if most / step <= 8)
    ticks = "".join(
        f'<text x="{x(at):.1f}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{at}</text>'
        f'<text x="{EDGE - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{at}</text>'
        for at in range(0, int(most) + 1, step)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><g stroke="#888" fill="none">'
        f'<path d="M{EDGE} 16V{HEIGHT - EDGE}H{WIDTH - 16}"/>'
        f'<path stroke-dasharray="4" d="M{x(0)} {y(0)}L{x(most)} {y(most)}"/></g>'
        f'<g stroke="#9ac1f5" stroke-width="2">{ranges}</g><g fill="#1668dc">{dots}</g><g fill="#444">{ticks}'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle">forecast when it came, with its range (s)</text>'
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">waited (s)</text></g></svg>\n'
    )
