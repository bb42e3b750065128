"""What belongs to an account, in browsers: its keys, tokens and sessions; and what an administrator does to it: a new
password, and its end, after which somebody still answers for its jobs (R1, R9, R229).
"""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import act, add_user, come_in
from tests.e2e.world import PASSWORD, World
from trainmaster import Client
from trainmaster.core.errors import TrainmasterError

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f kim@laptop"
SLEEPS = {"roles": [{"name": "main", "command": "sleep infinity", "resources": {"cpu": 0.25, "memory": "64MiB"}}]}


def confirm(console: Console, button: str) -> None:
    """Press the button of the question that is open, and see it go."""
    asked = console.page.get_by_role("dialog")
    asked.get_by_role("button", name=button).click()
    expect(asked).to_have_count(0)


def added(world: World, console: Console, name: str, workspace: str = "default") -> str:
    """Add somebody; return their one-time password."""
    console.open("/admin?tab=users")
    return add_user(console, name, workspace)


def signed_in_again(new_console: Open, name: str, password: str) -> Console:
    """Return another browser of somebody who has an account."""
    console = new_console()
    console.watch.expect("401")
    console.page.goto("/settings")
    console.at("username").fill(name)
    console.at("password").fill(password)
    console.press("sign-in")
    return console


def test_a_public_key_is_added_and_deleted(world: World, console: Console, new_console: Open) -> None:
    kim = come_in(new_console, "kim", added(world, console, "kim"))
    kim.open("/settings")
    kim.watch.expect("409")  # no 422: a private key is not even sent
    kim.at("ssh-key").fill("-----BEGIN OPENSSH PRIVATE KEY-----")
    kim.press("ssh-key-add")
    expect(kim.at("ssh-keys")).to_contain_text("keep it to yourself")
    kim.at("ssh-key").fill(KEY)
    kim.press("ssh-key-add")
    expect(kim.page.get_by_text("The key is stored.")).to_be_visible()
    row = kim.at("ssh-keys").get_by_role("row").filter(has_text="kim@laptop")
    expect(row).to_contain_text("SHA256:")
    kim.at("ssh-key").fill(KEY)
    kim.press("ssh-key-add")
    expect(kim.page.locator(".ant-message-error").last).to_be_visible()
    expect(kim.at("ssh-key-delete")).to_have_count(1)
    kim.press("ssh-key-delete")
    expect(kim.page.get_by_role("dialog")).to_contain_text("Delete this key?")
    confirm(kim, "Delete")
    expect(kim.page.get_by_text("The key is deleted.")).to_be_visible()
    expect(kim.at("ssh-key-delete")).to_have_count(0)
    told = [one["text"]["en"] for one in json.loads(world.tm("audit", "person:kim", "--json"))]
    assert sum("SHA256:" in text for text in told) == 2, told


def test_a_session_is_ended_from_another_browser(world: World, console: Console, new_console: Open) -> None:
    lou = come_in(new_console, "lou", added(world, console, "lou"))
    other = signed_in_again(new_console, "lou", PASSWORD)
    expect(other.at("sessions")).to_be_visible()
    lou.open("/settings")
    expect(lou.at("session-end")).to_have_count(1)  # not one's own
    lou.press("session-end")
    expect(lou.at("session-end")).to_have_count(0)
    expect(other.at("username")).to_be_visible()  # by itself, where it was
    lou.page.reload()
    expect(lou.at("sessions")).to_contain_text("this one")


def test_a_token_for_a_workspace_reaches_no_other(world: World, console: Console, new_console: Open) -> None:
    """Made, used and taken back: what it may not reach, it does not know of."""
    world.tm("workspace", "create", "bound")
    mo = come_in(new_console, "mo", added(world, console, "mo"))
    world.tm("workspace", "add", "bound", "mo", "--role", "admin")
    mo.open("/settings")
    mo.at("token-name").fill("pipeline")
    mo.choose("token-kind", "View, submit and change jobs")
    mo.choose("token-workspace", "bound")
    mo.press("token-create")
    token = mo.at("token").inner_text().strip()
    row = mo.page.get_by_role("row").filter(has_text="pipeline")
    expect(row).to_contain_text("bound")
    with Client(world.url, token) as client:
        job = client.submit({**SLEEPS, "name": "inside", "workspace": "bound"})
        assert [one.id for one in client.list(None)] == [job.id]
        with pytest.raises(TrainmasterError):
            client.submit({**SLEEPS, "name": "outside", "workspace": "default"})
    row.get_by_role("button", name="Revoke").click()
    confirm(mo, "Revoke")
    expect(row).to_have_count(0)
    with Client(world.url, token) as client, pytest.raises(TrainmasterError) as refused:
        client.list(None)
    assert refused.value.status == 401
    world.end(job.id)


def test_an_administrator_gives_a_new_password(world: World, console: Console, new_console: Open) -> None:
    """It ends what was open, and the password before it opens nothing any more."""
    nia = come_in(new_console, "nia", added(world, console, "nia"))
    console.open("/admin?tab=users")
    act(console, "nia", "reset")
    console.press("confirm-ok")
    one_time = console.at("one-time-password").inner_text()
    console.press("once-done")
    expect(console.at("user-nia")).to_contain_text("has a one-time password")
    expect(nia.at("username")).to_be_visible()
    nia.at("username").fill("nia")
    nia.at("password").fill(PASSWORD)
    nia.press("sign-in")
    expect(nia.at("signin-error")).to_be_visible()
    come_in(new_console, "nia", one_time)


@pytest.mark.parametrize(("name", "answer", "becomes"), [("oz", "keep", "running"), ("pat", "stop", "stopped")])
def test_who_is_deleted_leaves_jobs_that_somebody_answers_for(
    world: World, console: Console, new_console: Open, name: str, answer: str, becomes: str
) -> None:
    """What becomes of them is asked; whose they were stays told, and an administrator can still end them."""
    person = come_in(new_console, name, added(world, console, name))
    person.press("new-job")
    person.fill("name", f"of-{name}")
    person.fill("roles.0.command", "sleep infinity")
    expect(person.at("fits")).to_have_attribute("data-when", "now")
    job = person.start()
    person.expect_state("running")
    console.watch.expect("409")
    act(console, name, "delete")
    console.press("leave-ok")
    expect(console.at("jobs-left")).to_contain_text(f"{name} has 1 job that has not ended")
    console.press(f"jobs-{answer}")
    expect(console.at(f"user-{name}")).to_have_count(0)
    expect(person.at("username")).to_be_visible()
    view = world.until(job, lambda one: one["state"] == becomes)
    assert view["owner"] == name
    console.open_job(job)
    expect(console.page.get_by_role("main")).to_contain_text(name)
    if answer == "keep":
        console.press("stop")
        console.press("confirm-ok")
        console.expect_state("stopped")
    person.at("username").fill(name)
    person.at("password").fill(PASSWORD)
    person.press("sign-in")
    expect(person.at("signin-error")).to_be_visible()
