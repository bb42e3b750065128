"""A real server in its own process on a home of its own, a client that repeats what was not answered, and kill -9."""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fixtures.ports import free_ports
from tests.scenario.stage import marked, toml
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.local.engine import LocalEngine

ROOT: Final = Path(__file__).parents[3]
START_S: Final = 180.0
IMPORT: Final = "import trainmaster.service.wiring, trainmaster.api.app, trainmaster.cli.server.serve, uvicorn"
VICTIMS: Final = ("server", "agent", "server and agent", "agent", "server", "keeper", "server", "agent", "all", "agent")
RUN: Final = "import sys; sys.argv[1:] = {arguments!r}; from trainmaster.cli.main import run; run()"


class Home:
    """One home folder, its server's process, and the pids of agent and keeper."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.folder, self.layout = folder, Layout(str(folder))
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(toml(config))
        self.port = free_ports(1, 10_000, 17_000)
        self._process: subprocess.Popen[bytes] | None = None
        self.spawn()

    def spawn(self, code: Path = ROOT) -> None:
        """Start the server whose package lies in the folder `code`; do not wait for it."""
        arguments = ["serve", "--home", str(self.folder), "--port", str(self.port), "--log-level", "warning"]
        with open(self.folder / "server.log", "ab") as log:
            # -P: the folder in which the tests run holds a package as well, and would come before `code`.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", RUN.format(arguments=arguments)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(code)},
            )

    def stop_server(self) -> int:
        """Ask the server to end; return its exit code."""
        assert self._process is not None
        self._process.terminate()
        code, self._process = self._process.wait(START_S), None
        return code

    def kill_server(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextlib.contextmanager
    def halted(self) -> Iterator[None]:
        """Let the server stand still meanwhile, as on a machine that swaps: it holds all it has, and answers nobody."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def kill(self, who: str) -> None:
        """kill -9 of the agent or the keeper; one that is just being replaced is passed over."""
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((self.folder / "run" / f"{who}.pid").read_text()), signal.SIGKILL)

    def end(self) -> None:
        """End the server, the agent and its keeper, and whatever a failed test has left running on this machine."""
        self.kill_server()
        asyncio.run(self._end_agent())

    async def _end_agent(self) -> None:
        engine = LocalEngine(self.layout, Config())
        await engine.start(lambda fact: None)
        for attempt in os.listdir(self.layout.path("run", "live")):
            await engine.reap(attempt, 0)
        await engine.shut_down_agent()
        await engine.close()

    def client(self) -> "Client":
        """Return a client; it outlives every restart."""
        return Client(self)

    def said(self) -> str:
        """Return the end of what the server and the agent have logged."""
        parts = (self.folder / "server.log", self.folder / "run" / "agent.log")
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in parts if path.exists())


@contextlib.contextmanager
def served_home(folder: Path, config: Mapping[str, Any]) -> Iterator[Home]:
    """Give a home whose server answers; all of it ends with the block."""
    made = Home(folder, config)
    try:
        made.client().ask("GET", "/session")
        yield made
    finally:
        made.end()


class Client:
    """Asks until there is an answer. Not for two threads at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        url = f"http://127.0.0.1:{home.port}/api/v1"
        self._http = httpx.Client(base_url=url, timeout=30.0, verify=False)  # http: no certificates to read

    def once(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> httpx.Response:
        """Ask once. Raises httpx.TransportError, or OSError while there is no token yet."""
        token = Path(self._home.layout.cli_token).read_text().strip()
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        return self._http.request(method, path, json=body, headers=sent)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Ask until the answer is a good one; return its JSON. Only for what may be repeated."""
        limit = time.monotonic() + START_S
        while True:
            try:
                answer = self.once(method, path, body, headers)
                if answer.is_success:
                    return answer.json() if answer.content else None
                assert answer.status_code in (503, 507), answer.text
            except (httpx.TransportError, OSError):
                pass
            assert time.monotonic() < limit, f"no answer to {method} {path}\n{self._home.said()}"
            time.sleep(0.03)  # until it is up again: who asks cannot be told


@dataclass
class Promises:
    """What the server has acknowledged: job ids by idempotency key, and the jobs whose stop was accepted."""

    jobs: dict[str, str] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)

    def take(self, key: str, job: str) -> None:
        """Note one acknowledged submit; the same key never names two jobs (B4)."""
        assert self.jobs.setdefault(key, job) == job


class Feeder(threading.Thread):
    """Goes on submitting bursts of single jobs, each under a key of its own, repeating what was not answered."""

    def __init__(self, home: Home, document: dict[str, Any], promises: Promises, most: int) -> None:
        super().__init__(daemon=True)
        self._client, self._document, self._promises, self._most = home.client(), document, promises, most
        self.enough = threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        """Submit until told to stop."""
        try:
            for number in range(self._most):
                if self.enough.is_set():
                    return
                key = f"fed-{number}"
                view = self._client.ask("POST", "/jobs", {"spec": self._document}, {"Idempotency-Key": key})
                self._promises.take(key, view["id"])
                if number % 10 == 9:
                    time.sleep(0.3)  # the feed is to last as long as the kills
        except BaseException as error:  # told by the test itself
            self.error = error


@dataclass
class Storm:
    """Kills until `kills` are done. `listing`: seconds from each start of a server to its first complete list;
    `imports`: what a process that only imports the server's modules takes meanwhile, to tell the server from the
    machine's load.
    """

    home: Home
    promises: Promises
    seed: int
    victims: tuple[str, ...] = VICTIMS
    listing: list[float] = field(default_factory=list)
    imports: list[float] = field(default_factory=list)

    def rage(self, kills: int, still: dict[int, str]) -> None:
        """Kill; after each one the processes in `still` (pid -> start time) must be the same ones as before."""
        chance = random.Random(self.seed)
        client = self.home.client()
        for number in range(kills):
            time.sleep(chance.expovariate(8.0))  # a kill comes at any moment
            self._strike(chance, client, self.victims[number % len(self.victims)])
            alive = {pid: start for pid, start, _ in marked()}
            harmed = {pid for pid, start in still.items() if alive.get(pid) != start}
            assert not harmed, f"kill {number} harmed {harmed}\n{self.home.said()}"
            if number % 10 == 5:
                began = time.monotonic()
                subprocess.run([sys.executable, "-c", IMPORT], check=True)
                self.imports.append(time.monotonic() - began)

    def _strike(self, chance: random.Random, client: Client, victim: str) -> None:
        known = len(self.promises.jobs)
        if victim in ("server", "server and agent", "all"):
            self.home.kill_server()
        if victim in ("agent", "server and agent", "all"):
            self.home.kill("agent")
        if victim in ("keeper", "all"):
            self.home.kill("keeper")
        if victim in ("agent", "keeper"):
            return
        if chance.random() < 0.25:  # and once more while it starts
            self.home.spawn()
            time.sleep(chance.uniform(0.1, 1.2))  # anywhere in its start
            self.home.kill_server()
        began = time.monotonic()
        self.home.spawn()
        total = sum(client.ask("GET", "/jobs?limit=50")["counts"].values())
        self.listing.append(time.monotonic() - began)
        assert total >= known, f"{known} jobs were acknowledged, {total} are known"


def median(values: list[float]) -> float:
    """Return the middle of `values`."""
    return sorted(values)[len(values) // 2]
