"""Home: the first job in three clicks, one's own work live, a remedy at the failure, and a workspace for its admin."""

from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


def test_the_first_job_is_three_clicks_away(world: World, console: Console) -> None:
    console.open("/")
    expect(console.at("nav-home")).to_have_attribute("aria-current", "page")
    console.press("first-job")
    console.press("example-hello")
    expect(console.at("fits")).to_have_attribute("data-when", "now")
    job = console.start()
    console.press("nav-home")
    expect(console.at("first-job")).to_have_count(0)
    world.until(job, lambda view: view["state"] == "succeeded")
    expect(console.at("home-running")).to_contain_text("None of your jobs is running.")


def test_it_follows_what_happens_and_helps_where_something_failed(world: World, console: Console) -> None:
    world.tm("workspace", "set", "default", "--per-person", "gpu=2,jobs=3")
    console.open("/")
    runs = plain(world, "home-runs", "sleep 1000", resources={"gpu": 2})
    expect(console.at("home-job")).to_contain_text("home-runs")  # without a reload
    waits = plain(world, "home-waits", "true", resources={"gpu": 1})
    expect(console.at("home-waiting").get_by_test_id("home-waits")).to_contain_text("holds 2")
    bad = plain(world, "home-bad", "bash -c 'exit 3'")
    world.until(bad, lambda view: view["state"] == "failed")
    expect(console.at("home-bad").first).to_contain_text("home-bad")
    expect(console.at("home-limits")).to_contain_text("2 of 2")
    report = Report()
    report.add("home", judge(console.page))
    assert not str(report)
    for width in (390, 1280, 1440):
        console.page.set_viewport_size({"width": width, "height": 900})
        expect(console.page.locator(".tm-sider")).to_have_count(0 if width < 900 else 1)
        assert not console.too_wide(), width
    console.press("home-help")
    expect(console.at("home-help-box").get_by_test_id("remedies")).to_be_visible()
    console.page.keyboard.press("Escape")
    expect(console.at("home-workspace-default")).to_contain_text("1 running, 1 queued")
    expect(console.at("home-person-admin")).to_be_visible()
    expect(console.at("home-done").first).to_contain_text("home-bad")
    world.end(runs)
    world.until(waits, lambda view: view["state"] == "succeeded")
    expect(console.at("home-waiting")).to_contain_text("None of your jobs is queued.")


def test_an_administrator_limits_persons(world: World, console: Console) -> None:
    console.open("/admin?tab=workspaces")
    console.press("workspace-add")
    console.at("admin-name").fill("speech")
    console.press("personal-add")
    console.at("personal-most").fill("4")
    console.press("personal-add")
    console.at("personal-person").nth(1).fill("ann")
    console.at("personal-most").nth(1).fill("16")
    console.press("admin-save")
    expect(console.at("personal-limit").filter(has_text="ann")).to_contain_text("16")
    assert "each person  gpu 4" in world.tm("workspace", "show", "speech")


def test_what_was_kept_of_the_lists_address_leads_to_it(console: Console) -> None:
    console.open("/?state=failed")
    expect(console.at("chip-failed")).to_be_visible()
    assert "/jobs?state=failed" in console.page.url
