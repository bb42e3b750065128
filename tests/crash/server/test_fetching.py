"""kill -9 during downloads of a data set, of the server and of the client: what is there is whole, and it goes on."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.crash.server.harness import Home, served_home
from trainmaster.core.errors import TrainmasterError
from trainmaster.sdk.client import Client

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_DOWNLOAD_KILLS", "6"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 20 * KILLS)]
LARGE: Final = 60 << 20
_CLIENT: Final = """
import sys
from trainmaster.sdk.client import Client
print("begins", flush=True)
Client(home=sys.argv[1]).datasets.download("data", 1, sys.argv[2])
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}}) as made:
        yield made


def whole(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".part")
    }


def test_what_is_killed_during_a_download_leaves_nothing_half(home: Home, tmp_path: Path) -> None:
    source, to = tmp_path / "data", tmp_path / "to"
    (source / "many").mkdir(parents=True)
    for number in range(400):
        (source / "many" / f"{number}.txt").write_text(f"{number}\n" * 50)
    (source / "large.bin").write_bytes(random.Random(7).randbytes(LARGE))
    expected = whole(source)
    client, chance = Client(home=str(home.folder)), random.Random(11)
    client.datasets.upload(source, "data")
    for kill in range(KILLS):
        if kill % 2:  # the client
            process = subprocess.Popen(
                [sys.executable, "-c", _CLIENT, str(home.folder), str(to)], stdout=subprocess.PIPE, text=True
            )
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.random() * 0.5)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        else:  # the server, which is there again while the client tries

            def download() -> None:
                with contextlib.suppress(TrainmasterError):
                    client.datasets.download("data", 1, to)

            receiving = threading.Thread(target=download)
            receiving.start()
            receiving.join(chance.random() * 0.5)
            home.kill_server()
            assert expected.items() >= whole(to).items()
            home.spawn()
            receiving.join(120)
            assert not receiving.is_alive()
            home.client().ask("GET", "/session")
        assert expected.items() >= whole(to).items()
    client.datasets.download("data", 1, to)
    assert whole(to) == expected
    assert not list(to.rglob("*.part"))
