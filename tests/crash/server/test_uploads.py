"""kill -9 of the server while a data set is uploaded: nothing is half there, and the upload goes on (R28, R60)."""

import contextlib
import hashlib
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.crash.server.harness import Home, served_home
from trainmaster.core.errors import TrainmasterError
from trainmaster.sdk.client import Client

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_UPLOAD_KILLS", "8"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 20 * KILLS)]
LARGE: Final = 40 << 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}}) as made:
        yield made


def whole(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_server_killed_during_an_upload_leaves_nothing_half(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "data"
    (source / "many").mkdir(parents=True)
    for number in range(400):
        (source / "many" / f"{number}.txt").write_text(f"{number}\n" * 50)
    (source / "large.bin").write_bytes(random.Random(7).randbytes(LARGE))
    client, ids = Client(home=str(home.folder)), list[str]()
    chance, datasets = random.Random(11), Path(home.layout.datasets)
    for _ in range(KILLS):

        def upload() -> None:
            with contextlib.suppress(TrainmasterError):
                client.datasets.upload(source, "data", on_begin=ids.append, upload=ids[0] if ids else None)

        sending = threading.Thread(target=upload)
        sending.start()
        sending.join(chance.random() * 2.5)
        home.kill_server()
        for folder in datasets.glob("u*"):  # renamed, whole and read-only, or not there
            assert whole(folder / "files") == whole(source)
        home.spawn()
        sending.join(120)
        assert not sending.is_alive()
        home.client().ask("GET", "/session")
        listed = client.datasets.list()
        assert [one.versions for one in listed] in ([], [1])
    made = client.datasets.upload(source, "data", upload=ids[0] if ids else None)
    detail = client.datasets.get("data")
    assert made.version.version == detail.latest
    assert whole(Path(str(detail.history[0].path), "files")) == whole(source)
    for kept in (datasets / ".contents").glob("*/*"):
        assert hashlib.sha256(kept.read_bytes()).hexdigest() == kept.name.removesuffix(".x")
    assert not any((datasets / ".uploads" / one).exists() for one in ids)
    assert len(list(datasets.glob("u*"))) == len(detail.history)
