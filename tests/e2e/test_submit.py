"""Writing a job in the browser: form, text, files; what is refused where; what will run; the start (R61-R66, R92,
R42).
"""

import json
import re
from typing import Any

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import PATTERN, TRAINING
from tests.e2e.world import World

OPENPAI: dict[str, Any] = {
    "jobName": "from-openpai",
    "image": "local",
    "retryCount": 2,
    "taskRoles": [
        {
            "name": "ps",
            "taskNumber": 1,
            "cpuNumber": 1,
            "memoryMB": 256,
            "gpuNumber": 0,
            "command": "sleep 60",
            "portList": [{"label": "grpc", "beginAt": 0, "portNumber": 1}],
        },
        {
            "name": "worker",
            "taskNumber": 2,
            "cpuNumber": 1,
            "memoryMB": 512,
            "gpuNumber": 1,
            "command": "python -V",
            "minSucceededTaskCount": 2,
        },
    ],
}
MOVING = """
globalThis.moving = [];
addEventListener("animationstart", (e) => {
  if (e.target.matches(".ant-modal, .ant-modal-mask")) moving.push(e.animationName);
});
"""
NATIVE_YAML = """\
name: from-yaml
description: 来自文件
framework: pytorch
roles:
  - name: worker
    replicas: 2
    command: python train.py
    parameters: {epochs: 3}
    resources: {cpu: 1, memory: 2GiB, gpu: 2}
duration: 45m
"""


def test_a_job_is_written_in_the_form_and_started(world: World, console: Console) -> None:
    """R32, R35, R39-R42, R61-R66, R92: two roles, parameters, ports, variables, own code, preview, start."""
    page = console.page
    console.open()
    console.press("first-job")
    expect(console.at("submit-page")).to_be_visible()

    console.fill("name", "digits-by-hand")
    console.press("distributed")
    console.choose("field-framework", "PyTorch")
    console.fill("roles.0.command", "python train.py")
    expect(console.command_of("worker")).to_contain_text("torch.distributed.run")
    page.get_by_role("combobox", name="Launcher").click()
    page.locator(".ant-select-dropdown:visible .ant-select-item-option").first.click()
    expect(console.command_of("worker")).to_have_text("python train.py")

    console.at("code-folder").set_input_files(TRAINING)
    expect(console.at("code-ready")).to_contain_text("2 files")
    console.fill("roles.0.name", "trainer")
    console.fill("roles.0.replicas", "2")
    console.pair("roles.0.parameters", 0, "epochs", "4")
    expect(console.command_of("trainer")).to_have_text("python train.py --epochs=4")
    console.pair("roles.0.parameters", 1, "pause", "0.1")
    expect(console.command_of("trainer")).to_have_text("python train.py --epochs=4 --pause=0.1")
    console.fill("roles.0.resources.gpu", "1")
    expect(console.at("fits")).to_have_attribute("data-when", "now")

    console.press("role-add")
    console.press("role-add")
    expect(console.at("role-2")).to_be_visible()
    console.at("role-2").get_by_test_id("role-remove").click()
    expect(console.at("role-2")).to_have_count(0)
    console.fill("roles.1.name", "watcher")
    console.fill("roles.1.command", "bash -c 'echo $COLOUR; echo port $PAI_PORT_LIST_watcher_0_http'")

    console.press("expert")
    console.pair("env", 0, "COLOUR", "blue")
    console.at("role-1").get_by_test_id("port-add").click()
    console.at("role-1").get_by_test_id("port-label-0").fill("http")
    console.press("pattern-add")
    console.at("pattern-0").fill(PATTERN)
    console.fill("duration", "20m")
    console.fill("model.name", "digits")
    expect(console.at("fits")).to_have_attribute("data-when", "now")

    console.press("review")
    confirm = console.at("confirm-page")
    expect(confirm).to_contain_text("digits-by-hand")
    expect(confirm).to_contain_text("python train.py --epochs=4 --pause=0.1")
    expect(confirm).to_contain_text(re.compile("2 (GPU|card)s"))
    page.keyboard.press("Escape")  # back to the form; nothing was submitted
    expect(confirm).to_have_count(0)
    page.evaluate(MOVING)
    job = console.start()
    assert page.evaluate("moving") == [], "the dialog grows under the mouse, though the system asks for no movement"

    console.expect_state("succeeded")
    view = world.show(job)
    assert view["name"] == "digits-by-hand"
    assert [(role["name"], role["replicas"]) for role in view["roles"]] == [("trainer", 2), ("watcher", 1)]
    assert view["duration_s"] == 1200
    assert view["model"]
    with world.client() as client:
        said = "".join(client.get(job).logs("task1-0"))
    assert said.startswith("blue\nport ")
    assert said.split()[-1].isdigit()


def test_what_is_wrong_is_said_where_it_is(console: Console) -> None:
    """R66, B8: every problem at its field, none before it was touched, and nothing can be started with one."""
    console.open("/submit")
    expect(console.at("field-problem")).to_have_count(0)
    console.fill("name", "not a name!")
    expect(console.problem_at("name")).to_be_visible()
    console.field("roles.0.command").fill("")  # instead of what every new form begins with
    console.press("review")
    expect(console.problem_at("roles.0.command")).to_be_visible()
    expect(console.at("confirm-page")).to_have_count(0)
    console.fill("name", "good-name")
    expect(console.problem_at("name")).to_have_count(0)
    console.fill("roles.0.command", "python -V")
    expect(console.at("field-problem")).to_have_count(0)
    expect(console.at("fits")).to_have_attribute("data-when", "now")
    console.pair("roles.0.parameters", 0, "bad$name", "1")
    expect(console.problem_at("roles.0.parameters")).to_be_visible()
    console.pair("roles.0.parameters", 0, "good_name", "1")
    expect(console.at("field-problem")).to_have_count(0)
    console.fill("duration", "soon")
    expect(console.problem_at("duration")).to_be_visible()
    console.fill("duration", "1h")
    console.fill("roles.0.resources.gpu", "64")  # never here: refused with what would fit
    expect(console.at("preview")).to_have_attribute("data-ok", "false")
    expect(console.at("preview")).to_contain_text("64")
    console.press("review")
    expect(console.at("confirm-page")).to_have_count(0)


def test_the_form_and_its_text_are_one_job(console: Console) -> None:
    """R61-R63: what the form says is in the text, what the text says is in the form, in JSON and YAML."""
    console.open("/submit")
    console.fill("name", "two-ways")
    console.fill("roles.0.command", "python train.py")
    console.pair("roles.0.parameters", 0, "lr", "0.5")
    console.press("edit-json")
    document = console.document()
    assert document["name"] == "two-ways"
    assert document["roles"][0]["parameters"] == {"lr": 0.5}

    console.write_editor("{ this is no document")
    expect(console.at("json-problem")).to_be_visible()
    expect(console.at("json-apply")).to_be_disabled()
    document["name"] = "three-ways"
    document["roles"][0]["parameters"] = {"lr": 0.25, "epochs": 7}
    document["roles"].append({"name": "helper", "command": "sleep 1", "resources": {"cpu": 0.5, "memory": "64MiB"}})
    console.write_editor(json.dumps(document, indent=2))
    expect(console.at("json-problem")).to_have_count(0)
    console.press("json-apply")
    expect(console.field("name")).to_have_value("three-ways")
    expect(console.command_of("worker")).to_have_text("python train.py --lr=0.25 --epochs=7")
    expect(console.field("roles.1.name")).to_have_value("helper")

    console.press("edit-json")
    console.page.get_by_text("YAML", exact=True).click()
    assert "name: three-ways" in console.editor_text()
    console.write_editor(NATIVE_YAML)
    console.press("json-apply")
    expect(console.field("name")).to_have_value("from-yaml")


def test_files_of_both_dialects_are_imported(console: Console) -> None:
    """R62, R63: a YAML file in the platform's own words, and a JSON file written for OpenPAI."""
    console.open("/submit")
    console.at("import-file").set_input_files(
        {"name": "job.yaml", "mimeType": "application/yaml", "buffer": NATIVE_YAML.encode()}
    )
    expect(console.field("name")).to_have_value("from-yaml")
    expect(console.field("description")).to_have_value("来自文件")
    expect(console.field("roles.0.replicas")).to_have_value("2")
    expect(console.command_of("worker")).to_contain_text("train.py --epochs=3")

    console.at("import-file").set_input_files(
        {"name": "job.json", "mimeType": "application/json", "buffer": json.dumps(OPENPAI).encode()}
    )
    expect(console.field("name")).to_have_value("from-openpai")
    expect(console.field("roles.0.name")).to_have_value("ps")
    expect(console.at("role-0").get_by_test_id("port-label-0")).to_have_value("grpc")
    expect(console.field("roles.1.replicas")).to_have_value("2")
    expect(console.command_of("worker")).to_contain_text("python -V")
    job = console.start()
    console.expect_state("running", "succeeded")
    assert job

    console.open("/submit")
    console.at("import-file").set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": b"[1, 2"})
    expect(console.page.locator(".ant-message-error")).to_be_visible()
