"""Two real servers on one home on PostgreSQL: reads are answered while the leader is killed and the other one takes
over.
"""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import websockets.sync.client as websockets

from tests.crash.server.harness import ROOT, RUN, START_S, Home
from tests.fixtures.ports import free_ports
from tests.fixtures.postgres import cluster
from tests.scenario.stage import spec

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(300)]
TASK: Final = "/jobs/{0}/attempts/last/tasks/task0-0"


@pytest.fixture
def database() -> Iterator[str]:
    """The address of an empty database."""
    with cluster() as server:
        yield server.database()


class Standby:
    """A process that was started with --standby, and a client of it."""

    def __init__(self, home: Home) -> None:
        self.port = free_ports(1, 10_000, 17_000)
        self.log = home.folder / f"standby-{self.port}.log"
        self._home = home
        self._client: httpx.Client | None = None
        self.start()

    def start(self) -> None:
        """Start the process; do not wait for it."""
        arguments = ["serve", "--standby", "--home", str(self._home.folder), "--port", str(self.port)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", RUN.format(arguments=arguments)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )

    def end(self) -> int:
        """Ask it to end; return its exit code."""
        self.process.terminate()
        return self.process.wait(START_S)

    def client(self) -> httpx.Client:
        """Return a client with the local token."""
        token = Path(self._home.layout.cli_token).read_text().strip()
        address = f"http://127.0.0.1:{self.port}/api/v1"
        return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=30.0)

    def until(self, said: str) -> None:
        """Wait until it has said `said`."""
        give_up = time.monotonic() + START_S
        while said not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < give_up, self.log.read_text()
            time.sleep(0.02)  # until another process has written it: nobody tells us

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Ask until the answer is a good one; nobody may lead for a moment."""
        give_up = time.monotonic() + START_S
        with self.client() as client:
            while True:
                answer = client.request(method, path, json=body, headers=headers)
                if answer.is_success:
                    return answer.json() if answer.content else None
                assert answer.status_code == 503, answer.text
                assert answer.headers["retry-after"]
                assert time.monotonic() < give_up, answer.text
                time.sleep(0.05)  # until somebody leads: who asks cannot be told

    def state(self, job: str, wanted: str) -> None:
        """Wait until a job is in a state."""
        give_up = time.monotonic() + START_S
        while (seen := self.ask("GET", f"/jobs/{job}")["state"]) != wanted:
            assert time.monotonic() < give_up, seen
            time.sleep(0.05)  # reading is what this is about


class Reader(threading.Thread):
    """Reads without a pause what rows and files say; keeps every answer's status."""

    def __init__(self, server: Standby, job: str) -> None:
        super().__init__(daemon=True)
        self._paths = ("/jobs", f"/jobs/{job}", f"/jobs/{job}/events", TASK.format(job) + "/log", "/session", "/models")
        self._client, self.enough = server.client(), threading.Event()
        self.seen: list[tuple[str, int]] = []

    def run(self) -> None:
        """Read until told to stop."""
        while not self.enough.is_set():
            for path in self._paths:
                try:
                    self.seen.append((path, self._client.get(path).status_code))
                except httpx.HTTPError as error:
                    self.seen.append((f"{path}: {error!r}", 0))

    def refused(self) -> list[tuple[str, int]]:
        """Stop; return what was not answered."""
        self.enough.set()
        self.join()
        self._client.close()
        return [one for one in self.seen if one[1] != 200]


def sign_in(server: Standby, password: str) -> httpx.Client:
    """Sign in with the password that the first start said, as a browser does; return the client."""
    client = httpx.Client(base_url=f"http://127.0.0.1:{server.port}/api/v1", timeout=30.0)
    made = client.post("/session", json={"username": "admin", "password": password})
    assert made.status_code == 200, made.text
    client.headers["x-session-key"] = made.json()["key"]
    new = {"old": password, "new": "correct horse battery"}
    assert client.post("/session/password", json=new).status_code == 204
    return client


def test_reads_go_on_while_the_leader_is_killed_and_another_takes_over(tmp_path: Path, database: str) -> None:
    """Nothing is lost: the running job goes on, a submit with a key is done once, and the killed server comes back
    beside.
    """
    marks = tmp_path / "marks"
    marks.mkdir()
    config = {"server": {"database": database}, "local": {"cpu": 8, "memory_mib": 8192, "mount_roots": [str(tmp_path)]}}
    home = Home(tmp_path / "home", config)
    second: Standby | None = None
    try:
        home.client().ask("GET", "/jobs")
        second = Standby(home)
        second.until("stands by")

        # what only the leader may do is handed to it, and so are live views, sockets and tickets
        mount = [{"name": "marks", "path": str(marks), "mount": "/marks"}]
        wait = "echo started; until [ -e /marks/go ]; do sleep 0.1; done; echo end"
        long = second.ask("POST", "/jobs", {"spec": spec("long", wait, inputs=mount)})["id"]
        short = second.ask("POST", "/jobs", {"spec": spec("short", "echo hello")})["id"]
        second.state(short, "succeeded")
        second.state(long, "running")
        assert home.client().ask("GET", f"/jobs/{long}")["state"] == "running"
        with second.client() as client, client.stream("GET", "/feed") as feed:
            assert feed.headers["content-type"].startswith("text/event-stream")
            lines = feed.iter_lines()
            second.ask("PATCH", f"/jobs/{long}", {"priority": "urgent"})
            assert next(line for line in lines if line.startswith("data:") and long in line)
        found = re.search(r"password  (\S+)", (home.folder / "server.log").read_text())
        assert found is not None
        with contextlib.closing(sign_in(second, found[1])) as browser:
            address = TASK.format(short) + "/log/download"
            ticket = browser.post("/session/ticket", json={"address": f"/api/v1{address}"}).json()["address"]
            del browser.headers["x-session-key"]
            assert browser.get(f"http://127.0.0.1:{second.port}{ticket}").text == "hello\n"
        token = Path(home.layout.cli_token).read_text().strip()
        with websockets.connect(
            f"ws://127.0.0.1:{second.port}/api/v1/jobs/{long}/exec",
            additional_headers={"Authorization": f"Bearer {token}"},
        ) as socket:
            socket.send('{"command": ["echo", "inside"]}')
            heard = b"".join(piece if isinstance(piece, bytes) else b"" for piece in socket)
        assert b"inside" in heard

        # one that stands still holds the lead: rows are answered, all else says so, and then it goes on
        with home.halted(), second.client() as client:
            assert client.get("/jobs").status_code == 200
            assert client.get(f"http://127.0.0.1:{second.port}/readyz").status_code == 503
        assert second.ask("GET", "/queue") is not None

        reader = Reader(second, short)
        reader.start()
        home.kill_server()
        made = second.ask("POST", "/jobs", {"spec": spec("after", "echo after")}, {"Idempotency-Key": "after"})
        again = second.ask("POST", "/jobs", {"spec": spec("after", "echo after")}, {"Idempotency-Key": "after"})
        assert again["id"] == made["id"]
        second.until("is ready at")
        (marks / "go").touch()
        second.state(long, "succeeded")
        second.state(made["id"], "succeeded")
        assert second.ask("GET", f"/jobs/{long}")["attempts"] == 1, "it went on, and was not started again"

        # the one that was killed comes back, stands by, and takes over when the other is asked to end
        third = Standby(home)
        try:
            third.until("stands by")
            assert third.ask("GET", "/jobs")["counts"]["succeeded"] == 3
            assert reader.refused() == []
            assert len(reader.seen) > 50
            assert second.end() == 0
            third.until("is ready at")
            last = third.ask("POST", "/jobs", {"spec": spec("last")})["id"]
            third.state(last, "succeeded")
        finally:
            third.end()
    finally:
        if second is not None and second.process.poll() is None:
            second.end()
        home.end()
