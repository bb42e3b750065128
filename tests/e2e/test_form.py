"""The form as a person works with it: a draft that is kept, examples that run, bounds beside fields, problems that lead
to their field, a clone that takes the place of a queued job, and windows of any width.
"""

import json
from typing import Any

import pytest
from playwright.sync_api import Dialog, expect

from tests.e2e.console import Console
from tests.e2e.jobs import TRAINING, plain
from tests.e2e.world import World

YAML = """\
name: pasted
roles:
  - name: worker
    command: sleep 1
    resources: {cpu: 0.5, memory: 64MiB, gpu: 1, gpu_share: 7}
"""


def test_a_draft_is_kept_until_it_is_submitted(world: World, console: Console) -> None:
    """D9: leaving asks; what was typed is there again, can be thrown away, and is gone once it is submitted."""
    console.open("/submit")
    console.press("nav-queue")  # nothing was typed: nobody is asked
    expect(console.at("submit-page")).to_have_count(0)
    console.open("/submit")
    console.fill("name", "half-done")
    console.press("nav-queue")
    expect(console.at("leaving")).to_be_visible()
    console.press("leave-stay")
    expect(console.field("name")).to_have_value("half-done")
    console.press("nav-queue")
    console.press("leave")
    expect(console.at("submit-page")).to_have_count(0)
    console.press("new-job")
    expect(console.at("draft")).to_be_visible()
    expect(console.field("name")).to_have_value("half-done")
    console.press("draft-restart")
    expect(console.field("name")).to_have_value("")
    expect(console.at("examples")).to_be_visible()

    console.fill("name", "quite-done")
    console.fill("roles.0.command", "true")
    console.page.on("dialog", lambda asked: asked.accept())
    console.page.reload()
    expect(console.field("name")).to_have_value("quite-done")
    console.start()
    console.press("new-job")
    expect(console.at("examples")).to_be_visible()
    expect(console.at("draft")).to_have_count(0)

    console.fill("name", "for-nothing")
    console.press("nav-jobs")
    console.press("leave-discard")
    console.press("new-job")
    expect(console.field("name")).to_have_value("")


def test_a_reload_asks_only_where_something_was_typed(console: Console) -> None:
    """D9: the browser's own question."""
    asked: list[str] = []

    def note(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    console.page.on("dialog", note)
    console.open("/submit")
    console.page.reload()
    expect(console.at("examples")).to_be_visible()
    assert asked == []
    console.fill("name", "typed")
    console.page.reload()
    expect(console.field("name")).to_have_value("typed")
    assert asked == ["beforeunload"]


@pytest.mark.timeout(720)  # PyTorch is read from a disk that may be busy, by every replica
@pytest.mark.parametrize("example", ["hello", "metrics", "sweep", "ddp"])
def test_an_example_runs_as_it_is(world: World, console: Console, example: str) -> None:
    """Code and all come with it: nothing has to be there but the platform (and PyTorch, where it says so)."""
    console.open("/submit")
    console.press(f"example-{example}")
    expect(console.field("name")).not_to_have_value("")  # its code is uploaded first; the empty form would fit, too
    expect(console.at("fits")).to_have_attribute("data-when", "now")
    job = console.start()
    console.page.set_default_timeout(600_000)
    console.expect_state("succeeded")
    if example != "hello":
        assert "loss" in world.show(job)["metrics"]


def test_help_says_the_bounds_of_the_rules(world: World, console: Console) -> None:
    """R66, R247: beside each field stands what the job's schema allows; only there are the numbers."""
    with world.client() as client:
        schema: Any = client.http.json("GET", "/schema/job")
    console.open("/submit")
    console.press("distributed")
    console.press("expert")
    cpu = schema["$defs"]["Resources"]["properties"]["cpu"]
    replicas = schema["$defs"]["RoleSpec"]["properties"]["replicas"]
    for path, low, high in (
        ("roles.0.resources.cpu", cpu["minimum"], f"{cpu['maximum']:,}"),
        ("roles.0.replicas", replicas["minimum"], f"{replicas['maximum']:,}"),
        ("retries", schema["properties"]["retries"]["minimum"], f"{schema['properties']['retries']['maximum']:,}"),
        ("roles.0.resources.memory", "16 MiB", "1024 TiB"),
        ("grace", "0s", "1d"),
        ("name", "1", "30 characters"),
    ):
        mark = console.page.locator(f'[data-path="{path}"] label .anticon-question-circle').first
        said = str(mark.get_attribute("aria-label"))
        assert f"{low} to {high}" in said, (path, said)
    fields = console.page.locator(".tm-form [data-path]")
    without = [
        fields.nth(at).get_attribute("data-path")
        for at in range(fields.count())
        if fields.nth(at).locator(".anticon-question-circle").count() == 0
    ]
    assert without == [], "every field has help (R66)"
    console.press("expert")


def test_a_problem_leads_to_its_field(console: Console) -> None:
    """D11: pasted YAML is taken as YAML; a problem has its field's name; an expert field is shown for this visit."""
    console.open("/submit")
    console.press("edit-json")
    console.write_editor(YAML)
    expect(console.page.locator(".ant-drawer .ant-segmented-item-selected")).to_have_text("YAML")
    expect(console.page.locator(".cm-lintRange-error")).to_have_count(0)
    console.press("json-apply")
    expect(console.field("name")).to_have_value("pasted")
    link = console.at("problems").get_by_role("button", name="Sub-task 1 · Share of a GPU")
    link.click()
    expect(console.field("roles.0.resources.gpu_share")).to_be_focused()
    assert console.page.evaluate("localStorage.getItem('trainmaster.expert')") != "1"
    console.field("roles.0.resources.gpu_share").fill("0.5")
    expect(console.at("problems")).to_have_count(0)

    console.press("edit-json")
    document = console.document()
    document["rolez"] = 1
    document["roles"][0]["min_failed"] = 0
    console.write_editor(json.dumps(document))
    console.press("json-apply")
    console.at("problems").get_by_role("button", name="Minimum failed").click()
    expect(console.field("roles.0.min_failed")).to_be_focused()  # what was folded is open
    console.at("problems").get_by_role("button", name="rolez").click()
    expect(console.at("json-editor")).to_be_visible()  # no field shows it: the text does


def test_how_much_is_wrong_is_said_where_the_start_was(console: Console) -> None:
    """B8, D11: the head of the form counts the problems, and leads to the first of them."""
    console.open("/submit")
    expect(console.at("would-start")).to_be_visible()
    console.press("review")
    wrong = console.at("form-problems")
    expect(wrong).to_have_text("1 problem")
    expect(console.at("would-start")).to_have_count(0)
    console.field("roles.0.command").fill("")
    expect(wrong).to_have_text("2 problems")
    wrong.click()
    expect(console.field("name")).to_be_focused()
    console.fill("name", "found")
    console.fill("roles.0.command", "true")
    expect(console.at("would-start")).to_have_attribute("data-when", "now")
    expect(wrong).to_have_count(0)


def test_a_phone_shows_what_the_head_says_and_names_its_ways(world: World, console: Console) -> None:
    """D12, R61-R63: where a clone comes from, whether it starts, and the other ways to write a job, in words."""
    job = world.submit(
        {"name": "on-the-way", "roles": [{"name": "main", "command": "true", "resources": {"cpu": 0.1}}]}
    )
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.open(f"/submit?clone={job}")
    head = console.at("form-head")
    expect(head.get_by_text("Clone of on-the-way")).to_be_visible()
    expect(console.at("would-start")).to_be_visible()
    assert console.page.evaluate(_OVER) == []
    console.field("name").fill("")
    expect(console.at("form-problems")).to_be_visible()
    assert console.page.evaluate(_OVER) == []
    console.fill("name", "by-hand")
    console.press("form-more")
    menu = console.page.locator(".ant-dropdown:visible")
    expect(menu.get_by_role("menuitem")).to_have_text(["Import", "Edit as text", "Save as template"])
    with console.page.expect_file_chooser() as choosing:
        console.press("import")
    choosing.value.set_files({"name": "job.yaml", "mimeType": "application/yaml", "buffer": YAML.encode()})
    expect(console.field("name")).to_have_value("pasted")
    console.press("form-more")
    console.press("edit-json")
    assert console.document()["name"] == "pasted"


_OVER = """() => {
  const all = [...document.querySelectorAll(".tm-submit-bar > *")].map((one) => one.getBoundingClientRect())
    .filter((one) => one.width > 0);
  const meet = (a, b, from, to) => a[from] < b[to] - 1 && b[from] < a[to] - 1;
  return all.flatMap((a, i) => [
    ...(a.left < 0 || a.right > innerWidth ? ["out"] : []),
    ...all.slice(i + 1).filter((b) => meet(a, b, "left", "right") && meet(a, b, "top", "bottom")).map(() => "over"),
  ]);
}"""
"""What of the form's head lies over something else, or out of the window."""


def test_problems_stand_beside_their_icon(console: Console) -> None:
    """D10."""
    console.open("/submit")
    console.press("review")
    said = console.at("fits")
    icon, text = (said.locator(part).bounding_box() for part in (".anticon", ".tm-fits-text"))
    assert icon is not None
    assert text is not None
    assert text["x"] - (icon["x"] + icon["width"]) < 20


def test_code_has_the_name_of_its_folder(world: World, console: Console) -> None:
    """Also in the clone; and a clone offers another name."""
    console.open("/submit")
    console.fill("name", "with-code")
    console.fill("roles.0.command", "ls")
    console.at("code-folder").set_input_files(TRAINING)
    expect(console.at("code-ready")).to_contain_text("training 2 files")
    job = console.start()
    console.open(f"/submit?clone={job}")
    expect(console.at("code-ready")).to_contain_text("training 2 files")
    console.at("same-name").get_by_role("button").click()
    expect(console.field("name")).to_have_value("with-code-2")
    expect(console.at("same-name")).to_have_count(0)
    console.page.evaluate("localStorage.removeItem('trainmaster.uploads')")
    console.page.evaluate("sessionStorage.clear()")
    console.open(f"/submit?clone={job}")
    expect(console.at("code-ready")).to_contain_text("Uploaded earlier")


def test_one_switch_makes_a_training_distributed(console: Console) -> None:
    """R29."""
    console.open("/submit")
    console.fill("name", "together")
    console.fill("roles.0.command", "python train.py")
    console.press("distributed")
    expect(console.field("roles.0.replicas")).to_have_value("2")
    expect(console.command_of("worker")).to_contain_text("torch.distributed.run")
    console.press("distributed")
    expect(console.command_of("worker")).to_have_text("python train.py")


def test_workspace_and_gpu_model_are_chosen_in_basic_mode(world: World, console: Console) -> None:
    """R1, R8: those there are; of a model, another may be typed."""
    with world.client() as client:
        client.http.json("PUT", "/workspaces/speech", json={})
    console.open("/submit")
    console.fill("name", "whose")
    console.fill("roles.0.command", "true")
    console.choose("field-workspace", "speech")
    console.field("roles.0.resources.gpu").fill("1")
    console.choose("field-roles.0.resources.gpu_type", "sim-a100")
    expect(console.at("fits")).to_have_attribute("data-when", "now")
    expect(console.page.locator('[data-path="image"]')).to_contain_text("The environment of the node")  # D16
    job = console.start()
    assert world.show(job)["workspace"] == "speech"


def test_an_urgent_job_gives_its_place_to_its_clone(world: World, console: Console) -> None:
    """D1: one urgent job is allowed, and the suggestion for it can be carried out."""
    with world.client() as client:
        client.http.json("PUT", "/workspaces/default", json={"urgent_per_user": 1})
    holders = [plain(world, f"holds-{n}", "sleep infinity", resources={"gpu": gpu}) for n, gpu in ((1, 2), (2, 1))]
    for holder in holders:
        world.until(holder, lambda view: view["state"] == "running")
    first = plain(world, "tts-voices", "sleep infinity", resources={"gpu": 2}, priority="urgent")
    world.until(first, lambda view: view["state"] == "queued" and view["reason"] is not None)
    console.open_job(first)
    console.page.locator('[data-testid="sooner"]', has_text="1").get_by_test_id("sooner-copy").first.click()
    expect(console.at("copied")).to_contain_text("GPUs")
    expect(console.at("would-start")).to_have_attribute("data-when", "now")
    second = console.start()
    console.expect_state("initialising", "running")
    gone = world.until(first, lambda view: view["state"] == "stopped")
    assert second in gone["verdict"]["message"]["en"]
    world.end(second, *holders)


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_it_fits_windows_of_any_width(console: Console, width: int) -> None:
    """D12: nothing is wider than the window, nothing lies over anything else; Submit stays in sight."""
    console.page.set_viewport_size({"width": width, "height": 844})
    console.open("/submit")
    console.press("expert")
    expect(console.at("form-nav")).to_be_visible()
    assert not console.too_wide()
    overlaps = console.page.evaluate(
        """() => {
          const boxes = [...document.querySelectorAll(".tm-form [data-path], .tm-preview")]
            .filter((one) => !one.querySelector("[data-path]"))
            .map((one) => [one.dataset.path ?? "preview", one.getBoundingClientRect()]);
          const meet = (a, b, from, to) => a[from] < b[to] - 1 && b[from] < a[to] - 1;
          return boxes.flatMap(([name, a], i) => boxes.slice(i + 1)
            .filter(([, b]) => meet(a, b, "left", "right") && meet(a, b, "top", "bottom"))
            .map(([other]) => `${name} / ${other}`));
        }"""
    )
    assert overlaps == []
    narrow = console.page.evaluate(
        """[...document.querySelectorAll(".tm-form [data-path]")]
          .filter((one) => one.getBoundingClientRect().width < 60).map((one) => one.dataset.path)"""
    )
    assert narrow == []
    console.page.mouse.move(width / 2, 600)
    console.page.mouse.wheel(0, 1500)
    expect(console.at("review")).to_be_in_viewport()


def test_a_job_is_made_of_a_session_with_all_that_it_has(world: World, console: Console) -> None:
    """R58, R204: a session of a job, and of the session a job that trains: only its command is to be written."""
    tried = plain(world, "tried", "bash -c 'echo $SIZE'", env={"SIZE": "7"})
    world.until(tried, lambda view: view["state"] == "succeeded")
    console.open_job(tried)
    console.press("session")
    expect(console.field("name")).to_have_value("tried-session")
    session = console.start()
    console.expect_state("running")
    expect(console.at("session")).to_have_count(0)
    console.press("train")
    expect(console.field("name")).to_have_value("tried")
    expect(console.field("roles.0.command")).to_have_value("")
    expect(console.page.get_by_text(f"Setup of {session[:12]}")).to_be_visible()
    console.fill("roles.0.command", "bash -c 'echo trained with $SIZE'")
    made = console.start()
    console.expect_state("succeeded")
    assert "trained with 7" in world.tm("logs", made)
    assert world.show(made)["duration_s"] is None, "the session's two hours are not those of the training"
    world.tm("stop", session)
