"""People: added to a workspace, at work in it, and locked out (R1, R9, R229)."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.axe import Report, judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.world import PASSWORD, World


def act(console: Console, user: str, what: str) -> None:
    """Choose an entry of the menu of an account."""
    console.press(f"user-actions-{user}")
    console.at(f"user-{what}").locator("visible=true").click()


def options(console: Console, test_id: str) -> list[str]:
    """Open a drop-down list and return what can be chosen there."""
    console.press(test_id)
    shown = console.page.locator(".ant-select-dropdown:visible .ant-select-item-option")
    expect(shown.first).to_be_visible()
    found = shown.all_inner_texts()
    console.page.keyboard.press("Escape")
    return found


def add_user(console: Console, name: str, workspace: str, role: str | None = None) -> str:
    """Add a user with the dialog; return the one-time password that it shows."""
    console.press("user-add")
    console.at("user-name").fill(name)
    console.choose("user-workspace", workspace)
    if role is not None:
        console.choose("user-role", role)
    console.press("admin-save")
    password = console.at("one-time-password").inner_text()
    console.press("once-done")
    expect(console.at("one-time-password")).to_have_count(0)
    return password


def come_in(new_console: Open, name: str, one_time: str) -> Console:
    """Sign in with a one-time password in a browser of their own, and choose another one."""
    console = new_console()
    console.watch.expect("401")  # asking who is signed in, before anyone is
    page: Page = console.page
    page.goto("/")
    console.at("username").fill(name)
    console.at("password").fill(one_time)
    console.press("sign-in")
    console.at("new-password").fill(PASSWORD)
    console.at("new-password-again").fill(PASSWORD)
    console.press("set-password")
    expect(console.at("first-job")).to_be_visible()
    return console


def test_somebody_comes_works_and_is_locked_out(world: World, console: Console, new_console: Open) -> None:
    console.open("/admin?tab=workspaces")
    console.press("workspace-add")
    console.at("admin-name").fill("vision")
    console.press("admin-save")
    expect(console.at("members-vision")).to_be_visible()
    console.press("admin-users")
    console.press("user-add")
    console.at("user-name").fill("Ann")
    console.press("admin-save")
    expect(console.page.locator(".ant-form-item-explain-error")).to_be_visible()  # not a name
    console.page.keyboard.press("Escape")
    one_time = add_user(console, "ann", "vision")
    expect(console.at("user-ann")).to_contain_text("vision · member")
    expect(console.at("user-ann")).to_contain_text("has a one-time password")

    ann = come_in(new_console, "ann", one_time)
    ann.press("new-job")
    assert options(ann, "field-workspace") == ["vision"]
    ann.fill("name", "anns")
    ann.fill("roles.0.command", "sleep infinity")
    expect(ann.at("fits")).to_have_attribute("data-when", "now")
    job = ann.start()
    ann.expect_state("running")
    assert world.show(job)["workspace"] == "vision"

    console.page.reload()
    expect(console.at("user-ann")).not_to_contain_text("has a one-time password")
    console.watch.expect("409")  # there is a job
    act(console, "ann", "lock")
    console.press("leave-ok")
    expect(console.at("jobs-left")).to_contain_text("ann has 1 job that has not ended")
    console.press("jobs-stop")
    expect(console.at("user-ann")).to_have_attribute("data-state", "locked")
    expect(ann.at("username")).to_be_visible()  # signed out where she was
    world.until(job, lambda view: view["state"] == "stopped")

    ann.at("username").fill("ann")
    ann.at("password").fill(PASSWORD)
    ann.press("sign-in")
    expect(ann.at("signin-error")).to_contain_text("This account is locked")
    act(console, "ann", "unlock")
    expect(console.at("user-ann")).to_have_attribute("data-state", "active")
    ann.press("sign-in")
    ann.expect_state("stopped")  # where she was before


def test_the_owner_of_a_workspace_decides_who_is_in_it(world: World, console: Console, new_console: Open) -> None:
    world.tm("workspace", "create", "speech")
    console.open("/admin?tab=users")
    bea = come_in(new_console, "bea", add_user(console, "bea", "speech", "owner"))
    add_user(console, "cai", "default", "viewer")
    bea.page.goto("/settings")
    expect(bea.at("my-workspaces")).to_contain_text("Manage all jobs and all members")
    bea.press("members-speech")
    bea.watch.expect("404")
    bea.at("member-name").fill("nobody")
    bea.press("member-add")
    expect(bea.page.get_by_text("There is no user nobody")).to_be_visible()
    bea.at("member-name").fill("cai")
    bea.press("member-add")
    expect(bea.at("member-cai")).to_contain_text("member")
    bea.choose("role-cai", "administrator")
    expect(bea.page.get_by_text("cai is now admin.")).to_be_visible()

    bea.page.keyboard.press("Escape")
    bea.press("limits-speech")
    bea.press("personal-add")
    bea.at("personal-most").fill("2")
    bea.press("personal-add")
    bea.at("personal-person").nth(1).fill("cai")
    bea.choose("personal-resource-1", "Storage")
    bea.at("personal-most").nth(1).fill("1.5")
    bea.press("admin-save")
    expect(bea.at("personal-most")).to_have_count(0)
    limits = world.tm("workspace", "limits", "speech")
    assert "each person  gpu 2" in limits
    kept = json.loads(world.tm("workspace", "limits", "speech", "--json"))["storage_people"]
    assert kept == {"cai": {"mib": 1536}}

    console.page.reload()
    expect(console.at("user-cai")).to_contain_text("speech · admin")
    console.press("admin-workspaces")
    console.press("members-speech")
    console.press("remove-cai")
    console.press("confirm-ok")
    expect(console.at("member-cai")).to_have_count(0)
    expect(console.at("member-bea")).to_be_visible()


def test_nobody_locks_themselves_out(console: Console) -> None:
    console.open("/admin?tab=users")
    console.press("user-actions-admin")
    for what in ("reset", "lock", "delete"):
        entry = console.page.get_by_role("menuitem").filter(has=console.at(f"user-{what}"))
        expect(entry).to_have_attribute("aria-disabled", "true")
    console.at("user-lock").hover()
    expect(console.page.get_by_text("You cannot lock or delete your own account.").first).to_be_visible()


def test_what_is_said_of_people_breaks_no_rule_of_wcag(console: Console, signed_in: Path) -> None:
    report = Report()
    for look in ("light", "dark"):
        console.open("/admin?tab=users")
        console.page.evaluate("look => localStorage.setItem('trainmaster.look', look)", look)
        console.page.reload()
        expect(console.at("user-admin")).to_be_visible()
        report.add(f"users ({look})", judge(console.page))
        console.press("user-actions-admin")
        expect(console.at("user-lock")).to_be_visible()
        report.add(f"menu ({look})", judge(console.page))
        console.page.keyboard.press("Escape")
        console.press("user-add")
        console.press("user-role")
        expect(console.page.get_by_text("Submit jobs, and manage one's own")).to_be_visible()
        report.add(f"add ({look})", judge(console.page))
        console.turn_to("/admin?tab=workspaces")
        console.press("members-default")
        expect(console.at("member-admin")).to_be_visible()
        report.add(f"members ({look})", judge(console.page))
        console.turn_to("/settings")
        expect(console.at("my-workspaces")).to_be_visible()
        report.add(f"settings ({look})", judge(console.page))
    assert not report, f"\n{report}"
