"""Which fields the form of a new job has: those of one replica, those of several, those that a workspace asks for; and
the bounds of each.
"""

import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World

OF_SEVERAL = ("framework", "roles.0.replicas")
ENDS = ("roles.0.min_succeeded", "roles.0.min_failed", "roles.0.main")
COUNTED = re.compile(r"^\^((?:\[[^]]*])*)\[[^]]*]\{(\d+),(\d+)\}\$$")


def test_fields_of_several_replicas_come_with_the_switch(world: World, console: Console) -> None:
    """R29-R31, R34-R38, R55: off, one replica; on, launcher, replicas, sub-tasks and when each is finished."""
    console.open("/submit")
    for path in OF_SEVERAL:
        expect(console.page.locator(f'[data-path="{path}"]')).to_have_count(0)
    for name in ("completion", "role-add", "role-remove"):
        expect(console.at(name)).to_have_count(0)
    console.fill("name", "of-several")
    console.fill("roles.0.command", "sleep 1")
    console.press("distributed")
    for path in OF_SEVERAL:
        expect(console.page.locator(f'[data-path="{path}"]')).to_be_visible()
    console.choose("field-framework", "No launcher")
    console.field("roles.0.replicas").fill("1")  # on the way to 12: the field stays
    expect(console.field("roles.0.replicas")).to_have_value("1")
    console.field("roles.0.replicas").fill("3")
    console.press("completion")
    for path in ENDS:
        expect(console.page.locator(f'[data-path="{path}"]')).to_be_visible()
    console.fill("roles.0.min_succeeded", "2")
    console.fill("roles.0.min_failed", "3")
    console.press("field-roles.0.main")
    console.press("role-add")
    console.fill("roles.1.name", "helper")
    console.fill("roles.0.resources.cpu", "0.5")
    console.fill("roles.1.resources.cpu", "0.25")
    console.press("review")
    expect(console.at("confirm-page")).to_contain_text("4 replicas")  # R55: of all nodes together
    expect(console.at("confirm-page")).to_contain_text("1.75 cores")
    console.press("start")
    expect(console.at("job-page")).to_contain_text("1.75 cores")
    job = str(console.at("job-page").get_attribute("data-id"))
    with world.client() as client:
        first, second = client.get(job).spec()["roles"]
    assert [first[key] for key in ("replicas", "min_succeeded", "min_failed", "main")] == [3, 2, 3, True]
    assert (second["name"], second["replicas"], second["command"]) == ("helper", 1, "sleep infinity")
    world.end(job)


def test_it_is_on_for_what_was_cloned_and_asks_before_it_removes(world: World, console: Console) -> None:
    """R29: a job with sub-tasks opens with all of them; without, the first is left, and what it says of itself."""
    role = {"name": "main", "command": "sleep 1", "resources": {"cpu": 0.25, "memory": "64MiB"}}
    one = world.submit({"name": "one", "roles": [role]})
    many = world.submit({"name": "many", "roles": [{**role, "replicas": 2, "min_failed": 2}]})
    switch = console.at("distributed")
    console.open(f"/submit?clone={one}")
    expect(switch).to_have_attribute("aria-checked", "false")
    console.open(f"/submit?clone={many}")
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(console.field("roles.0.replicas")).to_have_value("2")
    console.press("role-add")
    console.fill("roles.1.name", "helper")
    console.press("distributed")
    expect(console.page.get_by_role("dialog")).to_contain_text("Removed: helper")
    console.press("less-ok")
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(console.at("role-1")).to_have_count(0)
    console.press("edit-json")
    [role] = console.document()["roles"]
    assert (role["command"], role["replicas"], "min_failed" in role) == ("sleep 1", 1, False)


def test_hooks_are_written_previewed_and_shown(world: World, console: Console) -> None:
    """R53: in expert mode, or where a document has some; with their mistakes, in the preview and on the job's page."""
    console.open("/submit")
    console.fill("name", "with-hooks")
    console.fill("roles.0.command", "cat /tmp/prepared")
    expect(console.page.locator('[data-path="roles.0.hooks.before"]')).to_have_count(0)
    console.press("expert")
    console.fill("roles.0.hooks.before", "A=1 touch /tmp/prepared")
    expect(console.problem_at("roles.0.hooks.before")).to_contain_text("A=")
    console.fill("roles.0.hooks.before", "touch /tmp/prepared")
    console.fill("roles.0.hooks.after", "ls /no-such-folder")
    expect(console.at("hook-before")).to_contain_text("touch /tmp/prepared")
    expect(console.at("hook-after")).to_contain_text("ls /no-such-folder")
    job = console.start()
    console.expect_state("succeeded")
    with world.client() as client:
        assert client.get(job).spec()["roles"][0]["hooks"] == {
            "before": "touch /tmp/prepared",
            "after": "ls /no-such-folder",
        }
    expect(console.at("hook-before")).to_contain_text("touch /tmp/prepared")
    expect(console.at("hook-after")).to_contain_text("ls /no-such-folder")
    expect(console.page.get_by_role("main")).to_contain_text("after hook of worker-0 ended with exit code 2")
    console.open_job(job, "logs")
    expect(console.page.get_by_role("main")).to_contain_text("[hooks.after] exit 2")
    console.open(f"/submit?clone={job}")
    expect(console.field("roles.0.hooks.before")).to_have_value("touch /tmp/prepared")


def test_a_new_form_keeps_a_job_up_until_another_command_is_written(world: World, console: Console) -> None:
    """R84: the default is that of OpenPAI's form; it says what it does, and is replaced by what is typed. A forgotten
    one ends within a working day.
    """
    console.open("/submit")
    expect(console.field("duration")).to_have_value("8h")
    command = console.field("roles.0.command")
    expect(command).to_have_value("sleep infinity")
    expect(console.page.locator('[data-path="roles.0.command"]')).to_contain_text("tm exec")
    console.fill("name", "stays-up")
    expect(console.command_of("worker")).to_have_text("sleep infinity")
    command.click()
    console.page.keyboard.type("python -V")
    expect(command).to_have_value("python -V")
    expect(console.page.locator('[data-path="roles.0.command"]')).not_to_contain_text("tm exec")


def test_a_workspace_asks_for_a_time_limit(world: World, console: Console) -> None:
    """R56: an administrator sets it; the form says so, the preview refuses, and with a limit the job is accepted."""
    world.tm("workspace", "create", "vision")
    console.open("/admin?tab=workspaces")
    console.press("edit-vision")
    console.choose("limit-rule", "Each job needs one")
    console.press("admin-save")
    expect(console.page.get_by_role("dialog")).to_have_count(0)
    console.open("/submit")
    expect(console.page.locator('[data-path="duration"] label.ant-form-item-required')).to_have_count(0)
    console.fill("name", "limited")
    console.fill("roles.0.command", "true")
    console.choose("field-workspace", "vision")
    expect(console.page.locator('[data-path="duration"] label.ant-form-item-required')).to_be_visible()
    console.fill("duration", "")
    console.press("review")
    expect(console.problem_at("duration")).to_contain_text("Workspace vision asks every job for a time limit")
    console.fill("duration", "1h")
    expect(console.problem_at("duration")).to_have_count(0)
    job = console.start()
    assert world.show(job)["duration_s"] == 3600


def variants(schema: dict[str, Any], field: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all that a field may be."""
    if "$ref" in field:
        yield from variants(schema, schema["$defs"][field["$ref"].rpartition("/")[2]])
    elif "anyOf" in field:
        for one in field["anyOf"]:
            yield from variants(schema, one)
    else:
        yield field


def bounds(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield what the help of a field has to name: its highest number, its most characters, entries, names, values."""
    here = [schema]
    for key in path.split("."):
        found = [one["items"] if key.isdigit() else one.get("properties", {}).get(key, {}) for one in here]
        here = [part for field in found for part in variants(schema, field)]
    for one in here:
        names, value = next(iter(one.get("patternProperties", {}).items()), ("", {}))
        counts = [one.get(key) for key in ("maximum", "maxLength", "maxItems", "maxProperties")]
        counts += [value.get("maxLength"), one.get("propertyNames", {}).get("maxLength")]
        for pattern in (one.get("pattern", ""), names):
            if counted := COUNTED.match(pattern):
                counts.append(counted[1].count("[") + int(counted[3]))
        yield from (f"{count:,}" for count in counts if count is not None)


SPELT = {"memory": "1024 TiB", "shm": "1024 TiB", "duration": "3660d", "grace": "1d", "debug_hold": "4h"}
"""Bounds that are no plain numbers beside their field; a debug hold ends at the limit of the server."""
CHOSEN = {"workspace", "pool", "share", "priority", "framework", "distributed"}
"""Fields of which one chooses among what there is."""


def test_help_names_every_bound_of_the_rules(world: World, console: Console) -> None:
    """R66, R247: of every field in expert mode and with several sub-tasks, and of the columns of ports and mounts."""
    with world.client() as client:
        schema: Any = client.http.json("GET", "/schema/job")
    console.open("/submit")
    console.press("distributed")
    console.press("completion")
    console.press("expert")
    for add in ("port-add", "mount-add", "pattern-add"):
        console.press(add)
    fields = console.page.locator(".tm-form [data-path]")
    seen = 0
    for at in range(fields.count()):
        path = str(fields.nth(at).get_attribute("data-path"))
        said = " ".join(
            str(mark.get_attribute("aria-label")) for mark in fields.nth(at).locator(".anticon-question-circle").all()
        )
        assert said, f"{path} has no help"
        last = path.rpartition(".")[2]
        if path in CHOSEN:
            continue
        for high in [SPELT[last]] if last in SPELT else bounds(schema, path):
            assert high in said, (path, said)
            seen += 1
    assert seen > 20
    for rows, first, columns in (
        ("roles.0.ports", 0, ("label", "count", "begin_at")),
        ("inputs", 1, ("path", "mount")),
    ):
        marks = console.page.locator(f'[data-path="{rows}"] .tm-kv-heads').get_by_test_id("help")
        for at, column in enumerate(columns, first):
            [high] = bounds(schema, f"{rows}.0.{column}")
            assert high in str(marks.nth(at).get_attribute("aria-label")), column
