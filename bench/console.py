"""What the console costs in a browser: bytes until one can sign in, how much a page moves while it loads, and the share
of a core that a list of jobs takes while nobody touches it, and whether it follows who scrolls. Chromium without a
window; CPU is that of the main thread.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.fill import fill
from bench.record import Record
from bench.server import PLAIN, Server, spec
from bench.stage import Stage
from tests.e2e.browser import chromium, new_password
from tests.e2e.world import World

RUNNING: Final = 5
"""Jobs that run meanwhile: their time goes on."""
LISTS: Final = {"list of 50 jobs, idle": 50, "list of 500 jobs, idle": 500}
FIRST: Final = 50
"""Rows of the first page."""
_SHIFTS: Final = """
window.shifted = 0;
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
  .observe({ type: "layout-shift", buffered: true });
"""
_SCROLLED: Final = """
async () => {
  const times = [];
  scrollTo(0, 0);
  let before = await new Promise(requestAnimationFrame);
  for (let at = -1; scrollY > at; ) {
    at = scrollY;
    scrollBy(0, 120);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times;
}
"""
"""From the top to the end, two rows and a half a frame: the milliseconds from each frame to the next."""


class _Door:
    """What signing in needs to know of a server."""

    def __init__(self, server: Server) -> None:
        self.url = f"http://127.0.0.1:{server.port}"
        log = Path(server.home, "server.log").read_text(errors="replace")
        self.one_time_password = next(line.split()[1] for line in log.splitlines() if line.split()[:1] == ["password"])


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    # Until what the loading set off has come to rest, and the jobs that run are no longer in their first minute.
    loads, window_s, settled_ms = (1, 10.0, 3000) if quick else (5, 60.0, 65_000)
    server = Server(stage, PLAIN, wait=False)
    fill(server.home, spec("true"), max(LISTS.values()))
    server.start()
    client = server.client()
    for _ in range(RUNNING):
        client.ask("POST", "/jobs", spec("sleep 100000"))
    door, state = _Door(server), Path(stage.path("state.json"))
    with sync_playwright() as playwright:
        new_password(playwright, cast(World, door), state)
        browser = chromium(playwright)
        stage.closing(browser.close)
        first = [_first_load(browser, door.url) for _ in range(loads)]
        yield stage.record("sign-in page, bytes until it stands", [size for size, _ in first], "KB")
        yield stage.record("sign-in page, layout shift", [shift for _, shift in first], "")
        page = _signed_in(browser, door.url, state)
        yield stage.record("list, layout shift", [_list(page) for _ in range(loads)], "")
        for metric, rows in LISTS.items():
            _show(page, rows)
            page.wait_for_timeout(settled_ms)
            yield stage.record(metric, [_idle(page, window_s)], "% of a core")
        frames = sorted(time for _ in range(loads) for time in cast(list[float], page.evaluate(_SCROLLED)))
        yield stage.record("list of 500 jobs, a frame while scrolled", frames, "ms")
        yield stage.record("list of 500 jobs, a frame while scrolled, p95", [frames[len(frames) * 95 // 100]], "ms")
        browser.close()


def _first_load(browser: Browser, url: str) -> tuple[float, float]:
    """Return (kilobytes as they came over the wire, layout shift) of a first visit by who is not signed in."""
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    context.add_init_script(_SHIFTS)
    page = context.new_page()
    sizes: list[float] = []
    network = context.new_cdp_session(page)
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    network.send("Network.enable")
    page.goto("/", wait_until="networkidle")
    page.locator("input[type=password]").wait_for()
    found = sum(sizes) / 1000, float(page.evaluate("window.shifted"))
    context.close()
    return found


def _signed_in(browser: Browser, url: str, state: Path) -> Page:
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}, storage_state=state)
    context.add_init_script(_SHIFTS)
    return context.new_page()


def _list(page: Page) -> float:
    """Load the list anew; return its layout shift."""
    page.goto("/jobs", wait_until="load")
    page.get_by_test_id("job-row").nth(FIRST - 1).wait_for()
    page.wait_for_timeout(1000)  # what comes after the rows moves them, too
    return float(page.evaluate("window.shifted"))


def _show(page: Page, rows: int) -> None:
    while (shown := page.get_by_test_id("job-row").count()) < rows:
        page.get_by_test_id("load-more").click()
        page.get_by_test_id("job-row").nth(shown).wait_for()
    page.mouse.move(0, 0)


def _idle(page: Page, window_s: float) -> float:
    """Return the percentage of a core that the page's main thread takes."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    began, used = time.monotonic(), _thread_s(session)
    page.wait_for_timeout(window_s * 1000)
    return (_thread_s(session) - used) / (time.monotonic() - began) * 100


def _thread_s(session: CDPSession) -> float:
    metrics: list[Any] = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "ThreadTime"))
