"""A sweep of 1,000 entries: how long its submit takes beside that of one job, what its table for the page takes,
and in Chromium when the page can be used. All but one of the entries wait for their turn meanwhile.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from playwright.sync_api import Browser, sync_playwright

from bench.console import _Door
from bench.record import Record
from bench.server import PLAIN, Server, spec
from bench.stage import Stage
from tests.e2e.browser import chromium, new_password
from tests.e2e.world import World

ENTRIES: Final = 1000
_READY: Final = """() => new Promise((done) => {
  const look = () => document.querySelector('[data-testid=entry]')
    ? requestIdleCallback(() => done(performance.now()), { timeout: 2000 })
    : requestAnimationFrame(look);
  look();
})"""
"""Milliseconds from the start of the visit until rows stand there and the thread of the page has nothing to do."""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    rounds = 2 if quick else 8
    server = Server(stage, PLAIN, wait=False)
    server.start()
    client = server.client()
    draw = {"lr": {"min": 0.0001, "max": 1, "log": True}, "batch": [16, 32, 64]}
    wanted = {"random": draw, "count": ENTRIES, "most_at_once": 1, "metric": "loss"}
    body = {"spec": {**spec("sleep 100000")["spec"], "name": "many", "sweep": wanted}}
    took: list[float] = []
    alone: list[float] = []
    listed: list[float] = []
    sweep = ""
    for _ in range(rounds):
        began = time.monotonic()
        client.ask("POST", "/jobs", spec("sleep 100000"))
        alone.append(time.monotonic() - began)
        began = time.monotonic()
        sweep = client.ask("POST", "/sweeps", body)["id"]
        took.append(time.monotonic() - began)
        began = time.monotonic()
        assert len(client.ask("GET", f"/sweeps/{sweep}/entries?limit=1000&order=parameter:lr")["items"]) == ENTRIES
        listed.append((time.monotonic() - began) * 1e3)
    yield stage.record("submit of 1,000 entries", took, "s", against="one job", peer=alone)
    yield stage.record("table of 1,000 entries", listed, "ms")
    door, state = _Door(server), Path(stage.path("state.json"))
    with sync_playwright() as playwright:
        new_password(playwright, cast(World, door), state)
        browser = chromium(playwright)
        stage.closing(browser.close)
        shown = [_ready(browser, door.url, state, sweep) for _ in range(rounds)]
        browser.close()
    yield stage.record("page of 1,000 entries, until it can be used", shown, "ms")


def _ready(browser: Browser, url: str, state: Path, sweep: str) -> float:
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}, storage_state=state)
    page = context.new_page()
    page.goto("/jobs", wait_until="load")  # the console itself is there: what counts is the page
    page.goto(f"/sweeps/{sweep}", wait_until="commit")
    found = float(page.evaluate(_READY))
    context.close()
    return found
