"""What holds on every page: both languages, whole; light and dark; and the person's own settings."""

import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.pages import pages, work
from tests.e2e.world import World

CHINESE = re.compile(r"[\u4e00-\u9fff]")
OWN_NAME = "中文"  # how the switch calls the other language
# The name of a text instead of the text: what is shown when a translation is missing.
RAW_KEY = re.compile(
    r"\b(nav|state|priority|action|unit|feed|error|theme|language|user|signin|jobs|submit|help|cluster|engines|models"
    r"|settings|compare|templates|datasets|volumes|algorithms|images|sweeps|storage|look|bin)"
    r"\.[a-z]\w+|\bjob\.(tab|act|fact|verdict|timeline|cause|tasks|log|metrics|usage|events|files|json)\b|\{\{"
)
# Labels, titles and sentences of the English console. None of them may be left on a Chinese page.
ENGLISH = re.compile(
    r"(?<![\w/.-])("
    "Jobs|Cluster|Models|Settings|New job|Training jobs|Owner|Submitted|Run time|Metric|Newest first|Queued|"
    "Running|Succeeded|Failed|Stopped|Search|No jobs|just now|Live|Overview|Logs|Metrics|Files|Clone|"
    "Resource usage|Run history|Job file|Time limit|Last lines|Details|Workspace|Runs on|Failure|Main steps|"
    "Stop|Delete|Attempt|Replica|Sub-task|Command|Completion|Resources|Memory|Shared memory|Cards|Network|Disk|"
    "Processes|limit|Follow|Download|Basic|Expert|Import|Review|Job name|Description|Framework|Parameters|Ports|"
    "Environment|Usage duration|What will run|Start training|Nodes ready|Ready|simulated|idle|Version|Latest|Created|"
    "Size|Digest|Made by job|API tokens|Create token|No end|Password|Sign in|User name|About|Appearance|Light|Dark|"
    "System|Why it failed|Why it waits|exit code|There is no such page|Retries|Priority|Nothing|Loading|cores|"
    "Started|Ended|Why it is queued|platform|scheduler"
    r")(?![\w/.-])"
)


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    return work(world)


def words(console: Console) -> str:
    """All that a person reads on the page, without what users or programs wrote themselves."""
    return str(
        console.page.evaluate(
            """() => {
              const own = ".cm-editor, .tm-log, .tm-mono, .tm-code, .tm-command, .tm-name, .tm-event-data, code, pre, "
                + "[data-testid=language], .tm-brand";
              const copy = document.body.cloneNode(true);
              copy.querySelectorAll(`${own}, script, style`).forEach((e) => e.remove());
              const labels = [...copy.querySelectorAll("[placeholder],[aria-label],[title]")]
                .flatMap((e) => [e.placeholder, e.ariaLabel, e.title]).filter(Boolean);
              const walk = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
              const texts = [];
              while (walk.nextNode()) texts.push(walk.currentNode.data);
              return [...texts, ...labels].join("\\n");
            }"""
        )
    )


@pytest.mark.parametrize(("language", "titles"), [("en-GB", "en"), ("zh-CN", "zh")])
def test_every_page_is_whole_in_its_language(
    jobs: dict[str, str], new_console: Open, signed_in: Path, language: str, titles: str
) -> None:
    """Both languages on all pages: no name of a text instead of the text, and no English label on a Chinese page."""
    console = new_console(language=language, cookies=signed_in)
    console.open("/jobs")
    console.page.evaluate("localStorage.setItem('trainmaster.expert', '1')")
    console.open("/jobs")  # as chosen
    console.watch.expect("404")  # the page that does not exist
    go = {"en": console.page.goto, "zh": console.turn_to}[titles]  # every address is also loaded by itself, once
    wrong: dict[str, object] = {}
    for address, mark in pages(jobs):
        go(address)
        expect(console.at(mark).first).to_be_visible()
        expect(console.page.locator("html")).to_have_attribute("lang", titles)
        text = words(console)
        if found := RAW_KEY.search(text):
            wrong[f"{address} key"] = found[0]
        if titles == "zh" and (left := ENGLISH.findall(text)):
            wrong[address] = left
        if titles == "en" and (
            chinese := [line for line in text.splitlines() if CHINESE.search(line) and line != OWN_NAME]
        ):
            wrong[address] = chinese
    assert wrong == {}


def test_the_language_is_switched_in_place(jobs: dict[str, str], new_console: Open, signed_in: Path) -> None:
    """The switch changes the page that is open, events of the server included, and is remembered."""
    console = new_console(cookies=signed_in)
    console.open_job(jobs["bad"], "events")
    expect(console.at("events").locator("strong").first).not_to_have_text(CHINESE)
    console.press("language")
    expect(console.at("tab-events")).to_have_text("运行记录")
    for title in console.at("events").locator("strong").all_inner_texts():
        assert CHINESE.search(title), title
    console.page.reload()
    expect(console.at("tab-events")).to_have_text("运行记录")
    console.press("language")
    expect(console.at("tab-events")).to_have_text("Run history")


def test_dark_is_dark_and_stays(jobs: dict[str, str], console: Console) -> None:
    """Light, dark, and remembered; text is readable on its ground in both."""
    console.open("/jobs")
    expect(console.row(jobs["good"])).to_be_visible()
    light = _luminance(console)
    console.press("look")
    console.press("look-dark")
    expect(console.page.locator("html")).to_have_attribute("data-theme", "dark")
    console.page.reload()
    expect(console.row(jobs["good"])).to_be_visible()
    dark = _luminance(console)
    assert light["ground"] > 200
    assert dark["ground"] < 60
    assert light["text"] < 100
    assert dark["text"] > 150


def _luminance(console: Console) -> dict[str, float]:
    return dict(
        console.page.evaluate(
            """() => {
              const grey = (color) => {
                const [r, g, b] = color.match(/[\\d.]+/g).map(Number);
                return 0.3 * r + 0.59 * g + 0.11 * b;
              };
              const style = (selector) => getComputedStyle(document.querySelector(selector));
              return { ground: grey(style("body").backgroundColor), text: grey(style("h1").color) };
            }"""
        )
    )


def _status(url: str, token: str) -> int:
    request = urllib.request.Request(f"{url}/api/v1/jobs", headers={"Authorization": f"Bearer {token}"})
    opener: Callable[..., object] = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    try:
        with opener(request, timeout=30) as answer:  # type: ignore[attr-defined]
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_token_is_made_used_and_revoked(world: World, console: Console) -> None:
    """Settings: a token shown once, good for programs until it is revoked."""
    console.open("/settings")
    console.at("token-name").fill("nightly script")
    console.press("token-create")
    token = console.at("token").inner_text().strip()
    row = console.page.get_by_role("row").filter(has_text="nightly script")
    expect(row).to_be_visible()
    assert _status(world.url, token) == 200
    console.page.reload()
    expect(row).to_be_visible()
    expect(console.at("token")).to_have_count(0)
    row.get_by_role("button", name="Revoke").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    assert _status(world.url, token) == 401
