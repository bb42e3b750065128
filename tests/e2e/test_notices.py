"""The bell, the page of notifications, and what one wants to be told: a webhook to a real receiver, too."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import CONFIG, World

ALLOWING = CONFIG + '\n[webhooks]\nallow = ["127.0.0.0/8"]\nhttp = true\n'


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server that sends webhooks to loopback."""
    made = World(tmp_path_factory.mktemp("e2e") / "home", ALLOWING)
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture
def came() -> Iterator[tuple[str, list[Any]]]:
    """An address, and what came there."""
    found: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append((dict(self.headers), json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", found
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_bell_counts_what_happens_while_one_looks(world: World, console: Console) -> None:
    page = console
    page.open("/")
    expect(page.at("bell")).to_have_attribute("data-unread", "0")
    job = plain(world, "segment-cells", "false")
    expect(page.at("bell")).to_have_attribute("data-unread", "1")  # nothing was reloaded: the feed said so
    page.press("bell")
    expect(page.at("bell-list")).to_contain_text("segment-cells")
    page.press("bell-all")
    row = page.at("notice")
    expect(row).to_have_attribute("data-kind", "failed")
    expect(row).to_have_attribute("data-read", "false")
    page.press("notice-read")
    expect(row).to_have_attribute("data-read", "true")
    expect(page.at("bell")).to_have_attribute("data-unread", "0")
    row.get_by_role("link").click()
    expect(page.page).to_have_url(f"{world.url}/jobs/{job}")


def test_filters_stand_in_the_address_and_all_are_marked_at_once(world: World, console: Console) -> None:
    plain(world, "one", "false")
    plain(world, "two", "true")
    page = console
    page.open("/notifications?unread=true")
    expect(page.at("notice")).to_have_count(2)
    page.open("/notifications?unread=true&kind=ended")
    expect(page.at("notice")).to_have_count(1)
    page.press("read-all")
    expect(page.at("bell")).to_have_attribute("data-unread", "0")
    expect(page.at("notice")).to_have_count(0)


def test_a_switch_holds_and_a_webhook_is_tried_and_removed(
    world: World, console: Console, came: tuple[str, list[Any]]
) -> None:
    url, found = came
    page = console
    page.open("/settings?tab=notifications")
    switch = page.at("switch-ended-console")
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(page.at("switch-ended-mail")).to_be_disabled()  # there is no address
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    page.page.reload()
    expect(page.at("switch-ended-console")).to_have_attribute("aria-checked", "false")
    page.watch.expect("422")
    page.at("webhook-url").fill("https://10.0.0.1/x")
    page.press("webhook-add")
    expect(page.page.get_by_text("10.0.0.1", exact=False).first).to_be_visible()
    page.at("webhook-url").fill(url)
    page.at("webhook-name").fill("mine")
    page.press("webhook-add")
    expect(page.at("webhook-secret")).to_contain_text("whsec_")
    page.press("webhook-test")
    expect(page.page.get_by_text("204")).to_be_visible()
    assert found[0][1]["type"] == "test"
    page.press("webhook-deliveries")
    expect(page.page.get_by_role("dialog")).to_contain_text("204")
    page.page.keyboard.press("Escape")
    page.press("webhook-delete")
    page.page.locator(".ant-modal-confirm .ant-btn-dangerous").click()
    expect(page.at("webhook-test")).to_have_count(0)
