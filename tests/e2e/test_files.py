"""Files are looked at where they lie: each kind as what it is, little of a large one, and nothing of them runs (R149,
R245).
"""

import base64
import json
import math
import struct
import wave
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Response, expect

from tests.e2e.axe import Report, judge
from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.world import World

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HOSTILE: Final = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="window.ran = 1">'
    '<script>window.ran = 1; parent.ran = 1</script><rect width="40" height="20" fill="teal"/></svg>'
)
LINES: Final = 200_000


@pytest.fixture(scope="module")
def data(world: World, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A data set with a file of each kind; return its id."""
    folder = tmp_path_factory.mktemp("kinds") / "kinds"
    (folder / "logs/deep").mkdir(parents=True)
    (folder / "logs/train.log").write_text("".join(f"step {n}\n" for n in range(1, LINES + 1)))
    (folder / "logs/deep/end.txt").write_text("the end\n")
    (folder / "dot.png").write_bytes(base64.b64decode(PIXEL))
    (folder / "page.html").write_text(HOSTILE)
    (folder / "plot.svg").write_text(SVG)
    (folder / "rows.csv").write_text('name,words\nada,"one, two"\n' + "".join(f"n{i},{i}\n" for i in range(300)))
    (folder / "config.json").write_text(json.dumps({"lr": 0.1, "model": {"layers": [64, 32], "name": "little"}}))
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["epoch 1\n"]},
        {"output_type": "display_data", "data": {"image/png": PIXEL}},
        {"output_type": "display_data", "data": {"text/html": HOSTILE}},
        {"output_type": "display_data", "data": {"image/svg+xml": SVG}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# A title\n", HOSTILE]},
        {"cell_type": "code", "execution_count": 7, "source": "train()", "outputs": outputs},
    ]
    (folder / "work.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    with wave.open(str(folder / "tone.wav"), "wb") as tone:
        tone.setparams((1, 2, 8000, 0, "NONE", ""))
        tone.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(n / 3))) for n in range(4000)))
    (folder / "weights.bin").write_bytes(bytes(range(256)) * 40)
    with world.client() as client:
        client.datasets.upload(folder, "kinds")
        return str(client.datasets.get("kinds").id)


def look(console: Console, name: str) -> None:
    """Click on a file of the list."""
    console.at("file").get_by_text(name, exact=True).click()
    expect(console.at("preview").locator("h3")).to_have_text(name)


def test_each_kind_is_looked_at_as_what_it_is(data: str, console: Console, tmp_path: Path) -> None:
    """R245: texts, tables, JSON, pictures, notebooks and sounds; the rest says its size and is downloaded."""
    page, shown = console.page, console.at("preview")
    console.open(f"/datasets/{data}")
    look(console, "rows.csv")
    expect(shown.get_by_role("cell", name="one, two")).to_be_visible()
    expect(shown).to_contain_text("301 rows")
    shown.get_by_title("2", exact=True).click()
    expect(shown.get_by_role("cell", name="n150")).to_be_visible()
    look(console, "config.json")
    expect(console.at("look-json")).to_contain_text("lr: 0.1")
    expect(shown.get_by_text('"little"')).to_have_count(0)
    shown.get_by_text("model:").click()
    expect(shown.get_by_text('"little"')).to_be_visible()
    look(console, "dot.png")
    page.wait_for_function("() => document.querySelector('[data-testid=preview] img')?.naturalWidth === 1")
    look(console, "tone.wav")
    page.wait_for_function("() => document.querySelector('[data-testid=preview] audio')?.duration === 0.5")
    look(console, "weights.bin")
    expect(console.at("look-none")).to_contain_text("There is no preview")
    expect(shown).to_contain_text("10 KiB")
    with console.downloading(tmp_path / "weights.bin"):
        console.press("preview-download")
    assert len((tmp_path / "weights.bin").read_bytes()) == 10240
    console.press("preview-close")
    expect(shown).to_have_count(0)


def test_nothing_of_a_file_runs(data: str, console: Console) -> None:
    """HTML, SVG and a notebook's outputs are shown, and no script of theirs has run, here or at their own address."""
    page, shown = console.page, console.at("preview")
    console.open(f"/datasets/{data}")
    look(console, "page.html")
    expect(console.at("look-text")).to_have_text(HOSTILE)
    look(console, "plot.svg")
    page.wait_for_function("() => document.querySelector('[data-testid=preview] img')?.naturalWidth === 40")
    assert str(shown.locator("img").get_attribute("src")).startswith("data:image/svg+xml")
    look(console, "work.ipynb")
    notebook = console.at("look-notebook")
    expect(notebook).to_contain_text("A title")
    expect(notebook).to_contain_text("[7]")
    expect(notebook).to_contain_text("epoch 1")
    expect(notebook.locator(".tm-look-out", has_text="onerror")).to_be_visible()
    expect(notebook.locator("img")).to_have_count(2)
    assert notebook.locator("script, iframe, object, embed").count() == 0
    assert page.evaluate("window.ran") is None


def test_of_a_large_text_only_what_is_shown_is_read(data: str, console: Console) -> None:
    """A part of 64 KiB, and more when somebody asks; a link keeps the folder and the file."""
    page = console.page
    got: list[tuple[int, str]] = []

    def note(answer: Response) -> None:
        if "files/content" in answer.url:
            got.append((answer.status, answer.headers["content-length"]))

    page.on("response", note)
    console.open(f"/datasets/{data}")
    console.at("folder").get_by_text("logs").click()
    look(console, "train.log")
    expect(console.at("look-text")).to_contain_text("step 1\nstep 2\n")
    assert got == [(206, "65536")]
    expect(console.at("look-part")).to_contain_text("64 KiB of 2.2 MiB are shown.")
    console.press("look-more")
    expect(console.at("look-part")).to_contain_text("320 KiB of 2.2 MiB are shown.")
    assert got == [(206, "65536"), (206, str(256 << 10))]
    expect(console.at("look-text")).to_contain_text("\nstep 20000\n")
    address = page.url
    console.open("/datasets")
    page.goto(address)
    expect(console.at("look-text")).to_contain_text("step 1\n")
    expect(page.locator(".ant-breadcrumb")).to_contain_text("logs")
    console.at("folder").get_by_text("deep").click()
    page.reload()
    expect(console.at("file")).to_have_text("end.txt")
    page.goto(address.replace("train.log", "none.log"))
    expect(console.at("look-missing")).to_contain_text("none.log")


def test_by_keyboard_on_any_screen_and_in_chinese(data: str, new_console: Open, signed_in: Path) -> None:
    """Enter opens, Escape leads back to the file; axe finds nothing; a telephone's page does not move sideways."""
    console = new_console(language="zh-CN", cookies=signed_in)
    page, report = console.page, Report()
    console.open(f"/datasets/{data}")
    console.at("file").get_by_text("config.json").focus()
    page.keyboard.press("Enter")
    expect(console.at("preview").locator("h3")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(console.at("preview")).to_have_count(0)
    expect(console.at("file").get_by_text("config.json")).to_be_focused()
    for width in (390, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("config.json", "rows.csv", "work.ipynb", "page.html", "tone.wav"):
            look(console, name)
            expect(console.at("preview").locator(".tm-look-window > *").first).to_be_visible()
            assert not console.too_wide(), (width, name)
            if width != 1440:
                report.add(f"{name} at {width}", judge(page))
    expect(console.at("preview")).to_contain_text("下载")
    assert not report, str(report)
