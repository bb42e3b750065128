"""What somebody sees whose browser cannot get a part of the console: the server was upgraded or has stopped."""

from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console

NOT_THERE = "net::ERR_FAILED"


def refuse(route: Route) -> None:
    route.abort()


@pytest.mark.parametrize(
    ("language", "title", "page"),
    [("en-GB", "This page could not be loaded", "Queue"), ("zh-CN", "页面加载失败", "排队")],
)
def test_a_page_that_cannot_be_loaded_says_so_beside_the_ways_to_the_others(
    new_console: Open, signed_in: Path, language: str, title: str, page: str
) -> None:
    """The navigation stays; once the page can be had again, its button brings it."""
    console = new_console(language=language, cookies=signed_in)
    console.watch.expect(NOT_THERE, "dynamically imported module")
    console.page.route("**/assets/queue-*.js", refuse)
    console.open("/queue")
    lost = console.at("not-loaded")
    expect(lost.get_by_role("heading")).to_have_text(title)
    expect(console.page.get_by_role("navigation")).to_be_visible()
    console.page.unroute("**/assets/queue-*.js")
    lost.get_by_role("button").click()
    expect(console.page.get_by_role("heading", level=1)).to_have_text(page)


def test_a_console_that_cannot_be_loaded_says_so(console: Console) -> None:
    """Before there is anything around the page: no blank page, and a button that loads it again."""
    console.watch.expect(NOT_THERE, "dynamically imported module")
    console.page.route("**/assets/app-*.js", refuse)
    console.page.goto("/jobs")
    lost = console.at("not-loaded")
    expect(lost).to_contain_text("This page could not be loaded")
    console.page.unroute("**/assets/app-*.js")
    lost.get_by_role("button").click()
    expect(console.page.get_by_role("heading", level=1)).to_have_text("Training jobs")
