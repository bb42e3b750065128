"""What 20 well-behaved clients of five persons notice of a hostile user and a hostile stranger, and how much memory
these make the server take.

Quiet and hostile spells take turns. The hostile crowd (`abusing`) sends the small requests that ask for much, broken
bodies, guesses and the heads without end as fast as they are answered, and holds 200 silent connections. It is on the
same machine, and has what CPU the others leave.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.abusing import Took
from bench.measure import descendants
from bench.record import Record
from bench.server import PLAIN, Server, spec
from bench.stage import Stage
from trainmaster.core.events import did_itself, subject_of
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import audit
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import PeopleRows, Token, User, digest

MIB: Final = 1024
P95: Final = {
    "list": "p95 of list beside hostile ones",
    "job": "p95 of job beside hostile ones",
    "explain": "p95 of explain beside hostile ones",
    "queue": "p95 of queue beside hostile ones",
    "log": "p95 of log beside hostile ones",
    "submit": "p95 of submit beside hostile ones",
    "preview": "p95 of preview beside hostile ones",
    "log line": "p95 of log line beside hostile ones",
    "event": "p95 of event beside hostile ones",
}
"""By what is asked for, or comes by itself (`abusing`)."""
PERSONS: Final = 5
TIMES: Final = "bash -c 'while :; do date +%s.%N; sleep 0.1; done'"
"""A log whose lines say when they were written."""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    rounds, seconds = (3, 8.0) if quick else (6, 20.0)
    server = Server(stage, PLAIN)
    world = _world(stage, server)
    _behaved(world, 3.0)  # to warm up
    before = _memory(server, "VmRSS")
    alone: list[Took] = []
    beside: list[Took] = []
    counts = {"user": 0, "stranger": 0, "guesses": 0}
    most = 0.0
    for _ in range(rounds):
        alone.append(_behaved(world, seconds))
        crowd = _crowd("hostile", world, seconds + 2)  # until the others have ended
        beside.append(_behaved(world, seconds))
        for who, count in json.loads(crowd.communicate()[0]).items():
            counts[who] += count
        most = max(most, _memory(server, "VmHWM"))
    title = "the same clients alone"
    for door, p95 in P95.items():
        for metric, of in ((f"median of {door} beside hostile ones", statistics.median), (p95, _p95)):
            values, peers = [of(one[door]) for one in beside], [of(one[door]) for one in alone]
            yield stage.record(metric, values, "ms", against=title, peer=peers)
    yield stage.record("the server's memory before they came", [before], "MiB")
    yield stage.record("the server's memory at most", [most], "MiB")
    yield stage.record("hostile requests of a user that were answered", [float(counts["user"])], "requests")
    yield stage.record("hostile heads of a stranger that were refused", [float(counts["stranger"])], "requests")
    yield stage.record("guesses at a password that were refused", [float(counts["guesses"])], "requests")


def _world(stage: Stage, server: Server) -> Path:
    """Make the persons, with a job of each that runs and one that leaves no room for others; return the file that tells
    of them.
    """
    server.stop()  # nobody else writes the ledger meanwhile
    names = [f"person{at}" for at in range(PERSONS)] + ["hostile"]
    tokens = {name: "tm_" + os.urandom(24).hex() for name in names}
    database = Database.open(
        f"sqlite:///{Layout(server.home).database}", backup_dir=os.path.join(server.home, "backups")
    )
    people = PeopleRows(database)
    for name, token in tokens.items():
        now = time.time()
        made = did_itself(subject_of("person", name), audit.user_made(name, "user"), now)
        people.add_user(User(name, "", "user", created_at=now), made)
        people.add_token(digest(token), Token("k" + os.urandom(8).hex(), "bench", name, now), made)
    database.close()
    server.start()
    jobs = []
    for name in names[:-1]:
        client = server.client(tokens[name])
        body = spec(TIMES)
        body["spec"]["roles"][0]["resources"]["cpu"] = 0.1
        jobs.append(client.ask("POST", "/jobs", body)["id"])
        while client.ask("GET", f"/jobs/{jobs[-1]}")["state"] != "running":
            time.sleep(0.05)
        client.close()
    client = server.client()
    body = spec("sleep 3600")
    body["spec"]["roles"][0]["resources"]["cpu"] = PLAIN["cpu"] - 0.1 * PERSONS
    client.ask("POST", "/jobs", body)  # nothing that is submitted from now on starts
    client.close()
    path = Path(stage.path("world.json"))
    path.touch(0o600)
    told = {
        "port": server.port,
        "tokens": [tokens[name] for name in names[:-1]],
        "hostile": tokens["hostile"],
        "jobs": jobs,
    }
    path.write_text(json.dumps(told))
    return path


def _behaved(world: Path, seconds: float) -> Took:
    found: Took = json.loads(_crowd("behaved", world, seconds).communicate()[0])
    return found


def _crowd(name: str, world: Path, seconds: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.abusing", name, str(world), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _memory(server: Server, key: str) -> float:
    """Return what /proc says of the memory of the server and its clerks, in MiB: ``VmRSS`` now, ``VmHWM`` each at most
    so far.
    """
    found = 0.0
    for pid in descendants([server.pid]):
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        found += float(lines[key].split()[0]) / MIB
    return found


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
