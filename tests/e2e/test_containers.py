"""A container image in the browser (R25, R26, R68, R69): asked for with a secret, watched, had by a job; and a node
without a runtime, which says so where it matters.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import Report, judge
from tests.e2e.console import Console
from tests.e2e.world import CONFIG, World
from tests.fixtures.podman import Podman, podman
from tests.fixtures.registry import PASSWORD, USER, Registry, registry, small_system


@pytest.fixture(scope="module")
def held() -> Iterator[Registry]:
    with registry() as made:
        made.put("team/tiny", small_system())
        yield made


@pytest.fixture(scope="module")
def runtime(held: Registry) -> Iterator[Podman]:
    if os.geteuid() != 0:
        pytest.skip("a runtime of its own needs root")
    with podman(held.host) as made:
        yield made


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, runtime: Podman) -> Iterator[World]:
    home: Path = tmp_path_factory.mktemp("e2e") / "home"
    made = World(home, CONFIG + f'containers = "{runtime.socket}"\n')
    try:
        made.start()
        made.client().http.json("PUT", "/workspaces/default/secrets/REGISTRY", json={"value": f"{USER}:{PASSWORD}"})
        yield made
    finally:
        made.close()


def test_a_container_is_fetched_shown_and_had_by_a_job(world: World, console: Console, held: Registry) -> None:
    page = console.page
    console.open("/images")
    console.press("image-create")
    console.at("image-name").fill("tiny")
    page.get_by_test_id("image-kind").get_by_text("A container").click()
    expect(console.at("image-build")).to_be_disabled()
    console.at("image-container").fill(f"{held.host}/team/tiny:latest")
    report = Report()
    report.add("the dialog", judge(page))
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "failed")
    expect(console.at("build-error")).to_contain_text("The registry refuses")
    page.keyboard.press("Escape")

    console.press("image-create")
    console.at("image-name").fill("tiny")
    page.get_by_test_id("image-kind").get_by_text("A container").click()
    console.at("image-container").fill(f"{held.host}/team/tiny:latest")
    console.choose("image-secret", "REGISTRY")
    console.press("image-build")
    expect(console.at("build")).to_have_attribute("data-state", "ready")
    expect(console.at("build-log")).to_contain_text("unpacked: 3 MiB")
    assert PASSWORD not in page.content()
    console.press("build-image")
    expect(console.at("image-page")).to_contain_text(f"{held.host}/team/tiny@sha256:")
    expect(console.at("packages")).to_have_count(0)
    report.add("the page", judge(page))
    assert not report, f"\n{report}"
    console.open("/images")
    expect(page.locator(".tm-table, table").first).to_contain_text("Container")

    console.open("/images/tiny")
    page.get_by_test_id("use-in-job").click()
    expect(console.field("image")).to_have_value("tiny@1")
    expect(page.locator('[data-path="image"]')).to_contain_text("Container")
    console.fill("name", "contained")
    console.fill("roles.0.command", "cat /etc/image-mark")
    job = console.start()
    world.until(job, lambda seen: seen["state"] == "succeeded")
    assert "of the image" in world.tm("logs", job)
    assert "Podman " in world.tm("node", "show", "node-1")


def test_where_the_runtime_is_gone_the_form_says_so(world: World, console: Console, runtime: Podman) -> None:
    """And what was made before cannot be chosen."""
    world.stop()
    config = world.home / "config.toml"
    config.write_text(CONFIG)
    world.start()
    console.open("/images")
    console.press("image-create")
    console.page.get_by_test_id("image-kind").get_by_text("A container").click()
    expect(console.at("no-containers")).to_contain_text("No container runtime is configured here")
    console.page.keyboard.press("Escape")
    console.open("/images/tiny")
    console.page.get_by_test_id("use-in-job").click()
    expect(console.page.locator('[data-path="image"]')).to_contain_text("No container runtime is configured here")
