"""Who may no longer see or enter something is shown out: every stream, socket and download that goes on ends, and says
why.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, update
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.fixtures.api_server import Running, running
from trainmaster.core.errors import Unauthenticated
from trainmaster.sdk.transport import Transport
from trainmaster.service.people import people
from trainmaster.store import tables

API = "/api/v1"
PATIENCE_S = 120.0
LARGE = 64 << 20
"""Bytes: more than the buffers of a connection hold."""
TASK = "/jobs/{job}/attempts/last/tasks/task0-0/log"
VIEWS = ("/feed", "/feed?job={job}", f"{TASK}/follow")
DOWNLOADS = (
    f"{TASK}/download",
    "/jobs/{job}/logs.zip",
    "/jobs/{job}/files/content?path=model/large",
    "/jobs/{job}/files/download?path=model",
)
PASSWORD, OTHER = "correct horse battery", "a quite different one"
Headers = dict[str, str]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def owner(server: Running) -> Iterator[httpx.Client]:
    """The administrator at the machine, who is never shown out."""
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx.Client(base_url=server.url + API, headers=headers, timeout=PATIENCE_S) as client:
        yield client


@pytest.fixture
def job(server: Running, owner: httpx.Client) -> str:
    """A running job that has written a lot."""
    made = str(owner.post("/jobs", json={"spec": {"name": "a"}}).json()["id"])
    server.call(lambda platform: platform.run(made))
    log = Path(server.platform.layout.task(made, 1, 0, 0).log)
    log.write_bytes(os.urandom(LARGE))
    model = Path(server.platform.layout.model_out(made))
    model.mkdir(parents=True)
    (model / "large").write_bytes(os.urandom(LARGE))
    return made


def token(owner: httpx.Client) -> tuple[Headers, str]:
    """Make an API token; return what is sent with it, and its id."""
    made = owner.post("/tokens", json={"name": "guest"}).json()
    return {"authorization": f"Bearer {made['token']}"}, made["id"]


def session(server: Running, password: str = PASSWORD) -> Headers:
    """Sign in; return what a browser then sends."""
    with httpx.Client(base_url=server.url + API, timeout=PATIENCE_S) as browser:
        signed = browser.post("/session", json={"username": "admin", "password": password})
        return {"cookie": f"tm_session={browser.cookies['tm_session']}", "x-session-key": signed.json()["key"]}


def last_words(server: Running, path: str, headers: Headers, then: Callable[[], Any]) -> dict[str, Any]:
    """Open a live view, do `then` once it is open, and return what it says at its end."""
    event, said = "", {}
    with httpx.stream("GET", server.url + API + path, headers=headers, timeout=PATIENCE_S) as stream:
        assert stream.status_code == 200, stream.read()
        lines = stream.iter_lines()
        assert next(lines) == ": stream"
        doing = threading.Thread(target=then)
        doing.start()
        for line in lines:
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: ") and event == "refused":
                said = json.loads(line.removeprefix("data: "))
        doing.join()
    return said


@pytest.mark.parametrize("path", VIEWS)
def test_a_live_view_ends_with_the_token(server: Running, owner: httpx.Client, job: str, path: str) -> None:
    headers, id_ = token(owner)
    said = last_words(server, path.format(job=job), headers, lambda: owner.delete(f"/tokens/{id_}"))
    assert (said["status"], said["kind"]) == (401, "unauthenticated")
    assert said["title"] == "The token is invalid or has expired"
    assert said["remedy"]


def test_the_end_is_told_in_the_readers_language(server: Running, owner: httpx.Client) -> None:
    headers, id_ = token(owner)
    said = last_words(server, "/feed", {**headers, "accept-language": "zh"}, lambda: owner.delete(f"/tokens/{id_}"))
    assert any("\u4e00" <= letter <= "\u9fff" for letter in said["title"])


def test_signing_out_ends_what_the_session_looks_at(server: Running, owner: httpx.Client) -> None:
    owner.post("/session/password", json={"new": PASSWORD})
    mine, others = session(server), session(server)
    address = f"{server.url}{API}/session"
    said = last_words(server, "/feed", mine, lambda: httpx.delete(address, headers=mine, timeout=PATIENCE_S))
    assert said["status"] == 401
    assert "session has ended" in said["title"]
    assert httpx.get(address, headers=others, timeout=PATIENCE_S).status_code == 200


def test_a_new_password_ends_what_other_sessions_look_at(server: Running, owner: httpx.Client) -> None:
    owner.post("/session/password", json={"new": PASSWORD})
    mine, others = session(server), session(server)
    change = {"old": PASSWORD, "new": OTHER}
    address = f"{server.url}{API}/session"

    def changes() -> None:
        httpx.post(f"{address}/password", headers=mine, json=change, timeout=PATIENCE_S)

    assert last_words(server, "/feed", others, changes)["status"] == 401
    assert httpx.get(address, headers=mine, timeout=PATIENCE_S).status_code == 200


AWAY = {
    "the token": delete(tables.tokens),
    "the session": delete(tables.sessions),
    "the user": delete(tables.users),
    "a right": update(tables.users).values(role="user"),
}


@pytest.mark.parametrize("what", AWAY)
def test_what_another_process_takes_away_ends_when_it_is_asked_for_again(
    server: Running, owner: httpx.Client, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Another server on the same database, or somebody at the database itself: it is believed for as long as is
    remembered.
    """
    monkeypatch.setattr(people, "REMEMBER_S", 0.3)
    owner.post("/session/password", json={"new": PASSWORD})
    headers = session(server) if what == "the session" else token(owner)[0]
    database = server.platform.database
    said = last_words(server, "/feed", headers, lambda: database.write(lambda c: c.execute(AWAY[what])).result(30))
    assert said["status"] == (403 if what == "a right" else 401)


def test_a_token_that_expires_ends_what_it_opened(server: Running, owner: httpx.Client) -> None:
    """The clock stands still until the view is open: on a busy machine that alone may take longer."""
    now = time.time()
    server.call(lambda platform: setattr(platform.people, "_clock", lambda: now))
    made = owner.post("/tokens", json={"name": "short", "expires_in_s": 1.5}).json()

    def goes_on() -> None:
        server.call(lambda platform: setattr(platform.people, "_clock", time.time))

    assert last_words(server, "/feed", {"authorization": f"Bearer {made['token']}"}, goes_on)["status"] == 401


def test_a_shell_ends_with_the_token(server: Running, owner: httpx.Client, job: str) -> None:
    """What runs inside is hung up, and the terminal is told why."""
    headers, id_ = token(owner)
    address = f"{server.url.replace('http', 'ws')}{API}/jobs/{job}/exec?task=main-0"
    with connect(address, additional_headers=headers, ping_timeout=None, proxy=None) as socket:
        socket.send(json.dumps({"command": ["sh", "-c", "echo $$; exec sleep 1000"]}))
        first = socket.recv(PATIENCE_S)
        assert isinstance(first, bytes)
        process = int(first[1:])
        owner.delete(f"/tokens/{id_}")
        messages = [first]
        with pytest.raises(ConnectionClosed):  # noqa: PT012 - it comes after the last message
            while True:
                messages.append(socket.recv(PATIENCE_S))  # type: ignore[arg-type]
    status = json.loads(messages[-1][1:])
    assert (messages[-1][0], status["code"]) == (3, 401)
    assert status["problem"]["title"] == "The token is invalid or has expired"
    give_up = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < give_up, "it is hung up"
        time.sleep(0.02)  # it is told at once, and ends when it has its turn


@pytest.mark.parametrize("path", DOWNLOADS)
def test_a_download_breaks_with_the_token(server: Running, owner: httpx.Client, job: str, path: str) -> None:
    """It cannot say why, so the connection breaks: nobody takes the part for the whole."""
    headers, id_ = token(owner)
    address, got = server.url + API + path.format(job=job), 0
    with httpx.stream("GET", address, headers=headers, timeout=PATIENCE_S) as stream:
        assert stream.status_code == 200
        pieces = stream.iter_raw()
        got += len(next(pieces))
        owner.delete(f"/tokens/{id_}")
        with pytest.raises(httpx.RemoteProtocolError):  # noqa: PT012 - it comes somewhere on the way
            for piece in pieces:
                got += len(piece)
    assert got < LARGE


def test_the_sdk_raises_what_it_is_told(server: Running, owner: httpx.Client) -> None:
    """So `tm logs -f` and a waiting program end with the words, and do not try for ever."""
    headers, id_ = token(owner)
    transport = Transport(server.url, headers["authorization"].removeprefix("Bearer "))
    seen = transport.events("/feed", {"after": server.call(lambda platform: platform.feed.here())})
    owner.post("/jobs", json={"spec": {"name": "a"}})
    assert next(seen).event == "job"
    owner.delete(f"/tokens/{id_}")
    with pytest.raises(Unauthenticated, match="is invalid"):
        for _ in seen:
            pass
    transport.close()
