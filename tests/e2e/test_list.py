"""The list of jobs: live, searched, filtered, sorted, acted upon together (R200-R203)."""

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    """One of each: succeeded, failed, running, and one that waits for cards that the running one holds."""
    made = {
        "good": plain(world, "alpha-good", "true", description="the first of all"),
        "bad": plain(world, "beta-bad", "bash -c 'echo no such dataset >&2; exit 3'"),
        "long": plain(world, "gamma-long", "sleep 1000", resources={"gpu": 2}),
    }
    for name, state in (("good", "succeeded"), ("bad", "failed"), ("long", "running")):
        world.until(made[name], lambda view, state=state: view["state"] == state)  # type: ignore[misc]
    more = {"name": "worker", "replicas": 2, "command": "true", "resources": {"cpu": 0.25, "memory": "64MiB", "gpu": 2}}
    made["waits"] = world.submit({"name": "delta-waits", "roles": [more]})
    return made


def test_the_list_says_what_each_job_is_doing(jobs: dict[str, str], console: Console) -> None:
    """R200: states, and for what waits or failed the reason in the same line."""
    console.open("/")
    for name, state in (("good", "succeeded"), ("bad", "failed"), ("long", "running"), ("waits", "queued")):
        expect(console.row(jobs[name]).get_by_test_id("state")).to_have_attribute("data-state", state)
    expect(console.row(jobs["waits"]).get_by_test_id("wait-reason")).not_to_be_empty()
    expect(console.row(jobs["bad"]).locator(".tm-line-bad")).not_to_be_empty()
    expect(console.row(jobs["long"])).to_contain_text("node-1")


def test_it_is_searched_filtered_and_sorted(jobs: dict[str, str], console: Console) -> None:
    """R200: by words, by state, in another order; the address bar keeps it, so that a view can be shared."""
    console.open("/")
    expect(console.row(jobs["good"])).to_be_visible()
    console.at("search").fill("beta")
    expect(console.row(jobs["good"])).to_have_count(0)
    expect(console.row(jobs["bad"])).to_be_visible()
    console.page.reload()
    expect(console.at("search")).to_have_value("beta")
    console.at("search").fill("nothing like this")
    expect(console.page.get_by_text("No job matches")).to_be_visible()
    console.at("search").fill("")
    console.press("chip-failed")
    expect(console.row(jobs["bad"])).to_be_visible()
    expect(console.row(jobs["long"])).to_have_count(0)
    console.press("chip-running")
    expect(console.row(jobs["long"])).to_be_visible()
    console.press("chip-all")
    console.page.get_by_role("combobox", name="Sort by").click()
    console.page.locator(".ant-select-dropdown:visible .ant-select-item-option").get_by_text("Name", exact=True).click()
    expect(console.at("job-link")).to_have_text(["alpha-good", "beta-bad", "delta-waits", "gamma-long"])


def test_a_job_from_the_terminal_appears_by_itself(world: World, jobs: dict[str, str], console: Console) -> None:
    """R200: submitted by the command line meanwhile, it comes, runs and ends under the eyes of who looks."""
    console.open("/")
    expect(console.row(jobs["good"])).to_be_visible()
    job = plain(world, "epsilon-new", "true")
    expect(console.row(job)).to_be_visible()
    expect(console.row(job).get_by_test_id("state")).to_have_attribute("data-state", "succeeded")
    world.tm("delete", job)
    expect(console.row(job)).to_have_count(0)


def test_only_what_has_ended_can_be_deleted(world: World, jobs: dict[str, str], console: Console) -> None:
    """R194, R202: of a selection the ended ones go, and the question says before how many stay and why."""
    console.open("/")
    for name in ("good", "bad", "long"):
        console.row(jobs[name]).get_by_role("checkbox").check()
    console.press("bulk-delete")
    question = console.at("confirm")
    expect(question).to_contain_text("alpha-good")
    expect(question).to_contain_text("1 of the selected jobs has not ended")
    expect(question).not_to_contain_text("gamma-long")
    console.press("confirm-ok")
    expect(console.row(jobs["good"])).to_have_count(0)
    expect(console.row(jobs["bad"])).to_have_count(0)
    expect(console.row(jobs["long"]).get_by_test_id("state")).to_have_attribute("data-state", "running")

    console.row(jobs["long"]).get_by_test_id("row-menu").click()
    expect(console.page.get_by_role("menuitem", name="Delete")).to_have_attribute("aria-disabled", "true")
    console.press("row-stop")
    console.press("confirm-ok")
    expect(console.row(jobs["long"]).get_by_test_id("state")).to_have_attribute("data-state", "stopped")
    expect(console.row(jobs["waits"]).get_by_test_id("state")).to_have_attribute("data-state", "succeeded")


def test_every_order_that_is_offered_is_one_that_the_server_knows(jobs: dict[str, str], console: Console) -> None:
    """R200: each entry is sent, answered and shown; so is each entry of the states."""
    console.open("/?order=name")
    expect(console.row(jobs["long"])).to_be_visible()
    offered = console.page.locator(".ant-select-dropdown:visible .ant-select-item-option")
    sort = console.page.get_by_role("combobox", name="Sort by")
    sort.click()
    labels = [label for label in offered.all_inner_texts() if label != "Name"]
    assert {"Newest first", "Longest run time", "Priority"} <= set(labels)
    console.page.keyboard.press("Escape")
    for label in labels:
        sort.click()
        with console.page.expect_response(lambda answer: "/api/v1/jobs?" in answer.url) as asked:
            offered.get_by_text(label, exact=True).click()
        assert asked.value.status == 200, (label, asked.value.text())
        expect(console.row(jobs["long"])).to_be_visible()
        expect(console.at("outdated")).to_have_count(0)


def test_a_list_that_cannot_be_read_anew_stays_and_says_so(jobs: dict[str, str], console: Console) -> None:
    """What was on the page stays, of which moment it is and what is the matter stand above; filters stay in reach."""
    console.watch.expect("ERR_FAILED", "422")
    console.open("/")
    expect(console.row(jobs["long"])).to_be_visible()
    console.page.route("**/api/v1/jobs?*", lambda route: route.abort())
    console.at("search").fill("gamma")
    expect(console.at("outdated")).to_contain_text("The server does not answer")
    expect(console.at("outdated")).to_contain_text("does not show what you chose")
    expect(console.row(jobs["waits"])).to_be_visible()
    console.page.unroute("**/api/v1/jobs?*")
    console.at("outdated").get_by_role("button", name="Try again").click()
    expect(console.row(jobs["waits"])).to_have_count(0)
    expect(console.row(jobs["long"])).to_be_visible()
    expect(console.at("outdated")).to_have_count(0)

    console.page.evaluate("history.pushState({}, '', '/?order=size')")
    expect(console.at("outdated")).to_contain_text("Jobs cannot be sorted by 'size'")
    expect(console.row(jobs["long"])).to_be_visible()
    console.page.reload()
    expect(console.at("error")).to_contain_text("Jobs cannot be sorted by 'size'")
    console.page.get_by_role("combobox", name="Sort by").click()
    console.page.locator(".ant-select-dropdown:visible .ant-select-item-option").get_by_text("Oldest first").click()
    expect(console.row(jobs["long"])).to_be_visible()
    expect(console.at("error")).to_have_count(0)
