"""kill -9 of the server while a job's outputs become a model: one whole version of each job, no more (R138)."""

import hashlib
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Client, Home, served_home

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_SAVE_KILLS", "6"))
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600 + 25 * KILLS)]
LONGEST_S: Final = 0.8
FILES: Final = 300
_WRITES: Final = (
    "mkdir -p /model/parts; "
    f"for n in $(seq {FILES}); do echo part $n > /model/parts/$n.txt; done; "
    "head -c 20000000 /dev/zero > /model/large.bin; touch /workspace/outputs/written"
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}}) as made:
        yield made


def written(home: Home, job: str) -> bool:
    """Whether the job's task has written all: it ends at once, and saving begins."""
    return Path(home.layout.outputs(job), "written").exists()


def until_ended(client: Client, job: str) -> dict[str, Any]:
    limit = time.monotonic() + 90
    while (view := client.ask("GET", f"/jobs/{job}"))["state"] not in ("succeeded", "failed", "stopped"):
        assert time.monotonic() < limit, view["state"]
        time.sleep(0.1)  # another process: nothing tells
    return dict(view)


def digest(folder: Path) -> str:
    """Of the names and contents of a model's files."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(str(path.relative_to(folder)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def test_a_server_killed_while_it_saves_makes_one_whole_version_of_each_job(home: Home) -> None:
    client, chance = home.client(), random.Random(3)
    roles = [{"name": "main", "command": ["bash", "-c", _WRITES], "resources": {"cpu": 0.5, "memory": "256MiB"}}]
    for number in range(KILLS):
        key = {"Idempotency-Key": f"saves-{number}"}
        spec = {"name": "saves", "roles": roles, "model": {"name": "kept"}}
        job = client.ask("POST", "/jobs", {"spec": spec}, key)["id"]
        limit = time.monotonic() + 60
        while not written(home, job):
            assert time.monotonic() < limit
            time.sleep(0.01)  # another process: nothing tells
        time.sleep(chance.random() * LONGEST_S)  # anywhere in saving, or just behind it
        home.kill_server()
        for version in Path(home.layout.bulk, "models").glob("m*/*"):  # renamed when it is whole
            assert len(list((version / "files" / "model" / "parts").iterdir())) == FILES
        home.spawn()
        view = until_ended(client, job)
        assert view["state"] == "succeeded", view
        assert view["model"] is not None
    (model,) = client.ask("GET", "/models")["items"]
    detail = client.ask("GET", f"/models/{model['id']}")
    versions = [one["version"] for one in detail["versions"]]
    assert versions == list(range(KILLS, 0, -1))
    assert len({one["job"] for one in detail["versions"]}) == KILLS
    folders = [Path(home.layout.model(model["id"], version)) for version in versions]
    assert len({digest(folder / "files") for folder in folders}) == 1
    assert sorted(Path(home.layout.bulk, "models", model["id"]).iterdir()) == sorted(folders)
    assert not list(Path(home.layout.bulk, "models", ".saving").glob("*"))
