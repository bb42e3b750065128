"""Usage and money: a flavor gets a price, a workspace a credit, and the page says what a job cost (R3, R18)."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import add_user, come_in
from tests.e2e.world import World
from trainmaster.core.errors import InvalidSpec

JOB = {"name": "paid", "roles": [{"name": "main", "command": ["sleep", "infinity"], "flavors": ["small"]}]}


def enter(console: Console, workspace: str, amount: str, note: str) -> None:
    """Add a credit with the dialog."""
    console.press(f"credit-{workspace}")
    console.at("entry-amount").fill(amount)
    console.at("entry-note").fill(note)
    console.press("admin-save")
    expect(console.at("entry-amount")).to_have_count(0)


def set_a_price(world: World) -> None:
    """Let money be in use, whichever test ran before."""
    world.tm("pool", "set", "default", "--price-cpu", "0.01")


def test_without_a_price_no_amounts_are_shown(console: Console) -> None:
    console.open("/usage")
    expect(console.at("unpriced").get_by_role("link")).to_have_attribute("href", "/admin?tab=pools")
    expect(console.at("usage-days")).to_be_visible()
    expect(console.at("balance-default")).to_have_count(0)
    expect(console.page.get_by_role("main")).not_to_contain_text("CNY")
    console.open("/")
    expect(console.at("home-workspace-default")).to_be_visible()
    expect(console.page.get_by_role("main")).not_to_contain_text("CNY")


def test_prices_credits_and_what_a_job_cost(world: World, console: Console, tmp_path: Path) -> None:
    console.open("/admin?tab=flavors")
    console.press("flavor-add")
    console.at("admin-name").fill("small")
    console.at("flavor-gpu").fill("0")
    console.at("flavor-price").fill("1,5")
    console.press("admin-save")
    expect(console.page.locator(".ant-form-item-explain-error")).to_be_visible()
    console.at("flavor-price").fill("3600")
    console.press("admin-save")
    expect(console.page.get_by_text("3,600.00", exact=True)).to_be_visible()

    console.open("/usage")
    enter(console, "default", "1000", "Q4")
    expect(console.at("balance-default")).to_have_attribute("data-balance", "1000.00")
    console.press("budget-default")
    console.at("budget-limit").fill("0")
    console.at("budget-monthly").fill("100")
    console.press("admin-save")
    expect(console.at("balance-default")).to_contain_text("0% of the budget is spent")

    with pytest.raises(InvalidSpec, match="cannot pay for this job"):
        world.submit({**JOB, "duration": "1h"})
    job = world.submit({**JOB, "duration": "10m", "model": {"save": False}})
    world.until(job, lambda view: view["state"] == "running")
    world.end(job)
    world.until(job, lambda view: view["state"] == "stopped")

    console.open("/usage")
    line = console.at("usage-line")
    expect(line).to_contain_text("small")
    with console.downloading(tmp_path / "usage.csv"):
        console.press("usage-csv")
    [row] = csv.DictReader((tmp_path / "usage.csv").read_text().splitlines())
    assert row["amount"] == line.get_attribute("data-amount")
    assert f"{float(row['replica_seconds']):.2f}" == f"{float(row['amount']):.2f}"  # a second costs one
    console.press("entries-default")
    expect(console.at("entry")).to_have_count(2)
    expect(console.at("entry").first).to_contain_text(job[:8])


def test_a_correction_is_an_entry_and_changes_none(world: World, console: Console) -> None:
    """R18: what was written stays, and beside it stands what it was corrected by, and by whom."""
    set_a_price(world)
    world.tm("workspace", "create", "put-right")
    console.open("/usage")
    enter(console, "put-right", "1000", "twice by mistake")
    console.press("credit-put-right")
    console.page.get_by_role("dialog").get_by_text("correction", exact=True).click()
    console.at("entry-amount").fill("-250.50")
    console.at("entry-note").fill("was entered twice")
    console.press("admin-save")
    expect(console.at("entry-amount")).to_have_count(0)
    expect(console.at("balance-put-right")).to_have_attribute("data-balance", "749.50")
    console.press("entries-put-right")
    expect(console.at("entry")).to_have_count(2)
    for at, (kind, amount, note) in enumerate(
        [("correction", "-250.50", "was entered twice"), ("credit", "1000.00", "twice by mistake")]
    ):
        row = console.at("entry").nth(at)
        expect(row).to_have_attribute("data-kind", kind)
        expect(row.get_by_title(amount, exact=True)).to_be_visible()
        expect(row).to_contain_text(note)
        expect(row).to_contain_text("admin")


def test_a_member_sees_their_own_and_changes_nothing(world: World, console: Console, new_console: Open) -> None:
    set_a_price(world)
    console.open("/admin?tab=users")
    one_time = add_user(console, "uma", "default")
    uma = come_in(new_console, "uma", one_time)
    uma.open("/usage")
    expect(uma.at("balance-default")).to_be_visible()
    expect(uma.at("usage-line")).to_have_count(0)
    expect(uma.at("credit-default")).to_have_count(0)
    uma.press("entries-default")
    expect(uma.page.get_by_text("No entries yet.")).to_be_visible()


def test_the_page_is_for_everybody(world: World, console: Console) -> None:
    set_a_price(world)
    report = Report()
    console.open("/usage")
    expect(console.at("usage-days")).to_be_visible()
    report.add("usage", judge(console.page))
    console.press("entries-default")
    expect(console.page.locator(".ant-drawer-open")).to_be_visible()
    report.add("entries", judge(console.page))
    assert not report, f"\n{report}"
