"""kill -9 of the server while a file in a volume is replaced: the old one or the new one is there, whole (R52)."""

import contextlib
import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.crash.server.harness import Home, served_home
from trainmaster.core.errors import TrainmasterError
from trainmaster.sdk.client import Client

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_UPLOAD_KILLS", "6"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 20 * KILLS)]
LARGE: Final = 8 << 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}}) as made:
        yield made


def test_a_server_killed_during_an_upload_leaves_the_old_file_or_the_new_one(home: Home, tmp_path: Path) -> None:
    client, chance = Client(home=str(home.folder)), random.Random(11)
    volume = client.volumes.create("scratch")
    root, source = Path(home.layout.volumes, volume.id), tmp_path / "source"
    client.volumes.put(volume.id, "data/x", bytes([0]) * LARGE)
    for kill in range(1, KILLS + 1):
        source.write_bytes(bytes([kill]) * LARGE)

        def upload() -> None:
            with contextlib.suppress(TrainmasterError):
                client.volumes.upload(source, volume.id, "data/x")

        sending = threading.Thread(target=upload)
        sending.start()
        sending.join(chance.random() * 0.3)
        home.kill_server()
        content = (root / "files/data/x").read_bytes()
        assert content in [bytes([which]) * LARGE for which in (kill - 1, kill)]
        home.spawn()
        sending.join(120)
        assert not sending.is_alive()
        home.client().ask("GET", "/session")
        client.volumes.upload(source, volume.id, "data/x")
        assert (root / "files/data/x").read_bytes() == source.read_bytes()
        assert os.listdir(root / "files/data") == ["x"]
    home.kill_server()
    home.spawn()
    home.client().ask("GET", "/session")

    ends = time.monotonic() + 60
    while os.listdir(root / "arriving") and time.monotonic() < ends:  # what was on its way goes after a start
        time.sleep(0.05)  # another process: nothing tells
    assert os.listdir(root / "arriving") == []
    client.volumes.delete(volume.id)
    assert client.volumes.list() == []
