"""The bin in the browser: what is deleted on its page is restored, also under another name, or deleted for good."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World


def test_what_is_deleted_is_restored_or_deleted_for_good(world: World, console: Console, tmp_path: Path) -> None:
    page = console.page
    (tmp_path / "a.txt").write_text("a\n")
    with world.client() as client:
        client.datasets.upload(tmp_path / "a.txt", "roses")
    console.open("/datasets/roses")
    console.press("dataset-delete")
    expect(page.get_by_text("It goes to the bin")).to_be_visible()
    console.press("confirm-ok")
    expect(page.get_by_text("Deleted. It is in the bin.")).to_be_visible()
    with world.client() as client:
        assert client.datasets.list() == []
        client.datasets.upload(tmp_path / "a.txt", "roses")
    console.open("/bin")
    expect(console.at("bin-keeps")).to_contain_text("restored for 7 days")
    console.watch.expect("409")
    console.press("restore-roses")
    console.at("restore-as").fill("tulips")
    console.press("restore-as-ok")
    expect(page.get_by_text("tulips is back.")).to_be_visible()
    with world.client() as client:
        assert sorted(one.name for one in client.datasets.list()) == ["roses", "tulips"]
        client.datasets.delete("tulips")
    console.open("/bin")
    console.press("remove-tulips")
    console.press("confirm-ok")
    expect(page.get_by_text("Deleted for good.", exact=True)).to_be_visible()
    expect(console.at("empty")).to_be_visible()
    with world.client() as client:
        assert client.bin.list() == []
