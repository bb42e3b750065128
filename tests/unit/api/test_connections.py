"""Who may keep a connection, and what is said to those whose request never becomes one. A real server, real sockets
(B7, B12).
"""

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.fixtures.api_server import Running, running
from trainmaster.api.socket import connections, refusing, wire
from trainmaster.api.socket.connections import Connections
from trainmaster.api.socket.proxies import Proxies

PATIENCE_S = 120.0
ENDLESS = 64 << 20
GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def hasty(server: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A server that waits for next to nothing; for what these tests do send as long as a busy machine may take."""
    monkeypatch.setattr(connections, "SWEEP_S", 0.02)
    for name, patience_s in (("HEAD_S", 1.0), ("REST_S", 1.0), ("BODY_S", 0.05), ("LINGER_S", 0.05)):
        monkeypatch.setattr(wire, name, patience_s)
    return server


class Line:
    """One connection, byte by byte."""

    def __init__(self, server: Running) -> None:
        self.socket = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), PATIENCE_S)
        self._came = b""

    def send(self, data: bytes) -> "Line":
        self.socket.sendall(data)
        return self

    def endless(self, data: bytes, most: int = ENDLESS) -> int:
        """Send `data` again and again until the other end has enough; return how many bytes it took."""
        sent = 0
        try:
            while sent < most:
                self.socket.sendall(data)
                sent += len(data)
        except OSError:
            pass
        return sent

    def rest(self) -> bytes:
        """Return all that comes until the other end hangs up."""
        try:
            while piece := self.socket.recv(65536):
                self._came += piece
        except ConnectionResetError:
            pass
        return self._came

    def answer(self) -> tuple[int, Any]:
        head, _, body = self.rest().partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body) if body else None


def refused(found: tuple[int, Any], status: int, code: str) -> None:
    assert (found[0], found[1]["status"], found[1]["kind"]) == (status, status, code)
    assert found[1]["title"]
    assert found[1]["remedy"]


@pytest.fixture
def line(server: Running) -> Iterator[Callable[[], Line]]:
    opened: list[Line] = []

    def made() -> Line:
        opened.append(Line(server))
        return opened[-1]

    yield made
    for one in opened:
        one.socket.close()


def test_a_head_is_small(line: Callable[[], Line]) -> None:
    """A long line, many lines, a long address: each is refused once it is too long, and told so in words."""
    refused(line().send(GET + b"X: " + b"x" * 70_000 + b"\r\n\r\n").answer(), 431, "head_too_large")
    refused(line().send(GET + b"X: 1\r\n" * 200 + b"\r\n").answer(), 431, "head_too_large")
    refused(line().send(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n").answer(), 414, "address_too_long")
    refused(line().send(b"\x16\x03\x01 this is TLS\r\n\r\n").answer(), 400, "bad_request")
    refused(line().send(b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").answer(), 400, "bad_request")
    assert line().send(GET + b"Connection: close\r\n\r\n").answer() == (200, {"ok": True})


@pytest.mark.parametrize("endless", [b"x" * 65536, b"X: 1\r\n" * 10_000, b"\r\n" * 10_000])
def test_endless_heads_are_not_taken_in(hasty: Running, line: Callable[[], Line], endless: bytes) -> None:
    for beginning in (
        GET + b"X: ",
        GET + b"X: 1\r\n",
        b"GET /",
        b"",
        b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ):
        one = line().send(beginning)
        assert one.endless(endless) < ENDLESS, "what nobody takes stays with the sender"
        assert httpx.get(hasty.url + "/healthz", timeout=PATIENCE_S).status_code == 200
    wait_for(lambda: hasty.call(lambda _: len(hasty.app.connections)) == 0)


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_who_says_nothing_is_not_waited_for(hasty: Running, line: Callable[[], Line]) -> None:
    refused(line().answer(), 408, "too_slow")
    refused(line().send(b"GET /healthz HT").answer(), 408, "too_slow")
    refused(line().send(GET).answer(), 408, "too_slow")
    used = line().send(GET + b"\r\n")  # between two requests there is more time
    assert b"200 OK" in used.socket.recv(65536)
    used.send(GET)
    refused(used.answer(), 408, "too_slow")


def test_a_body_that_does_not_come_is_not_waited_for(hasty: Running, line: Callable[[], Line], caplog: Any) -> None:
    """Signed in or not; nothing has failed here, so nothing is logged as a failure."""
    head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n%s\r\n"
    token = b"Authorization: Bearer " + hasty.token.encode() + b"\r\n"
    for path, own in (
        (b"/api/v1/session", b""),
        (b"/api/v1/jobs", token),
        (b"/api/v1/jobs/stop", token),
        (b"/api/v1/uploads", token),
    ):
        refused(line().send(head % (path, own) + b'{"us').answer(), 408, "too_slow")
    assert "internal error" not in caplog.text
    assert hasty.call(lambda _: hasty.app.app.state.desk.of("admin").here) == 0


def test_a_body_that_nobody_waits_for_any_more_ends(hasty: Running, line: Callable[[], Line]) -> None:
    """The answer came before the body was whole: 401."""
    one = line().send(b"POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999\r\n\r\n{")
    assert one.answer()[0] == 401


def test_requests_far_ahead_of_their_answers_end_the_connection(server: Running, line: Callable[[], Line]) -> None:
    one = line().send((GET + b"\r\n") * 1000)
    assert one.rest().count(b"200 OK") <= refusing.MOST_AHEAD + 1
    few = line().send((GET + b"\r\n") * 9 + GET + b"Connection: close\r\n\r\n")
    assert few.rest().count(b"200 OK") == 10


def test_silent_strangers_make_room_for_whoever_comes(server: Running, line: Callable[[], Line]) -> None:
    """As many connections as may be, and three times as many; whoever is signed in keeps theirs, whoever comes is
    answered.
    """
    server.call(lambda _: setattr(server.app.connections, "most", 40))
    feed = f"{server.url}/api/v1/feed"
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx.Client(headers=headers, timeout=PATIENCE_S) as http, http.stream("GET", feed) as watching:
        events = watching.iter_lines()
        assert next(events) == ": stream"
        silent = [line() for _ in range(120)]
        assert httpx.get(server.url + "/healthz", timeout=PATIENCE_S).status_code == 200
        assert server.call(lambda _: len(server.app.connections)) <= 12
        assert silent[0].rest() == b""  # hung up
        made = http.post(server.url + "/api/v1/jobs", json={"spec": {"name": "a"}})
        assert made.status_code == 201
        assert any(made.json()["id"] in text for text in events)


def test_a_person_has_only_a_part_of_all_connections(server: Running, line: Callable[[], Line]) -> None:
    """Their own that was silent longest is closed, not another's; a socket inside a task counts as well."""
    server.call(lambda _: setattr(server.app.connections, "most", 40))
    body, headers = {"spec": {"name": "a"}}, {"authorization": f"Bearer {server.token}"}
    job = httpx.post(server.url + "/api/v1/jobs", json=body, headers=headers, timeout=PATIENCE_S).json()["id"]
    server.call(lambda platform: platform.run(job))
    head = b"Authorization: Bearer " + server.token.encode() + b"\r\n\r\n"
    address = f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{job}/exec"
    with connect(address, additional_headers={"authorization": f"Bearer {server.token}"}, proxy=None) as inside:
        mine = []
        for _ in range(11):
            mine.append(line().send(GET.replace(b"/healthz", b"/api/v1/pools") + head))
            assert b"200 OK" in mine[-1].socket.recv(65536)
        with pytest.raises(Exception, match=r"no close frame|closed"):
            inside.recv(PATIENCE_S)
        assert mine[0].rest().count(b"200 OK") <= 1
    assert b"200 OK" in mine[-1].send(GET + b"\r\n").socket.recv(65536)


class Noted:
    """The server's end of a connection that is none."""

    def __init__(self) -> None:
        self.open = True

    def hang_up(self) -> None:
        self.open = False

    def look(self, now: float) -> None:
        """Nothing."""


async def test_nobody_else_pays_for_who_holds_many() -> None:
    held = Connections(80)
    amy, eve, bob = Noted(), [Noted() for _ in range(200)], Noted()
    held.belongs(held.come(amy, "10.0.0.1"), "amy")
    stranger = held.come(bob, "10.0.0.2")
    for one in eve:
        held.come(one, "10.0.0.3")
    assert [one.open for one in eve] == [False] * 180 + [True] * 20  # a quarter of one address
    assert amy.open
    assert bob.open
    for at in range(200):
        held.heard(stranger)
        held.come(Noted(), f"10.1.0.{at}")  # from everywhere: half of all are strangers
    assert amy.open
    assert bob.open
    assert len(held) == 41
    held.gone(stranger)
    held.gone(stranger)
    assert len(held) == 40


async def test_who_holds_a_network_is_one_address() -> None:
    held = Connections(80)
    lines = [Noted() for _ in range(30)]
    for at, one in enumerate(lines):
        held.come(one, f"2001:db8:1:2::{at}")
    assert [one.open for one in lines] == [False] * 10 + [True] * 20


async def test_a_trusted_proxy_is_not_one_address() -> None:
    """Who is behind it is not known before a head is read: half of all may be strangers, wherever they come from."""
    held = Connections(80, many=Proxies(["10.0.0.0/24"]).trusts)
    lines = [Noted() for _ in range(60)]
    for one in lines:
        held.come(one, "10.0.0.9")
    assert [one.open for one in lines] == [False] * 20 + [True] * 40
    others = [Noted() for _ in range(30)]
    for one in others:
        held.come(one, "10.0.1.9")
    assert [one.open for one in others] == [False] * 10 + [True] * 20


def test_what_comes_through_a_trusted_proxy_is_not_closed_for_its_address(tmp_path: Path) -> None:
    """B12: everybody behind a proxy has its address; a quarter of all connections would be everybody's."""
    with running(tmp_path, trusted_proxies=("127.0.0.1",)) as server:
        server.call(lambda _: setattr(server.app.connections, "most", 40))
        lines = [Line(server) for _ in range(18)]
        wait_for(lambda: server.call(lambda _: len(server.app.connections)) == 18)
        for one in lines:
            assert one.send(GET + b"Connection: close\r\n\r\n").answer() == (200, {"ok": True})


def test_who_takes_nothing_of_an_answer_is_let_go(
    hasty: Running, line: Callable[[], Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer larger than what lies in sockets, to somebody who stops reading: it is dropped, with what it held."""
    monkeypatch.setattr(wire, "STALLED_S", 0.5)
    body = {"spec": {"name": "a"}}
    headers = {"authorization": f"Bearer {hasty.token}"}
    job = httpx.post(hasty.url + "/api/v1/jobs", json=body, headers=headers, timeout=PATIENCE_S).json()["id"]
    log = Path(hasty.call(lambda platform: platform.layout.task(platform.run(job).id, 1, 0, 0).log))
    log.write_bytes(b"x" * (64 << 20))
    address = f"/api/v1/jobs/{job}/attempts/1/tasks/task0-0/log/download"
    ask = GET.replace(b"/healthz", address.encode()) + f"Authorization: Bearer {hasty.token}\r\n\r\n".encode()
    held = line()
    held.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    assert held.send(ask).socket.recv(100).startswith(b"HTTP/1.1 200")
    wait_for(lambda: hasty.call(lambda _: len(hasty.app.connections)) == 0)
    assert len(held.rest()) < 60 << 20


def test_who_takes_a_little_now_and_then_is_not_let_go() -> None:
    """However much waits: as much comes as is taken."""
    most, taking = refusing.STALLED_S, wire.Taking()
    for at in range(100):
        assert not taking.stalled(1000 + at * most * 0.9, written=(at + 1) * 65536, waiting=65536)
    now = 1000 + 99 * most * 0.9
    assert not taking.stalled(now + most, written=101 * 65536, waiting=2 * 65536)
    assert taking.stalled(now + most + 1, written=102 * 65536, waiting=3 * 65536)
    assert not taking.stalled(now + 9 * most, written=102 * 65536, waiting=0)
    assert not taking.stalled(now + 99 * most, written=102 * 65536, waiting=0)


@pytest.mark.parametrize(("allowed", "most"), [(256, 192), (1024, 896), (8192, 7168), (20, 16)])
def test_files_are_left_for_what_else_the_server_opens(
    monkeypatch: pytest.MonkeyPatch, allowed: int, most: int
) -> None:
    monkeypatch.setattr(connections, "files", lambda: allowed)
    assert Connections().most == most
