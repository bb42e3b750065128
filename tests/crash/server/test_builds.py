"""kill -9 of the server while an image is built: no version without an environment, nothing left over (R235, B18)."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.crash.server.harness import Home, served_home
from tests.fixtures.packages import take_only_from, wheel
from trainmaster.sdk.client import Client

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_BUILD_KILLS", "5"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 20 * KILLS)]
LONGEST_S: Final = 2.5


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    (folder := tmp_path / "packages").mkdir()
    wheel(folder, "common", "1.0", "value = 1\n" * 2000)
    for number in range(KILLS + 1):
        wheel(folder, f"own{number}", "1.0", f"value = {number}\n")
    take_only_from(folder, monkeypatch)
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}}) as made:
        yield made


def builders(home: Home) -> list[str]:
    """The command lines of what runs in the folder where environments are built."""
    where, found = str(Path(home.layout.environments, ".building")), []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        if where in line:
            found.append(line)
    return found


def whole(environment: Path) -> None:
    """What has a mark is an environment that runs, with all its packages."""
    site = next(environment.glob("lib/python3*/site-packages"))
    modules = sorted(path.stem for path in site.glob("*.py") if path.stem.startswith(("common", "own")))
    assert modules[0] == "common"
    assert len(modules) == 2
    assert (environment / "bin" / "python").exists()


def test_a_server_killed_during_a_build_leaves_nothing_half(home: Home) -> None:
    client, chance = Client(home=str(home.folder)), random.Random(5)
    folder = Path(home.layout.environments)
    for number in range(KILLS):
        asked = client.images.create("env", requirements=f"common\nown{number}\n")
        time.sleep(chance.random() * LONGEST_S)  # anywhere in the build, or behind it
        home.kill_server()
        for mark in folder.glob("*.json"):
            whole(mark.with_suffix(""))
        home.spawn()
        home.client().ask("GET", "/session")
        deadline = time.monotonic() + 10
        while builders(home) and time.monotonic() < deadline:
            time.sleep(0.05)  # another process: nothing tells
        assert not builders(home), "what built an image outlives the server"
        ended = client.images.build(asked.id)
        assert ended.state in ("stopped", "ready")
        images = client.images.list()
        versions = client.images.get("env").versions if images else []
        assert [one.version for one in versions] == list(range(len(versions), 0, -1))
        if ended.state == "ready":
            assert ended.version in [one.version for one in versions]
        marked = {mark.stem for mark in folder.glob("*.json")}
        assert {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")} == marked
        assert not list((folder / ".building").glob("*"))
        assert len(versions) <= len(marked)
    made = client.images.wait(client.images.create("env", requirements=f"common\nown{KILLS}\n").id)
    assert made.state == "ready"
    detail = client.images.get("env")
    assert detail.version == made.version
    assert detail.built
