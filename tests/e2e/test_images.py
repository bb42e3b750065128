"""Images in the browser: built while one looks on, failed, stopped; chosen in the form, had by a job, kept from being
deleted meanwhile (R25, R26, R54, R68, R69, B18).
"""

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.e2e.axe import Report, judge
from tests.e2e.console import Console
from tests.e2e.world import World
from tests.fixtures.packages import sdist


def test_an_image_is_built_chosen_used_and_deleted(
    world: World, console: Console, packages: Path, tmp_path: Path
) -> None:
    page = console.page
    console.open("/images")
    expect(console.at("empty")).to_be_visible()

    # what is wrong with its name is told before anything is built; why a build fails, when it does
    console.press("image-create")
    report = Report()
    report.add("the dialog", judge(page))
    console.at("image-name").fill("no blanks")
    console.at("image-packages").fill("tinyone==9")
    console.watch.expect("422")
    console.press("image-build")
    expect(console.at("error")).to_contain_text("Use 1 to 63 of")
    console.at("image-name").fill("tiny")
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "failed")
    expect(console.at("build-error")).to_contain_text("packages cannot be resolved: Because")
    expect(console.at("build-log")).to_contain_text("tinyone==9")
    report.add("a build", judge(page))
    assert not report, f"\n{report}"
    page.keyboard.press("Escape")
    expect(console.at("builds")).to_contain_text("Failed")

    # of a file, for a launcher
    (tmp_path / "requirements.txt").write_text("tinyone==1.0\n")
    console.press("image-create")
    console.at("image-name").fill("tiny")
    page.get_by_test_id("image-files").set_input_files(tmp_path / "requirements.txt")
    expect(console.at("image-packages")).to_have_value("tinyone==1.0\n")
    console.at("image-description").fill("one package")
    console.choose("image-for", "PyTorch")
    page.keyboard.press("Escape")
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "ready")
    console.press("build-image")
    expect(console.at("image-page")).to_contain_text("one package")
    expect(console.at("packages")).to_contain_text("tinyone1.0")

    # a version more, which begins with what the last was made of
    console.press("image-add")
    expect(console.at("image-packages")).to_have_value("tinyone==1.0\n")
    console.at("image-packages").fill("tinyone==2.0\n")
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "ready")
    console.press("build-image")
    expect(console.at("version-2")).to_have_attribute("aria-current", "true")

    # R68, R69: into a job from its page; another version in the form
    page.get_by_test_id("use-in-job").click()
    expect(console.field("image")).to_have_value("tiny@2")
    expect(page.get_by_text("Clone of")).to_have_count(0)
    console.choose("image-version", "Version 1")
    expect(page.locator('[data-path="image"]')).to_contain_text("1 package")
    console.fill("name", "reads")
    console.fill("roles.0.command", "bash -c 'python -c \"import tinyone; print(tinyone.value)\"; sleep infinity'")
    job = console.start()
    view = world.until(job, lambda seen: seen["state"] == "running")
    assert view["spec"]["image"] == "tiny@1"
    console.open("/images/tiny")
    expect(console.at("image-uses")).to_contain_text("reads")
    expect(console.at("image-delete")).to_be_disabled()
    world.end(job)
    world.until(job, lambda seen: seen["state"] == "stopped")
    with world.client() as client:
        assert client.get(job).logs() == "1\n"

    console.open("/images")
    console.at("images-search").fill("nothing")
    expect(console.at("images")).to_contain_text("No image matches")
    console.at("images-search").fill("")
    console.at("image-link").click()
    console.press("image-delete")
    console.press("confirm-ok")
    expect(console.at("empty")).to_be_visible()
    with world.client() as client:
        assert client.images.list() == []


def test_a_build_is_stopped(world: World, console: Console, packages: Path) -> None:
    sdist(packages, "slow", "1.0", "import time\ntime.sleep(600)\nFOUND = 0\n")
    console.open("/images")
    console.press("image-create")
    console.at("image-name").fill("slow")
    console.at("image-packages").fill("slow")
    console.press("image-build")
    expect(console.at("build-log")).to_contain_text("slow")
    console.press("build-stop")
    expect(console.at("build")).to_have_attribute("data-state", "stopped")


def test_what_does_not_suit_a_job_cannot_be_chosen(world: World, console: Console) -> None:
    """R26, R54: it is there, and says why."""
    with world.client() as client:
        for name, frameworks in (("any", []), ("for-one", ["single"])):
            build = client.images.create(name, requirements="tinyone\n", frameworks=frameworks)
            assert client.images.wait(build.id).state == "ready"
    console.open("/submit")
    option = _option(console, "for-one@1")
    expect(option).not_to_have_attribute("aria-disabled", "true")
    console.page.keyboard.press("Escape")
    console.press("distributed")
    option = _option(console, "for-one@1")
    expect(option).to_have_attribute("aria-disabled", "true")
    expect(option).to_contain_text("this job's launcher is PyTorch")
    _option(console, "any@1").click()
    expect(console.field("image")).to_have_value("any@1")


def test_a_version_that_holds_code_says_so_and_keeps_it(
    world: World, console: Console, packages: Path, tmp_path: Path
) -> None:
    """R235: packed by tm; its page names base and code, which a version made here keeps; it is described in place."""
    (tmp_path / "train.py").write_text("print('of the image')\n")
    with world.client() as client:
        for base in ("", "packed@1"):
            made: dict[str, Any] = {"base": base} if base else {"requirements": "tinyone==1.0\n"}
            build = client.images.create("packed", code=tmp_path, **made)
            assert client.images.wait(build.id).state == "ready"
        code = client.images.get("packed").versions[0].code
    console.open("/images/packed")
    expect(console.at("image-page")).to_contain_text("Built onpacked@1")
    expect(console.at("image-page")).to_contain_text(f"Code{(code or '')[:19]}")
    console.press("description-edit")
    console.at("description-text").fill("reads digits")
    console.press("description-save")
    expect(console.at("image-page")).to_contain_text("reads digits")
    console.press("image-add")
    expect(console.at("image-keeps-code")).to_be_visible()
    console.at("image-packages").fill("tinyone==2.0\n")
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "ready")
    with world.client() as client:
        image = client.images.get("packed")
    assert [one.code for one in image.versions] == [code] * 3
    assert image.description == "reads digits"


def _option(console: Console, text: str) -> Locator:
    console.field("image").click()
    return console.page.locator(".ant-select-dropdown:visible .ant-select-item-option", has_text=text)
