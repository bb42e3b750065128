"""What is loaded before somebody can sign in: few bytes, compressed, kept; and nothing moves meanwhile."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.jobs import plain
from tests.e2e.world import World
from trainmaster.api.static import STATIC

BUDGET = 250_000
SHIFT = 0.05
_OBSERVE = """
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
"""


def first_files() -> set[str]:
    """Return what the page loads before the sign-in page is there, by the manifest of the build."""
    manifest: dict[str, dict[str, Any]] = json.loads((STATIC / "console/.vite/manifest.json").read_text())
    wanted, left = set[str](), ["index.html"]
    while left:
        if (name := left.pop()) not in wanted:
            wanted.add(name)
            left += manifest[name].get("imports", [])
    files = {manifest[name]["file"] for name in wanted}
    return {"index.html", "favicon.svg", *files, *(css for name in wanted for css in manifest[name].get("css", []))}


def sent(name: str) -> int:
    """How many bytes of a file go over the wire."""
    packed = STATIC / f"console/{name}.gz"
    return (packed if packed.is_file() else STATIC / "console" / name).stat().st_size


def test_signing_in_needs_few_bytes(new_console: Open) -> None:
    """R246: at most 250 KB until the sign-in page is there; Ant Design comes while somebody types."""
    console = new_console()
    console.watch.expect("401")
    loaded: list[str] = []
    console.page.on("response", lambda answer: loaded.append(answer.url.partition("/assets/")[2]))
    console.page.goto("/")
    expect(console.at("sign-in")).to_be_visible()
    files = first_files()
    assert {f"assets/{name}" for name in loaded if name} <= files
    weights = {name: sent(name) for name in files}
    assert sum(weights.values()) <= BUDGET, weights
    with console.page.expect_response(lambda answer: "/assets/antd-" in answer.url):
        console.at("username").fill("a")


def test_files_with_a_hash_are_compressed_and_kept(world: World, new_console: Open) -> None:
    console = new_console()
    console.watch.expect("401")
    with console.page.expect_response(lambda answer: "/assets/first-" in answer.url) as waiting:
        console.page.goto("/")
    headers = waiting.value.all_headers()
    assert headers["content-encoding"] in ("gzip", "br")
    assert "immutable" in headers["cache-control"]
    better = console.page.request.get(waiting.value.url, headers={"accept-encoding": "br"})
    assert better.headers["content-encoding"] == "br"


def test_nothing_moves_while_the_first_pages_come(world: World, new_console: Open, signed_in: Path) -> None:
    for job in [plain(world, f"still-{number}", "true") for number in range(3)]:
        world.until(job, lambda view: view["state"] == "succeeded")  # a change of theirs would be told in the list
    console = new_console()
    console.watch.expect("401")
    console.page.add_init_script(_OBSERVE)
    console.page.goto("/")
    expect(console.at("sign-in")).to_be_visible()
    assert console.page.evaluate("window.shifted") <= SHIFT
    inside = new_console(cookies=signed_in)
    inside.page.add_init_script(_OBSERVE)
    inside.open("/jobs")
    expect(inside.at("job-row")).to_have_count(3)
    assert inside.page.evaluate("window.shifted") <= SHIFT
