"""Inputs on fast storage in the browser (R187): switched on in the form, seen on the job; off where there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.console import Console
from tests.e2e.world import CONFIG, World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("e2e")
    data = folder / "flowers"
    data.mkdir()
    (data / "labels.txt").write_text("daisy rose\n")
    made = World(folder / "home", CONFIG + f'cache_folder = "{folder / "fast"}"\n')
    try:
        made.start()
        made.client().datasets.upload(data, "flowers")
        yield made
    finally:
        made.close()


def cache_box(console: Console, at: int) -> str:
    return f'[data-testid="mount-cache-{at}"] input, input[data-testid="mount-cache-{at}"]'


def test_an_input_is_cached_by_a_switch_of_the_form(world: World, console: Console) -> None:
    page = console.page
    console.open("/submit")
    console.fill("name", "reads")
    console.fill("roles.0.command", "cat /dataset/labels.txt /proc/self/mountinfo")
    console.press("mount-add")
    box = page.locator(cache_box(console, 0))
    expect(box).to_be_disabled()  # a folder may change
    console.choose("mount-kind-0", "Data set")
    console.choose("mount-name-0", "flowers")
    expect(box).to_be_enabled()
    box.check()
    report = Report()
    report.add("the form", judge(page))
    assert not report, f"\n{report}"
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["inputs"][0]["cache"] is True
    assert "/fast/trainmaster-" in world.tm("logs", job)

    # its clone has the switch on; off, nothing is said of it
    console.open(f"/submit?clone={job}")
    expect(box).to_be_checked()
    box.uncheck()
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert "cache" not in view["spec"]["inputs"][0]
    assert "/fast/trainmaster-" not in world.tm("logs", job)


def test_where_there_is_no_fast_storage_the_switch_says_why(world: World, console: Console) -> None:
    world.stop()
    (world.home / "config.toml").write_text(CONFIG)
    world.start()
    page = console.page
    console.open("/submit")
    console.press("mount-add")
    console.choose("mount-kind-0", "Data set")
    console.choose("mount-name-0", "flowers")
    expect(page.locator(cache_box(console, 0))).to_be_disabled()
    expect(page.get_by_title("No fast storage is configured here to cache inputs on")).to_be_visible()
