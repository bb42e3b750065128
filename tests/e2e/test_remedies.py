"""What failed is cloned with what would help it, in two clicks: more memory, a longer limit, the command that was meant
(D6, D7; R203).
"""

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.world import World

MEMORY_MIB = 64
TAKES = "python -c \"x = b'x' * (160 << 20); print('taken'); import time; time.sleep(600)\""
"""Takes 160 MiB and then goes on."""


def test_who_ran_out_of_memory_is_cloned_with_more(world: World, console: Console) -> None:
    resources = {"cpu": 0.5, "memory": f"{MEMORY_MIB}MiB"}
    job = plain(world, "too-large", TAKES, resources=resources)
    world.until(job, lambda view: view["state"] == "failed")
    console.open_job(job)
    expect(console.at("verdict")).to_contain_text("memory")
    console.at("remedy-more_memory").get_by_test_id("remedy-clone").click()
    change = console.at("remedy-change")
    expect(change).to_contain_text("Memory")
    expect(change).to_contain_text("64 MiB")
    console.press("remedy-ok")
    expect(console.at("job-page")).not_to_have_attribute("data-id", job)
    clone = str(console.at("job-page").get_attribute("data-id"))
    view = world.show(clone)
    assert view["name"] == "too-large"
    assert view["spec"]["roles"][0]["resources"]["memory"] > MEMORY_MIB
    world.end(clone)


def test_who_ran_out_of_time_is_cloned_with_a_longer_limit(world: World, console: Console) -> None:
    job = plain(world, "too-slow", "sleep 60", duration="2s")
    world.until(job, lambda view: view["state"] == "expired")
    console.open_job(job)
    console.at("remedy-longer_limit").get_by_test_id("remedy-clone").click()
    expect(console.at("remedy-change")).to_contain_text("Time limit")
    console.press("remedy-ok")
    expect(console.at("job-page")).not_to_have_attribute("data-id", job)
    clone = world.show(str(console.at("job-page").get_attribute("data-id")))
    assert clone["duration_s"] > 2
    world.end(clone["id"])


def test_who_mistyped_is_cloned_with_the_command_that_was_meant(world: World, console: Console) -> None:
    """From the page to the running clone: two clicks, counted."""
    job = plain(world, "mistyped", "slep 0")
    world.until(job, lambda view: view["state"] == "failed")
    console.open_job(job)
    expect(console.at("remedies")).to_contain_text("Did you mean sleep")
    console.page.evaluate("window.clicks = 0; addEventListener('click', () => window.clicks++, true)")
    console.press("remedy-clone")
    expect(console.at("remedy-change")).to_contain_text("sleep 0")
    console.press("remedy-ok")
    expect(console.at("job-page")).not_to_have_attribute("data-id", job)
    assert console.page.evaluate("window.clicks") == 2
    console.expect_state("succeeded")
