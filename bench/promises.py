"""What a server promised while it was harmed: a feeder that goes on submitting, and what became of every job."""

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

from bench.server import Client, Server


class Feeder(threading.Thread):
    """Submits one short job after another until told to stop; remembers every job it was promised."""

    def __init__(self, server: Server, body: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.server, self.body = server, body
        self.promised: list[str] = []
        self.enough = threading.Event()

    def run(self) -> None:
        """Submit; what was not answered is asked again under the same key."""
        number, client = 0, None
        while not self.enough.is_set():
            try:
                client = client or self.server.client()
                request = client.request_bytes("POST", "/jobs", self.body)
                head = f"Idempotency-Key: feed-{number}\r\nContent-Length".encode()
                self.promised.append(client.send(request.replace(b"Content-Length", head, 1))["id"])
                number += 1
                time.sleep(0.2)
            except (OSError, RuntimeError, ValueError):
                client = None
                time.sleep(0.05)


def started(marks: str) -> list[str]:
    """Return the jobs whose programs have started, once for each start."""
    with contextlib.suppress(OSError):
        return Path(marks, "started").read_text().split()
    return []


def wait(done: Any, limit_s: float = 900.0) -> None:
    """Return once `done()` is true. Raises TimeoutError."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > limit_s:
            raise TimeoutError("the jobs did not come to their end")
        time.sleep(0.5)


def outcome(server: Server, promised: list[str]) -> dict[str, dict[str, Any]]:
    """Return every promised job the server knows, once all of them have ended."""
    client = server.client()
    wait(lambda: not {"queued", "initialising", "running", "stopping"} & _counts(client).keys())
    return {job: found for job in promised if (found := look(client, job)) is not None}


def _counts(client: Client) -> dict[str, int]:
    return {state: count for state, count in client.ask("GET", "/jobs?limit=1")["counts"].items() if count}


def look(client: Client, job: str) -> dict[str, Any] | None:
    """Return what the server says of a job, None when it does not know it."""
    try:
        found: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
        return found
    except RuntimeError:
        return None
