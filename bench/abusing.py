"""Two crowds beside one server, each a process: `behaved` prints how long its requests took, `hostile` asks for what
nobody needs.

python -m bench.abusing behaved WORLD SECONDS
python -m bench.abusing hostile WORLD SECONDS

WORLD is a file: port, the good clients' tokens, the hostile user's, and a job of each good client that writes the time
to its log.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench.server import Client, spec

BEHAVED: Final = 20
PAUSE_S: Final = 0.2
"""Between two requests of one well-behaved client."""
SILENT: Final = 200
"""Connections of a stranger that say nothing."""
PATIENCE_S: Final = 60.0
DOORS: Final = ("list", "job", "explain", "queue", "log", "submit", "preview")
World = dict[str, Any]
Took = dict[str, list[float]]


def behaved(world: World, until: float) -> Took:
    """Return how long each request of 20 clients of several persons took, in ms, by door; some of them follow a log and
    all events.
    """
    took: Took = defaultdict(list)
    asked: dict[str, float] = {}  # job -> when it was submitted
    tokens, jobs = world["tokens"], world["jobs"]

    def one(number: int) -> None:
        client = Client(world["port"], tokens[number % len(tokens)])
        mine = jobs[number % len(jobs)]
        asks: list[tuple[Any, ...]] = [
            ("GET", "/jobs?limit=50"),
            ("GET", f"/jobs/{mine}"),
            ("GET", f"/jobs/{mine}/explain"),
            ("GET", "/queue?limit=20"),
            ("GET", f"/jobs/{mine}/attempts/last/tasks/task0-0/log?tail=100"),
            ("POST", "/jobs", spec("true")),
            ("POST", "/jobs/preview", spec("true")),
        ]
        requests = [client.request_bytes(*ask) for ask in asks]
        time.sleep(PAUSE_S * number / BEHAVED)
        at = number
        while time.monotonic() < until:
            door, began = DOORS[at % len(DOORS)], time.time()
            made = client.send(requests[at % len(requests)])
            took[door].append((time.time() - began) * 1000)
            if door == "submit":
                asked[made["id"]] = began
            at += 1
            time.sleep(PAUSE_S)

    def log(number: int) -> None:
        for name, data, came in _events(
            world, number, f"/jobs/{jobs[number]}/attempts/last/tasks/task0-0/log/follow", until
        ):
            stamp = data["text"].split()[-1:] if name == "log" else []
            if stamp:
                took["log line"].append((came - float(stamp[0])) * 1000)

    def feed(number: int) -> None:
        for name, data, came in _events(world, number, "/feed", until):
            for job in _ids(data) if name != "ping" else ():
                if job in asked:
                    took["event"].append((came - asked.pop(job)) * 1000)

    works: list[Callable[[], None]] = [partial(one, number) for number in range(BEHAVED)]
    works += [partial(what, number) for number in range(len(tokens)) for what in (log, feed)]
    _all(works)
    return took


def _events(world: World, number: int, path: str, until: float) -> Iterator[tuple[str, Any, float]]:
    """Yield (event, data, when it came) of a live view from its end on."""
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {world['tokens'][number]}\r\nLast-Event-ID: \r\n"
    with socket.create_connection(("127.0.0.1", world["port"]), PATIENCE_S) as line:
        line.sendall(f"GET /api/v1{path}?offset=-1 HTTP/1.1\r\n{head}\r\n".encode())
        inbox, began = b"", time.monotonic()
        line.settimeout(0.5)
        while time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                piece = line.recv(1 << 18)
                came = time.time()
                if not piece:
                    return
                *found, inbox = (inbox + piece).split(b"\n\n")
                for text in found:
                    if b"event: " in text and time.monotonic() - began > 1.0:  # what was there before is not waited for
                        kind, data = text.split(b"event: ", 1)[1].split(b"\n", 1)
                        yield kind.strip().decode(), json.loads(data.split(b"data: ", 1)[1].split(b"\r\n")[0]), came


def _ids(data: Any) -> Iterator[str]:
    """Yield the ids of the jobs that an event speaks of."""
    if isinstance(data, dict):
        yield from (found for key in ("id", "job") if isinstance(found := data.get(key), str))
        for value in data.values():
            yield from _ids(value)
    elif isinstance(data, list):
        for value in data:
            yield from _ids(value)


def wide(labels: int) -> dict[str, Any]:
    """Return a job of 64 roles of 64 tasks, each task with so many ports."""
    ports = [{"label": f"p{at}"} for at in range(labels)]
    asked = {"cpu": 0.01, "memory": 16}
    roles = [
        {"name": f"r{at}", "command": "true", "replicas": 64, "resources": asked, "ports": ports} for at in range(64)
    ]
    return {"spec": {"name": "wide", "roles": roles}}


def hostile_bodies() -> list[tuple[str, bytes]]:
    """Return what a user sends, by the door it is sent to."""
    unknown = [
        {**spec("true")["spec"], **{f"{word}{at}": at for at in range(count)}}
        for word, count in (("key", 20_000), ("replica", 100_000))
    ]
    bad = [{"spec": {"name": f"no name {at}!", f"k{at}": at}} for at in range(10_000)]
    sets = {f"labels.l{at}": "[a, b]" for at in range(20_000)}
    documents: list[tuple[str, Any]] = [
        ("/jobs/preview", wide(0)),
        ("/jobs/preview", wide(64)),
        ("/jobs", wide(64)),
        *(("/jobs/preview", {"spec": one}) for one in unknown),
        ("/jobs", {"spec": unknown[0]}),
        ("/jobs/batch", {"items": bad}),
        ("/jobs/preview", {**spec("true"), "set": sets}),
        ("/jobs/preview", spec("true", duration="1" + " " * 100_000 + "!")),
        ("/jobs/preview", spec("echo 'a' \"b\" $(x) " * 3500)),
        ("/jobs/preview", {"spec": {"jobName": "a", "image": "x", "taskRoles": [{}] * 20_000}}),
        (
            "/jobs/preview",
            spec("true", metrics=[{"pattern": f"(?P<x{at}>" + "(a|b|c)" * 60 + ")"} for at in range(32)]),
        ),
        ("/queue/would-start", {**wide(0), "suggest": True}),
        ("/jobs/stop", {"ids": ["x"] * 100_000}),
    ]
    raw = [
        ("/jobs/preview", b"[" * 1_000_000),
        ("/jobs", rb'{"spec": {"name": "\ud800"}}'),
        ("/jobs", b'{"spec": {}, "spec": {}}'),
    ]
    return [(path, json.dumps(body).encode()) for path, body in documents] + raw


def hostile(world: World, until: float) -> dict[str, Any]:
    """Return how many requests of a hostile user, over four connections, and of a hostile stranger were taken up and
    answered.
    """
    os.nice(19)  # it would have a machine of its own
    counts = {"user": 0, "stranger": 0, "guesses": 0}
    port, token = world["port"], world["hostile"]
    bodies = hostile_bodies()

    def user(number: int) -> None:
        at = number
        while time.monotonic() < until:
            path, body = bodies[at % len(bodies)]
            head = (
                f"POST /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
                "Connection: close\r\n"
            )
            _say(port, f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body)
            counts["user"] += 1
            at += 1

    def stranger() -> None:
        request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        endless = ((request + b"X: ", b"x" * 65536), (request, b"X: 1\r\n" * 10_000), (b"GET /", b"x" * 65536))
        while time.monotonic() < until:
            for head, more in endless:
                _say(port, head, *[more] * (87 * 16))
                counts["stranger"] += 1

    def guesser() -> None:
        while time.monotonic() < until:
            body = json.dumps({"username": "admin", "password": f"guess {counts['guesses']}"}).encode()
            head = (
                "POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                "Connection: close\r\n"
            )
            _say(port, f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body)
            counts["guesses"] += 1

    def silent() -> None:
        held: list[socket.socket] = []
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                held.append(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            if len(held) > SILENT:
                held.pop(0).close()
            time.sleep(0.005)

    _all([*(partial(user, 4 * number) for number in range(4)), stranger, guesser, guesser, silent])
    return counts


def _say(port: int, *pieces: bytes) -> None:
    """Send all of it, or as much as is taken; then read the answer to its end."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE_S) as line:
        with contextlib.suppress(OSError):
            for piece in pieces:
                line.sendall(piece)
        while line.recv(1 << 18):
            pass


def _all(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    crowd, path, seconds = sys.argv[1:]
    work = {"behaved": behaved, "hostile": hostile}[crowd]
    print(json.dumps(work(json.loads(Path(path).read_text()), time.monotonic() + float(seconds))))
