"""Logs: does the platform slow a program that writes much, and how soon does a follower see a line.

`lines` tells how long its own writing took; as a sandboxed job and straight to a file it takes turns on the same disk.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import quantile
from bench.record import Record
from bench.server import SANDBOXED, Client, Server, spec
from bench.stage import Stage


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    count, rounds = (200_000, 3) if quick else (1_000_000, 15)
    server = Server(stage, SANDBOXED)
    client = server.client()
    job: list[float] = []
    bare: list[float] = []
    for number in range(rounds + 1):  # the first warms up
        taken = _bare(stage, count), _as_job(server, client, count)
        if number:
            bare.append(count / taken[0])
            job.append(count / taken[1])
    yield stage.record("1M lines of 100 B", job, "lines/s", against="the program writing to a file", peer=bare)
    delays = _follow(server, client, 40 if quick else 400)
    yield stage.record("follower sees a line, median", delays, "ms")
    yield stage.record("follower sees a line, p95", [quantile(delays, 0.95)], "ms")


def _bare(stage: Stage, count: int) -> float:
    path = stage.fresh("log")
    with open(path, "wb") as file:
        subprocess.run([stage.programs["lines"], str(count)], stdout=file, check=True)
    taken = _own_time(path)
    os.unlink(path)
    return taken


def _as_job(server: Server, client: Client, count: int) -> float:
    body = spec(f"lines {count}")
    body["spec"]["roles"][0]["resources"]["memory"] = "1GiB"  # the pages of what it writes count as its memory
    job = client.ask("POST", "/jobs", body)["id"]
    _finished(client, job)
    taken = _own_time(server.log_path(job))
    client.ask("POST", "/jobs/delete", {"ids": [job]})
    return taken


def _own_time(path: str) -> float:
    with open(path, "rb") as file:
        file.seek(-64, os.SEEK_END)
        return int(file.read().split(b"\n")[-2]) / 1e9


def _finished(client: Client, job: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
        if found["ended_at"] is not None:
            if found["state"] != "succeeded":
                raise RuntimeError(f"the job ended otherwise: {found['verdict']}")
            return found
        time.sleep(0.1)


def _follow(server: Server, client: Client, beats: int) -> list[float]:
    """Return milliseconds between a line's stamp and its arrival at a follower, who has followed since before."""
    job = client.ask("POST", "/jobs", spec(f"beat {beats} 50"))["id"]
    while not Path(server.log_path(job)).exists():
        time.sleep(0.01)
    follower = socket.create_connection(("127.0.0.1", server.port))
    token = Path(server.home, "secrets", "cli-token").read_text().strip()
    path = f"/api/v1/jobs/{job}/attempts/1/tasks/task0-0/log/follow"
    follower.sendall(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    delays: list[float] = []
    rest = b""
    while b"event: end" not in rest:
        chunk = follower.recv(65536)
        arrived = time.monotonic()
        if not chunk:
            break
        *complete, rest = (rest + chunk).split(b"\n\n")
        for message in complete:
            if b"event: log" in message:
                stamps = _stamps(message)
                delays += [(arrived - stamp) * 1e3 for stamp in stamps]
            if b"event: end" in message:
                rest = message
    follower.close()
    return delays[2:]  # the first were written before we followed


def _stamps(message: bytes) -> list[float]:
    import json

    data = next(line[6:] for line in message.split(b"\n") if line.startswith(b"data: "))
    return [int(text) / 1e9 for text in json.loads(data)["text"].split() if len(text) > 8]
