"""What scripts/screenshots does once the machine is set up: a server with a day's work on it, and a picture of every
page.

The pictures are the real console on the real platform; only the trainings are small. A picture has few colors (a
palette), so that the documentation stays light. It fails when a page shows an error or when a picture is too heavy.
"""

import io
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' server and jobs are these pictures' server and jobs

from palette import few_colors  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright  # noqa: E402
from screenshots_clusters import cluster, cluster_shots, on_both  # noqa: E402
from screenshots_queue import MACHINES, busy, queue_shots  # noqa: E402

from tests.e2e.browser import chromium, new_password  # noqa: E402
from tests.e2e.jobs import plain, training  # noqa: E402
from tests.e2e.world import CONFIG, World  # noqa: E402

IMAGES = ROOT / "docs/images"
LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}
HEAVIEST = 150 * 1024
SIZE = (1440, 900)
NARROW = (1024, 768)
OUT_OF_DATA = 'bash -c \'echo loading /dataset/train; python -c "open(\\"/dataset/train/labels.csv\\")"\''

Jobs = dict[str, str]
T = TypeVar("T")
Prepare = Callable[[Page], None]


def work(world: World) -> Jobs:
    """A day's work: trainings that succeeded, failed, were stopped, run and wait. Returns their ids."""
    jobs: Jobs = {}
    jobs["good"] = training(
        world, "digits-baseline", 40, 0.05, gpu=1, description="Baseline for the others", model={"name": "digits"}
    )
    jobs["stopped"] = training(world, "digits-lr-too-high", 1000, 0.1, parameters={"lr": 5})
    jobs["failed"] = plain(world, "segment-cells", OUT_OF_DATA, description="Cell images, first try")
    world.until(jobs["failed"], lambda view: view["state"] == "failed")
    world.until(jobs["good"], lambda view: view["state"] == "succeeded")
    jobs["better"] = training(
        world, "digits-wide", 60, 0.05, gpu=1, description="Twice as wide", model={"name": "digits"}
    )
    world.until(jobs["stopped"], lambda view: bool(view["metrics"]))
    world.tm("stop", jobs["stopped"])
    world.until(jobs["better"], lambda view: view["state"] == "succeeded")
    jobs["long"] = training(
        world,
        "speech-ddp",
        400,
        0.1,
        replicas=2,
        gpu=1,
        cpu=2.5,
        parameters={"slow-after": 230},
        description="Two nodes, one card each",
        duration="4h",
    )
    jobs["second"] = training(
        world,
        "tokens-ablation",
        900,
        0.1,
        gpu=1,
        parameters={"slow-after": 150},
        description="Without position codes",
        duration="1d",
    )
    world.until(jobs["second"], lambda view: view["state"] == "running" and bool(view["metrics"]))
    jobs["waits"] = training(
        world, "vision-large", 10, replicas=2, gpu=2, description="Needs all four cards", priority="urgent"
    )
    world.until(jobs["waits"], lambda view: view["reason"] is not None)
    with world.client() as client:
        client.http.json("POST", "/tokens", json={"name": "nightly evaluation", "expires_in_s": 90 * 86_400})
    # The quick epochs are over ("slow-after"): its curve is long, and it runs on while all pictures are taken.
    world.until(jobs["long"], lambda view: (view["progress"] or {}).get("step", 0) >= 230)
    return jobs


def fill_form(page: Page) -> None:
    """A form that someone is in the middle of."""

    def fill(path: str, text: str) -> None:
        page.locator(f'[data-path="{path}"]').locator("input, textarea").first.fill(text)

    fill("name", "digits-ddp")
    page.get_by_test_id("distributed").click()
    fill("roles.0.command", "python train.py")
    fill("roles.0.replicas", "2")
    fill("roles.0.resources.gpu", "1")
    box = page.get_by_test_id("kv-roles.0.parameters")
    for row, (key, value) in enumerate((("epochs", "30"), ("lr", "0.1"))):
        box.get_by_test_id("kv-add").click()
        box.get_by_test_id(f"kv-key-{row}").fill(key)
        box.get_by_test_id(f"kv-value-{row}").fill(value)
    page.get_by_test_id("code-folder").set_input_files(ROOT / "examples/digits-ddp")
    expect(page.get_by_test_id("code-ready")).to_be_visible()
    page.locator('[data-path="framework"] .ant-select').click()
    page.locator(".ant-select-dropdown:visible .ant-select-item-option", has_text="PyTorch").click()
    expect(page.get_by_test_id("command-preview")).to_contain_text("torch")
    expect(page.get_by_test_id("fits")).to_be_visible()
    page.get_by_role("heading", level=1).click()  # neither the pointer nor the focus stays where it shows a hint


def expert(page: Page) -> None:
    fill_form(page)
    page.get_by_test_id("expert").click()
    page.get_by_role("heading", level=1).click()


def confirm(page: Page) -> None:
    fill_form(page)
    page.get_by_test_id("review").click()
    expect(page.get_by_test_id("confirm-page")).to_be_visible()


def problems(page: Page) -> None:
    fill_form(page)
    page.locator('[data-path="name"] input').fill("digits ddp!")
    page.locator('[data-path="duration"] input').fill("soon")
    page.get_by_test_id("review").click()
    expect(page.get_by_test_id("field-problem").first).to_be_visible()


def text(page: Page) -> None:
    fill_form(page)
    page.get_by_test_id("edit-json").click()
    expect(page.get_by_test_id("json-editor").locator(".cm-content")).to_contain_text("digits-ddp")


def find(page: Page) -> None:
    page.get_by_test_id("log-search").fill("epoch=\\d*0 ")
    page.get_by_text(".*", exact=True).click()
    page.mouse.move(0, 0)
    expect(page.get_by_test_id("log-hits")).to_contain_text(
        "/" if page.locator("html").get_attribute("lang") == "zh" else " of "
    )


def ask(page: Page) -> None:
    page.get_by_test_id("stop").click()
    expect(page.get_by_test_id("confirm")).to_be_visible()


def shots(jobs: Jobs) -> list[tuple[str, str, str, Prepare | None]]:
    """Every picture: its name, the address, what is there once the page is, and what is done before."""
    long, good, failed = f"/jobs/{jobs['long']}", f"/jobs/{jobs['good']}", f"/jobs/{jobs['failed']}"
    return [
        ("home", "/", "home", None),
        ("jobs", "/jobs", "jobs", None),
        ("submit", "/submit", "distributed", fill_form),
        ("submit-expert", "/submit", "distributed", expert),
        ("submit-problems", "/submit", "distributed", problems),
        ("submit-text", "/submit", "distributed", text),
        ("submit-confirm", "/submit", "distributed", confirm),
        ("job", long, "tasks", None),
        ("job-log", f"{long}?tab=logs", "log", find),
        ("job-metrics", f"{long}?tab=metrics", "metric-loss", None),
        ("job-usage", f"{long}?tab=usage", "usage-cpu", None),
        ("job-events", f"{long}?tab=events", "events", None),
        ("job-json", f"{long}?tab=json", "document", None),
        ("job-stop", long, "tasks", ask),
        ("job-succeeded", good, "verdict", None),
        ("job-files", f"{good}?tab=files", "files", None),
        ("job-failed", failed, "verdict", None),
        ("job-waiting", f"/jobs/{jobs['waits']}", "wait", None),
        ("cluster", "/cluster", "cluster", None),
        ("models", "/models", "models", None),
        ("model", "/models/digits", "model-page", None),
        ("settings", "/settings", "token-create", None),
    ]


_FADED = """() => [...document.querySelectorAll(
  "[role=dialog], .ant-modal, .ant-drawer-content-wrapper, .ant-dropdown, .ant-select-dropdown, .ant-tooltip"
)].filter((e) => e.checkVisibility()).every((e) => getComputedStyle(e).opacity === "1")"""


def shoot(page: Page, name: str) -> None:
    """Write a picture of the page as it is, with few colors. Raises SystemExit when it is too heavy."""
    page.evaluate("document.fonts.ready")
    expect(page.locator(".ant-skeleton, .ant-spin-spinning")).to_have_count(0)
    expect(page.locator(".ant-alert-error")).to_have_count(0)
    page.wait_for_function(_FADED)  # D13: a dialog half faded in is a grey page
    raw = page.screenshot(animations="disabled", caret="hide")
    small = few_colors(Image.open(io.BytesIO(raw)).convert("RGB"))
    path = IMAGES / f"{name}.png"
    small.save(path, optimize=True)
    if path.stat().st_size > HEAVIEST:
        sys.exit(
            f"screenshots: {path.name} has {path.stat().st_size // 1024} KiB; at most {HEAVIEST // 1024} are meant"
        )
    sys.stdout.write(f"{path.relative_to(ROOT)} {path.stat().st_size // 1024} KiB\n")
    sys.stdout.flush()


def new_page(browser: Browser, world: World, language: str, look: str, size: tuple[int, int], cookies: Any) -> Page:
    context = browser.new_context(
        base_url=world.url,
        viewport={"width": size[0], "height": size[1]},
        locale=LANGUAGES[language],
        storage_state=cookies,
        timezone_id="Asia/Shanghai",
        color_scheme="dark" if look == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(60_000)
    return context.new_page()


def shoot_all(browser: Browser, world: World, jobs: Jobs, cookies: Path) -> None:
    """Every page in both languages, the list also on a narrow screen, and some pages in the dark; or only those
    named.
    """
    named = sys.argv[1:]
    every = [shot for shot in shots(jobs) if not named or shot[0] in named]
    for language in LANGUAGES:
        if not named or "signin" in named:
            page = new_page(browser, world, language, "light", SIZE, None)
            page.goto("/")
            expect(page.get_by_test_id("password")).to_be_visible()
            shoot(page, f"{language}-signin")
            page.context.close()
        _series(browser, world, language, "light", SIZE, cookies, every, f"{language}-{{}}")
        _series(
            browser,
            world,
            language,
            "light",
            NARROW,
            cookies,
            [s for s in every if s[0] == "jobs"],
            f"{language}-{{}}-narrow",
        )
        dark = [shot for shot in every if shot[0] in ("jobs", "job", "job-metrics")]
        _series(browser, world, language, "dark", SIZE, cookies, dark, f"{language}-{{}}-dark")
    shutil.copyfile(IMAGES / "en-job-metrics.png", IMAGES / "console.png")


def _series(
    browser: Browser,
    world: World,
    language: str,
    look: str,
    size: tuple[int, int],
    cookies: Path,
    every: list[tuple[str, str, str, Prepare | None]],
    pattern: str,
) -> None:
    page = new_page(browser, world, language, look, size, cookies)
    for name, address, mark, prepare in every:
        page.goto("/settings")  # the picture before may have left the form in expert mode and a draft in it
        page.evaluate("localStorage.removeItem('trainmaster.expert'); sessionStorage.removeItem('trainmaster.draft..')")
        page.goto(address)
        expect(page.get_by_test_id(mark).first).to_be_visible()
        if prepare is not None:
            prepare(page)
        shoot(page, pattern.format(name))
    page.context.close()


def shoot_queue(browser: Browser, world: World, cookies: Path) -> None:
    """The queue's pages in both languages, the timeline also in the dark; or only those named."""
    every = [shot for shot in queue_shots() if not sys.argv[1:] or shot[0] in sys.argv[1:]]
    for language in LANGUAGES:
        _series(browser, world, language, "light", SIZE, cookies, every, f"{language}-{{}}")
        dark = [shot for shot in every if shot[0] == "timeline"]
        _series(browser, world, language, "dark", SIZE, cookies, dark, f"{language}-{{}}-dark")


def shoot_clusters(browser: Browser, world: World, jobs: Jobs, cookies: Path) -> None:
    """The pages of a server with two engines in both languages; or only those named."""
    every = [shot for shot in cluster_shots(jobs) if not sys.argv[1:] or shot[0] in sys.argv[1:]]
    for language in LANGUAGES:
        _series(browser, world, language, "light", SIZE, cookies, every, f"{language}-{{}}")


def main(playwright: Playwright) -> None:
    """Throwaway servers, their work, the pictures."""
    expect.set_options(timeout=60_000)
    IMAGES.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[1:])
    queue = {shot[0] for shot in queue_shots()}
    if not wanted or wanted & queue:
        on_a_server(playwright, MACHINES, busy, lambda browser, world, _, cookies: shoot_queue(browser, world, cookies))
    clusters = {shot[0] for shot in cluster_shots(defaultdict(str))}
    if not wanted or wanted & clusters:
        with cluster() as config:
            on_a_server(playwright, config, on_both, shoot_clusters)
    if not wanted or wanted - queue - clusters:
        on_a_server(playwright, CONFIG, work, shoot_all)


def on_a_server(
    playwright: Playwright, config: str, prepare: Callable[[World], T], shoot_it: Callable[..., None]
) -> None:
    """Start a throwaway server on these machines, give it work, take its pictures."""
    with tempfile.TemporaryDirectory(prefix="trainmaster-", ignore_cleanup_errors=True) as folder:
        world = World(Path(folder, "home"), config)
        try:
            world.start()
            cookies = Path(folder, "cookies.json")
            new_password(playwright, world, cookies)
            prepared = prepare(world)
            browser = chromium(playwright)
            shoot_it(browser, world, prepared, cookies)
            browser.close()
        finally:
            world.close()


if __name__ == "__main__":
    with sync_playwright() as playwright:
        main(playwright)
