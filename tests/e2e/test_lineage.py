"""Lineage in the browser: from the data over jobs to the models, to go along by the keyboard, also as a list."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


def chain(world: World, folder: Path) -> tuple[str, str]:
    """Data, a job, a model, and a job that goes on with it; the data are deleted afterwards."""
    (folder / "labels.txt").write_text("daisy\n")
    with world.client() as client:
        client.datasets.upload(folder / "labels.txt", "petals")
    train = plain(
        world, "line-train", "sh -c 'echo 1 > /model/w'", inputs=[{"dataset": "petals@1"}], model={"name": "line-net"}
    )
    world.until(train, lambda view: view["state"] == "succeeded")
    tune = plain(
        world, "line-tune", "sh -c 'echo 2 > /model/w'", inputs=[{"model": "line-net@1"}], model={"name": "line-net"}
    )
    world.until(tune, lambda view: view["state"] == "succeeded")
    with world.client() as client:
        client.datasets.delete("petals")
    return train, tune


def names(console: Console) -> list[str]:
    """What is drawn, from left to right."""
    return console.at("lineage-node").locator(".tm-lineage-name").all_inner_texts()


def test_what_came_of_what_is_drawn(
    world: World, console: Console, new_console: Open, signed_in: Path, tmp_path: Path
) -> None:
    train, _ = chain(world, tmp_path)
    console.open("/models/line-net?version=1")
    boxes = console.at("lineage-node")
    expect(boxes).to_have_count(5)
    assert names(console) == ["petals@1", "line-train", "line-net@1", "line-tune", "line-net@2"]
    expect(boxes.first).to_contain_text("Data set · in the bin")
    expect(boxes.first.get_by_role("link")).to_have_count(0)
    expect(boxes.nth(2)).to_have_attribute("aria-current", "true")
    expect(boxes.nth(3)).to_contain_text("reads line-net@1")
    boxes.nth(1).get_by_role("link").focus()
    console.page.keyboard.press("Enter")
    expect(console.at("job-page")).to_have_attribute("data-id", train)
    expect(console.at("tab-lineage")).to_be_visible()
    expect(boxes.nth(1)).to_have_attribute("aria-current", "true")
    console.press("lineage-as-list")
    expect(console.at("lineage-list")).to_contain_text("made by line-train")
    console.at("lineage-list").get_by_role("link", name="line-net@2").click()
    expect(console.at("model-page")).to_be_visible()
    expect(console.at("lineage")).to_contain_text("line-tune")
    report = Report()
    page = (there := new_console(language="zh-CN", cookies=signed_in)).page
    there.open("/models/line-net?version=1")
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 844})
        expect(there.at("lineage")).to_contain_text("来源与去向")
        if width < 600:  # a picture is wider than a phone: it is one press away
            expect(there.at("lineage-list")).to_be_visible()
            there.press("lineage-as-graph")
        expect(there.at("lineage-node")).to_have_count(5)
        assert not there.too_wide(), width
        there.at("lineage").scroll_into_view_if_needed()
        report.add(f"lineage at {width}", judge(page))
    assert not report, str(report)
