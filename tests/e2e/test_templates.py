"""Templates in the browser: each button of R42 and R230 to R234 is pressed, by two people in one workspace."""

import json

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import add_user, come_in
from tests.e2e.world import World


def rows(console: Console) -> Locator:
    return console.page.locator("[data-testid=templates] tbody tr.ant-table-row")


def row(console: Console, name: str) -> Locator:
    return rows(console).filter(has=console.page.get_by_role("link", name=name, exact=True))


def more(console: Console, name: str, what: str) -> None:
    """Open the menu of a template and choose something in it."""
    row(console, name).get_by_test_id("template-more").click()
    console.page.locator(f".ant-dropdown:visible [data-testid={what}]").click()


def save_as(console: Console, name: str, description: str = "") -> None:
    console.at("template-name").fill(name)
    if description:
        console.at("template-description").fill(description)
    console.press("template-save")


def test_templates_are_made_changed_copied_shared_deleted_and_submitted_from(
    world: World, console: Console, new_console: Open
) -> None:
    console.open("/admin?tab=workspaces")
    console.press("workspace-add")
    console.at("admin-name").fill("vision")
    console.press("admin-save")
    expect(console.at("members-vision")).to_be_visible()
    console.press("admin-users")
    one_time = {name: add_user(console, name, "vision") for name in ("ann", "bob")}
    ann, bob = (come_in(new_console, name, one_time[name]) for name in ("ann", "bob"))

    # R230: an empty page leads to the form, whose second end button saves it (R42)
    ann.open("/templates")
    expect(ann.at("empty")).to_be_visible()
    ann.press("template-new")
    ann.fill("name", "first")
    ann.fill("roles.0.command", "sleep infinity")
    ann.press("save-template")
    ann.watch.expect("422")
    save_as(ann, "no blanks")
    expect(ann.at("error")).to_contain_text("Use 1 to 30 letters")
    save_as(ann, "plan", "sleeps well")
    expect(ann.page.get_by_text("Template plan saved.")).to_be_visible()
    expect(ann.at("template-name")).to_have_count(0)
    expect(ann.at("submit-page")).to_be_visible()

    # R232: submit from it; the form opens filled, and the template counts it
    ann.turn_to("/templates")
    row(ann, "plan").get_by_test_id("template-submit").click()
    expect(ann.field("name")).to_have_value("first")
    expect(ann.at("form-head")).to_contain_text("From the template plan")
    ann.fill("name", "second")
    job = ann.start()
    assert world.show(job)["name"] == "second"
    ann.turn_to("/templates")
    expect(row(ann, "plan")).to_contain_text("once")

    # R230: of a job, from its page and from its row
    ann.turn_to(f"/jobs/{job}?tab=overview")
    ann.press("more")
    ann.press("job-template")
    save_as(ann, "of-a-job")
    expect(ann.page.get_by_text("Template of-a-job saved.")).to_be_visible()
    ann.turn_to("/jobs")
    ann.row(job).get_by_test_id("row-menu").click()
    ann.press("row-template")
    save_as(ann, "of-a-row")
    expect(ann.page.get_by_text("Template of-a-row saved.")).to_be_visible()

    # R231: edit and save; what was there before is kept as a version
    ann.turn_to("/templates")
    more(ann, "plan", "template-edit")
    expect(ann.at("form-head")).to_contain_text("Saving makes a new version of plan")
    expect(ann.at("fits")).to_have_text("No problems found")
    expect(ann.at("would-start")).to_have_count(0)  # it is saved, and starts nothing
    ann.press("template-cancel")
    more(ann, "plan", "template-edit")
    expect(ann.page.locator("a.tm-here")).to_have_attribute("data-testid", "nav-templates")
    expect(ann.at("review")).to_have_count(0)
    ann.fill("roles.0.command", "sleep 1000")
    ann.press("save-template")
    save_as(ann, "plan-2")
    expect(row(ann, "plan-2")).to_contain_text("version 2, by ann")
    with world.client() as client:
        assert client.templates.get("plan-2").spec["roles"][0]["command"] == "sleep 1000"
        assert client.templates.get("plan-2", 1).spec["roles"][0]["command"] == "sleep infinity"

    # shared: bob sees nothing before, and copies afterwards (R233)
    bob.open("/templates")
    expect(bob.at("empty")).to_be_visible()
    ann.choose(row(ann, "plan-2").get_by_test_id("template-sharing"), "copy and submit")
    expect(ann.page.get_by_text("Sharing changed.")).to_be_visible()
    bob.open("/templates")
    expect(rows(bob)).to_have_count(1)
    expect(row(bob, "plan-2").get_by_test_id("template-sharing")).to_have_count(0)
    row(bob, "plan-2").get_by_test_id("template-more").click()
    expect(bob.page.locator(".ant-dropdown:visible .ant-dropdown-menu-item-disabled")).to_have_count(3)
    bob.page.locator(".ant-dropdown:visible [data-testid=template-copy]").click()
    expect(bob.page.get_by_text("Copied as plan-2-copy.")).to_be_visible()
    expect(rows(bob)).to_have_count(2)
    bob.press("templates-mine")
    expect(rows(bob)).to_have_count(1)

    # R198: searched; R234: one or many are deleted
    bob.watch.expect("404")
    ann.at("templates-search").fill("of-a")
    expect(rows(ann)).to_have_count(2)
    for name in ("of-a-job", "of-a-row"):
        row(ann, name).get_by_role("checkbox").check()
    ann.press("templates-delete")
    ann.press("confirm-ok")
    expect(ann.page.get_by_text("2 templates deleted.")).to_be_visible()
    ann.at("templates-search").fill("")
    more(ann, "plan-2", "template-delete")
    ann.press("confirm-ok")
    expect(ann.at("empty")).to_be_visible()
    told = json.loads(world.tm("audit", "template", "--json"))
    assert {one["kind"] for one in told} == {"template_made", "template_changed", "template_shared", "template_deleted"}
