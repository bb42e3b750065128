"""A storage connection from the dialog to a job that reads it, in a browser and at a terminal (R16, R146, R240)."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import judge
from tests.e2e.conftest import Open
from tests.e2e.world import CONFIG, PROGRAM, World
from tests.fixtures.stores import BUCKET, HERE, KEY_ID, SECRET, Store, served


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with served(tmp_path_factory.mktemp("store") / "s3") as one:
        one.put("vision/flowers/a.txt", "hello from far away\n")
        yield one


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server that may go to the machine's own loopback."""
    made = World(tmp_path_factory.mktemp("e2e") / "home", f'{CONFIG}\n[storage]\nallow = ["{HERE}"]\n')
    try:
        made.start()
        yield made
    finally:
        made.close()


def test_a_connection_from_the_dialog_to_a_job(new_console: Open, signed_in: Path, world: World, store: Store) -> None:
    console = new_console(cookies=signed_in)
    console.open("/admin?tab=workspaces")
    console.press("storage-default")
    console.press("storage-save")
    expect(console.page.locator(".ant-form-item-explain-error")).to_have_count(5)
    said = {"name": "team-data", "endpoint": store.endpoint, "bucket": BUCKET, "prefix": "vision", "key_id": KEY_ID}
    for field, text in {**said, "secret": "another-secret-altogether"}.items():
        console.at(f"storage-field-{field}").fill(text)
    console.press("storage-save")
    expect(console.at("storage-row-team-data")).to_contain_text(f"{store.endpoint}/{BUCKET}/vision")
    expect(console.at("storage-field-secret")).to_have_value("")
    console.press("check-team-data")
    expect(console.at("storage-checked")).to_contain_text("listing fails")
    expect(console.at("storage-checked")).to_contain_text("The secret key is wrong")
    console.press("replace-team-data")
    expect(console.at("storage-field-endpoint")).to_have_value(store.endpoint)
    console.at("storage-field-key_id").fill(KEY_ID)
    console.at("storage-field-secret").fill(SECRET)
    console.press("storage-save")
    expect(console.at("storage-field-secret")).to_have_value("")
    console.press("check-team-data")
    expect(console.at("storage-checked")).to_contain_text("team-data works")
    assert judge(console.page) == []
    assert SECRET not in console.page.content()

    console.open("/submit")
    console.press("expert")
    console.fill("name", "reads-far-away")
    console.fill("roles.0.command", f'sh -c "cat /dataset/a.txt; {WRITES}"')
    console.press("mount-add")
    console.choose("mount-kind-0", "Object storage")
    console.choose("mount-name-0", "team-data")
    console.at("mount-below-0").fill("flowers")
    console.press("output-add")
    console.choose("output-name-0", "team-data")
    console.at("output-below-0").fill("runs/{name}")
    assert judge(console.page) == []
    job = console.start()
    world.until(job, lambda seen: seen["state"] == "succeeded")
    assert "hello from far away" in world.tm("logs", job)
    expect(console.at("upload-done")).to_contain_text("outputs → team-data/runs/reads-far-away")
    expect(console.at("upload-done")).to_contain_text("1 file · ")
    expect(console.at("upload-done")).to_contain_text("latest: a symbolic link")
    assert (store.bucket / "vision/runs/reads-far-away/a.txt").read_text() == "hello from far away\n"
    console.press("upload-again")
    expect(console.at("upload-again")).not_to_have_class(re.compile("loading"))
    expect(console.at("upload-done")).to_contain_text("latest: a symbolic link")
    assert judge(console.page) == []

    console.open("/admin?tab=workspaces")
    console.press("storage-default")
    console.press("delete-team-data")
    console.press("confirm-ok")
    expect(console.at("storage-row-team-data")).to_have_count(0)


def test_the_same_at_a_terminal(world: World, store: Store, tmp_path: Path) -> None:
    words = ["storage", "add", "far", "--endpoint", store.endpoint, "--bucket", BUCKET, "--prefix", "vision"]
    made = json.loads(said(world, f"{KEY_ID}\n{SECRET}\n", *words, "--json"))
    assert (made["name"], made["prefix"]) == ("far", "vision")
    assert f"{store.endpoint}/{BUCKET}/vision" in world.tm("storage", "list")
    steps = [f"{one}: works" for one in ("list", "write", "read", "delete")]
    assert world.tm("storage", "check", "far").splitlines() == steps
    assert json.loads(world.tm("storage", "check", "far", "--json"))["ok"] is True
    assert SECRET not in world.tm("storage", "list", "--json")
    document = {"name": "goes", "command": ["sh", "-c", WRITES]}
    document |= {"inputs": [{"s3": "far/flowers"}], "outputs": [{"s3": "far/{id}"}]}
    (tmp_path / "job.json").write_text(json.dumps(document))
    job = json.loads(world.tm("submit", str(tmp_path / "job.json"), "--json"))["id"]
    seen = world.until(job, lambda seen: seen["uploads"] != [] and seen["uploads"][0]["state"] == "done")
    assert seen["uploads"][0]["files"] == 1
    assert f"outputs → far/{job}" in world.tm("show", job)
    assert json.loads(world.tm("upload", job, "--json"))["id"] == job
    assert json.loads(world.tm("storage", "delete", "far", "--json"))["deleted"] is True
    assert "No storage connections" in world.tm("storage", "list")


WRITES: Final = "cp /dataset/a.txt /workspace/outputs/a.txt; ln -s a.txt /workspace/outputs/latest"


def said(world: World, typed: str, *words: str) -> str:
    """Return what a command prints that is given `typed`."""
    command = [PROGRAM, "--home", str(world.home), *words]
    return subprocess.run(command, input=typed, capture_output=True, text=True, check=True).stdout
