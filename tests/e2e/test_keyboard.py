"""What the keyboard does on every page: skip, search, go, and nothing while somebody types."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


@pytest.fixture(scope="module")
def job(world: World) -> str:
    made = plain(world, "keyboard-star", "true")
    world.until(made, lambda view: view["state"] == "succeeded")
    return made


def test_the_first_stop_leads_past_the_navigation(job: str, console: Console) -> None:
    console.open("/jobs")
    expect(console.row(job)).to_be_visible()
    console.page.keyboard.press("Tab")
    expect(console.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    console.page.keyboard.press("Enter")
    expect(console.page.get_by_role("main")).to_be_focused()
    assert console.page.url.endswith("/jobs")


def test_letters_go_to_pages(job: str, console: Console) -> None:
    console.open("/jobs")
    keys = console.page.keyboard
    marks = {"q": "queue-page", "c": "cluster", "m": "models", "s": "token-create", "j": "jobs"}
    for letter, mark in marks.items():
        keys.press("g")
        keys.press(letter)
        expect(console.at(mark).first).to_be_visible()
    keys.press("/")
    expect(console.at("search")).to_be_focused()
    keys.type("n?g")  # text, as long as somebody types
    expect(console.at("search")).to_have_value("n?g")
    expect(console.at("keys")).to_have_count(0)
    console.open("/settings")
    keys.press("n")
    expect(console.at("submit-page")).to_be_visible()


def test_letters_can_be_switched_off(job: str, console: Console) -> None:
    """WCAG 2.1.4: who speaks to the computer must not press letters by accident."""
    console.open("/jobs")
    console.page.keyboard.press("?")
    expect(console.at("keys")).to_contain_text("Go to Queue")
    console.page.get_by_role("switch").click()
    console.page.keyboard.press("Escape")
    expect(console.at("keys")).to_have_count(0)
    console.page.reload()
    expect(console.row(job)).to_be_visible()
    console.page.keyboard.press("n")
    console.page.keyboard.press("Control+k")
    expect(console.at("palette")).to_be_visible()
    assert console.page.url.endswith("/jobs")


def test_the_palette_finds_pages_actions_and_jobs(job: str, console: Console) -> None:
    console.open("/settings")
    keys = console.page.keyboard
    keys.press("Control+k")
    expect(console.at("palette")).to_be_focused()
    keys.type("keyboard-st")
    expect(console.at("palette-entry").filter(has_text="keyboard-star")).to_be_visible()
    keys.press("Enter")
    expect(console.at("job-page")).to_have_attribute("data-id", job)
    expect(console.page).to_have_title("keyboard-star · Succeeded – Trainmaster")
    keys.press("Control+k")
    expect(console.at("palette")).to_be_focused()
    keys.type("clus")
    expect(console.at("palette-entry").first).to_have_text(re.compile("Cluster"))
    keys.press("Enter")
    expect(console.at("cluster")).to_be_visible()
    expect(console.page).to_have_title("Cluster – Trainmaster")
    console.press("open-palette")
    expect(console.at("palette")).to_be_focused()
    keys.type("dark")
    expect(console.at("palette-entry").first).to_have_text(re.compile("dark", re.IGNORECASE))
    keys.press("Enter")
    expect(console.page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_palette_finds_what_is_kept_under_a_name(world: World, console: Console, tmp_path: Path) -> None:
    """R198: by name and by description, and a click leads there."""
    (tmp_path / "one.txt").write_text("one\n")
    with world.client() as client:
        client.datasets.upload(tmp_path, "tulips", description="spring pictures")
        client.algorithms.upload({"command": "true"}, "tulip-net")
        client.templates.create("tulip-plan", spec={"name": "tulip-job", "command": "true"})
        client.sweeps.submit({"name": "tulip-swept", "command": "true", "sweep": {"grid": {"lr": [0.1, 0.2]}}})
    entry = console.at("palette-entry")
    places = {
        "spring": ("tulips", "Data set", "dataset-page"),
        "tulip-net": ("tulip-net", "Algorithm", "algorithm-page"),
        "tulip-sw": ("tulip-swept", "Sweep", "sweep-page"),
        "tulip-plan": ("tulip-plan", "Template", "submit-page"),
    }
    for typed, (name, kind, mark) in places.items():
        console.open("/settings")
        console.press("open-palette")
        console.at("palette").fill(typed)
        found = entry.filter(has_text=name).filter(has_text=kind)
        expect(found).to_be_visible()
        found.click()
        expect(console.at(mark)).to_be_visible()
        expect(console.at("palette")).to_have_count(0)


def test_help_leads_to_the_chapter_of_the_page(console: Console) -> None:
    console.open("/queue")
    console.press("help")
    guide = console.at("help-guide")
    expect(guide).to_have_attribute("href", "/docs/guide/waiting.html")
    expect(guide).to_have_text("Guide: Queue")
    assert console.page.request.get(str(console.at("help-api").get_attribute("href"))).ok
    console.press("language")
    console.press("help")
    expect(console.at("help-guide")).to_have_attribute("href", "/docs/zh/guide/waiting.html")
    console.page.goto("/docs/zh/guide/waiting.html")
    expect(console.page.get_by_role("heading", level=1)).to_contain_text("排队")
    console.page.get_by_role("link", name="English", exact=True).click()
    expect(console.page.get_by_role("heading", level=1)).to_contain_text("wait")
    console.page.get_by_placeholder("Search").fill("urgent")
    console.page.keyboard.press("Enter")
    expect(console.page.locator("ul.search li a").first).to_be_visible()


def test_help_leads_to_a_chapter_that_is_there(console: Console) -> None:
    """Of every page, in both languages."""
    for path in ("/", "/queue", "/cluster", "/models", "/submit", "/settings", "/admin/nodes", "/admin/policy"):
        console.open(path)
        console.press("help")
        chapter = str(console.at("help-guide").get_attribute("href")).partition("#")[0]
        for address in (chapter, chapter.replace("/docs/", "/docs/zh/", 1)):
            assert console.page.request.get(address).ok, address


def test_a_link_that_looks_like_a_button_is_one_stop(job: str, console: Console) -> None:
    console.open_job(job)
    expect(console.page.locator("a button, button a")).to_have_count(0)
    expect(console.at("clone")).to_have_attribute("href", f"/submit?clone={job}")


def test_a_link_to_a_job_of_somebody_else_explains_itself(console: Console) -> None:
    """D8: whom to ask, and the same answer for what does not exist."""
    console.watch.expect("404")
    console.open("/jobs/t-nobody-knows")
    expect(console.at("not-shared")).to_contain_text("Ask its owner, or check the ID: t-nobody-knows")
    expect(console.page).to_have_title("No such job, or it is not shared with you – Trainmaster")
    console.open("/nowhere")
    expect(console.at("missing")).to_contain_text("/nowhere")
