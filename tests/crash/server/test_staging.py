"""kill -9 of the server while inputs come from object storage: a job reads all of what was there, or nothing, and what
came half is gone on from or given back (R146).

TRAINMASTER_TEST_STAGE_KILLS sets how many kills.
"""

import hashlib
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Client, Home, served_home
from tests.fixtures.stores import HERE, Store, own_store
from tests.scenario.stage import spec

__all__ = ["own_store"]  # a fixture

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_STAGE_KILLS", "4"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 40 * KILLS)]

FILES: Final = 60
LARGE: Final = 24 << 20
LONGEST_S: Final = 1.0
PATIENCE_S: Final = 240.0
TEXT: Final = (
    'cd "$TRAINMASTER_DATASET_DIR"; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum '
    '> "$TRAINMASTER_OUTPUT_DIR/sums"'
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    storage: dict[str, Any] = {"allow": [HERE]}
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}, "storage": storage}) as made:
        yield made


def sums(root: Path) -> str:
    """What the job writes of a folder."""
    found = sorted(f"./{path.relative_to(root)}" for path in root.rglob("*") if path.is_file())
    return "".join(f"{hashlib.sha256((root / path).read_bytes()).hexdigest()}  {path}\n" for path in found)


def begun(root: Path, before: int) -> bool:
    """Whether another object than those of before is here, or on its way."""
    return sum(path.is_file() for path in root.glob(".objects/*/*")) > before or any(root.glob(".arriving/*"))


def until_ended(client: Client, job: str) -> dict[str, Any]:
    limit = time.monotonic() + PATIENCE_S
    while (view := client.ask("GET", f"/jobs/{job}"))["state"] not in ("succeeded", "failed", "stopped"):
        assert time.monotonic() < limit, view
        time.sleep(0.1)  # another process: nothing tells
    return dict(view)


def test_a_server_killed_while_inputs_come_gives_a_job_all_of_them(home: Home, own_store: Store) -> None:
    store = own_store
    client, chance = home.client(), random.Random(17)
    client.ask("PUT", "/workspaces/default/storage/data", store.connection)
    root, expected = Path(home.layout.fetched), set[str]()
    for kill in range(KILLS):
        for number in range(FILES):
            store.put(f"set-{kill}/many/{number}.txt", f"{kill} {number}\n" * 2000)
        store.put(f"set-{kill}/large.bin", chance.randbytes(LARGE))
        wanted = sums(store.bucket / f"set-{kill}")
        expected.add(wanted)
        before = sum(path.is_file() for path in root.glob(".objects/*/*"))
        document = spec(f"reads-{kill}", TEXT, inputs=[{"s3": f"data/set-{kill}/"}], model={"save": False})
        job = client.ask("POST", "/jobs", {"spec": document})["id"]
        limit = time.monotonic() + PATIENCE_S
        while not begun(root, before):
            assert time.monotonic() < limit, home.said()
            time.sleep(0.01)  # another process: nothing tells
        time.sleep(chance.random() * LONGEST_S)  # anywhere in it, or just behind it
        home.kill_server()
        whole(root, expected)
        home.spawn()
        view = until_ended(client, job)
        assert view["state"] == "succeeded", view
        assert (Path(home.layout.outputs(job)) / "sums").read_text() == wanted
        whole(root, expected)
        assert not list(root.glob(".arriving/*"))
    folders = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]
    assert sorted(path.name for path in folders) == sorted(path.stem for path in root.glob("*.json"))
    assert {sums(path) for path in folders} == expected
    objects = [path for path in root.glob(".objects/*/*") if path.is_file()]
    assert len(objects) == KILLS * (FILES + 1)
    assert all(path.stat().st_nlink == 2 for path in objects)


def whole(root: Path, expected: set[str]) -> None:
    """What has a mark that says something is one of the folders of the store, with all of its files."""
    for mark in root.glob("*.json"):
        if mark.read_text():
            assert sums(mark.with_suffix("")) in expected
