"""A Trainmaster server of one's own for a benchmark, and the cheapest client of it: one kept-alive socket, no
library.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from bench.measure import CpuGroup, descendants
from bench.stage import Stage

PLAIN: Final = {"cpu": 16.0, "memory_mib": 100_000, "sandbox": "none", "cgroups": "off"}
SANDBOXED: Final = {"cpu": 16.0, "memory_mib": 100_000}
"""`[local]` of the configuration. 16 cores are offered, as to every peer; the machine may have fewer."""

IDLE_S: Final = 20.0
"""A connection that was not used for so long is made anew: the server closes it after 30 s."""


class Client:
    """A warm client: requests one after another on one connection."""

    def __init__(self, port: int, token: str) -> None:
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._port = port
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._inbox = b""
        self._used = time.monotonic()

    def request_bytes(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the request as it goes over the wire."""
        data = b"" if body is None else json.dumps(body).encode()
        return f"{method} /api/v1{path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n".encode() + data

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer's JSON. Raises RuntimeError for a refusal."""
        return self.send(self.request_bytes(method, path, body))

    def send(self, request: bytes) -> Any:
        """Send a request made before; return the answer's JSON. Raises RuntimeError for a refusal."""
        if time.monotonic() - self._used > IDLE_S:
            self._socket.close()
            self._connect()
        self._used = time.monotonic()
        self._socket.sendall(request)
        while b"\r\n\r\n" not in self._inbox:
            self._more()
        head, _, self._inbox = self._inbox.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        while len(self._inbox) < length:
            self._more()
        data, self._inbox = self._inbox[:length], self._inbox[length:]
        if not lines[0].split()[1].startswith(b"2"):
            raise RuntimeError(data.decode())
        return json.loads(data) if data else None

    def _more(self) -> None:
        chunk = self._socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self._inbox += chunk

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


class Server:
    """One home folder and the server on it. `limits`, `engines`: more of its configuration, as text. `home`: where it
    lies.
    """

    def __init__(
        self,
        stage: Stage,
        local: dict[str, Any],
        *,
        cpu: CpuGroup | None = None,
        module: str = "trainmaster.cli.main",
        limits: str = "",
        engines: str = "",
        wait: bool = True,
        home: str = "",
    ) -> None:
        self.home = home or stage.fresh("home")
        self.cpu = cpu
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        os.makedirs(self.home)
        settings = {"environment": stage.path("env"), "mount_roots": [stage.folder], **local}
        text = "[local]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        Path(self.home, "config.toml").write_text(f"{text}[limits]\n{limits}\n{engines}", encoding="utf-8")
        self.port = 0
        stage.closing(self.end)
        if wait:
            self.start()

    def start(self) -> float:
        """Start the server; return the seconds until it answered that it is ready."""
        Path(self.home, "run").mkdir(mode=0o700, exist_ok=True)
        told = Path(self.home, "run", "server.json")
        told.unlink(missing_ok=True)
        prefix = self.cpu.prefix() if self.cpu else []
        code = (
            f"import sys; sys.argv[1:] = ['serve', '--home', {self.home!r}, '--port', '0']; "
            f"from {self._module} import run; run()"
        )
        began = time.monotonic()
        with open(os.path.join(self.home, "server.log"), "ab") as log:
            self._process = subprocess.Popen(
                [*prefix, sys.executable, "-c", code], stdout=log, stderr=log, start_new_session=True
            )
        while time.monotonic() - began < 60:
            with contextlib.suppress(OSError, ValueError):
                self.port = int(json.loads(told.read_text())["url"].rsplit(":", 1)[1])
                with socket.create_connection(("127.0.0.1", self.port)) as sock:
                    sock.sendall(
                        f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n".encode()
                    )
                    if b" 200 " in sock.recv(4096)[:16]:
                        break
            if self._process.poll() is not None:
                raise RuntimeError("the server ended: " + Path(self.home, "server.log").read_text()[-2000:])
            time.sleep(0.002)
        ready = time.monotonic() - began
        if self.cpu is not None:
            self.cpu.pids = self.pids()
        return ready

    def client(self, token: str = "") -> Client:
        """Return a warm client, signed in by a token; "": the local one."""
        client = Client(self.port, token or Path(self.home, "secrets", "cli-token").read_text().strip())
        client.ask("GET", "/jobs?limit=1")
        return client

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self._process is not None
        return self._process.pid

    def pid_of(self, name: str) -> int:
        """Return the pid of the "agent" or the "keeper", 0 when there is none."""
        with contextlib.suppress(OSError, ValueError):
            return int(Path(self.home, "run", f"{name}.pid").read_text())
        return 0

    def pids(self) -> list[int]:
        """Return server, keeper and agent."""
        return [pid for pid in (self.pid, self.pid_of("keeper"), self.pid_of("agent")) if pid]

    def stop(self) -> None:
        """Ask the server to end; agent and jobs go on."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def kill(self) -> None:
        """End the server without asking."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End the server, the agent and every job."""
        if self._process is None:
            return
        everything = descendants([pid for pid in self.pids() if pid])
        # The keeper goes first: it would start another agent.
        for pid in (self.pid_of("keeper"), self.pid_of("agent"), self.pid, *sorted(everything)):
            with contextlib.suppress(OSError):
                if pid:
                    os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def attempt_path(self, job: str) -> str:
        """Return the folder of the first attempt of `job`."""
        return os.path.join(self.home, "jobs", job[1:3], job, "attempts", "1")

    def log_path(self, job: str, task: str = "task0-0") -> str:
        """Return where a task of the first attempt of `job` writes."""
        return os.path.join(self.attempt_path(job), task, "log")


def spec(command: str, replicas: int = 1, **rest: Any) -> dict[str, Any]:
    """Return the body that submits `command`."""
    role = {"name": "main", "replicas": replicas, "command": command, "resources": {"cpu": 1, "memory": 16}}
    return {"spec": {"name": "bench", "roles": [role], **rest}}


def read_stamps(path: str) -> list[float]:
    """Return the seconds of the stamps in a file."""
    with contextlib.suppress(OSError, ValueError):
        return [int(text) / 1e9 for text in Path(path).read_text().split()]
    return []
