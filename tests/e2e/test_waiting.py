"""What helps a waiting job is done from the page; what cannot be read or may not be done is said (B1, R170, R191)."""

import json

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    """One card of four is free. The first in line needs two and waits for the job with a limit; a long one may not go
    before it.
    """
    made = {"open": plain(world, "open-holder", "sleep 1000", resources={"gpu": 2})}
    made["timed"] = plain(world, "timed-holder", "sleep 1000", resources={"gpu": 1}, duration="20m")
    for name in ("open", "timed"):
        world.until(made[name], lambda view: view["state"] == "running")
    made["large"] = plain(world, "large-waits", "sleep 1000", resources={"gpu": 2}, duration="1h")
    world.until(made["large"], lambda view: view["reason"] is not None)
    made["long"] = plain(world, "long-waits", "sleep 1000", resources={"gpu": 1}, duration="3h")
    world.until(made["long"], lambda view: (view["reason"] or {}).get("code") == "reserved")
    return made


def test_a_shorter_limit_is_applied_in_place(world: World, jobs: dict[str, str], console: Console) -> None:
    """Asked first, with what is and what will be; then the very job starts, since with less than the first its turn
    comes before.
    """
    console.open_job(jobs["long"])
    expect(console.at("wait").get_by_test_id("forecast")).to_have_attribute("data-when", "about")
    shorter = console.page.locator('[data-testid="sooner"]', has_text="limit").get_by_test_id("sooner-apply")
    shorter.click()
    expect(console.at("sooner-difference")).to_contain_text("3h")
    console.page.get_by_role("button", name="Cancel").click()
    assert world.show(jobs["long"])["duration_s"] == 3 * 3600
    shorter.click()
    console.press("sooner-ok")
    console.expect_state("initialising", "running")
    assert world.show(jobs["long"])["duration_s"] < 3600
    world.end(jobs["long"])
    world.until(jobs["long"], lambda view: view["state"] == "stopped")


def test_what_would_help_is_told_before_the_submit(jobs: dict[str, str], console: Console) -> None:
    """B1: the form names a change, makes it, and the job would start."""
    console.open("/submit")
    console.fill("name", "not-yet")
    console.fill("roles.0.command", "sleep 1")
    console.fill("roles.0.resources.gpu", "1")
    console.fill("duration", "3h")
    expect(console.at("would-start")).to_have_attribute("data-when", "queue")
    shorter = console.at("would-help").get_by_test_id("would-sooner").filter(has_text="limit")
    shorter.get_by_role("button").click()
    expect(console.at("would-start")).to_have_attribute("data-when", "now")
    expect(console.field("duration")).not_to_have_value("3h")
    expect(console.at("would-help")).to_have_count(0)


def test_a_smaller_copy_takes_the_place_of_the_job(world: World, jobs: dict[str, str], console: Console) -> None:
    """What a job asks for is changed in a clone, which says what differs and takes the first job's place (D1)."""
    console.open_job(jobs["large"])
    console.page.locator('[data-testid="sooner"]', has_text="gpu").get_by_test_id("sooner-copy").click()
    expect(console.at("copied")).to_contain_text("Sub-task 1 · GPUs")
    expect(console.field("roles.0.resources.gpu")).to_have_value("1")
    expect(console.at("would-start")).to_have_attribute("data-when", "now")
    console.press("stop-first")  # beside it, it would take what the first is promised
    expect(console.at("would-start")).to_have_attribute("data-when", "queue")
    console.press("stop-first")
    expect(console.at("would-start")).to_have_attribute("data-when", "now")
    copy = console.start()
    console.expect_state("initialising", "running")
    world.until(jobs["large"], lambda view: view["state"] == "stopped")
    assert world.show(copy)["resources"]["gpu"] == 1


def test_a_change_that_is_refused_says_why(world: World, jobs: dict[str, str], console: Console) -> None:
    """R171: the limit of urgent jobs is reached; the dialog stays open and says so."""
    with world.client() as client:
        client.http.json("PUT", "/workspaces/default", json={"urgent_per_user": 0})
    waits = plain(world, "not-urgent", "true", resources={"gpu": 2})
    console.watch.expect("422", "409")
    console.open_job(waits)
    console.press("more")
    console.press("change-priority")
    console.page.locator(".ant-modal .ant-select").click()
    console.page.locator(".ant-select-dropdown:visible").get_by_text("Urgent", exact=True).click()
    console.press("change-ok")
    expect(console.page.locator(".ant-modal .ant-form-item-explain-error")).to_contain_text("urgent")
    assert world.show(waits)["priority"] == "normal"


def test_pages_that_cannot_be_read_say_so(world: World, jobs: dict[str, str], console: Console) -> None:
    """Nothing to show: an error with a way out. Something to show: it stays, marked as not up to date."""

    def refuse(route: Route) -> None:
        route.fulfill(status=429, body="")

    console.watch.expect("429")
    console.page.route("**/api/v1/queue?*", refuse)
    console.open("/queue")
    expect(console.at("error")).to_contain_text("The server failed to answer (HTTP 429)")
    console.page.unroute("**/api/v1/queue?*")
    console.page.get_by_role("button", name="Try again").click()
    expect(console.at("queue-job").first).to_be_visible()
    console.page.route("**/api/v1/queue?*", refuse)
    plain(world, "one-more", "true", resources={"gpu": 2})
    expect(console.at("outdated")).to_be_visible()
    expect(console.at("queue-job").first).to_be_visible()


def test_administration_is_for_administrators(console: Console) -> None:
    """Who is none finds no entry, is told so at the address, and may not choose what only administrators may (R170)."""

    def as_user(route: Route) -> None:
        answer = route.fetch()
        session = answer.json()
        session["user"]["role"] = "user"
        route.fulfill(response=answer, body=json.dumps(session))

    console.page.route("**/api/v1/session", as_user)
    console.open("/admin")
    expect(console.at("empty")).to_contain_text("For administrators")
    expect(console.at("nav-admin")).to_have_count(0)
    console.open("/submit")
    console.press("expert")
    console.page.locator('[data-path="priority"] .ant-select').click()
    option = console.page.locator(
        ".ant-select-dropdown:visible .ant-select-item-option", has_text="administrators only"
    )
    expect(option).to_have_attribute("aria-disabled", "true")
