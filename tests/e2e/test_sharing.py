"""A job is shared in its workspace: two people in two browsers, and the administrator who closes it (R57, R223-R228).

Every operation that the manual's page on sharing names is tried here: view details, clone, TensorBoard's and the
development environment's place (the job's files and logs), change the duration, change the priority, stop, delete.
"""

import json

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import add_user, come_in
from tests.e2e.world import PASSWORD, World


def test_two_people_share_a_job_and_the_administrator_closes_it(
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

    ann.press("new-job")
    ann.fill("name", "anns")
    ann.fill("roles.0.command", "sleep infinity")
    expect(ann.at("field-share")).to_contain_text("Nobody else sees it")
    ann.choose("field-share", "Others may look and clone")
    expect(ann.at("fits")).to_have_attribute("data-when", "now")
    job = ann.start()
    ann.expect_state("initialising", "running")

    # bob looks: the list, the details, the log; everything else is not offered
    bob.open("/?who=all")
    expect(bob.row(job)).to_be_visible()
    bob.open_job(job)
    expect(bob.at("clone")).to_be_visible()
    for absent in ("stop", "share", "delete"):
        expect(bob.at(absent)).to_have_count(0)
    expect(bob.page.get_by_text("Others may look and clone")).to_be_visible()
    bob.open_job(job, "logs")
    bob.open_job(job, "files")
    bob.open_job(job)
    bob.press("clone")
    bob.fill("name", "bobs")
    copy = bob.start()
    assert world.show(copy)["owner"] == "bob"

    # what is shared more widely is offered at once, to act on but not to share
    ann.choose("share", "Others may also change and stop it")
    expect(ann.page.get_by_text("Sharing changed.")).to_be_visible()
    bob.open_job(job)
    bob.press("more")
    for offered in ("change-duration", "change-priority"):
        expect(bob.at(offered)).to_be_visible()
    bob.page.keyboard.press("Escape")
    expect(bob.at("share")).to_have_count(0)
    bob.press("stop")
    bob.press("confirm-ok")
    bob.expect_state("stopping", "stopped")
    world.until(job, lambda view: view["state"] == "stopped")

    # the administrator turns sharing off: it is gone for bob, and ann is told why she cannot choose it
    world.tm("workspace", "set", "vision", "--sharing", "off")
    bob.watch.expect("404", "403")
    bob.open(f"/jobs/{job}")
    expect(bob.page.get_by_text("No such job, or it is not shared with you")).to_be_visible()
    ann.open_job(job)
    ann.press("share")
    expect(ann.page.locator(".ant-select-item-option-disabled").first).to_contain_text("turned sharing off")
    ann.page.keyboard.press("Escape")
    told = json.loads(world.tm("audit", f"job:{job}", "--json"))
    assert {(one["by"], one["kind"]) for one in told} >= {("ann", "shared"), ("bob", "stop_requested")}


def test_a_link_of_a_colleague_explains_itself(world: World, console: Console, new_console: Open) -> None:
    """D8: whoever opens it signs in first, is told whom to ask, and by the same link sees the log once it is shared."""
    console.open("/admin?tab=users")
    one_time = {name: add_user(console, name, "default") for name in ("amy", "ben")}
    amy = come_in(new_console, "amy", one_time["amy"])
    amy.press("new-job")
    amy.fill("name", "look-at-this")
    amy.fill("roles.0.command", "bash -c 'echo look here; sleep infinity'")
    expect(amy.at("fits")).to_have_attribute("data-when", "now")
    job = amy.start()
    amy.expect_state("running")
    link = f"/jobs/{job}?tab=logs"

    ben = new_console()
    ben.watch.expect("401", "404")
    ben.page.goto(link)
    ben.at("username").fill("ben")
    ben.at("password").fill(one_time["ben"])
    ben.press("sign-in")
    ben.at("new-password").fill(PASSWORD)
    ben.at("new-password-again").fill(PASSWORD)
    ben.press("set-password")
    expect(ben.at("not-shared")).to_contain_text(f"Ask its owner, or check the ID: {job}")
    expect(ben.page).to_have_title("No such job, or it is not shared with you – Trainmaster")

    amy.choose("share", "Others may look and clone")
    expect(amy.page.get_by_text("Sharing changed.")).to_be_visible()
    ben.page.reload()
    expect(ben.at("log")).to_contain_text("look here")
    assert ben.page.url.endswith(link)


def test_a_browser_is_signed_out_from_another_place(world: World, console: Console, new_console: Open) -> None:
    """Settings list where somebody is signed in; so does the command line, for whoever's token it is."""
    console.open("/admin?tab=users")
    eve = come_in(new_console, "eve", add_user(console, "eve", "default"))
    eve.open("/settings")
    eve.at("token-name").fill("laptop")
    eve.choose("token-kind", "Everything you can do")
    eve.press("token-create")
    token = eve.at("token").inner_text().strip()
    expect(eve.at("sessions")).to_contain_text("Chrome · Linux")
    expect(eve.at("sessions")).to_contain_text("this one")
    expect(eve.at("session-end")).to_have_count(0)
    [found] = json.loads(world.tm("session", "list", "--json", TRAINMASTER_URL=world.url, TRAINMASTER_TOKEN=token))
    ended = json.loads(
        world.tm("session", "end", found["id"], "--json", TRAINMASTER_URL=world.url, TRAINMASTER_TOKEN=token)
    )
    assert ended["name"] == found["id"]
    eve.watch.expect("401")
    eve.page.goto("/settings")
    expect(eve.at("username")).to_be_visible()
