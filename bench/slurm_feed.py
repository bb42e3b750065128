"""Who watches the platform's live feed as a console does, and notes when a change was told: by the time a line of it
arrived.
"""

import http.client
import json
import threading
import time
from pathlib import Path
from typing import Any

from bench.server import Server


class FeedWatcher(threading.Thread):
    """By job, in seconds since the epoch: when it was first told that a task of it runs, that all have `left`, that it
    has `ended`.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.running: dict[str, float] = {}
        self.left: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        token = Path(server.home, "secrets", "cli-token").read_text().strip()
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self._connection.request("GET", "/api/v1/feed", headers={"Authorization": f"Bearer {token}"})
        self._answer = self._connection.getresponse()
        self.start()

    def run(self) -> None:
        """Read until the server hangs up."""
        event = ""
        while line := self._answer.readline():
            at = time.time()
            if line.startswith(b"event:"):
                event = line[6:].strip().decode()
            elif line.startswith(b"data:") and event == "job":
                self._job(json.loads(line[5:]), at)

    def _job(self, job: dict[str, Any], at: float) -> None:
        if job["started_at"] is not None:
            self.running.setdefault(job["id"], at)
        if job["tasks"]["waiting"] + job["tasks"]["running"] == 0:
            self.left.setdefault(job["id"], at)
        if job["ended_at"] is not None:
            self.ended.setdefault(job["id"], at)
