"""What surrounds the API: headers, health, measurements, the console's files."""

import gzip
from pathlib import Path
from typing import Any

import httpx
import pytest

from trainmaster.api.socket.front import Hosts
from trainmaster.api.static import Console


async def test_every_answer_is_dressed(http: httpx.AsyncClient) -> None:
    for path in ("/", "/healthz", "/api/v1/session", "/api/v1/nothing", "/jobs/t123"):
        headers = (await http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        scripts = headers["content-security-policy"].partition("script-src")[2].partition(";")[0]
        assert "unsafe-inline" not in scripts


async def test_alive_and_ready(platform: Any, http: httpx.AsyncClient) -> None:
    assert (await http.get("/healthz")).json() == {"ok": True}
    assert (await http.get("/readyz")).status_code == 200
    platform.well = False
    answer = await http.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"ledger": "The disk is full"}


async def test_measurements_are_for_holders_of_a_token_on_this_computer_too(
    http: httpx.AsyncClient, token: str
) -> None:
    """B11: jobs run on this computer, and a job that counts the server's events sees what others do."""
    assert (await http.get("/metrics")).status_code == 401
    text = (await http.get("/metrics", headers={"authorization": f"Bearer {token}"})).text
    assert "trainmaster_jobs_queued 1.0" in text
    assert 'trainmaster_jobs_ended_total{state="succeeded"} 3.0' in text


@pytest.mark.parametrize(
    ("bound", "header", "ours"),
    [
        ("127.0.0.1", "127.0.0.1:8470", True),
        ("127.0.0.1", "127.0.0.2", True),
        ("127.0.0.1", "[::1]:8470", True),
        ("127.0.0.1", "192.0.2.1:8470", False),
        ("127.0.0.1", "train.example", False),
        ("0.0.0.0", "192.0.2.1:8470", True),
        ("0.0.0.0", "train.example", False),
        ("192.0.2.1", "192.0.2.1:80", True),
        ("192.0.2.1", "192.0.2.2:80", False),
        ("127.0.0.1", "allowed.example:443", True),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "[", False),
    ],
)
def test_which_hosts_are_ours(bound: str, header: str, ours: bool) -> None:
    assert Hosts(bound, ["allowed.example"]).ours(header) is ours


async def test_the_console_is_one_page_with_hashed_files(tmp_path: Path) -> None:
    built = tmp_path / "console"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html>")
    (built / "assets" / "index-abc.js").write_text("x" * 5000)
    (built / "assets" / "index-abc.js.gz").write_bytes(gzip.compress(b"x" * 5000))
    (built / "assets" / "index-abc.js.br").write_bytes(b"the same, smaller")
    (tmp_path.parent / "outside.txt").write_text("secret")
    console = Console(tmp_path)
    page = await console.answer("jobs/t123", "")
    assert page.body == b"<!doctype html>"
    assert page.headers["cache-control"] == "no-cache"
    script = await console.answer("assets/index-abc.js", "gzip, deflate, br;q=0")
    assert script.headers["cache-control"].endswith("immutable")
    assert script.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(script.body)) == b"x" * 5000
    smaller = await console.answer("assets/index-abc.js", "gzip, deflate, br")
    assert (smaller.headers["content-encoding"], smaller.body) == ("br", b"the same, smaller")
    plain = await console.answer("assets/index-abc.js", "zstd")
    assert "content-encoding" not in plain.headers
    assert plain.body == b"x" * 5000
    assert script.media_type in ("text/javascript", "application/javascript")
    for path in ("../outside.txt", "assets/../../outside.txt", "/etc/passwd", "..%2foutside.txt"):
        if not path.startswith("assets/"):
            assert (await console.answer(path, "")).body == b"<!doctype html>"
    from trainmaster.core.errors import NotFound

    with pytest.raises(NotFound):
        await console.answer("assets/index-old.js", "")


async def test_documentation_is_served_where_it_was_built_and_else_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "console").mkdir()
    (tmp_path / "console/index.html").write_text("<!doctype html>")
    missing = await Console(tmp_path).answer("docs/guide/waiting.html", "")
    assert missing.status_code == 404
    assert b"docs/guide" in missing.body
    (tmp_path / "docs/guide").mkdir(parents=True)
    (tmp_path / "docs/index.html").write_text("all chapters")
    (tmp_path / "docs/guide/waiting.html").write_text("why it waits")
    console = Console(tmp_path)
    assert (await console.answer("docs/guide/waiting.html", "")).body == b"why it waits"
    assert (await console.answer("docs/", "")).body == b"all chapters"
    assert (await console.answer("docs", "")).headers["location"] == "/docs/"
    assert (await console.answer("docs/no-such-page.html", "")).status_code == 404


async def test_a_server_without_the_console_says_how_to_get_it(tmp_path: Path) -> None:
    page = await Console(tmp_path / "none").answer("", "")
    assert b"hatch_build.py" in page.body
    assert page.status_code == 200
