"""Data sets in the browser: uploaded, looked at, shared, given to a job, deleted; a model given to the next job (R27,
R28, R47, R51, R143, R245).
"""

import os
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World

LARGE: Final = os.urandom(3 << 20)


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """A folder as somebody has it."""
    folder = tmp_path / "flowers"
    (folder / "train").mkdir(parents=True)
    (folder / "labels.txt").write_text("daisy rose\n")
    for name in ("a.bin", "b.bin"):
        (folder / "train" / name).write_bytes(b"a" * 3000)
    (folder / "large.bin").write_bytes(LARGE)
    return folder


def test_a_data_set_is_uploaded_looked_at_used_and_deleted(world: World, console: Console, flowers: Path) -> None:
    page = console.page
    console.open("/datasets")
    expect(console.at("empty")).to_be_visible()
    console.press("dataset-upload")
    page.get_by_test_id("dataset-folder").set_input_files(flowers)
    expect(console.at("dataset-chosen")).to_contain_text("4 files, 3 MiB")
    expect(console.at("dataset-name")).to_have_value("flowers")
    console.at("dataset-name").fill("no blanks")
    console.watch.expect("422")
    console.press("dataset-send")
    expect(console.at("error")).to_contain_text("Use 1 to 30 letters")
    console.at("dataset-name").fill("flowers")
    console.at("dataset-description").fill("two kinds")
    console.press("dataset-send")
    expect(page.get_by_text("Version 1 of flowers uploaded.")).to_be_visible()
    with world.client() as client:
        [made] = client.datasets.list()
        stored = Path(str(client.datasets.get("flowers").history[0].path), "files")
    assert (made.name, made.files, made.description, made.share) == ("flowers", 4, "two kinds", "none")
    assert (stored / "large.bin").read_bytes() == LARGE

    # R245: its files are browsed and looked at
    expect(console.at("dataset-page")).to_contain_text("two kinds")
    console.at("folder").get_by_text("train").click()
    expect(console.at("file").get_by_text("b.bin")).to_be_visible()
    page.locator(".ant-breadcrumb").get_by_text("flowers").click()
    console.at("file").get_by_text("labels.txt").click()
    expect(console.at("look-text")).to_have_text("daisy rose\n")
    page.keyboard.press("Escape")
    console.press("description-edit")
    console.at("description-text").fill("three kinds")
    console.press("description-save")
    expect(console.at("dataset-page")).to_contain_text("three kinds")

    # a version more, of single files; what is there is not sent again
    (flowers / "new.txt").write_text("tulip\n")
    console.press("dataset-upload")
    page.get_by_test_id("dataset-files").set_input_files([flowers / "new.txt", flowers / "large.bin"])
    expect(console.at("dataset-chosen")).to_contain_text("2 files")
    console.press("dataset-send")
    expect(page.get_by_text("Version 2 of flowers uploaded.")).to_be_visible()
    expect(console.at("version-2")).to_have_attribute("aria-current", "true")

    # R47: into a job, by its button and by the form's own choice
    console.press("version-1")
    expect(console.at("version-1")).to_have_attribute("aria-current", "true")
    page.get_by_test_id("use-in-job").click()
    expect(console.at("mount-target-0")).to_have_attribute("placeholder", "/dataset")
    console.fill("name", "reads")
    console.fill("roles.0.command", "cp /dataset/labels.txt /model/labels.txt")
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["inputs"] == [{"dataset": "flowers@1", "mount": "/dataset", "read_only": True}]

    # R51, R143: the model that it saved is an input of the next one
    console.open("/submit")
    console.fill("name", "tunes")
    console.fill("roles.0.command", "cat /pretrain/reads/labels.txt")
    console.press("mount-add")
    console.choose("mount-kind-0", "Model")
    console.choose("mount-name-0", "reads")
    console.choose("mount-version-0", "Version 1")
    expect(console.at("mount-target-0")).to_have_attribute("placeholder", "/pretrain/reads")
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["inputs"] == [{"model": "reads@1", "mount": "/pretrain/reads", "read_only": True}]

    # deleted: a version, then all of it
    console.open(f"/datasets/{made.id}?version=1")
    console.press("version-delete")
    console.press("confirm-ok")
    expect(console.at("version-1")).to_have_count(0)
    console.press("dataset-delete")
    console.press("confirm-ok")
    expect(console.at("empty")).to_be_visible()
    with world.client() as client:
        assert client.datasets.list() == []
