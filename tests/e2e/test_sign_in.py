"""Coming in: the one-time password, the forced change, the empty list; and what happens when the server goes away."""

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.world import PASSWORD, World


def test_the_first_sign_in_demands_an_own_password(world: World, new_console: Open) -> None:
    """R1-R3 in short: wrong password refused in words, the one-time password once, then an own one, then the empty
    list.
    """
    console = new_console()
    console.watch.expect("401")  # asking who is signed in, before anyone is, and the wrong password
    console.page.goto("/jobs")
    expect(console.at("first-start")).to_be_visible()
    guide = console.page.request.get(console.at("docs").get_attribute("href") or "")
    assert "<title>Trainmaster" in guide.text(), "who is not in yet can read how to get in"
    console.at("username").fill("admin")
    console.at("password").fill("not-the-password")
    console.press("sign-in")
    expect(console.at("signin-error")).to_contain_text("Incorrect user name or password.")
    console.at("password").fill(world.one_time_password)
    console.press("sign-in")

    expect(console.at("new-password")).to_be_visible()
    console.at("new-password").fill("short")
    console.at("new-password-again").fill("short")
    console.press("set-password")
    expect(console.page.get_by_text("Use at least 10 characters.")).to_be_visible()
    console.page.reload()  # going round it does not help
    expect(console.at("jobs")).to_have_count(0)
    expect(console.at("new-password")).to_be_visible()
    if console.at("old-password").count():
        console.at("old-password").fill(world.one_time_password)
    console.at("new-password").fill(PASSWORD)
    console.at("new-password-again").fill(PASSWORD)
    console.press("set-password")

    expect(console.page.get_by_role("heading", name="Training jobs")).to_be_visible()
    expect(console.page.get_by_text("No jobs yet")).to_be_visible()
    expect(console.at("first-job")).to_be_visible()
    expect(console.page).to_have_title("Training jobs – Trainmaster")
    letter = "getComputedStyle(document.querySelector('.tm-avatar'), '::before').content"
    assert '"A"' in console.page.evaluate(letter)
    console.press("user-menu")
    console.press("sign-out")
    expect(console.at("username")).to_have_value("admin")  # the last one who signed in here, and nobody before that
    expect(console.at("password")).to_be_focused()
    expect(console.page).to_have_title("Sign in – Trainmaster")


def test_signing_in_needs_no_mouse(new_console: Open) -> None:
    """The whole way in by keyboard, and to the first page by the navigation."""
    console = new_console()
    console.watch.expect("401")
    keys = console.page.keyboard
    console.page.goto("/")
    expect(console.at("username")).to_be_focused()
    expect(console.at("username")).to_have_value("")
    expect(console.at("first-start")).to_have_count(0)  # somebody was in before
    keys.type("admin")
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    expect(console.at("first-job")).to_be_visible()
    for _ in range(14):
        keys.press("Tab")
        if console.at("nav-cluster").evaluate(
            "e => e.contains(document.activeElement) || e === document.activeElement"
        ):
            break
    keys.press("Enter")
    expect(console.at("cluster")).to_be_visible()


def test_an_open_page_finds_a_restarted_server(world: World, new_console: Open) -> None:
    """The server is killed and comes back: the page says so, then goes on by itself with what happened meanwhile."""
    console = new_console()
    console.watch.expect("401", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE_CHUNKED", "ERR_SOCKET_NOT_CONNECTED")
    console.watch.expect("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET")
    console.page.goto("/jobs")
    console.at("username").fill("admin")
    console.at("password").fill(PASSWORD)
    console.press("sign-in")
    expect(console.at("feed")).to_have_attribute("data-status", "live")
    world.kill()
    expect(console.at("feed")).not_to_have_attribute("data-status", "live")
    world.start()
    job = world.submit({"name": "after-the-crash", "roles": [{"name": "worker", "replicas": 1, "command": "true"}]})
    expect(console.at("feed")).to_have_attribute("data-status", "live")
    expect(console.row(job)).to_be_visible()
    expect(console.row(job).get_by_test_id("state")).to_have_attribute("data-state", "succeeded")
