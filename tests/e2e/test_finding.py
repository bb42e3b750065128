"""What people say of jobs, search from anywhere, and saved views, as somebody sees and clicks it (R198 to R200)."""

import re

from playwright.sync_api import expect

from tests.e2e.axe import judge
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


def test_a_volume_gets_a_star_is_listed_by_it_and_offered_first(world: World, console: Console) -> None:
    """R141: in its row and on its page; the list narrows to favorites, to one's own, to what others share."""
    with world.client() as client:
        for name in ("liked", "later", "last"):
            client.volumes.create(name)
    console.open("/volumes")
    rows = console.at("volumes").locator("tbody tr[data-row-key]")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("last")
    console.page.get_by_role("button", name="Add to favorites: liked").click()
    expect(console.page.get_by_role("button", name="Remove from favorites: liked")).to_be_visible()
    expect(rows.first).to_contain_text("last")  # in the order of changes, as before
    console.press("volumes-favorite")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("liked")
    assert not (found := judge(console.page)), found
    console.press("volumes-shared")
    expect(rows).to_have_count(0)
    console.press("volumes-mine")
    expect(rows).to_have_count(3)
    console.at("volume-link").filter(has_text="liked").click()
    expect(console.at("use-in-job")).to_have_count(1)  # the list has one, and a star, in each row
    expect(console.at("favorite")).to_have_attribute("aria-pressed", "true")
    console.press("use-in-job")
    console.at("mount-name-0").click()
    offered = console.page.locator(".ant-select-dropdown:visible .ant-select-item-option")
    expect(offered).to_have_text(["liked", "last", "later"])
    expect(offered.first.get_by_test_id("star")).to_be_visible()
    console.page.keyboard.press("Escape")
    console.page.go_back()
    console.press("favorite")
    expect(console.at("favorite")).to_have_attribute("aria-pressed", "false")
    with world.client() as client:
        assert client.volumes.list(favorite=True) == []
