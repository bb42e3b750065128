"""The list of jobs is cut to what the manuals name, and what is shared is bounded: seen and clicked (R199, R224)."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.axe import judge
from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


def test_jobs_are_chosen_by_algorithm_flavor_and_where_results_go(
    world: World, console: Console, tmp_path: Path
) -> None:
    """R199: what is chosen stands in the address, a view keeps it, and one's favorite algorithms are a choice."""
    (tmp_path / "train.py").write_text("")
    with world.client() as client:
        client.admin.put_flavor("small", cpu=0.25, memory_mib=64)
        for name in ("net", "other"):
            client.algorithms.upload({"name": name, "command": "sleep 600", "code": str(tmp_path)}, name)
        client.algorithms.favor("other")
    of_net = world.submit({"name": "of-net", "algorithm": "net", "flavors": ["small"], "model": {"name": "digits"}})
    of_other = world.submit({"name": "of-other", "algorithm": "other", "duration": "1h"})
    kept = plain(world, "plain", "sleep 600")
    console.open("/jobs")
    console.choose("filter-algorithm", "net")
    expect(console.row(of_net)).to_be_visible()
    expect(console.row(of_other)).to_have_count(0)
    expect(console.page).to_have_url(re.compile("algorithm=net"))
    console.choose("filter-algorithm", "Your favorites")
    expect(console.row(of_other)).to_be_visible()
    expect(console.row(of_net)).to_have_count(0)
    expect(console.page).to_have_url(re.compile("favorite_algorithm=true"))
    judge(console.page)
    console.press("clear-filters")
    console.at("filter-output").locator("visible=true").fill("digits")
    expect(console.row(of_other)).to_have_count(0)
    expect(console.row(of_net)).to_be_visible()
    expect(console.page).to_have_url(re.compile("output=digits"))
    console.press("views")
    console.press("view-new")
    console.at("view-name").fill("Digits")
    console.press("view-save")
    expect(console.at("view-name")).to_have_count(0)  # it is saved
    console.open("/jobs?flavor=small")
    expect(console.row(of_net)).to_be_visible()
    expect(console.row(kept)).to_have_count(0)
    console.press("views")
    console.at("view").filter(has_text="Digits").click()
    expect(console.page).to_have_url(re.compile("output=digits"))
    told = world.tm("list", "--algorithm", "net", "--output", "digits", "--json")
    assert of_net in told
    assert kept not in told
    assert of_net[:12] in world.tm("list", "--view", "Digits")
    world.end(of_net, of_other, kept)


def test_what_a_job_uses_bounds_with_whom_it_is_shared(world: World, console: Console, tmp_path: Path) -> None:
    """R224: the form and the job's page name what forbids it; once that is shared, so is the job."""
    (tmp_path / "a.txt").write_text("a")
    with world.client() as client:
        client.datasets.upload(tmp_path, "flowers")
    document = {"inputs": [{"dataset": "flowers"}], "share": "none"}
    job = plain(world, "bounded", "sleep 600", **document)
    console.watch.expect("422")
    console.open_job(job)
    console.choose("share", "Others may look and clone")
    expect(console.page.get_by_text("data set flowers").first).to_be_visible()
    assert world.show(job)["share"] == "none"
    world.tm("dataset", "share", "flowers", "read")
    console.choose("share", "Others may look and clone")
    expect(console.page.get_by_text("Sharing changed.")).to_be_visible()
    assert world.show(job)["share"] == "read"
    console.press("clone")
    console.choose("field-share", "Others may also change and stop it")
    expect(console.problem_at("share")).to_contain_text("data set flowers")
    world.end(job)


def test_an_administrator_hides_whose_jobs_others_hold(world: World, console: Console) -> None:
    """The switch stands beside the accounts, says what holds, and who changed it."""
    console.open("/admin?tab=users")
    switch, told = console.at("owners-told"), console.at("privacy")
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(told).to_contain_text("admin")
    judge(console.page)
    assert "hidden" in world.tm("privacy")
    world.tm("privacy", "--owners", "told")
