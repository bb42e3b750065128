"""Versions of a job in the browser (R159, R160): a clone says which it is, leads to the others, and is compared."""

import re

from playwright.sync_api import expect

from tests.e2e.console import Console
from tests.e2e.jobs import training
from tests.e2e.world import World


def test_a_clone_is_the_next_version(world: World, console: Console) -> None:
    first = training(world, "digits", 6, pause=0.0)
    with world.client() as client:
        second = client.get(first).clone({"roles.0.parameters.lr": 0.5})
        console.open(f"/jobs/{first}")
        expect(console.at("versions")).to_contain_text("Version 1 of 2")
        console.press("clone")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")
        console.press("review")
        console.press("start")
        expect(console.at("versions")).to_contain_text("Version 3 of 3")
        third, *others = client.get(second.id).versions()
    assert [one.id for one in others] == [second.id, first]
    expect(console.page).to_have_url(re.compile(third.id))
    console.press("versions")
    console.press("version-1")
    expect(console.at("job-id")).to_have_text(first)
    console.press("versions")
    console.press("versions-compare")
    expect(console.page).to_have_url(re.compile("/compare"))
    expect(console.at("compare-results")).to_be_visible()
