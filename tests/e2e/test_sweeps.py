"""Sweeps in the browser (R45, R50, R205): typed into the form, watched, ordered, drawn, stopped, retried, deleted."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import PATTERN, TRAINING
from tests.e2e.world import World


def values(console: Console, line: int, name: str, *texts: str) -> None:
    console.press("sweep-add")
    console.at(f"sweep-name-{line}").fill(name)
    box = console.at(f"sweep-values-{line}").locator("input")
    for text in texts:
        box.fill(text)
        box.press("Enter")


def test_a_grid_of_the_form_becomes_jobs(world: World, console: Console) -> None:
    console.open("/submit")
    console.fill("name", "typed")
    console.fill("roles.0.command", "bash -c 'sleep 1000'")
    console.press("fold-sweep")
    values(console, 0, "lr", "0.1", "0.01")
    values(console, 1, "batch", "16", "32", "64")
    expect(console.at("sweep-count")).to_contain_text("6 jobs")
    console.at("sweep-most").fill("2")
    expect(console.at("preview")).to_have_attribute("data-ok", "true")
    console.press("review")
    expect(console.at("confirm-sweep")).to_contain_text("6 jobs")
    console.press("start")
    expect(console.at("sweep-page")).to_contain_text("typed")
    expect(console.at("entry")).to_have_count(6)
    expect(console.at("entries").locator("[data-state=running]")).to_have_count(2)

    console.page.get_by_test_id("entry").nth(0).get_by_test_id("entry-link").click()
    expect(console.at("job-sweep")).to_contain_text("typed")
    console.press("job-sweep")
    console.press("sweep-jobs")
    expect(console.at("job-row")).to_have_count(6)
    console.page.go_back()

    console.press("sweep-stop")
    console.page.locator(".ant-modal-confirm-btns .ant-btn-dangerous").click()
    expect(console.at("entries").locator("[data-state=stopped]")).to_have_count(6)
    console.press("sweep-delete")
    console.page.locator(".ant-modal-confirm-btns .ant-btn-dangerous").click()
    expect(console.at("sweeps")).to_be_visible()
    with world.client() as client:
        assert client.sweeps.list() == []
        assert client.list(q="typed") == []


def test_a_new_sweep_begins_in_the_part_of_the_form_that_makes_it(console: Console) -> None:
    """R45: from the list of sweeps; the form of a job has it folded."""
    console.open("/sweeps")
    console.press("sweep-new")
    expect(console.at("form-head")).to_contain_text("New sweep")
    expect(console.at("fold-sweep")).to_have_attribute("aria-expanded", "true")
    console.press("sweep-add")
    expect(console.at("sweep-name-0")).to_be_visible()
    console.open("/submit")
    expect(console.at("fold-sweep")).to_have_attribute("aria-expanded", "false")


def test_a_list_of_the_form_becomes_jobs_of_several_algorithms(world: World, console: Console) -> None:
    """R48: a batch, typed: each line an algorithm or a command, and parameters, of its own."""
    with world.client() as client:
        rate = {"name": "lr", "type": "float"}
        client.algorithms.upload({"name": "net", "command": "sleep 1000", "parameters": [rate]})
        client.algorithms.upload({"name": "tree", "command": "sleep 2000"})
        console.open("/submit")
        console.fill("name", "batch")
        console.press("fold-sweep")
        console.press("sweep-way-list")
        for at, (algorithm, parameter) in enumerate((("net", "lr=0.5"), ("tree", "depth=3"))):
            console.press("sweep-entry-add")
            console.choose(f"sweep-algorithm-{at}", algorithm)
            expect(console.at(f"sweep-command-{at}")).to_be_disabled()
            box = console.at(f"sweep-parameters-{at}").locator("input")
            box.fill(parameter)
            box.press("Enter")
        console.press("sweep-copy-1")
        console.press("sweep-entry-add")
        console.at("sweep-command-3").fill("sleep 3000")
        console.press("sweep-drop-2")
        expect(console.at("sweep-count")).to_contain_text("3 jobs")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")
        console.press("review")
        console.press("start")
        expect(console.at("entry")).to_have_count(3)
        console.press("sort-algorithm")
        expect(console.at("entries")).to_contain_text("tree")
        made = client.sweeps.list()[0]
        specs = [client.get(one.job).spec() for one in client.sweeps.entries(made.id, order="index")]
        assert [(spec["algorithm"], spec["roles"][0]["command"]) for spec in specs] == [
            ("net@1", "sleep 1000"),
            ("tree@1", "sleep 2000"),
            (None, "sleep 3000"),
        ]
        assert specs[0]["roles"][0]["parameters"] == {"lr": 0.5}


def test_entries_are_ordered_drawn_and_tried_again(world: World, console: Console) -> None:
    role = {
        "name": "trainer",
        "command": "python train.py",
        "parameters": {"epochs": 12, "pause": 0.0},
        "resources": {"cpu": 0.5, "memory": "256MiB"},
    }
    rows = [{"lr": 4.0}, {"lr": 0.1}, {"lr": 1.0}, {"command": "false"}]
    document = {
        "name": "trained",
        "code": str(TRAINING),
        "roles": [role],
        "metrics": [{"pattern": PATTERN}],
        "sweep": {"list": rows, "metric": "loss"},
    }
    with world.client() as client:
        made = client.sweeps.submit(document)
        console.open("/sweeps")
        console.press("sweep-link")
        expect(console.at("entries").locator("[data-state=succeeded]")).to_have_count(3)
        expect(console.at("sweep-best")).to_contain_text("entry 2")
        first = console.page.get_by_test_id("entry").first
        expect(first).to_have_attribute("data-index", "2")
        console.press("sort-parameter:lr")
        expect(console.page).to_have_url(re.compile("order="))
        console.press("sort-parameter:lr")
        expect(first).to_have_attribute("data-index", "1")

        console.press("sweep-tab-curves")
        expect(console.at("overlay-loss")).to_have_attribute("data-lines", "3")
        console.press("sweep-tab-parameters")
        expect(console.at("scatter-dot")).to_have_count(3)
        expect(console.at("parallel-line")).to_have_count(3)
        console.press("sweep-tab-entries")
        console.press("sweep-retry")
        expect(console.page.get_by_text("Failed entries were submitted again")).to_be_visible()
        expect(console.at("sweep-page")).to_contain_text("trained")
        expect(console.at("entries").locator("[data-state=failed]")).to_have_count(1)
        assert client.sweeps.get(made.id).tries == 5
        console.press("sweep-compare")
        expect(console.at("compare-results")).to_contain_text("trained-2")


def test_of_many_entries_those_in_sight_are_made(world: World, console: Console) -> None:
    """R205: 300 rows are some dozens on the page; scrolled to and reached by keyboard the last is there, too."""
    sweep = {"grid": {"lr": [n / 1000 for n in range(1, 301)]}, "most_at_once": 1}
    with world.client() as client:
        made = client.sweeps.submit({"name": "many", "command": "sleep 1000", "sweep": sweep})
        console.open(f"/sweeps/{made.id}")
        entry = console.at("entry")
        expect(entry.first).to_have_attribute("data-index", "1")
        expect(console.at("entries")).to_have_attribute("aria-rowcount", "301")
        assert entry.count() < 60
        console.page.locator(".tm-sweep-scroll").evaluate("box => { box.scrollTop = box.scrollHeight }")
        last = console.page.locator("[data-testid=entry][aria-rowindex='301']")
        expect(last).to_be_visible()
        assert entry.count() < 60
        last.get_by_test_id("entry-link").focus()
        for _ in range(30):
            console.page.keyboard.press("Shift+Tab")
        rows = "document.activeElement.closest('tr').dataset.index"
        assert console.page.evaluate(rows) == "270"
        client.sweeps.stop(made.id)


@pytest.mark.timeout(400)
def test_a_real_sweep_stops_the_worst_and_finds_the_best(world: World, console: Console) -> None:
    """The example as it is, 24 trainings on the digits, only faster: most are stopped early, and say why."""
    example = Path(__file__).parents[2] / "examples" / "sweep" / "digits.yaml"
    faster = ["--set", "parameters.pause=0.05", "--set", "parameters.epochs=9", "--set", "resources.cpu=0.25"]
    world.tm("sweep", str(example), *faster, "--set", "name=found")
    console.open("/sweeps")
    console.page.get_by_role("link", name="found", exact=True).click()
    expect(console.at("entry")).to_have_count(24)
    limit = time.monotonic() + 300
    with world.client() as client:
        while not all(one.ended_at for one in client.sweeps.entries("found")):
            assert time.monotonic() < limit
            time.sleep(0.5)  # other processes: nothing tells
        entries = client.sweeps.entries("found")
    succeeded = [one for one in entries if one.state == "succeeded"]
    stopped = [one for one in entries if one.state == "stopped"]
    assert len(succeeded) + len(stopped) == 24
    assert len(stopped) >= 8
    expect(console.at("entries").locator("[data-state=stopped]")).to_have_count(len(stopped))
    console.page.get_by_role("link", name=stopped[0].name, exact=True).click()
    expect(console.at("verdict")).to_contain_text("only the best")
    console.page.go_back()
    console.press("sweep-compare")
    expect(console.at("compare-results")).to_contain_text("found-")
    best = console.at("best-accuracy").first
    expect(best).to_be_visible()
    assert float(best.inner_text()) > 0.9
