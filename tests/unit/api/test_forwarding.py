"""What one server hands to another that leads: how long it waits, how much it lets wait, and who is said to ask.

The one that leads is the double at a port, or a socket that takes connections and answers none, as a stopped process
does.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_server import Running, running
from trainmaster.api.socket import forwarding
from trainmaster.api.socket.forwarding import Forwarding
from trainmaster.api.socket.servers import CLIENT, SECRET, Servers
from trainmaster.core.errors import Unauthenticated
from trainmaster.messages.server.requests import nobody_signed_in
from trainmaster.service.folders.secret_files import servers_secret

PATIENCE_S = 120.0
SHARED = "postgresql://nobody@nowhere/none"
"""Whoever has such an address in its settings may be one of several; the double does not use it."""
SPEC = {"spec": {"name": "a"}}


class Stopped:
    """A server that takes connections and answers none."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(PATIENCE_S)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._asked: list[socket.socket] = []

    def asked(self) -> socket.socket:
        """Return the next connection, once a request has come over it."""
        line, _ = self._listening.accept()
        self._asked.append(line)
        line.settimeout(PATIENCE_S)
        assert line.recv(65536)
        return line

    def close(self) -> None:
        """End."""
        for line in (*self._asked, self._listening):
            line.close()


@pytest.fixture
def stopped() -> Iterator[Stopped]:
    made = Stopped()
    yield made
    made.close()


@contextlib.contextmanager
def standing_by(home: Path, leader: Callable[[], str | None], most: int | None = None) -> Iterator[Running]:
    """Give a server that stands by while the one at `leader` leads; it believes who asks it for whom."""
    with running(home, database=SHARED, trusted_proxies=("127.0.0.1",)) as server:

        async def stand_by() -> Forwarding:
            made = Forwarding(Servers(servers_secret(server.platform.layout)), leader, most)
            server.platform.context.leads = False
            server.app.app.state.forwarding = made
            return made

        made = asyncio.run_coroutine_threadsafe(stand_by(), server.loop).result(PATIENCE_S)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(made.close(), server.loop).result(PATIENCE_S)


def client(server: Running, token: str | None = None, **headers: str) -> httpx.Client:
    """Return a client of `server` with a token, its own where none is given."""
    headers = {"authorization": f"Bearer {token or server.token}", **headers}
    return httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=PATIENCE_S)


def refused(answer: httpx.Response, code: str) -> None:
    """Hold `answer` to a refusal that says when to ask again."""
    assert (answer.status_code, answer.json()["code"]) == (503, code), answer.text
    assert answer.headers["retry-after"]


def test_nobody_waits_long_for_a_leader_that_was_stopped(
    tmp_path: Path, stopped: Stopped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in rows is answered; who only looks is told to ask again, who changes something that it may be done."""
    monkeypatch.setattr(forwarding, "LOOKS_S", 0.2)
    monkeypatch.setattr(forwarding, "CHANGES_S", 0.6)
    with standing_by(tmp_path, lambda: stopped.url) as server, client(server) as http:
        refused(http.get("/queue"), "nobody_leads")
        assert http.get("/jobs").status_code == 200
        began = time.monotonic()
        refused(http.post("/jobs", json=SPEC), "leader_ended")
        assert time.monotonic() - began >= 0.6, "longer than who only looks"


@pytest.mark.parametrize("body", [None, b'{"spec": {"name": "a"}}'])
def test_who_has_gone_is_not_waited_for(
    tmp_path: Path, stopped: Stopped, monkeypatch: pytest.MonkeyPatch, body: bytes | None
) -> None:
    """The connection to the leader ends with that of whoever asked."""
    monkeypatch.setattr(forwarding, "LOOKS_S", 1000.0)
    with standing_by(tmp_path, lambda: stopped.url) as server:
        head = f"{'GET' if body is None else 'POST'} /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += "\r\n" if body is None else f"Content-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as asking:
            asking.sendall(head.encode() + (body or b""))
            line = stopped.asked()
        while line.recv(65536):
            pass


def test_what_waits_for_the_leader_is_bounded(tmp_path: Path, stopped: Stopped) -> None:
    """A quarter of it for one address, so that others have their part; rows are still answered."""

    async def ask(server: Running) -> None:
        async with httpx.AsyncClient(base_url=f"{server.url}/api/v1", timeout=PATIENCE_S) as http:
            waiting = []
            for number in range(8):  # two from each of four addresses
                headers = {"x-forwarded-for": f"192.0.2.{number // 2}"}
                waiting.append(asyncio.ensure_future(http.get("/queue", headers=headers)))
                await asyncio.to_thread(stopped.asked)
                if number == 1:
                    refused(await http.get("/queue", headers=headers), "too_much_for_leader")
                    signed_in = {**headers, "authorization": f"Bearer {server.token}"}
                    assert (await http.get("/jobs", headers=signed_in)).status_code == 200
            refused(await http.get("/queue", headers={"x-forwarded-for": "192.0.2.9"}), "too_much_for_leader")
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    with standing_by(tmp_path, lambda: stopped.url, most=8) as server:
        asyncio.run(ask(server))
        with client(server) as http:
            http.timeout = httpx.Timeout(0.5)
            until, waits = time.monotonic() + PATIENCE_S, False
            while not waits:  # once the places are free again
                assert time.monotonic() < until
                try:
                    refused(http.get("/queue"), "too_much_for_leader")
                except httpx.ReadTimeout:
                    waits = True


def test_a_live_view_is_whole_when_the_server_between_ends(tmp_path: Path) -> None:
    """Its reader comes again; one that is cut off says that the connection failed."""
    with running(tmp_path / "leader") as leader, contextlib.ExitStack() as stack:
        server = stack.enter_context(standing_by(tmp_path / "other", lambda: leader.url))
        http = stack.enter_context(client(server, leader.token))
        feed = stack.enter_context(http.stream("GET", "/feed"))
        lines = feed.iter_lines()
        assert next(lines) == ": stream"
        server.call(lambda _: server.app.close_views())
        assert [line for line in lines if line] == []


def handed_on(server: Running, address: str, secret: str = "") -> dict[str, str]:
    """Return the headers with which another server of the home says that it asks for `address`."""
    secret = secret or servers_secret(server.platform.layout)
    return {SECRET.decode(): secret, CLIENT.decode(): address, "host": "127.0.0.1"}


def held(server: Running, count: int, address: Callable[[int], str], secret: str = "") -> int:
    """Return how many of `count` connections are left that each asked once, for `address` of their number."""
    with contextlib.ExitStack() as stack:
        lines = []
        for number in range(count):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))))
            line.settimeout(PATIENCE_S)
            said = "".join(f"{key}: {value}\r\n" for key, value in handed_on(server, address(number), secret).items())
            line.sendall(f"GET /healthz HTTP/1.1\r\n{said}\r\n".encode())
            assert line.recv(65536).startswith(b"HTTP/1.1 200")
            lines.append(line)
        left = int(server.call(lambda _: len(server.app.connections)))
    until = time.monotonic() + PATIENCE_S
    while server.call(lambda _: len(server.app.connections)):  # until it has noticed that they are gone
        assert time.monotonic() < until
        time.sleep(0.02)
    return left


def test_connections_of_another_server_are_of_those_who_asked_it(tmp_path: Path) -> None:
    """All strangers behind one server would have the connections of one address."""
    with running(tmp_path, database=SHARED) as server:
        server.call(lambda _: setattr(server.app.connections, "most", 40))
        assert held(server, 18, lambda number: f"192.0.2.{number}") == 18
        assert held(server, 18, lambda number: "192.0.2.7") == 10, "a quarter"
        assert held(server, 18, lambda number: f"192.0.2.{number}", "guessed") == 10, "nobody's word"


def test_a_forwarded_sign_in_is_from_whoever_asked(tmp_path: Path) -> None:
    """So that who guesses passwords through one server slows nobody else there."""
    with running(tmp_path, database=SHARED) as server:
        seen: list[str] = []

        async def sign_in(name: str, password: str, client: str, *more: Any) -> Any:
            seen.append(client)
            raise Unauthenticated(nobody_signed_in())

        server.call(lambda platform: setattr(platform.people, "sign_in", sign_in))
        for secret in ("", "guessed"):
            with client(server, **handed_on(server, "192.0.2.7", secret)) as http:
                body = {"username": "ann", "password": "a guess"}
                assert http.post("/session", json=body).status_code == 401
        assert seen == ["192.0.2.7", "127.0.0.1"]
