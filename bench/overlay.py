"""Twenty curves of 100,000 points over each other: how long the server's answer takes, and in Chromium how long it is
from the click on their tab until they are drawn and the page has nothing more to do. The points come from logs and
were collected before, as they are when somebody has looked at the jobs while they ran.
"""

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

from bench.console import _Door
from bench.fill import fill
from bench.record import Record
from bench.server import PLAIN, Server, spec
from bench.stage import Stage
from tests.e2e.browser import chromium, new_password
from tests.e2e.world import World
from trainmaster.core.records import Job

CURVES: Final = 20
PATTERN: Final = r"step=(?P<step>\d+) loss=(?P<loss>[\d.]+)"
_DRAWN: Final = """(count) => new Promise((done) => {
  const began = performance.now();
  document.querySelector('[data-testid=compare-tab-curves]').click();
  const look = () => document.querySelector(`[data-testid=overlay-loss][data-lines='${count}'] canvas`)
    ? requestIdleCallback(() => done(performance.now() - began), { timeout: 2000 })
    : requestAnimationFrame(look);
  look();
})"""


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    points, rounds = (10_000, 2) if quick else (100_000, 10)
    server, jobs = Server(stage, PLAIN, wait=False), list[str]()

    def note(_: int, job: Job) -> Job:
        jobs.append(job.id)
        return job

    fill(server.home, spec("true", metrics=[{"pattern": PATTERN}]), CURVES, note)
    for number, job in enumerate(jobs):
        _write(server.log_path(job), points, number)
    server.start()
    client = server.client()
    path = "/compare/curves?" + urlencode({"job": jobs, "metric": "loss", "points": 250}, doseq=True)
    while any(_last(one) != points for one in client.ask("GET", path)["jobs"]):
        pass  # each look collects for a moment
    answered: list[float] = []
    for _ in range(rounds):
        began = time.monotonic()
        client.ask("GET", path)
        answered.append((time.monotonic() - began) * 1e3)
    yield stage.record("answer of 20 curves of 100,000 points", answered, "ms")
    door, state = _Door(server), Path(stage.path("state.json"))
    with sync_playwright() as playwright:
        new_password(playwright, cast(World, door), state)
        browser = chromium(playwright)
        stage.closing(browser.close)
        drawn = [_drawn(browser, door.url, state, jobs) for _ in range(rounds)]
        browser.close()
    yield stage.record("20 curves of 100,000 points, drawn", drawn, "ms")


def _write(log: str, points: int, number: int) -> None:
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        for step in range(1, points + 1):
            file.write(f"step={step} loss={1 + number / 10 + math.sin(step * (number + 1)) / math.sqrt(step):.4f}\n")


def _last(job: dict[str, list[dict[str, list[float]]]]) -> float:
    return job["series"][0]["steps"][-1] if job["series"] else 0


def _drawn(browser: Browser, url: str, state: Path, jobs: list[str]) -> float:
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}, storage_state=state)
    page = context.new_page()
    page.goto("/compare?" + urlencode({"job": jobs}, doseq=True), wait_until="load")
    page.get_by_test_id("compare-differences").wait_for()
    page.wait_for_timeout(1000)  # what the page itself set off has come to rest
    found = float(page.evaluate(_DRAWN, len(jobs)))
    context.close()
    return found
