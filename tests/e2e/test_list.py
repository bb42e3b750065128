"""The list of jobs: live, searched, filtered, sorted, acted upon together (R200-R203)."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    """One of each: succeeded, failed, running, and one that waits for cards that the running one holds."""
    made = {
        "good": plain(world, "alpha-good", "true", description="the first of all", labels={"team": "vision"}),
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
    console.open("/jobs")
    for name, state in (("good", "succeeded"), ("bad", "failed"), ("long", "running"), ("waits", "queued")):
        expect(console.row(jobs[name]).get_by_test_id("state")).to_have_attribute("data-state", state)
    expect(console.row(jobs["waits"]).get_by_test_id("wait-reason")).not_to_be_empty()
    expect(console.row(jobs["bad"]).locator(".tm-line-bad")).not_to_be_empty()
    expect(console.row(jobs["long"])).to_contain_text("node-1")


def test_it_is_searched_filtered_and_sorted(jobs: dict[str, str], console: Console) -> None:
    """R200: by words, by state, in another order; the address bar keeps it, so that a view can be shared."""
    console.open("/jobs")
    expect(console.row(jobs["good"])).to_be_visible()
    console.at("search").fill("beta")
    expect(console.row(jobs["good"])).to_have_count(0)
    expect(console.row(jobs["bad"])).to_be_visible()
    console.page.reload()
    expect(console.at("search")).to_have_value("beta")
    console.at("search").fill("nothing like this")
    expect(console.page.get_by_text("No job matches")).to_be_visible()
    console.at("search").fill("")
    expect(console.row(jobs["good"])).to_be_visible()
    expect(console.page.get_by_role("columnheader", name="Run time")).to_be_visible()
    console.press("chip-failed")
    expect(console.row(jobs["bad"])).to_be_visible()
    expect(console.row(jobs["long"])).to_have_count(0)
    console.press("chip-running")
    expect(console.row(jobs["long"])).to_be_visible()
    expect(console.page).to_have_url(re.compile(r"\?state=failed(%2C|,)running$"))
    console.press("chip-all")
    console.press("sort-name")
    expect(console.at("job-link")).to_have_text(["alpha-good", "beta-bad", "delta-waits", "gamma-long"])
    expect(console.page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    console.press("sort-name")
    expect(console.at("job-link")).to_have_text(["gamma-long", "delta-waits", "beta-bad", "alpha-good"])
    console.page.reload()
    expect(console.at("job-link")).to_have_text(["gamma-long", "delta-waits", "beta-bad", "alpha-good"])


def test_an_old_job_is_found_by_what_it_ran(jobs: dict[str, str], console: Console) -> None:
    """R198, D18: by a word of its command or a label, in one field; labels there are to choose are offered."""
    console.open("/jobs")
    console.at("search").fill("DATASET exit")
    expect(console.at("job-link")).to_have_text(["beta-bad"])
    console.at("search").fill("")
    expect(console.row(jobs["good"])).to_be_visible()
    console.at("filter-label").click()
    console.page.locator(".ant-select-dropdown:visible").get_by_text("team=vision", exact=True).click()
    expect(console.at("search")).to_have_value("label:team=vision")
    expect(console.at("job-link")).to_have_text(["alpha-good"])
    expect(console.at("shown")).to_have_text("1 of 1")
    console.press("clear-filters")
    console.choose("filter-submitted", "last hour")
    expect(console.at("shown")).to_have_text("4 of 4")
    expect(console.page).to_have_url(re.compile(r"\?since=1h$"))
    console.open("/?since=2020-01-01&until=2020-12-31")
    expect(console.page.get_by_text("No job matches")).to_be_visible()


def test_an_old_job_is_found_by_a_parameter_or_a_label_in_one_field(
    world: World, jobs: dict[str, str], console: Console
) -> None:
    """R198, D18: whoever remembers the learning rate, or the round, types it into the field that is there."""
    for rate, label in (("0.00371", "round7"), ("0.00372", "round8")):
        role = {"name": "worker", "command": "true", "parameters": {"learning-rate": float(rate)}}
        world.submit({"name": f"of-{label}", "roles": [role], "labels": {"round": label}})
    console.open("/jobs")
    expect(console.row(jobs["good"])).to_be_visible()
    for typed, label in (("0.00371", "round7"), ("round8", "round8"), ("label:round=round7", "round7")):
        console.at("search").fill(typed)
        expect(console.at("job-link")).to_have_text([f"of-{label}"])
        console.at("job-link").click()
        expect(console.at("job-page").get_by_role("heading", name=f"of-{label}")).to_be_visible()
        console.page.go_back()
        expect(console.at("search")).to_have_value(typed)


def test_a_row_is_a_way_to_its_job(jobs: dict[str, str], console: Console) -> None:
    """Wherever it is clicked, but for its box and its menu."""
    console.open("/jobs")
    console.row(jobs["good"]).get_by_test_id("state").click()
    expect(console.at("job-page")).to_have_attribute("data-id", jobs["good"])


def test_columns_are_chosen_and_kept(jobs: dict[str, str], console: Console) -> None:
    """R200: another column, another order; the browser keeps both."""
    console.open("/jobs")
    console.press("choose-columns")
    chooser = console.at("columns")
    chooser.get_by_role("checkbox", name="Labels").check()
    chooser.get_by_role("checkbox", name="Owner").uncheck()
    chooser.get_by_role("button", name="Move Labels to the left").click()
    wanted = ["Name", "State", "Run time", "Metric", "Workspace", "Submitted", "Pool / nodes", "Labels", "Resources"]
    headings = console.at("jobs").locator("thead th:not(:first-child):not(:last-child)")
    expect(headings).to_have_text(wanted)
    console.page.reload()
    expect(headings).to_have_text(wanted)
    expect(console.row(jobs["good"])).to_contain_text("team=vision")


def test_ones_own_or_everybodys(world: World, jobs: dict[str, str], console: Console) -> None:
    """The choice stands in the address, and is that of the next visit."""
    console.open("/jobs")
    console.at("who").get_by_text("Mine").click()
    expect(console.page).to_have_url(re.compile(r"\?who=mine$"))
    expect(console.row(jobs["good"])).to_be_visible()
    with console.page.expect_request(lambda request: "/api/v1/jobs?" in request.url and "mine=true" in request.url):
        console.open("/jobs")
    console.at("who").get_by_text("Everybody's").click()
    expect(console.page).to_have_url(re.compile(r"\?who=all$"))


def test_a_job_from_the_terminal_appears_by_itself(world: World, jobs: dict[str, str], console: Console) -> None:
    """R200: submitted by the command line meanwhile, it comes, runs and ends under the eyes of who looks."""
    console.open("/jobs")
    expect(console.row(jobs["good"])).to_be_visible()
    job = plain(world, "epsilon-new", "true")
    expect(console.row(job)).to_be_visible()
    expect(console.row(job).get_by_test_id("state")).to_have_attribute("data-state", "succeeded")
    world.tm("delete", job)
    expect(console.row(job)).to_have_count(0)


def test_every_heading_sorts_by_what_the_server_knows(jobs: dict[str, str], console: Console) -> None:
    """R200, D2: each is clicked twice, sent, answered and shown."""
    every = ["name", "state", "run", "metric", "owner", "workspace", "submitted", "where", "resources"]
    every += ["framework", "priority", "ended", "labels"]
    console.open("/jobs")
    console.page.evaluate("keys => localStorage.setItem('trainmaster.jobs.columns', JSON.stringify(keys))", every)
    console.open("/?order=name")
    headings = console.at("jobs").locator("thead button")
    expect(headings).to_have_count(len(every) - 2)  # a metric and labels have no order
    for heading in headings.all():
        if heading.inner_text() == "Name":
            continue  # is chosen already
        for _ in range(2):
            with console.page.expect_response(lambda answer: "/api/v1/jobs?" in answer.url) as asked:
                heading.click()
            assert asked.value.status == 200, (asked.value.url, asked.value.text())
            expect(console.row(jobs["long"])).to_be_visible()
            expect(console.at("outdated")).to_have_count(0)


def test_all_of_a_filter_are_stopped_in_three_clicks(world: World, jobs: dict[str, str], console: Console) -> None:
    """R202: 200, more than the page shows, told before, in three clicks that are counted; what a filter hides is
    selected no more, and others stay.
    """
    resources = {"cpu": 0.25, "memory": "64MiB", "gpu": 2}
    document = {"roles": [{"name": "worker", "replicas": 2, "command": "true", "resources": resources}]}
    with world.client() as client:
        keep = client.submit({"name": "keep-waiting", **document}).id
        made = [one.id for one in client.submit_many([{"name": f"sweep-{n}", **document} for n in range(200)])]
    console.open("/?q=sweep")
    expect(console.at("shown")).to_have_text("50 of 200")
    console.row(made[-1]).get_by_role("checkbox").check()
    expect(console.at("bulk")).to_contain_text("1 selected")
    console.at("search").fill("keep")
    expect(console.at("bulk")).to_have_count(0)
    console.open("/?q=sweep")
    expect(console.at("shown")).to_have_text("50 of 200")
    console.page.evaluate("window.clicks = 0; addEventListener('click', () => window.clicks++, true)")
    console.at("select-all").click()
    expect(console.at("bulk")).to_contain_text("All 200 matching jobs selected")
    console.press("bulk-stop")
    expect(console.page.get_by_role("dialog")).to_contain_text("Stop 200 jobs?")
    console.press("confirm-ok")
    assert console.page.evaluate("window.clicks") == 3
    expect(console.at("chip-stopped")).to_contain_text("200")
    expect(console.at("bulk")).to_have_count(0)
    assert world.show(keep)["state"] == "queued"
    console.at("select-all").click()
    console.press("only-shown")
    expect(console.at("bulk")).to_contain_text("50 selected")
    console.press("bulk-delete")
    console.press("confirm-ok")
    expect(console.at("shown")).to_have_text("50 of 150")
    for shown in (100, 150):
        console.press("load-more")
        expect(console.at("job-row")).to_have_count(shown)
        # The icon of a button that the rows have moved out of sight does not turn on: it would cost 2 % of a core.
        console.page.wait_for_function("document.getAnimations().every((one) => one.animationName !== 'loadingCircle')")
    console.at("select-all").click()
    console.press("bulk-delete")
    console.press("confirm-ok")
    expect(console.page.get_by_text("No job matches")).to_be_visible()
    world.end(keep)


def test_several_are_tagged_and_shared_at_once(world: World, jobs: dict[str, str], console: Console) -> None:
    """R202, R227: what runs and what has ended alike; others stay as they were."""
    document = {
        "roles": [{"name": "worker", "command": "sleep infinity", "resources": {"cpu": 0.25, "memory": "64MiB"}}]
    }
    first, second, other = (world.submit({"name": f"marked-{n}", **document, "share": "none"}) for n in range(3))
    world.end(second)
    world.until(second, lambda view: view["state"] == "stopped")
    console.open("/?q=marked")
    for job in (first, second):
        console.row(job).get_by_role("checkbox").check()
    expect(console.at("bulk")).to_contain_text("2 selected")
    console.press("bulk-tag")
    console.at("tags-add").locator("input").fill("keep")
    console.at("tags-add").locator("input").press("Enter")
    console.press("tags-ok")
    expect(console.page.get_by_text("Changed the tags of 2 jobs")).to_be_visible()
    assert [world.show(job)["tags"] for job in (first, second, other)] == [["keep"], ["keep"], []]

    for job in (first, second):
        console.row(job).get_by_role("checkbox").check()
    console.press("bulk-share")
    console.at("bulk-share-read").locator("visible=true").click()
    expect(console.page.get_by_text("Changed how 2 jobs are shared")).to_be_visible()
    assert [world.show(job)["share"] for job in (first, second, other)] == ["read", "read", "none"]

    console.row(first).get_by_role("checkbox").check()
    console.press("bulk-tag")
    console.at("tags-remove").locator("input").fill("keep")
    console.at("tags-remove").locator("input").press("Enter")
    console.press("tags-ok")
    expect(console.page.get_by_text("Changed the tags of 1 job")).to_be_visible()
    assert [world.show(job)["tags"] for job in (first, second)] == [[], ["keep"]]
    world.end(first, other)


def test_the_time_limit_of_several_is_changed_in_the_list(world: World, jobs: dict[str, str], console: Console) -> None:
    """R193: in the menu of one, and for all that are ticked."""
    console.open("/jobs")
    console.row(jobs["long"]).get_by_test_id("row-menu").click()
    console.press("row-limit")
    console.at("duration-input").fill("3h")
    console.press("change-ok")
    expect(console.row(jobs["long"])).to_contain_text("of 3h")
    for name in ("long", "waits"):
        console.row(jobs[name]).get_by_role("checkbox").check()
    console.press("bulk-limit")
    console.at("duration-input").fill("4h")
    console.press("change-ok")
    expect(console.row(jobs["long"])).to_contain_text("of 4h")
    for name in ("long", "waits"):  # they are changed one after the other
        world.until(jobs[name], lambda view: view["duration_s"] == 14400.0)


def test_a_list_that_cannot_be_read_anew_stays_and_says_so(jobs: dict[str, str], console: Console) -> None:
    """What was on the page stays, of which moment it is and what is the matter stand above; filters stay (D3)."""
    console.watch.expect("ERR_FAILED", "422")
    console.open("/jobs")
    expect(console.row(jobs["long"])).to_be_visible()
    console.page.route("**/api/v1/jobs?*", lambda route: route.abort())
    console.at("search").fill("gamma")
    expect(console.at("outdated")).to_contain_text("The server does not answer")
    expect(console.at("outdated")).to_contain_text("Your choice could not be loaded")
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
    console.press("sort-submitted")
    expect(console.row(jobs["long"])).to_be_visible()
    expect(console.at("error")).to_have_count(0)


def test_only_what_has_ended_can_be_deleted(world: World, jobs: dict[str, str], console: Console) -> None:
    """R194, R202: of a selection the ended ones go, and the question says before how many stay and why."""
    console.open("/jobs")
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


def test_it_is_sorted_by_a_metric_that_is_a_column_of_its_own(world: World, console: Console) -> None:
    """R200: each metric can be a column; a click sorts by it, the best first, and those without it come last."""
    pattern = [{"pattern": "top1=(?P<top1>[0-9.]+) err=(?P<err>[0-9.]+)"}]
    for name, top1, err in (("m-low", 0.2, 0.8), ("m-high", 0.9, 0.1), ("m-mid", 0.5, 0.5)):
        job = plain(world, name, f"echo top1={top1} err={err}", metrics=pattern)
        world.until(job, lambda view: view["state"] == "succeeded")
    plain(world, "m-none", "true")
    console.open("/jobs?q=m-")
    expect(console.at("job-link")).to_have_count(4)
    console.press("choose-columns")
    console.at("columns").get_by_role("checkbox", name="err").check()
    console.page.keyboard.press("Escape")
    console.press("sort-metric:err")
    expect(console.at("job-link")).to_have_text(["m-high", "m-mid", "m-low", "m-none"])
    console.press("sort-metric")
    expect(console.at("job-link")).to_have_text(["m-high", "m-mid", "m-low", "m-none"])
    expect(console.page).to_have_url(re.compile("order=-metric(:|%3A)top1"))
    console.press("sort-metric")
    expect(console.at("job-link")).to_have_text(["m-low", "m-mid", "m-high", "m-none"])
    console.page.reload()
    expect(console.page.get_by_role("columnheader", name="err")).to_be_visible()
    expect(console.at("job-link")).to_have_text(["m-low", "m-mid", "m-high", "m-none"])
