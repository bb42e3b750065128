"""Coming in by an invitation, and through a sign-in provider: from the link, or the button, to the first page (R9)."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.axe import judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.world import CONFIG, PASSWORD, World
from tests.oidc.provided import SECRET, Certified


def test_a_link_is_made_used_once_and_refused_after_that(world: World, console: Console, new_console: Open) -> None:
    world.tm("workspace", "create", "vision")
    console.open("/admin?tab=workspaces")
    console.press("members-vision")
    console.press("invite")
    console.press("invite-make")
    link = console.at("invite-link").inner_text().strip()
    assert link.startswith(f"{world.url}/join#")
    expect(console.at("invite-revoke")).to_have_count(1)

    zoe = new_console()
    zoe.watch.expect("401")
    asked: list[str] = []
    zoe.page.on("request", lambda request: asked.append(request.url))
    zoe.page.goto(link)
    expect(zoe.page.get_by_role("heading", name="Join vision")).to_be_visible()
    assert "#" not in zoe.page.url, "the secret is taken out of the address"
    zoe.page.reload()
    expect(zoe.at("join-name")).to_be_visible()
    zoe.at("join-name").fill("Zoe")
    zoe.at("join-password").fill("short")
    zoe.press("join")
    expect(zoe.page.get_by_text("Use at least 10 characters.")).to_be_visible()
    assert judge(zoe.page) == []
    zoe.at("join-name").fill("zoe")
    zoe.at("join-password").fill(PASSWORD)
    zoe.at("join-again").fill(PASSWORD)
    zoe.press("join")
    expect(zoe.at("first-job")).to_be_visible()
    assert urlsplit(zoe.page.url).path == "/"
    secret = link.partition("#")[2]
    assert not [url for url in asked if secret in url], "it is never part of an address that is asked for"
    assert [one["user"] for one in world.members("vision")] == ["zoe"]

    late = new_console(language="zh-CN")
    late.watch.expect("401", "404")
    late.page.goto(link)
    expect(late.at("signin-error")).to_contain_text("此邀请无效")


def test_who_has_an_account_signs_in_and_joins(world: World, console: Console, new_console: Open) -> None:
    link = world.tm("workspace", "invite", "vision", "--role", "viewer").strip()
    one_time = world.password_of("bob")
    bob = new_console()
    bob.watch.expect("401")
    bob.page.goto(link)
    bob.press("join-sign-in")
    bob.at("username").fill("bob")
    bob.at("password").fill(one_time)
    bob.press("sign-in")
    bob.at("new-password").fill(PASSWORD)
    bob.at("new-password-again").fill(PASSWORD)
    bob.press("set-password")
    bob.press("join-as")
    expect(bob.at("first-job")).to_be_visible()
    assert {one["user"]: one["role"] for one in world.members("vision")}["bob"] == "viewer"


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Certified]]:
    """A server that lets nobody in but through a provider."""
    folder = tmp_path_factory.mktemp("provided")
    world = World(folder / "home")
    world.start()  # it chooses a port
    certified = Certified(folder, [f"{world.url}/sign-in"])
    certified.people({"s-1": {"preferred_username": "ann", "groups": ["students"]}})
    world.tm("workspace", "create", "vision")
    world.stop()
    (world.home / "secrets" / "oidc").write_text(SECRET)
    (world.home / "config.toml").write_text(
        f'{CONFIG}[sign_in]\npassword = false\n[sign_in.oidc]\nissuer = "{certified.issuer}"\n'
        'client_id = "trainmaster"\nclient_secret_file = "secrets/oidc"\nlabel = "Lab ID"\n'
        'groups = { students = "vision:member" }\n'
    )
    world.start()
    try:
        yield world, certified
    finally:
        world.close()
        certified.close()


def test_the_button_leads_to_the_provider_and_back(
    provided: tuple[World, Certified], browser: Browser, tmp_path: Path
) -> None:
    world, _ = provided
    context = browser.new_context(base_url=world.url, locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    try:
        page.goto("/queue")
        expect(page.get_by_test_id("sign-in-provider")).to_have_text("Sign in with Lab ID")
        expect(page.get_by_test_id("password")).to_have_count(0)
        page.get_by_test_id("sign-in-provider").click()
        page.locator('input[name="login"]').fill("s-1")
        page.locator('input[name="password"]').fill("any")
        page.locator('button[type="submit"]').click()
        page.locator('form:has(input[value="consent"]) button[type="submit"]').click()
        page.wait_for_url(f"{world.url}/queue")
        expect(page.get_by_test_id("user-menu")).to_be_visible()
        assert page.evaluate("sessionStorage.getItem('trainmaster.sign-in')") is None
        page.goto("/sign-in?error=access_denied&state=x")
        expect(page.get_by_test_id("user-menu")).to_be_visible()  # who is in stays in
    finally:
        context.close()
    assert "s-1" in world.tm("user", "link", "ann")
