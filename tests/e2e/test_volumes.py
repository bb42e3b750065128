"""Volumes in the browser: made, filled, browsed, given to a job that writes to it, renamed, deleted (R47, R52, R145,
R245).
"""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder as somebody has it."""
    folder = tmp_path / "data"
    (folder / "train").mkdir(parents=True)
    (folder / "labels.txt").write_text("daisy rose\n")
    (folder / "train" / "a.bin").write_bytes(b"a" * (2 << 20))
    return folder


def test_a_volume_is_filled_browsed_written_by_a_job_and_deleted(world: World, console: Console, data: Path) -> None:
    page = console.page
    console.open("/volumes")
    expect(console.at("empty")).to_be_visible()
    console.press("volume-create")
    console.at("volume-name").fill("no blanks")
    console.watch.expect("422")
    console.press("volume-save")
    expect(console.at("error")).to_contain_text("Use 1 to 30 letters")
    console.at("volume-name").fill("scratch")
    console.at("volume-description").fill("for a while")
    console.press("volume-save")
    expect(console.at("volume-page")).to_contain_text("for a while")

    # filled: a folder keeps its name, single files go where one is; what is there is replaced after a question
    page.get_by_test_id("volume-whole").set_input_files(data)
    expect(page.get_by_text("2 files uploaded.")).to_be_visible()
    console.at("folder").get_by_text("data").click()
    console.at("folder").get_by_text("train").click()
    expect(console.at("file").get_by_text("a.bin")).to_be_visible()
    page.locator(".ant-breadcrumb").get_by_text("data").click()
    (data / "labels.txt").write_text("tulip\n")
    page.get_by_test_id("volume-some").set_input_files([data / "labels.txt"])
    expect(page.get_by_text("Replace 1 file that is there already?").last).to_be_visible()
    console.press("confirm-ok")
    expect(page.get_by_text("1 file uploaded.")).to_be_visible()
    with world.client() as client:
        volume = client.volumes.get("scratch")
        stored = Path(str(volume.path), "files")
    assert (stored / "data/labels.txt").read_text() == "tulip\n"
    assert (stored / "data/train/a.bin").stat().st_size == 2 << 20

    # R245: looked at; a folder is made, a file moved and deleted
    console.at("file").get_by_text("labels.txt").click()
    expect(page.get_by_text("tulip")).to_be_visible()
    console.press("volume-move")
    console.at("path-text").fill("data/kinds.txt")
    console.press("path-save")
    expect(page.get_by_text("It is at data/kinds.txt now.")).to_be_visible()
    assert (stored / "data/kinds.txt").exists()
    console.press("volume-remove")
    console.press("confirm-ok")
    expect(page.get_by_text("kinds.txt deleted.")).to_be_visible()
    console.press("volume-mkdir")
    console.at("path-text").fill("data/results")
    console.press("path-save")
    expect(page.get_by_text("Folder data/results made.")).to_be_visible()
    assert sorted(one.name for one in (stored / "data").iterdir()) == ["results", "train"]

    # R47, R52, R145: into a job, by its button; it may write once that is chosen
    page.get_by_test_id("use-in-job").click()
    expect(console.at("mount-target-0")).to_have_attribute("placeholder", "/workspace/volume/scratch")
    page.get_by_role("checkbox", name="Read-only").uncheck()
    console.fill("name", "writes")
    console.fill("roles.0.command", 'bash -c "echo done > /workspace/volume/scratch/by-a-job; sleep 1000"')
    job = console.start()
    world.until(job, lambda seen: seen["state"] == "running")
    console.open(f"/volumes/{volume.id}")
    expect(console.at("volume-jobs")).to_contain_text("writes")
    expect(console.at("file").get_by_text("by-a-job")).to_be_visible()
    console.watch.expect("409")
    console.press("volume-delete")
    console.press("confirm-ok")
    expect(page.get_by_text("Jobs that have not ended mount the volume scratch")).to_be_visible()
    with world.client() as client:
        client.get(job).stop()
    world.until(job, lambda seen: seen["state"] == "stopped")

    # another name, then gone
    console.open(f"/volumes/{volume.id}")
    console.press("volume-rename")
    console.at("volume-name").fill("kept")
    console.press("volume-save")
    expect(page.get_by_text("It is called kept now.")).to_be_visible()
    console.press("volume-delete")
    console.press("confirm-ok")
    expect(console.at("empty")).to_be_visible()
    with world.client() as client:
        assert client.volumes.list() == []
        assert stored.exists(), "it can be restored"
        assert client.bin.remove([one.id for one in client.bin.list()]).done
    assert not stored.exists()
