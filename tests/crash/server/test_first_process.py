"""`docker run IMAGE trainmaster serve`: the server is the first process of its container, and nobody else buries the
dead.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import psutil
import pytest

from tests.fixtures.ports import free_ports
from tests.scenario.stage import spec, toml
from trainmaster.core.folders.layout import Layout

CONTAINER: Final = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")
LIMIT_S: Final = 90.0


class Container:
    """A process namespace whose first process is the server; `first`: that one, as this machine numbers it."""

    def __init__(self, home: Path) -> None:
        self.layout, port = Layout(str(home)), free_ports(1, 10_000, 17_000)
        home.mkdir()
        (home / "config.toml").write_text(toml({"local": {"cpu": 4.0, "memory_mib": 4096, "sandbox": "bubblewrap"}}))
        command = (sys.executable, "-m", "trainmaster", "serve", "--home", str(home), "--port", str(port))
        self.log = home / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*CONTAINER, *command], stdout=log, stderr=log, start_new_session=True)
        self.home = home
        self._url = f"http://127.0.0.1:{port}/api/v1"
        self.until(lambda: self.ask("GET", "/session"), "the server answers")
        (self.first,) = psutil.Process(self.process.pid).children()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer, None while there is none."""
        try:
            token = Path(self.layout.cli_token).read_text().strip()
            headers = {"Authorization": f"Bearer {token}"}
            answer = httpx.request(method, self._url + path, json=body, headers=headers, timeout=30.0)
        except (httpx.TransportError, OSError):
            return None
        assert answer.is_success or answer.status_code == 503, answer.text
        return answer.json() if answer.is_success else None

    def until(self, done: Callable[[], Any], what: str) -> Any:
        """Return what `done` returns once it is true."""
        limit = time.monotonic() + LIMIT_S
        while not (found := done()):
            assert time.monotonic() < limit, f"never: {what}\n{self.log.read_text(errors='replace')[-3000:]}"
            time.sleep(0.05)
        return found

    def enter(self, job: str, *argv: str) -> subprocess.Popen[bytes]:
        """Run a command in the job's task, as a person would."""
        command = [sys.executable, "-m", "trainmaster", "--home", str(self.home), "exec", job, "--", *argv]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def dead(self) -> list[psutil.Process]:
        """Return whom the first process has not buried."""
        return [one for one in self.first.children() if one.status() == psutil.STATUS_ZOMBIE]


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    made = Container(tmp_path / "home")
    yield made
    made.process.kill()  # --kill-child: the first process goes with it, and everybody with that
    made.process.wait()


@pytest.mark.parametrize("who", ["whoever entered has gone", "somebody is inside"])
def test_a_job_that_was_entered_ends(container: Container, who: str) -> None:
    job = container.ask("POST", "/jobs", {"spec": spec("entered", "sleep 1000", model={"save": False})})["id"]
    container.until(lambda: container.ask("GET", f"/jobs/{job}")["state"] == "running", "the job runs")
    inside = container.enter(job, "sh", "-c", "echo here; sleep 1000")
    assert inside.stdout is not None
    assert inside.stdout.readline() == b"here\n"
    if who == "whoever entered has gone":
        inside.kill()
        inside.wait()
    assert container.ask("POST", f"/jobs/{job}/stop", {}) is not None
    container.until(lambda: container.ask("GET", f"/jobs/{job}")["state"] == "stopped", "the job is stopped")
    container.until(lambda: container.ask("GET", "/queue") is not None and not container.dead(), "the dead are buried")
    inside.kill()
    inside.wait()


def test_the_server_is_told_to_end_and_its_exit_code_comes_back(container: Container) -> None:
    container.first.terminate()
    assert container.process.wait(LIMIT_S) == 0
    assert "Trainmaster has stopped" in container.log.read_text()
