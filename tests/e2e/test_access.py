"""For everybody: every page for a screen reader, in both looks and in any width (WCAG 2.1 AA, D12)."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.pages import pages, work
from tests.e2e.world import World

WIDTHS = (390, 768, 1280, 1440, 1920)


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    return work(world)


def settled(console: Console, mark: str) -> None:
    """Wait until the page is there, and nothing on it is still to come."""
    expect(console.at(mark).first).to_be_visible()
    expect(console.page.locator(".ant-skeleton")).to_have_count(0)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_page_breaks_a_rule_of_wcag(jobs: dict[str, str], new_console: Open, signed_in: Path, look: str) -> None:
    console = new_console(cookies=signed_in)
    console.open("/jobs")
    console.page.evaluate(
        "look => { localStorage.setItem('trainmaster.expert', '1'); localStorage.setItem('trainmaster.look', look) }",
        look,
    )
    console.open("/jobs")  # as chosen
    expect(console.page.locator("html")).to_have_attribute("data-theme", look)
    console.watch.expect("404")  # what is not there
    report = Report()
    for address, mark in pages(jobs):
        console.turn_to(address)
        settled(console, mark)
        report.add(f"{address} ({look})", judge(console.page))
    console.open("/jobs")
    console.page.keyboard.press("Control+k")
    expect(console.at("palette-entry").first).to_be_visible()
    report.add(f"palette ({look})", judge(console.page))
    console.page.keyboard.press("Escape")
    console.page.keyboard.press("?")
    expect(console.at("keys")).to_be_visible()
    report.add(f"keys ({look})", judge(console.page))
    assert not report, f"\n{report}"


_AT_REST = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"""
"""What a change of the window's width sets off is drawn."""


@pytest.mark.parametrize("look", ["light", "dark"])
def test_coming_in_breaks_no_rule_of_wcag(world: World, signed_in: Path, new_console: Open, look: str) -> None:
    """To sign in, to choose the first password, and to join by an invitation, each with a problem on it and without."""
    report = Report()

    def judged(where: str) -> None:
        expect(console.page.locator("html")).to_have_attribute("data-theme", look)
        report.add(f"{where} ({look})", judge(console.page))

    console = new_console()
    console.watch.expect("401")
    console.page.goto("/")
    console.at("look").select_option(look)
    console.press("sign-in")
    judged("sign in")
    console.at("username").fill(f"newcomer-{look}")
    console.at("password").fill("not-the-password")
    console.press("sign-in")
    expect(console.at("signin-error")).to_be_visible()
    judged("sign in, refused")
    console.at("password").fill(world.password_of(f"newcomer-{look}"))
    console.press("sign-in")
    expect(console.at("new-password")).to_be_visible()
    judged("first password")
    console.at("new-password").fill("short")
    console.press("set-password")
    expect(console.page.get_by_text("Use at least 10 characters.")).to_be_visible()
    judged("first password, too short")

    console = new_console()
    console.watch.expect("401", "404")
    console.page.goto("/")
    console.at("look").select_option(look)
    console.page.goto(world.tm("workspace", "invite", "default", "--role", "viewer").strip())
    expect(console.at("join-name")).to_be_visible()
    judged("join")
    console.at("join-password").fill("short")
    console.press("join")
    expect(console.page.get_by_text("Use at least 10 characters.")).to_be_visible()
    judged("join, too short")
    console.page.goto("/join#not-an-invitation")
    console.page.reload()
    expect(console.at("signin-error")).to_be_visible()
    judged("join, not invited")
    assert not report, f"\n{report}"


# Where the keyboard is: what has it, and whether it, what is around it or what is drawn for it has a ring that is seen.
_STOP = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const main = document.querySelector("main");
  if (!main.contains(e) || e === main) return null;
  const ringed = (one) => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(one);
    const clear = /, 0\\)$|transparent/.test(outlineColor);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 && !clear;
  };
  const around = [e, ...(e.parentElement?.children ?? [])];
  for (let up = e.parentElement, n = 0; up && up !== main && n < 5; up = up.parentElement, n++) around.push(up);
  const name = e.getAttribute("data-testid") ?? e.getAttribute("aria-label")
    ?? ((e.innerText ?? "").trim().slice(0, 40) || `${e.tagName}.${e.className}`);
  e.dataset.stop ??= String(document.querySelectorAll("[data-stop]").length);
  return { name, stop: e.dataset.stop, seen: around.some(ringed) };
}"""
MOST_STOPS = 90
"""Of one page; a list repeats the same controls in every row."""


def test_the_keyboard_is_seen_wherever_it_is(jobs: dict[str, str], new_console: Open, signed_in: Path) -> None:
    """WCAG 2.4.7: each control that Tab comes to has a ring, on every page."""
    console = new_console(cookies=signed_in)
    console.open("/jobs")
    console.page.evaluate("localStorage.setItem('trainmaster.expert', '1')")
    console.open("/jobs")  # as chosen
    console.watch.expect("404")
    unseen: dict[str, list[str]] = {}
    stops = 0
    for address, mark in pages(jobs):
        console.turn_to(address)
        settled(console, mark)
        console.page.evaluate("document.querySelector('main').focus()")
        been: set[str] = set()
        for _ in range(MOST_STOPS):
            console.page.keyboard.press("Tab")
            stop = console.page.evaluate(_STOP)
            if stop is None or stop["stop"] in been:
                break
            been.add(stop["stop"])
            if not stop["seen"]:
                unseen.setdefault(address, []).append(stop["name"])
        stops += len(been)
    assert unseen == {}, "\n" + "\n".join(f"{where}: {what}" for where, what in unseen.items())
    assert stops > 5 * len(pages(jobs)), stops


# Of each control that can be pressed: whether what is under the pointer at its middle and near its ends is itself.
_COVERED = """() => {
  const whole = ".ant-select, .ant-input-affix-wrapper, .ant-input-number, .ant-segmented, .ant-checkbox-wrapper, label"
    + ", .ant-space-compact, .cm-editor, .ant-tabs-nav, .ant-slider";
  const name = (e) => e.getAttribute("data-testid") ?? e.getAttribute("aria-label")
    ?? ((e.innerText ?? "").trim().slice(0, 40) || `${e.tagName}.${e.className}`);
  const wrong = [];
  for (const e of document.querySelectorAll("a[href], button, input, select, textarea, [role=tab], [role=button]")) {
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (getComputedStyle(e).pointerEvents === "none" || e.closest("[inert], .tm-said, .tm-skip, svg")) continue;
    e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = e.getClientRects()[0];
    if (!box || box.width < 6 || box.height < 6) continue;
    // A bar of tabs moves by itself to what has the keyboard; what it hides meanwhile is also in its menu.
    const out = box.right > innerWidth + 1 || box.left < -1;
    if (out && e.closest(".ant-tabs-nav-wrap")) continue;
    if (out) { wrong.push(`${name(e)} reaches out of the window`); continue; }
    for (const x of [box.left + 4, box.left + box.width / 2, box.right - 4]) {
      const top = document.elementFromPoint(x, box.top + box.height / 2);
      if (!top || e.contains(top) || top.contains(e)) continue;
      const group = e.closest(whole);
      if (group && group.contains(top)) continue;
      wrong.push(`${name(e)} is covered by ${name(top)}`);
      break;
    }
  }
  scrollTo(0, 0);
  return wrong;
}"""


# On a laptop no table has to be pushed to the side: what is at its end would not be seen.
_PUSHED = """() => [...document.querySelectorAll(".ant-table-content, .ant-table-body, .tm-table")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${(e.innerText ?? "").slice(0, 30)}: ${e.scrollWidth} px in ${e.clientWidth}`)"""
WHOLE_PX = 1280
# Where there is no room for columns the rows of every table are cards. A file's own table is as wide as it is.
STACKED_PX = 991
_BESIDE = """() => [...document.querySelectorAll(".ant-table-wrapper tr")]
  .filter((e) => e.checkVisibility() && !e.closest(".tm-look") && getComputedStyle(e).display === "table-row")
  .map((e) => (e.innerText ?? "").slice(0, 30))"""


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_every_page_fits_its_window(jobs: dict[str, str], new_console: Open, signed_in: Path, language: str) -> None:
    """No page scrolls sideways in any width, and no table on a laptop; nothing lies over what is to be pressed."""
    console = new_console(language=language, cookies=signed_in)
    console.open("/jobs")
    console.page.evaluate("localStorage.setItem('trainmaster.expert', '1')")
    console.open("/jobs")  # as chosen
    console.watch.expect("404")
    wrong: dict[str, Any] = {}
    for address, mark in pages(jobs):
        console.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        console.turn_to(address)
        settled(console, mark)
        for width in WIDTHS:  # one page after the other, each turned by hand: loading it is what takes long
            console.page.set_viewport_size({"width": width, "height": 900})
            console.page.wait_for_function(_AT_REST)
            settled(console, mark)
            if over := console.too_wide():
                wrong[f"{width} px, {address} scrolls sideways"] = f"{over} px"
            if width >= WHOLE_PX and (pushed := console.page.evaluate(_PUSHED)):
                wrong[f"{width} px, {address}, tables"] = pushed
            if width <= STACKED_PX and (pushed := console.page.evaluate(_PUSHED) + console.page.evaluate(_BESIDE)):
                wrong[f"{width} px, {address}, rows that are no cards"] = pushed
            if covered := console.page.evaluate(_COVERED):
                wrong[f"{width} px, {address}"] = covered
    assert wrong == {}, "\n" + "\n".join(f"{where}: {what}" for where, what in wrong.items())


def test_the_navigation_is_a_drawer_where_the_window_is_narrow(console: Console) -> None:
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.open("/jobs")
    expect(console.at("nav-queue")).to_have_count(0)
    console.press("menu")
    console.press("nav-queue")
    expect(console.at("queue")).to_be_visible()
    expect(console.page.get_by_role("dialog")).not_to_be_visible()
