"""kill -9 of the server while a container image is pulled and unpacked: nothing half is a version, and the runtime is
given its space back (R25, R26).

TRAINMASTER_TEST_PULL_KILLS sets how many kills.
"""

import hashlib
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.crash.server.harness import Home, served_home
from tests.fixtures.podman import Podman, podman
from tests.fixtures.registry import PASSWORD, USER, Registry, entry, registry, small_system
from trainmaster.answers import ImageBuild
from trainmaster.core.errors import InvalidSpec
from trainmaster.sdk.client import Client

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_PULL_KILLS", "4"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 40 * KILLS)]

LONGEST_S: Final = 3.0
LARGE: Final = 16 << 20
PATIENCE_S: Final = 60.0
SECRET: Final = "REGISTRY"


@pytest.fixture
def images() -> Iterator[Registry]:
    with registry() as held:
        yield held


@pytest.fixture
def runtime(images: Registry) -> Iterator[Podman]:
    with podman(images.host) as one:
        yield one


@pytest.fixture
def home(tmp_path: Path, runtime: Podman) -> Iterator[Home]:
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1, "containers": runtime.socket}}) as made:
        yield made


def large(number: int) -> bytes:
    return random.Random(number).randbytes(LARGE)


def begun(client: Client, container: str) -> ImageBuild:
    """Begin a build. A runtime that still pulls what nobody waits for may not answer in time, and is asked again."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        try:
            return client.images.create("env", container=container, secret=SECRET)
        except InvalidSpec as error:
            if [one.code for one in error.problems] != ["runtime_silent"] or time.monotonic() > limit:
                raise
        time.sleep(0.2)  # another process: nothing tells


def whole(folder: Path, known: dict[str, int]) -> set[int]:
    """What has a mark has every file of its image; return which images those are. `known`: by the digest of what tells
    them apart.
    """
    found = set()
    for mark in folder.glob("*.json"):
        (place,) = mark.with_suffix("").rglob("opt/big")
        found.add(known[digest(place.read_bytes())])
        assert (place.parent.parent / "etc/image-mark").read_bytes() == b"of the image\n"
    return found


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def empty(runtime: Podman) -> bool:
    """Whether the runtime holds nothing of ours any more; a pull that nobody waits for ends by itself."""
    limit = time.monotonic() + PATIENCE_S
    while runtime.has() != ([], []):
        if time.monotonic() > limit:
            return False
        time.sleep(0.2)  # another process: nothing tells
    return True


def test_a_server_killed_during_a_pull_leaves_nothing_half(home: Home, images: Registry, runtime: Podman) -> None:
    client, chance = Client(home=str(home.folder)), random.Random(23)
    home.client().ask("PUT", f"/workspaces/default/secrets/{SECRET}", {"value": f"{USER}:{PASSWORD}"})
    folder, known = Path(home.layout.environments), dict[str, int]()
    for number in range(KILLS + 1):
        known[digest(large(number))] = number
        images.put(f"team/large{number}", small_system([(entry("opt/big"), large(number))]))
    for number in range(KILLS):
        asked = begun(client, f"{images.host}/team/large{number}:latest")
        time.sleep(chance.random() * LONGEST_S)  # anywhere in pulling, unpacking, or behind them
        home.kill_server()
        whole(folder, known)
        home.spawn()
        home.client().ask("GET", "/session")
        ended = client.images.build(asked.id)
        assert ended.state in ("stopped", "ready")
        versions = client.images.get("env").versions if client.images.list() else []
        assert [one.version for one in versions] == list(range(len(versions), 0, -1))
        if ended.state == "ready":
            assert ended.version in [one.version for one in versions]
        marked = {mark.stem for mark in folder.glob("*.json")}
        assert {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")} == marked
        assert not list((folder / ".building").glob("*"))
        assert len(whole(folder, known)) == len(marked)
        assert len(versions) <= len(marked)
    made = client.images.wait(begun(client, f"{images.host}/team/large{KILLS}:latest").id)
    assert made.state == "ready", made
    assert KILLS in whole(folder, known)
    assert empty(runtime), runtime.has()
