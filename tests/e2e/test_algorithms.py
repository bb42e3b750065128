"""Algorithms in the browser: created of a folder, looked at, run with values within their bounds, deleted (R23, R24,
R60, R150-R157).
"""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.world import World

SCRIPT: Final = """
import argparse, pathlib
parser = argparse.ArgumentParser()
for name in ("data_url", "train_url", "net"):
    parser.add_argument("--" + name)
parser.add_argument("--lr", type=float)
parser.add_argument("--epochs", type=int)
args = parser.parse_args()
pathlib.Path(args.train_url, "got.txt").write_text(pathlib.Path(args.data_url, "labels.txt").read_text())
print("got", args.lr, args.epochs, args.net)
"""
DOCUMENT: Final = """
name: digits-net
description: a small net
command: python train.py
parameters:
  - {name: lr, type: float, default: 0.1, min: 0, max: 1, description: learning rate}
  - {name: epochs, type: int, required: true, min: 1}
  - {name: net, type: str, default: cnn, choices: [cnn, mlp]}
  - {name: seed, type: int, default: 7, editable: false}
custom_parameters: false
inputs:
  - {name: data_url, kinds: [dataset]}
outputs: [train_url]
"""

_CUT: Final = "box => [box, ...box.querySelectorAll('*')].some((e) => e.scrollWidth > e.clientWidth + 1)"
"""Whether something in a box has more text than room."""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A folder as somebody has it."""
    (folder := tmp_path / "digits").mkdir()
    (folder / "train.py").write_text(SCRIPT.replace("args = parser", "parser.add_argument('--seed')\nargs = parser"))
    (folder / "algorithm.yaml").write_text(DOCUMENT)
    return folder


def test_an_algorithm_is_created_run_and_deleted(world: World, console: Console, net: Path, tmp_path: Path) -> None:
    page = console.page
    (data := tmp_path / "data").mkdir()
    (data / "labels.txt").write_text("0 1 2\n")
    with world.client() as client:
        client.datasets.upload(data, "digits")
    console.open("/algorithms")
    expect(console.at("empty")).to_be_visible()
    console.press("algorithm-create")
    page.get_by_test_id("algorithm-folder").set_input_files(net)
    expect(console.at("algorithm-chosen")).to_contain_text("2 files of digits")
    expect(console.at("algorithm-name")).to_have_value("digits-net")
    expect(console.at("algorithm-command")).to_have_value("python train.py")
    console.at("algorithm-command").fill("a && b")
    console.watch.expect("422")
    console.press("algorithm-make")
    expect(console.at("error")).to_contain_text("Several statements")
    console.at("algorithm-command").fill("python train.py")
    console.press("algorithm-make")
    expect(page.get_by_text("Version 1 of digits-net created.")).to_be_visible()
    shown = console.at("algorithm-page")
    expect(shown).to_contain_text("learning rate")
    expect(shown).to_contain_text("This algorithm takes no other parameters.")
    expect(console.at("algorithm-channels")).to_contain_text("--data_url=…")

    # R155, R153: into a job, with what is out of bounds, or of another kind, not possible
    page.get_by_test_id("run-in-job").click()
    expect(console.at("parameter-seed")).to_be_disabled()
    console.fill("name", "runs-it")
    for width in (390, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        version = console.at("algorithm-version")
        expect(version).to_contain_text("Version 1")
        assert not version.evaluate(_CUT), f"the version cannot be read at {width} px"

    # R153: what a channel lacks is said at the channel, and the preview leads there
    console.at("parameter-epochs").fill("3")
    missing = console.problem_at("inputs.of data_url")
    expect(missing).to_contain_text("needs an input for its channel data_url. Choose its input.")
    expect(page.locator('[data-path="inputs.of data_url"] .ant-select-status-error')).to_be_visible()
    expect(console.problem_at("inputs")).to_have_count(0)
    console.at("problems").get_by_role("button", name="Input channel · data_url").click()
    expect(console.field("inputs.of data_url")).to_be_focused()
    console.choose("channel-kind-data_url", "Data set")
    expect(missing).to_have_count(0)
    console.choose("mount-name-0", "digits")
    console.choose("parameter-net", "mlp")
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["algorithm"] == "digits-net@1"
    assert view["spec"]["roles"][0]["parameters"] == {
        "lr": 0.1,
        "epochs": 3,
        "net": "mlp",
        "seed": 7,
        "data_url": "$TRAINMASTER_DATASET_DIR",
        "train_url": "$TRAINMASTER_OUTPUT_DIR",
    }

    expect(console.at("job-algorithm")).to_have_text("digits-net@1")

    # R23, R24: chosen in the form by source, name and version; without it the job has its own command again
    console.open("/submit")
    console.press("algorithm-source-mine")
    console.choose("algorithm-choose", "digits-net")
    expect(console.at("parameter-lr")).to_have_value("0.1")
    expect(console.at("code-drop")).to_have_count(0)
    console.press("algorithm-source-own")
    expect(console.at("code-drop")).to_be_visible()
    expect(console.field("roles.0.command")).to_have_value("sleep infinity")

    # another version with the code of the first, as text; then deleted
    with world.client() as client:
        [made] = client.algorithms.list()
    console.open(f"/algorithms/{made.id}")
    console.press("algorithm-create")
    expect(console.at("algorithm-chosen")).to_contain_text("The code of version 1")
    console.at("algorithm-description").fill("a net")
    # R155, R60: what a hyperparameter may be, and with which flavors it runs, are fields, too
    lr = console.at("algorithm-parameter-0")
    for value in ("0.1", "0.01"):
        lr.get_by_role("combobox", name="Choices").fill(value)
        page.keyboard.press("Enter")
    page.locator("#algorithm-flavors").fill("cpu-small,")
    console.press("algorithm-make")
    expect(console.at("version-2")).to_have_attribute("aria-current", "true")
    with world.client() as client:
        spec = client.algorithms.get("digits-net").spec
    assert spec["parameters"][0]["choices"] == [0.1, 0.01]
    assert spec["flavors"] == ["cpu-small"]
    console.press("version-delete")
    console.press("confirm-ok")
    expect(console.at("version-2")).to_have_count(0)
    console.press("algorithm-delete")
    console.press("confirm-ok")
    expect(console.at("empty")).to_be_visible()
