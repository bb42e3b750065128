"""A real server in a process of its own, on a throwaway home with two virtual nodes of two simulated cards.

It is started, restarted and ended as a user would; what runs on it is ended before it goes, so that nothing outlives a
test. Also used by scripts/screenshots. Invariant: after `close` neither the server nor any
task of this home is alive.
"""

import contextlib
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trainmaster import Client
from trainmaster.api.static import STATIC
from trainmaster.core.errors import TrainmasterError

READY_S = 60.0
ENDING_S = 30.0
ASKING_S = 120.0
"""What a command may take: a disk that still writes what was installed keeps a commit waiting."""
PATIENCE_S = 120.0
PROGRAM = str(Path(sys.executable).with_name("trainmaster"))
PASSWORD = "correct-horse-battery"
CONFIG = """\
[local]
virtual_nodes = 2
simulated_gpus = 2
gpu_type = "sim-a100"
cpu = 4
memory_mib = 8192
"""


class NotBuilt(Exception):
    """There is no built console in the package."""


class World:
    """A server, and what a person at this machine's terminal can do with it."""

    def __init__(self, home: Path, config: str = CONFIG, variables: Mapping[str, str] | None = None) -> None:
        if not (STATIC / "console/index.html").is_file():
            raise NotBuilt("the console is not built; run scripts/test, or: python hatch_build.py")
        self.home, self._variables = home, variables or {}
        self.home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(config)
        self.url = ""
        self.one_time_password = ""
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def start(self) -> None:
        """Start the server (again: at the same address) and return once it says that it is ready."""
        log = self.home / "server.log"
        begin = log.stat().st_size if log.exists() else 0
        command = [PROGRAM, "serve", "--home", str(self.home), "--port", str(self._port)]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env=_plain(**self._variables),
            )  # fmt: skip
        limit = time.monotonic() + READY_S
        while True:
            said = log.read_bytes()[begin:].decode(errors="replace")
            if found := re.search(r"is ready at (http://\S+)", said):
                break
            if self._process.poll() is not None or time.monotonic() > limit:
                raise AssertionError(f"the server did not become ready:\n{said[-3000:]}")
            time.sleep(0.05)  # another process: nothing tells
        self.url = found[1]
        self._port = int(self.url.rpartition(":")[2])
        limit = time.monotonic() + READY_S
        while not self._ready():
            if time.monotonic() > limit:
                raise AssertionError("the server started, but never became ready")
            time.sleep(0.05)  # another process: nothing tells
        if one := re.search(r"^ +password +(\S+)$", log.read_text(errors="replace"), re.MULTILINE):
            self.one_time_password = one[1]

    def stop(self) -> None:
        """Ask the server to end and wait for it; its jobs run on."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        """End the server as a crash would; its jobs run on."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def close(self) -> None:
        """End every job and the server; an agent without work ends itself."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(TrainmasterError, TimeoutError), self.client() as client:
                live = [job for job in client.list(None) if not job.ended]
                for job in live:
                    with contextlib.suppress(TrainmasterError):
                        job.stop("the test ends")
                for job in live:
                    job.wait(ENDING_S)
        self.stop()

    def client(self) -> Client:
        """Return the SDK's client, signed in as the CLI on this machine is."""
        return Client(home=str(self.home))

    def tm(self, *arguments: str, **variables: str) -> str:
        """Run the command line, with variables of the environment; return what it printed. Raises AssertionError when
        it fails.
        """
        done = subprocess.run(
            [PROGRAM, *arguments],
            env=_plain(TRAINMASTER_HOME=str(self.home), **variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=ASKING_S,
        )
        assert done.returncode == 0, f"tm {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def members(self, workspace: str) -> list[dict[str, Any]]:
        """Return who is a member of a workspace."""
        with self.client() as client:
            return list(client.http.json("GET", f"/workspaces/{workspace}/members")["items"])

    def password_of(self, name: str) -> str:
        """Make an account; return its one-time password."""
        with self.client() as client:
            return client.people.add_user(name).one_time_password

    def end(self, *jobs: str) -> None:
        """Stop jobs, as `tm stop` does."""
        with self.client() as client:
            for job in jobs:
                client.get(job).stop()

    def submit(self, document: dict[str, Any]) -> str:
        """Submit a job as the command line does, without the second that its start takes; return its id."""
        with self.client() as client:
            return client.submit(document).id

    def show(self, job: str) -> dict[str, Any]:
        """Return the job as the API tells of it."""
        with self.client() as client:
            return dict(client.http.json("GET", f"/jobs/{job}"))

    def until(self, job: str, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the job once `true` of it."""
        limit = time.monotonic() + PATIENCE_S
        while not true(view := self.show(job)):
            assert time.monotonic() < limit, (view["state"], view["reason"], view["verdict"])
            time.sleep(0.1)  # another process: nothing tells
        return view

    def _ready(self) -> bool:
        try:
            with self._direct.open(f"{self.url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def _plain(**more: str) -> dict[str, str]:
    """The environment without settings of the person who runs the tests, and without a proxy on the way to loopback."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TRAINMASTER_")}
    return {**kept, "NO_PROXY": "*", "no_proxy": "*", **more}
