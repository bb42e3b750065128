"""Live views over a real connection: the feed, following a log, and their ends."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_server import Running, running

SPEC = {"spec": {"name": "a"}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=server.url + "/api/v1", headers={"authorization": f"Bearer {server.token}"}, timeout=30
    ) as client:
        yield client


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any, str]]:
    event = data = mark = ""
    for line in lines:
        if line.startswith("event: "):
            event = line[7:]
        elif line.startswith("data: "):
            data = line[6:]
        elif line.startswith("id: "):
            mark = line[4:]
        elif not line and data:
            yield event, json.loads(data), mark
            event = data = mark = ""


def test_list_then_watch_misses_nothing(server: Running, http: httpx.Client) -> None:
    made = http.post("/jobs", json=SPEC).json()
    seq = http.get("/jobs").json()["seq"]
    server.call(lambda p: p.run(made["id"]))  # between the list and the watch
    with http.stream("GET", "/feed", params={"after": seq}) as stream:
        feed = events(stream.iter_lines())
        event, first, mark = next(feed)
        assert (event, first["state"], first["id"]) == ("job", "running", made["id"])
        server.call(lambda p: p.finish(made["id"]))
        event, job, last = next(feed)
        assert (event, job["state"]) == ("job", "succeeded")
        assert (mark, last) == (first["seq"], job["seq"])
    with http.stream("GET", "/feed", headers={"last-event-id": mark}) as stream:  # as a browser reconnects
        assert next(events(stream.iter_lines()))[1]["state"] == "succeeded"


def test_a_watcher_of_one_job_sees_only_that_job(server: Running, http: httpx.Client) -> None:
    one, other = (http.post("/jobs", json=SPEC).json()["id"] for _ in range(2))
    seq = http.get("/jobs").json()["seq"]
    with http.stream("GET", "/feed", params={"after": seq, "job": one}) as stream:
        server.call(lambda p: (p.finish(other), p.finish(one)))
        assert next(events(stream.iter_lines()))[1]["id"] == one


def listeners(server: Running, wanted: int) -> int:
    """Return how many watch, after waiting until it is as wanted (or long enough)."""
    until = time.monotonic() + 20
    while (now := int(server.call(lambda p: p.feed.listeners))) != wanted and time.monotonic() < until:
        time.sleep(0.02)
    return now


def test_a_reader_that_goes_is_noticed(server: Running, http: httpx.Client) -> None:
    with http.stream("GET", "/feed") as stream:
        lines = stream.iter_lines()  # dropping the iterator would close the connection
        next(lines)
        assert listeners(server, 1) == 1
    assert listeners(server, 0) == 0


def test_closing_the_server_ends_live_views(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        ended = threading.Event()
        open_ = threading.Event()

        def read() -> None:
            with httpx.stream(
                "GET", server.url + "/api/v1/feed", headers={"authorization": f"Bearer {server.token}"}
            ) as stream:
                open_.set()
                for _ in stream.iter_lines():
                    pass
            ended.set()

        threading.Thread(target=read, daemon=True).start()
        assert open_.wait(20)
    assert ended.wait(20)


def test_a_log_is_followed_to_its_end(server: Running, http: httpx.Client) -> None:
    job = http.post("/jobs", json=SPEC).json()["id"]
    server.call(lambda p: p.run(job))
    log = Path(server.platform.layout.task(job, 1, 0, 0).log)
    log.write_text("one\n")
    got, ended = "", False
    with http.stream("GET", f"/jobs/{job}/attempts/last/tasks/task0-0/log/follow") as stream:
        for event, data, mark in events(stream.iter_lines()):
            if event == "end":
                ended = True
                break
            got += data["text"]
            assert int(mark) == data["next_offset"]
            if got == "one\n":
                with log.open("a") as file:
                    file.write("zwei: 二\n")
            elif got.endswith("二\n"):
                server.call(lambda p: p.finish(job))
    assert ended
    assert got == "one\nzwei: 二\n"


def test_reading_searching_and_downloading_a_log(server: Running, http: httpx.Client) -> None:
    job = http.post("/jobs", json=SPEC).json()["id"]
    base = f"/jobs/{job}/attempts/1/tasks/task0-0/log"
    assert http.get(base).status_code == 404  # not started: nothing to read, and it says so
    server.call(lambda p: p.run(job))
    Path(server.platform.layout.task(job, 1, 0, 0).log).write_text("".join(f"line {n}\n" for n in range(1000)))
    assert http.get(base, params={"line": 500, "count": 2}).json()["text"] == "line 500\nline 501\n"
    assert http.get(base, params={"tail": 1}).json()["text"] == "line 999\n"
    assert http.get(base, params={"offset": -5}).json()["text"] == " 999\n"
    hits = http.get(base + "/search", params={"q": "line 77"}).json()
    assert [hit["line"] for hit in hits["items"]] == [77, *range(770, 780)]
    bad = http.get(base + "/search", params={"q": "(", "regex": True})
    assert bad.status_code == 422
    download = http.get(base + "/download")
    assert download.text.endswith("line 999\n")
    assert download.headers["content-disposition"].startswith("attachment")
    assert http.get(f"/jobs/{job}/logs.zip").content[:2] == b"PK"
    assert http.get(f"/jobs/{job}/attempts/2/tasks/task0-0/log").status_code == 404
    assert http.get(f"/jobs/{job}/attempts/1/tasks/task0-1/log").status_code == 404
    assert http.get(f"/jobs/{job}/attempts/1/tasks/..%2f..%2fx/log").status_code == 404


def test_files_that_a_job_wrote(server: Running, http: httpx.Client) -> None:
    job = http.post("/jobs", json=SPEC).json()["id"]
    model = Path(server.platform.layout.model_out(job))
    model.mkdir(parents=True)
    (model / "page.html").write_text("<script>alert(1)</script>")
    (model / "link").symlink_to("/etc/passwd")
    assert [item["name"] for item in http.get(f"/jobs/{job}/files").json()["items"]] == ["model", "outputs"]
    assert {item["path"] for item in http.get(f"/jobs/{job}/files", params={"path": "model"}).json()["items"]} == {
        "model/page.html",
        "model/link",
    }
    content = http.get(f"/jobs/{job}/files/content", params={"path": "model/page.html"})
    assert content.headers["content-type"] == "text/plain; charset=utf-8"  # never a page of ours
    assert "sandbox" in content.headers["content-security-policy"]
    assert content.headers["content-disposition"].startswith("attachment")
    for path in ("model/link", "model/../../../secrets/cli-token", "/etc/passwd", "secrets", "model/none"):
        assert http.get(f"/jobs/{job}/files/content", params={"path": path}).status_code == 404, path
    assert http.get(f"/jobs/{job}/files/download", params={"path": "model"}).content[:2] == b"PK"


def test_uploading_code(server: Running, http: httpx.Client, tmp_path: Path) -> None:
    from trainmaster.sdk.pack import folder_digest, pack

    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)\n")
    first = http.post("/uploads", content=pack(folder), headers={"content-type": "application/gzip"})
    assert first.status_code == 201, first.text
    assert first.json()["upload"] == f"sha256:{folder_digest(folder)}"
    assert http.post("/uploads", content=pack(folder)).json() == first.json()
    assert http.post("/uploads", content=b"not an archive").status_code == 422
