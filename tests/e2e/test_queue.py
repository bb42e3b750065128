"""The queue for people: why, since when, until when; the timeline; what fits where; the policy (R161-R169, R171,
B1).
"""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World


@pytest.fixture(scope="module")
def jobs(world: World) -> dict[str, str]:
    """All cards are taken: by a job with a limit and by one without. Behind them wait a large one and a small one."""
    with world.client() as client:
        for name, body in {"pair": {"gpu": 2}, "one": {"gpu": 1}, "plain": {}}.items():
            client.http.json("PUT", f"/workspaces/default/flavors/{name}", json={"cpu": 0.25, "memory_mib": 64, **body})
    made = {
        "timed": plain(world, "timed-holder", "sleep 1000", resources={"gpu": 2}, duration="1h"),
        "open": plain(world, "open-holder", "sleep 1000", resources={"gpu": 2}),
    }
    for name in ("timed", "open"):
        world.until(made[name], lambda view: view["state"] == "running")
    made["large"] = plain(world, "large-waits", "true", resources={"gpu": 2}, duration="30m")
    made["small"] = plain(world, "small-waits", "true", resources={"gpu": 1})
    for name in ("large", "small"):
        world.until(made[name], lambda view: view["reason"] is not None)
    return made


def test_what_waits_says_why_and_until_when(jobs: dict[str, str], console: Console) -> None:
    """B1: in order, each with its one reason and a forecast; what would help is a step away."""
    console.open("/queue")
    expect(console.at("position")).to_have_text(["1", "2"])
    expect(console.at("queue-job")).to_have_text(["large-waits", "small-waits"])
    expect(console.at("queue-reason").first).to_contain_text(re.compile("GPU|card"))
    expect(console.at("forecast").first).to_have_attribute("data-when", re.compile("now|about|unknown"))
    console.at("queue-expand").first.click()
    expect(console.at("wait-detail")).to_contain_text("How to start sooner")
    expect(console.at("queue-page")).to_contain_text("Up to date")


def test_it_is_narrowed_by_card_model(jobs: dict[str, str], console: Console) -> None:
    """R169: demand by card model; who would take any card asks for none by name. The address bar keeps it."""
    console.open("/queue")
    expect(console.at("demand-sim-a100")).to_contain_text("4 / 4")
    console.press("demand-sim-a100")
    expect(console.page.get_by_text("No queued job matches")).to_be_visible()
    console.page.reload()
    expect(console.at("demand-sim-a100")).to_have_attribute("aria-pressed", "true")
    console.press("demand-sim-a100")
    expect(console.at("queue-job")).to_have_count(2)


def test_a_higher_class_goes_first(jobs: dict[str, str], console: Console) -> None:
    """R170: the priority is changed from the queue, and the order changes under one's eyes."""
    console.open("/queue")
    console.at("queue-menu").nth(1).click()
    console.press("queue-priority")
    console.choose(console.page.locator(".ant-modal .ant-select"), "Very urgent")
    console.press("change-ok")
    expect(console.at("queue-job")).to_have_text(["small-waits", "large-waits"])


def test_the_timeline_shows_who_runs_where(jobs: dict[str, str], console: Console) -> None:
    """A line per card, the line of now, a card with the facts; by pointer and by keys alone."""
    console.open("/queue?view=timeline")
    expect(console.at("timeline-now")).to_have_count(1)
    bars = console.page.locator(".tm-tl-bar")
    expect(bars.filter(has_text="timed-holder").first).to_be_visible()
    console.at("timeline-plot").focus()
    console.page.keyboard.press("ArrowRight")
    card = console.at("timeline-card")
    expect(card).to_contain_text("holder")
    expect(card).to_contain_text("admin")
    console.page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    bars.filter(has_text="timed-holder").first.hover()
    expect(card).to_contain_text("(1h)")
    console.page.keyboard.press("-")
    expect(console.at("timeline-page")).to_have_attribute("data-span", "32400")
    console.at("timeline-plot").focus()
    console.page.keyboard.press("ArrowRight")
    console.page.keyboard.press("Enter")
    expect(console.at("job-page")).to_be_visible()


def test_the_table_says_what_fits_where_and_who_uses_it(jobs: dict[str, str], console: Console) -> None:
    """R164-R168, D4: nodes that carry the flavor, used of total, full or not only of chosen flavors, who holds what."""
    console.open("/cluster")
    node = console.at("resource-node-1")
    expect(node).to_contain_text(re.compile("GPU 0–1 · (timed|open)-holder"))
    expect(node).not_to_contain_text(re.compile("Full|Has room|tight|idle"))
    expect(node).to_contain_text(re.compile("0 (GPUs|cards)"))
    console.choose("resource-flavors", "pair")
    expect(node).to_have_attribute("data-state", "tight")
    expect(node).to_contain_text("Full")
    console.page.keyboard.press("Escape")
    console.choose("resource-flavors", "plain")
    expect(node).to_have_attribute("data-state", "idle")
    expect(node).to_contain_text("Has room")


def test_the_cluster_says_who_uses_what(jobs: dict[str, str], console: Console) -> None:
    """Sums by person and workspace, use over time; a person leads to their nodes, a node to its jobs (D20)."""
    console.open("/cluster")
    person = console.at("use-row-admin")
    expect(person).to_contain_text("4")
    expect(person).to_contain_text(re.compile("2 · 3 (GPUs|cards)"))
    expect(console.at("past-words")).to_contain_text("of 4 GPUs")
    expect(console.at("cluster-past").locator("svg[data-points]")).to_have_attribute("data-now", "4")
    console.press("use-workspaces")
    expect(console.at("use-row-default")).to_be_visible()
    console.page.get_by_text("People", exact=True).click()
    console.press("use-admin")
    expect(console.at("resource-owner")).to_contain_text("Used by admin")
    expect(console.at("resource-node-1")).to_be_visible()
    console.at("node-search").fill("node-2")
    expect(console.at("resource-node-1")).to_have_count(0)
    console.press("expand-node-2")
    expect(console.at("node-node-2")).to_contain_text("holder")
    console.press("node-link-node-2")
    expect(console.page).to_have_url(re.compile("node=node-2"))


def test_a_queued_job_is_found_by_owner_and_stopped_from_the_queue(
    jobs: dict[str, str], world: World, console: Console
) -> None:
    made = plain(world, "to-be-stopped", "true", resources={"gpu": 2})
    world.until(made, lambda view: view["reason"] is not None)
    console.open("/queue?owner=nobody-there")
    expect(console.page.get_by_text("No queued job matches")).to_be_visible()
    console.open("/queue?owner=admin")
    row = console.at("queue-row").filter(has_text="to-be-stopped")
    row.get_by_test_id("queue-menu").click()
    console.press("queue-stop")
    console.press("confirm-ok")
    expect(row).to_have_count(0)
    world.until(made, lambda view: view["state"] == "stopped")


def test_a_narrow_window_shows_the_whole_queue(jobs: dict[str, str], console: Console) -> None:
    """D12: one column, nothing a letter wide, nothing beyond the edge; the policy, too."""
    for width in (768, 390):
        console.page.set_viewport_size({"width": width, "height": 844})
        console.open("/queue")
        reason = console.at("queue-reason").first
        expect(reason).to_be_visible()
        box = reason.bounding_box()
        assert box is not None
        assert box["width"] > 170, box
        console.open("/admin?tab=policy")
        meaning = console.at("knob-fair_weight_s").locator("p")
        expect(meaning).to_be_visible()
        words = meaning.bounding_box()
        assert words is not None
        assert words["width"] > 170, words
    console.page.set_viewport_size({"width": 1280, "height": 800})


def pick_flavors(console: Console, *names: str) -> None:
    """Choose further flavors of the first sub-task."""
    console.page.locator('[data-path="roles.0.flavors"] .ant-select').click()
    options = console.page.locator(".ant-select-dropdown:visible .ant-select-item-option")
    for name in names:
        options.filter(has=console.page.get_by_text(name, exact=True)).click()
    console.page.get_by_role("heading", level=1).click()


def test_the_form_says_whether_it_would_queue(jobs: dict[str, str], console: Console) -> None:
    """R161, R163: several flavors are alternatives; beside the button stands whether any of them starts now."""
    console.open("/submit")
    console.fill("name", "by-flavor")
    console.fill("roles.0.command", "sleep 1")
    expect(console.command_of("worker")).to_have_text("sleep 1")
    console.press("use-flavors")
    chosen = console.page.locator('[data-path="roles.0.flavors"] .ant-select')
    chosen.locator(".ant-select-selection-item-remove").first.click()
    pick_flavors(console, "one", "pair")
    tag = console.at("would-start")
    expect(tag).to_have_attribute("data-when", "queue")
    console.press("cluster-resources")
    expect(console.at("resource-node-1")).to_have_attribute("data-state", "tight")
    console.page.locator(".ant-drawer-close").click()
    pick_flavors(console, "plain")
    expect(tag).to_have_attribute("data-when", "now")
    expect(console.at("fits")).to_contain_text("plain")


def test_nothing_moves_under_a_click_that_leaves_a_field(jobs: dict[str, str], console: Console) -> None:
    """A field's problem is shown once it is left, and only of what stands there; the click that leaves it arrives."""
    console.open("/submit")
    how = console.page.get_by_role("radiogroup", name="How resources are chosen")
    flavors = console.page.locator('[data-path="roles.0.flavors"]')
    problem = console.at("field-problem")
    command = console.field("roles.0.command")
    console.fill("name", "quick")
    command.fill("")  # instead of what every new form begins with
    expect(console.at("preview")).to_have_attribute("data-ok", "false")
    command.press_sequentially("sleep 1")
    press(how.get_by_text("Flavors"))
    expect(flavors).to_be_visible()
    expect(problem).to_have_count(0)
    expect(console.at("preview")).to_have_attribute("data-ok", "true")

    console.page.get_by_test_id("field-roles.0.name").fill("")
    expect(console.at("preview")).to_have_attribute("data-ok", "false")
    expect(problem).to_have_count(0)
    press(how.get_by_text("Custom"))
    expect(flavors).to_have_count(0)
    expect(problem).to_be_visible()


def press(target: Locator) -> None:
    """Click slowly: the page is drawn twice while the mouse is pressed, and must not move."""
    target.scroll_into_view_if_needed()
    before, mouse = target.bounding_box(), target.page.mouse
    assert before is not None
    mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    mouse.down()
    target.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert target.bounding_box() == before
    mouse.up()


def test_a_policy_is_checked_tried_and_saved(world: World, jobs: dict[str, str], console: Console) -> None:
    """Every knob has bounds; the effect on the platform's own past is seen before anything is saved, that of weights
    and quotas, too.
    """
    world.until(plain(world, "history", "true"), lambda view: view["state"] == "succeeded")
    console.open("/admin?tab=policy")
    knob = console.at("knob-fair_weight_s")
    knob.locator("input").fill("400d")
    expect(knob.get_by_test_id("knob-problem")).to_contain_text(re.compile("between 0s and 7d"))
    expect(console.at("policy-save")).to_be_disabled()
    knob.locator("input").fill("8h")
    console.press("policy-simulate")
    expect(console.at("effect")).to_have_attribute("data-jobs", re.compile("[1-9]"))
    console.press("policy-save")
    expect(knob).to_have_attribute("data-changed", "false")
    console.page.reload()
    expect(knob.locator("input")).to_have_value("8h")
    console.press("admin-workspaces")
    console.press("edit-default")
    console.press("workspace-simulate")
    expect(console.at("effect")).to_have_attribute("data-jobs", re.compile("[1-9]"))


def test_machines_are_shared_and_taken_out_of_service(jobs: dict[str, str], console: Console) -> None:
    """R10, R6, R171: a pool, a share of it, a workspace's urgent limit; a node is cordoned with a reason and comes
    back.
    """
    console.open("/admin?tab=pools")
    console.press("pool-add")
    console.at("admin-name").fill("not a name")
    console.press("admin-save")
    expect(console.page.get_by_text("This name has characters")).to_be_visible()
    console.at("admin-name").fill("lab")
    console.press("admin-save")
    expect(console.at("edit-lab")).to_be_visible()
    console.press("admin-workspaces")
    console.press("edit-default")
    console.at("urgent-per-user").locator("input").or_(console.at("urgent-per-user")).last.fill("2")
    console.press("admin-save")
    expect(console.page.get_by_text("Limit per person: 2")).to_be_visible()
    console.press("admin-nodes")
    node = console.at("admin-node-node-2")
    node.get_by_test_id("cordon").click()
    console.at("node-note").fill("a new fan")
    console.press("admin-save")
    expect(node).to_have_attribute("data-service", "cordoned")
    expect(node).to_contain_text("a new fan")
    node.get_by_test_id("uncordon").click()
    expect(node).to_have_attribute("data-service", "in_service")


def test_a_quota_below_what_is_used_is_saved_with_a_warning(
    jobs: dict[str, str], world: World, console: Console
) -> None:
    """All four cards are held by the workspace that from now on is entitled to none."""
    console.open("/admin?tab=workspaces")
    console.press("edit-default")
    console.press("quota-add")
    console.press("admin-save")
    warning = console.page.get_by_text("Usage is above the guarantee")
    expect(warning).to_have_count(2)
    expect(console.page.locator(".ant-message")).to_contain_text("default · GPUs: Usage is above")
    with world.client() as client:
        client.http.json("PUT", "/workspaces/default", json={})


def test_administration_opens_on_what_is_needed_daily(world: World, jobs: dict[str, str], console: Console) -> None:
    """Who uses what, quotas that are used up, nodes away; the policy is the last tab."""
    with world.client() as client:
        client.http.json("PUT", "/workspaces/default", json={"quotas": {"default": {"gpu": {"nominal": 4}}}})
        client.http.json("POST", "/nodes/node-2/cordon", json={"note": "a new fan"})
    console.open("/admin")
    expect(console.at("use-row-admin")).to_be_visible()
    expect(console.at("quota-default")).to_have_attribute("data-state", "full")
    expect(console.at("away-node-2")).to_contain_text("a new fan")
    with world.client() as client:
        client.http.json("POST", "/nodes/node-2/uncordon")
        client.http.json("PUT", "/workspaces/default", json={})
    console.page.reload()
    expect(console.at("admin-away")).to_contain_text("All 2 nodes are in service")
