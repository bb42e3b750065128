"""What people say of jobs, search from anywhere, and saved views, as somebody sees and clicks it (R198 to R200)."""

import re

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


def test_a_job_gets_tags_a_note_and_a_star_and_is_found_by_them(world: World, console: Console) -> None:
    """On its page, after its end; then by the list's filters, and in a view that is saved and opened again."""
    job = plain(world, "find-me", "true")
    world.until(job, lambda view: view["state"] == "succeeded")
    console.open_job(job)
    console.at("tags").locator("input").fill("paper")
    console.page.keyboard.press("Enter")
    console.at("note").fill("worth another look")
    console.page.keyboard.press("Tab")
    console.press("favorite")
    expect(console.at("favorite")).to_have_attribute("aria-pressed", "true")
    noted = {"tags": ["paper"], "note": "worth another look", "favorite": True}
    world.until(job, lambda view: noted.items() <= view.items())
    console.open("/jobs?tag=paper")
    expect(console.row(job)).to_be_visible()
    expect(console.row(job).get_by_test_id("star")).to_be_visible()
    console.press("views")
    console.press("view-new")
    console.at("view-name").fill("For the paper")
    console.press("view-save")
    expect(console.at("view-name")).to_have_count(0)  # it is saved
    console.open("/jobs?favorite=true&q=another")
    expect(console.row(job)).to_be_visible()
    console.press("views")
    console.at("view").filter(has_text="For the paper").click()
    expect(console.page).to_have_url(re.compile(r"tag=paper"))
    expect(console.row(job)).to_be_visible()


def test_search_from_anywhere_finds_jobs_and_pools(world: World, console: Console) -> None:
    """Ctrl-K on any page."""
    plain(world, "needle-in-hay", "true")
    console.open("/cluster")
    console.page.keyboard.press("Control+k")
    console.at("palette").fill("needle")
    expect(console.at("palette-entry").filter(has_text="needle-in-hay").first).to_be_visible()
    console.at("palette").fill("default")
    expect(console.at("palette-entry").filter(has_text="default").first).to_be_visible()
