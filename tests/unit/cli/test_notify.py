"""tm notify against a real server and a real receiver."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.shell import ONE_NODE, Shell, serving, write
from trainmaster.cli.commands import notify
from trainmaster.service.notices import kinds

SETTINGS = ONE_NODE + '[webhooks]\nallow = ["127.0.0.0/8"]\nhttp = true\n'


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=SETTINGS) as shell:
        yield shell


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Any]]]:
    """An address, and what came there."""
    came: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", came
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_help_names_every_kind() -> None:
    assert tuple(notify.KINDS.split()) == kinds.KINDS


def test_a_webhook_from_the_command_line(tm: Shell, receiver: tuple[str, list[Any]]) -> None:
    url, came = receiver
    made = tm.json("notify", "webhook", "add", url, "--name", "mine")
    assert made["secret"].startswith("whsec_")
    assert "mine" in tm("notify", "webhook", "list")
    assert tm("notify", "webhook", "test", made["id"]).strip() == "sent: 204"
    assert came[0]["type"] == "test"
    assert [one["kind"] for one in tm.json("notify", "webhook", "deliveries", made["id"])] == ["test"]
    assert tm.json("notify", "webhook", "turn", made["id"], "off")["state"] == "off"
    assert "on or off" in tm("notify", "webhook", "turn", made["id"], "no", code=2)
    assert "deleted" in tm("notify", "webhook", "delete", made["id"])
    assert "No webhooks." in tm("notify", "webhook", "list")
    said = tm("notify", "webhook", "add", "https://10.0.0.1/x", code=2)
    assert "Webhooks may not be sent to 10.0.0.1" in said


def test_what_was_told_and_what_is_wanted(tm: Shell, tmp_path: Path) -> None:
    tm("submit", write(tmp_path / "j.json", "false"), "--wait", code=1)
    for _ in range(200):
        if found := tm.json("notify", "list", "--unread", "--kind", "failed"):
            break
    assert found[0]["text"]["zh"].endswith("退出码为 1）")
    listed = tm("notify", "list")
    assert "failed" in listed
    assert f"{found[0]['id'][:8]} *" in listed
    assert found[0]["id"][:9] not in listed
    assert "no notification nope" in tm("notify", "read", "nope", code=2)
    assert tm("notify", "read", found[0]["id"][:8]).strip() == "0 not read"
    assert f"{found[0]['id'][:8]} *" not in tm("notify", "list")
    assert tm("notify", "read").strip() == "0 not read"
    after = tm.json("notify", "settings", "--on", "ended:mail", "--off", "waits:console")
    assert (after["kinds"]["ended"]["mail"], after["kinds"]["waits"]["console"]) == (True, False)
    assert "There is no kind of notification nope" in tm("notify", "settings", "--on", "nope:mail", code=2)
    assert "KIND:WHERE" in tm("notify", "settings", "--on", "ended", code=2)
    assert "This server sends no e-mail" in tm("notify", "settings", "--address", "a@example.org", code=2)
