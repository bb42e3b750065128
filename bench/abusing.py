"""Two crowds beside one server, each a process: `behaved` prints how long its requests took, `hostile` asks for what nobody needs.

python -m bench.abusing behaved PORT TOKEN SECONDS
python -m bench.abusing hostile PORT TOKEN SECONDS
"""

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from bench.server import Client, spec

BEHAVED: Final = 20
PAUSE_S: Final = 0.1
"""Between two requests of one well-behaved client."""
SILENT: Final = 200
"""Connections of a stranger that say nothing."""
PATIENCE_S: Final = 60.0


def behaved(port: int, token: str, until: float) -> dict[str, Any]:
    """Return how long each request of 20 clients took, in ms: lists, a job, its reasons, the queue, and one submit in five."""
    took: list[float] = []

    def one(number: int) -> None:
        client = Client(port, token)
        mine = client.ask("POST", "/jobs", spec(f"true {number}"))["id"]
        asks = [
            ("GET", "/jobs?limit=50"),
            ("GET", f"/jobs/{mine}"),
            ("GET", f"/jobs/{mine}/explain"),
            ("GET", "/queue?limit=20"),
        ]
        requests = [client.request_bytes(*ask) for ask in asks] + [client.request_bytes("POST", "/jobs", spec("true"))]
        time.sleep(PAUSE_S * number / BEHAVED)
        at = number
        while time.monotonic() < until:
            began = time.monotonic()
            client.send(requests[at % len(requests)])
            took.append((time.monotonic() - began) * 1000)
            at += 1
            time.sleep(PAUSE_S)

    _all([lambda number=number: one(number) for number in range(BEHAVED)])  # type: ignore[misc]
    return {"took": took}


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
        ("/jobs/preview", wide(0)), ("/jobs/preview", wide(64)), ("/jobs", wide(64)),
        *(("/jobs/preview", {"spec": one}) for one in unknown), ("/jobs", {"spec": unknown[0]}),
        ("/jobs/batch", {"items": bad}), ("/jobs/preview", {**spec("true"), "set": sets}),
        ("/jobs/preview", spec("true", duration="1" + " " * 100_000 + "!")),
        ("/jobs/preview", spec("echo 'a' \"b\" $(x) " * 3500)),
        ("/jobs/preview", {"spec": {"jobName": "a", "image": "x", "taskRoles": [{}] * 20_000}}),
        ("/jobs/preview", spec("true", metrics=[{"pattern": f"(?P<x{at}>" + "(a|b|c)" * 60 + ")"} for at in range(32)])),
        ("/queue/would-start", {**wide(0), "suggest": True}), ("/jobs/stop", {"ids": ["x"] * 100_000}),
    ]  # fmt: skip
    raw = [
        ("/jobs/preview", b"[" * 1_000_000),
        ("/jobs", rb'{"spec": {"name": "\ud800"}}'),
        ("/jobs", b'{"spec": {}, "spec": {}}'),
    ]
    return [(path, json.dumps(body).encode()) for path, body in documents] + raw


def hostile(port: int, token: str, until: float) -> dict[str, Any]:
    """Return how many requests of a hostile user, over four connections, and of a hostile stranger were taken up and answered."""
    counts = {"user": 0, "stranger": 0}
    bodies = hostile_bodies()

    def user(number: int) -> None:
        at = number
        while time.monotonic() < until:
            path, body = bodies[at % len(bodies)]
            head = f"POST /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
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

    def silent() -> None:
        held: list[socket.socket] = []
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                held.append(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            if len(held) > SILENT:
                held.pop(0).close()
            time.sleep(0.005)

    _all([*(lambda number=number: user(4 * number) for number in range(4)), stranger, silent])  # type: ignore[misc]
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
    crowd, port, token, seconds = sys.argv[1:]
    work = {"behaved": behaved, "hostile": hostile}[crowd]
    print(json.dumps(work(int(port), token, time.monotonic() + float(seconds))))
