"""The audit answers who stopped a job and who changed a quota, to whom it concerns."""

import json
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import add_user, come_in
from tests.e2e.world import World


def entries(console: Console, kind: str) -> Locator:
    """The rows of one kind of action."""
    return console.page.locator(f'[data-testid="audit-entry"][data-kind="{kind}"]')


def test_who_stopped_my_job_and_who_changed_this_quota(
    world: World, console: Console, new_console: Open, tmp_path: Path
) -> None:
    world.tm("workspace", "create", "vision")
    console.open("/admin?tab=users")
    ann = come_in(new_console, "ann", add_user(console, "ann", "vision", "owner"))
    ann.press("new-job")
    ann.fill("name", "anns")
    ann.fill("roles.0.command", "sleep infinity")
    expect(ann.at("fits")).to_have_attribute("data-when", "now")
    job = ann.start()
    ann.expect_state("running")
    world.tm("stop", job)

    ann.press("job-audit")
    expect(ann.at("audit-subject")).to_contain_text(job[:8])
    stopped = entries(ann, "stop_requested")
    expect(stopped).to_contain_text("admin")
    expect(stopped).to_contain_text("127.0.0.1")  # she leads the workspace in which it lies
    expect(entries(ann, "submitted")).to_contain_text("ann")
    ann.press("audit-clear")
    expect(entries(ann, "member_added")).to_be_visible()
    expect(entries(ann, "policy_changed")).to_have_count(0)

    console.open("/admin?tab=workspaces")
    world.tm("workspace", "set", "vision", "--weight", "3")
    console.press("audit-vision")
    expect(entries(console, "workspace_changed")).to_contain_text("weight: 1 → 3")
    entries(console, "workspace_changed").locator(".ant-table-row-expand-icon").click()
    expect(console.page.locator(".ant-table-expanded-row").get_by_text("weight", exact=True)).to_be_visible()
    console.choose("audit-kind", "member added")
    expect(entries(console, "workspace_changed")).to_have_count(0)
    expect(entries(console, "member_added")).to_be_visible()
    console.page.go_back()
    console.open(f"/audit?subject=job:{job}&kind=stop_requested")  # an address that was sent
    expect(entries(console, "stop_requested")).to_be_visible()
    with console.downloading(tmp_path / "audit.jsonl"):
        console.press("audit-export")
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["by"], line["subject"]["name"]) for line in lines] == [("stop_requested", "admin", job)]
