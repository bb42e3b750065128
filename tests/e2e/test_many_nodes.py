"""The cluster is readable whatever its size: 32 nodes on a screen or two, 500 page by page (issue 13, item 6)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.e2e.browser import new_password
from tests.e2e.console import Console, Watch
from tests.e2e.jobs import plain
from tests.e2e.world import CONFIG, World

PAGE = 50
MOST_ROW_PX = 56
"""Of a node with two jobs on it; with these 32 nodes are two screens of 900 px."""

# Texts of the table that are cut without an ellipsis, or lie over the next cell.
_CUT = """() => [...document.querySelectorAll("[data-testid=resources] tbody td")].filter((cell) => {
  const inner = cell.getBoundingClientRect();
  return [...cell.querySelectorAll("*")].some((e) => {
    const box = e.getBoundingClientRect();
    const hidden = e.closest(".tm-ellipsis, .tm-two, .ant-table-cell-ellipsis");
    return box.width > 0 && !hidden && (box.right > inner.right + 1 || box.left < inner.left - 1);
  });
}).map((cell) => cell.innerText)"""


@pytest.fixture(scope="module", params=[32, 500])
def large(
    request: pytest.FixtureRequest, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, int, Path]]:
    """A cluster of so many nodes of eight GPUs, on which a gang and a small job run; and an administrator's session."""
    nodes: int = request.param
    cookies = tmp_path_factory.mktemp("large-cookies") / "state.json"
    config = CONFIG.replace("virtual_nodes = 2", f"virtual_nodes = {nodes}").replace("gpus = 2", "gpus = 8")
    world = World(tmp_path_factory.mktemp("large") / "home", config=config)
    world.start()
    try:
        resources = {"cpu": 0.5, "memory": "64MiB", "gpu": 4}
        trainer = {"name": "trainer", "replicas": 3, "command": "sleep infinity", "resources": resources}
        gang = world.submit({"name": "resnet-152-on-many-nodes", "roles": [trainer]})
        small = plain(world, "small-beside-it", "sleep infinity", resources={"gpu": 1})
        for job in (gang, small):
            world.until(job, lambda view: view["state"] == "running")
        new_password(playwright, world, cookies)
        yield world, nodes, cookies
    finally:
        world.close()


@pytest.fixture
def console(large: tuple[World, int, Path], browser: Browser) -> Iterator[Console]:
    world, _, cookies = large
    context = browser.new_context(
        base_url=world.url, viewport={"width": 1440, "height": 900}, locale="en-GB", storage_state=cookies,
        reduced_motion="reduce",
    )  # fmt: skip
    watch = Watch(context, world.url)
    yield Console(context.new_page(), watch)
    context.close()
    watch.check()


def test_the_nodes_are_read_page_by_page(large: tuple[World, int, Path], console: Console) -> None:
    _, nodes, _ = large
    console.open("/cluster")
    rows = console.page.locator("[data-testid=resources] tbody tr[data-testid^=resource-node-]")
    expect(rows).to_have_count(min(PAGE, nodes))
    expect(console.at("summary")).to_contain_text(f"{nodes} / {nodes}")
    expect(console.at("summary")).to_contain_text(f"13 / {8 * nodes:,}")
    wrong: dict[int, Any] = {}
    for width in (1440, 1280):
        console.page.set_viewport_size({"width": width, "height": 900})
        expect(rows).to_have_count(min(PAGE, nodes))
        heights = rows.evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().height)")
        sideways = console.too_wide()
        cut = console.page.evaluate(_CUT)
        if max(heights) > MOST_ROW_PX or sideways > 0 or cut:
            wrong[width] = max(heights), sideways, cut
    assert wrong == {}
    pages = console.at("node-pages")
    if nodes <= PAGE:
        expect(pages).to_have_count(0)
        return
    expect(pages).to_contain_text(f"1–{PAGE} of {nodes}")
    before = rows.first.get_attribute("data-testid")
    console.press("node-pages-next")
    expect(pages).to_contain_text(f"{PAGE + 1}–{2 * PAGE} of {nodes}")
    expect(rows.first).not_to_have_attribute("data-testid", str(before))
    expect(rows).to_have_count(PAGE)


def test_one_of_them_is_found_by_name_and_by_person(large: tuple[World, int, Path], console: Console) -> None:
    _, nodes, _ = large
    console.open("/cluster")
    console.at("node-search").fill(f"node-{nodes}")
    expect(console.page.locator("tr[data-testid^=resource-node-]")).to_have_count(1)
    expect(console.at(f"resource-node-{nodes}")).to_contain_text("8 GPUs")
    console.at("node-search").fill("")
    console.press("use-admin")
    used = console.page.locator("tr[data-testid^=resource-node-]")
    expect(used.first).to_contain_text("resnet-152-on-many-nodes")
    expect(console.at("node-pages")).to_have_count(0)
