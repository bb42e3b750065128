"""Jobs side by side in the console (B16, R159): chosen in the list, compared in every way; the link keeps the view."""

import csv
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import PATTERN, TRAINING
from tests.e2e.world import World


@pytest.fixture(scope="module")
def jobs(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three trainings that differ in their rate, the last in its code, too."""
    code = tmp_path_factory.mktemp("code") / "training"
    shutil.copytree(TRAINING, code)
    (code / "augment.py").write_text("FLIP = True\n")
    found = []
    for name, rate, folder in (("slow", 4.0, TRAINING), ("good", 0.1, TRAINING), ("flipped", 2.0, code)):
        role = {
            "name": "trainer",
            "command": "python train.py",
            "parameters": {"epochs": 20, "pause": 0.0, "lr": rate},
            "resources": {"cpu": 0.5, "memory": "256MiB"},
        }
        document = {"name": name, "code": str(folder), "roles": [role], "metrics": [{"pattern": PATTERN}]}
        found.append(world.submit(document))
    for job in found:
        world.until(job, lambda view: view["state"] == "succeeded")
    return found


def test_jobs_of_the_list_are_compared(console: Console, jobs: list[str], tmp_path: Path) -> None:
    console.open("/jobs")
    for job in jobs:
        console.row(job).get_by_role("checkbox").check()
    console.press("bulk-compare")
    expect(console.at("compare-results")).to_contain_text("slow")
    assert "job=" in console.page.url

    results = console.at("compare-results").locator("tbody tr[data-row-key]")
    expect(results).to_have_count(3)
    expect(console.at("best-loss")).to_have_count(1)
    expect(results.filter(has=console.at("best-loss"))).to_contain_text("good")
    expect(results.filter(has=console.at("best-accuracy"))).to_contain_text("good")
    console.at("compare-results").locator("th", has_text="loss").click()
    expect(results.first).to_contain_text("good")

    differences = console.at("compare-differences")
    expect(differences).to_contain_text("lr")
    expect(differences).not_to_contain_text("epochs")
    console.press("compare-all")
    expect(differences).to_contain_text("epochs")

    with console.downloading(tmp_path / "compare.csv"):
        console.press("compare-csv")
    rows = [*csv.DictReader((tmp_path / "compare.csv").read_text().splitlines())]
    assert {row["id"]: row["parameters.lr"] for row in rows} == dict(zip(jobs, ("4", "0.1", "2"), strict=True))


def test_curves_lie_over_each_other_and_the_link_keeps_the_view(console: Console, jobs: list[str]) -> None:
    console.open(f"/compare?job={jobs[0]}&job={jobs[1]}&job={jobs[2]}&tab=curves&metric=accuracy")
    card = console.at("overlay-accuracy")
    expect(card).to_have_attribute("data-lines", "3")
    for name in ("slow", "good", "flipped"):
        expect(card).to_contain_text(name)
    before = console.pixels("overlay-accuracy")
    console.press("axis-relative")
    console.page.wait_for_function(
        "old => document.querySelector('[data-testid=overlay-accuracy] canvas').toDataURL() !== old", arg=before
    )
    assert "x=relative" in console.page.url
    console.page.reload()
    expect(card).to_have_attribute("data-lines", "3")
    expect(card.locator(".u-legend")).to_contain_text("Run time")


def test_parameters_and_code(console: Console, jobs: list[str]) -> None:
    console.open(f"/compare?job={jobs[0]}&job={jobs[1]}&job={jobs[2]}&tab=parameters")
    expect(console.at("parallel-line")).to_have_count(3)
    expect(console.at("scatter-dot")).to_have_count(3)
    console.press("compare-tab-code")
    expect(console.at("compare-code")).to_contain_text("The code is the same")
    console.choose("compare-other", "flipped")
    expect(console.at("compare-file")).to_contain_text("augment.py")
    expect(console.at("compare-file")).to_contain_text("+FLIP = True")


def test_a_job_page_leads_here_and_more_are_added(console: Console, jobs: list[str]) -> None:
    console.open_job(jobs[0])
    console.press("compare")
    expect(console.at("compare-results").locator("tbody tr[data-row-key]")).to_have_count(1)
    console.choose("compare-add", "good")
    expect(console.at("compare-results").locator("tbody tr[data-row-key]")).to_have_count(2)
    console.at("compare-remove").first.click()
    expect(console.at("compare-results").locator("tbody tr[data-row-key]")).to_have_count(1)
    console.watch.expect("404")
    console.open(f"/compare?job={jobs[0]}&job=no-such-job")
    expect(console.at("error")).to_contain_text("no-such-job")
