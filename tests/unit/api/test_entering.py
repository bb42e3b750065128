"""The socket by which a task is entered, frame by frame: what a command line or a console sends and gets. The engine is
the double's.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.fixtures.api_server import Running, running
from trainmaster.api.routes import entering
from trainmaster.service.use_cases.entering import MOST

PROTOCOL = "v5.channel.k8s.io"
PATIENCE_S = 120.0
Enter = Callable[..., ClientConnection]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def job(server: Running) -> str:
    address, headers = f"{server.url}/api/v1/jobs", {"authorization": f"Bearer {server.token}"}
    body = {"spec": {"name": "a", "replicas": 2}}
    made = str(httpx.post(address, json=body, headers=headers, timeout=PATIENCE_S).json()["id"])
    server.call(lambda platform: platform.run(made))
    return made


@pytest.fixture
def enter(server: Running, job: str) -> Iterator[Enter]:
    opened = ExitStack()

    def made(*command: str, task: str = "main-0", of: str = job, language: str = "en", **more: Any) -> ClientConnection:
        address = f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{of}/exec?task={task}"
        headers = {"authorization": f"Bearer {server.token}", "accept-language": language}
        socket = connect(
            address, additional_headers=headers, subprotocols=[Subprotocol(PROTOCOL)], ping_timeout=None, proxy=None
        )
        opened.enter_context(socket)
        socket.send(json.dumps({"command": command, **more}))
        return socket

    with opened:
        yield made


def rest(socket: ClientConnection) -> tuple[bytes, bytes, Any]:
    """Return both outputs and the status at the end."""
    found = {1: b"", 2: b"", 3: b""}
    try:
        while True:
            message = socket.recv(PATIENCE_S)
            assert isinstance(message, bytes)
            found[message[0]] += message[1:]
    except ConnectionClosed:
        return found[1], found[2], json.loads(found[3])


def test_outputs_and_status_have_channels_of_their_own(enter: Enter) -> None:
    socket = enter("sh", "-c", "echo out; echo err >&2; exit 3")
    assert socket.subprotocol == PROTOCOL
    out, err, status = rest(socket)
    assert (out, err) == (b"out\n", b"err\n"), status
    assert status["status"] == "Failure"
    assert status["reason"] == "NonZeroExitCode"
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]
    assert rest(enter("true"))[2]["status"] == "Success"


def test_input_goes_in_until_its_channel_is_closed(enter: Enter) -> None:
    socket = enter("cat")
    data = bytes(range(256)) * 3000
    for at in range(0, len(data), 50_000):
        socket.send(b"\x00" + data[at : at + 50_000])
    socket.send(b"\xff\x00")
    assert rest(socket) == (data, b"", {"metadata": {}, "status": "Success"})


def test_the_window_is_as_large_as_was_said(enter: Enter) -> None:
    socket = enter("sh", "-c", "stty size; read x; stty size", tty=True, columns=101, rows=33)
    assert socket.recv(PATIENCE_S) == b"\x0133 101\r\n"
    socket.send(b'\x04{"Width": 120, "Height": 50}')
    socket.send(b"\x00\r")
    assert rest(socket)[0].endswith(b"50 120\r\n")


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (b"\x09?", "is on an unknown channel"),
        (b"\x04{}", "was not understood"),
        (b"\x04[", "was not understood"),
        (b"\xff\x01", "is on an unknown channel"),
        (b"", "is on an unknown channel"),
        ("text", "is on an unknown channel"),
        (b'\x04{"Width": "\xff", "Height": 1}', "it is not UTF-8"),
        (b'\x04{"Width": 1, "Height": 1, "Width": 2}', "is given twice"),
    ],
)
def test_what_is_no_message_ends_it_in_words(enter: Enter, message: bytes | str, rule: str) -> None:
    socket = enter("sleep", "300")
    socket.send(message)
    status = rest(socket)[2]
    assert rule in status["problem"]["problems"][0]["rule"]


@pytest.mark.parametrize(
    ("first", "rule"),
    [
        ("{", "not understood"),
        ("[]", "not understood"),
        ('{"command": []}', "not understood"),
        ('{"command": [""]}', "no program"),
        ('{"command": ["a\\u0000b"]}', "zero byte"),
        ('{"command": ["true"], "shell": true}', "not understood"),
        ('{"command": ["true"], "rows": 0}', "not understood"),
        (json.dumps({"command": ["x" * 70_000]}), "longer than 64 KiB"),
        (b"\x00", "not understood"),
        ('{"command": ["true"], "command": ["false"]}', "is given twice"),
        ('{"command": ["\\ud800"]}', "not understood"),
        ("[" * 50_000, "more than"),
    ],
)
def test_a_first_message_that_is_not_valid_runs_nothing(
    server: Running, job: str, first: str | bytes, rule: str
) -> None:
    headers = {"authorization": f"Bearer {server.token}"}
    with connect(
        f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{job}/exec", additional_headers=headers, proxy=None
    ) as socket:
        socket.send(first)
        assert rule in rest(socket)[2]["problem"]["problems"][0]["rule"]
    assert server.call(lambda platform: platform.noted) == []


def test_who_was_inside_is_written_down_before_and_without_what_may_be_secret(
    server: Running, enter: Enter, job: str
) -> None:
    rest(enter("/usr/bin/env", "true", "--password=hunter2", task="task0-1"))
    (event,) = server.call(lambda platform: list(platform.noted))
    assert (event.job, event.actor, event.attempt) == (job, "admin", 1)
    assert event.data == {"role": 0, "index": 1, "program": "env"}


def test_refusals_say_why_in_the_readers_language(server: Running, enter: Enter, job: str) -> None:
    for task in ("main-2", "other-0", "main", "task1-0", "..%2f"):
        assert rest(enter("true", task=task))[2]["reason"] == "not_found", task
    assert rest(enter("true", of="t" + "9" * 32))[2]["code"] == 404
    server.call(lambda platform: platform.finish(job))
    status = rest(enter("true"))[2]
    assert (status["reason"], status["code"]) == ("conflict", 409)
    assert status["message"] == "The job has ended; only a running replica can be entered"
    assert "tm logs" in status["problem"]["remedy"]
    assert "运行中的副本" in rest(enter("true", language="zh"))[2]["message"]


def test_without_a_credential_the_handshake_is_refused_with_a_problem_document(server: Running, job: str) -> None:
    address = f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{job}/exec"
    for headers, code in (({}, 401), ({"authorization": "Bearer tm_wrong"}, 401)):
        with pytest.raises(InvalidStatus) as refused:
            connect(address, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == code
        assert json.loads(refused.value.response.body)["kind"] == "unauthenticated"
    with pytest.raises(InvalidStatus) as refused:
        connect(
            address,
            additional_headers={"authorization": f"Bearer {server.token}"},
            origin=Origin("http://evil.example"),
            proxy=None,
        )
    assert refused.value.response.status_code == 403


def test_one_person_runs_only_so_many_at_a_time(enter: Enter) -> None:
    inside = [enter("sh", "-c", "echo here; sleep 300") for _ in range(MOST)]
    for socket in inside:
        assert socket.recv(PATIENCE_S) == b"\x01here\n"
    assert rest(enter("true"))[2]["reason"] == "rate_limited"
    inside[0].send(b"?")  # ends it, and says so when it has ended
    rest(inside[0])
    assert rest(enter("true"))[2]["status"] == "Success"


def test_a_server_that_stops_hangs_up(server: Running, enter: Enter) -> None:
    socket = enter("sh", "-c", "echo here; sleep 300")
    assert socket.recv(PATIENCE_S) == b"\x01here\n"
    server.call(lambda _: server.app.close_views())
    status = rest(socket)[2]
    assert status["reason"] == "unavailable"


def test_what_was_left_without_its_connection_ends(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while it reads nothing of what it is given."""
    monkeypatch.setattr(entering, "BEAT_S", 0.2)
    told = tmp_path / "told"
    socket = enter("sh", "-c", f"trap 'echo hung up > {told}; exit' HUP; echo here; while :; do sleep 0.1; done")
    assert socket.recv(PATIENCE_S) == b"\x01here\n"
    socket.send(b"\x00" + bytes(200_000))
    socket.socket.close()
    while not told.exists():
        pass
