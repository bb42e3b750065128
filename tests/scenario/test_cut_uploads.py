"""Uploads of each kind whose line breaks at every tenth of their way, over a real socket: nothing is half registered,
what may be gone on from is, and in the end all of it is there.
"""

import contextlib
import hashlib
import http.client
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.fixtures.shell import ONE_NODE, Shell, serving
from trainmaster.core.folders.layout import Layout
from trainmaster.sdk.client import Client
from trainmaster.sdk.pack import pack

TENTHS: Final = range(10)
PATIENCE_S: Final = 60.0
LARGE: Final = random.Random(4).randbytes(5 << 20)


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


class Door:
    """The server, as a client whose line breaks."""

    def __init__(self, tm: Shell) -> None:
        self.layout = Layout(str(tm.home))
        self.client = Client(home=str(tm.home))
        self._address = urlsplit(self.client.url)
        self._token = Path(self.layout.cli_token).read_text().strip()

    def cut(self, method: str, path: str, body: bytes, tenth: int, media: str) -> None:
        """Announce all of `body`, send some tenths of it, and break the line."""
        assert self._address.hostname is not None
        assert self._address.port is not None
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: {self._address.netloc}\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((self._address.hostname, self._address.port)) as line:
            line.sendall(head.encode())
            line.sendall(body[: len(body) * tenth // 10])
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if tenth % 2 else b"\0" * 8)

    def whole(self, method: str, path: str, body: bytes, media: str) -> int:
        """Send all of it; return the status of the answer."""
        assert self._address.hostname is not None
        line = http.client.HTTPConnection(self._address.hostname, self._address.port, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": media}
        line.request(method, f"/api/v1{path}", body, headers)
        answer = line.getresponse()
        answer.read()
        line.close()
        return answer.status


@pytest.fixture(scope="module")
def door(tm: Shell) -> Door:
    return Door(tm)


def until(true: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit, what
        time.sleep(0.05)  # another process: nothing tells


def below(folder: str) -> set[str]:
    """Return all files below a folder."""
    return {os.path.join(at, name) for at, _, names in os.walk(folder) for name in names}


@pytest.mark.parametrize("tenth", TENTHS)
def test_code(door: Door, tmp_path: Path, tenth: int) -> None:
    (tmp_path / "train.py").write_bytes(b"x = 1\n")
    (tmp_path / "data.bin").write_bytes(random.Random(tenth).randbytes(1 << 20))
    body, uploads = b"".join(pack(tmp_path)), os.path.join(door.layout.bulk, "uploads")
    before = below(uploads)
    door.cut("POST", "/uploads", body, tenth, "application/gzip")
    until(lambda: below(uploads) == before, "something is left of it")
    assert door.whole("POST", "/uploads", body, "application/gzip") == 201
    until(lambda: below(uploads) > before, "it is there")


def test_a_data_set_goes_on_from_every_tenth(door: Door) -> None:
    """One content in pieces: whatever came stays, and is not asked for again; a version is there when all is."""
    name = hashlib.sha256(LARGE).hexdigest()
    wanted = {"name": "cut", "files": [{"path": "large", "size": len(LARGE), "sha256": name}], "workspace": "default"}
    upload = door.client.http.json("POST", "/datasets/uploads", json=wanted)["id"]

    def far() -> int:
        return int(door.client.http.json("GET", f"/datasets/uploads/{upload}")["begun"].get(name, 0))

    path, at = f"/datasets/uploads/{upload}/contents/{name}", 0
    for tenth in TENTHS:
        door.cut("PUT", f"{path}?offset={at}", LARGE[at:], tenth, "application/octet-stream")
        most = at + (len(LARGE) - at) * tenth // 10
        last, seen = -1, far()
        while seen != last:  # until the server has taken in what came, and has let go of the content
            last = seen
            time.sleep(0.2)  # another process: nothing tells
            seen = far()
        assert at <= seen <= most
        at = seen
        assert "cut" not in {one.name for one in door.client.datasets.list()}
        assert door.whole("POST", f"/datasets/uploads/{upload}/commit", b"", "application/json") == 409
    assert at > 0
    until(lambda: door.whole("PUT", f"{path}?offset={far()}", LARGE[far() :], "application/octet-stream") == 200, "all")
    assert door.whole("POST", f"/datasets/uploads/{upload}/commit", b"", "application/json") == 201
    [version] = door.client.datasets.get("cut").history
    assert version.size_bytes == len(LARGE)


@pytest.mark.parametrize("tenth", TENTHS)
def test_small_contents_of_a_data_set_come_together_or_not_at_all(door: Door, tenth: int) -> None:
    contents = [f"{tenth} {number}\n".encode() * 4000 for number in range(20)]
    names = [hashlib.sha256(one).digest() for one in contents]
    listed = [
        {"path": f"{at}.txt", "size": len(one), "sha256": name.hex()}
        for at, (one, name) in enumerate(zip(contents, names, strict=True))
    ]
    wanted: dict[str, Any] = {"name": f"small{tenth}", "files": listed, "workspace": "default"}
    upload = door.client.http.json("POST", "/datasets/uploads", json=wanted)["id"]
    body = b"".join(name + len(one).to_bytes(4, "big") + one for one, name in zip(contents, names, strict=True))
    path = f"/datasets/uploads/{upload}"
    door.cut("POST", f"{path}/contents", body, tenth, "application/octet-stream")
    assert len(door.client.http.json("GET", path)["missing"]) == 20
    assert door.whole("POST", f"{path}/commit", b"", "application/json") == 409
    assert door.whole("POST", f"{path}/contents", body, "application/octet-stream") == 200
    assert door.whole("POST", f"{path}/commit", b"", "application/json") == 201
    assert door.client.datasets.get(f"small{tenth}").history[0].files == 20


@pytest.mark.parametrize("tenth", TENTHS)
def test_a_file_of_a_volume_is_the_old_one_or_the_new_one(door: Door, tenth: int) -> None:
    with contextlib.suppress(Exception):
        door.client.volumes.create("scratch")
    volume = door.client.volumes.get("scratch").id
    path, media = f"/volumes/{volume}/files/content?path=deep/file", "application/octet-stream"
    root = Path(door.layout.volumes, volume)
    assert door.whole("PUT", path, b"old", media) == 200
    door.cut("PUT", path, LARGE, tenth, media)
    until(lambda: not below(str(root / "arriving")), "something is left of it")
    assert (root / "files" / "deep" / "file").read_bytes() == b"old"
    assert door.whole("PUT", path, LARGE, media) == 200
    assert (root / "files" / "deep" / "file").read_bytes() == LARGE
