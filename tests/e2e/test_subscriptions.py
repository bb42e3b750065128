"""A data set passes from one workspace to another: offered, found among what is published, subscribed to, given to a
job under its name there, taken back (R141).
"""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import add_user, come_in
from tests.e2e.world import World


def test_a_data_set_is_offered_subscribed_to_used_and_taken_back(
    world: World, console: Console, new_console: Open, tmp_path: Path
) -> None:
    (folder := tmp_path / "flowers").mkdir()
    (folder / "labels.txt").write_text("daisy rose\n")
    with world.client() as client:
        for name in ("vision", "speech"):
            client.admin.put_workspace(name)
        client.datasets.upload(folder, "flowers", workspace="vision", description="two kinds")
        id_ = client.datasets.get("flowers").id
    console.open("/admin?tab=users")
    eve = come_in(new_console, "eve", add_user(console, "eve", "speech"))

    # who is in another workspace finds nothing of it, until it is offered there
    eve.open("/datasets")
    expect(eve.at("empty")).to_be_visible()
    eve.press("datasets-published")
    expect(eve.at("published")).to_contain_text("No other workspace offers a data set to speech")
    console.open(f"/datasets/{id_}")
    console.choose("offer-to", "speech")
    expect(console.at("offer-speech")).to_be_visible()
    expect(console.at("subscribers")).to_have_text("Nobody")

    # looked at, taken in under another name
    eve.open("/datasets")
    eve.press("datasets-published")
    expect(eve.at("published")).to_contain_text("two kinds")
    expect(eve.at("published")).to_contain_text("vision")
    eve.press("subscribe")
    eve.at("subscribe-name").fill("no blanks")
    eve.watch.expect("422")
    eve.press("subscribe-ok")
    expect(eve.at("error")).to_contain_text("Use 1 to 30 letters")
    eve.at("subscribe-name").fill("blooms")
    eve.press("subscribe-ok")
    expect(eve.at("subscribed")).to_be_visible()
    expect(eve.at("published")).to_contain_text("blooms")

    # it stands in the list, on a page that offers nothing but to use it, and in the form
    eve.press("datasets-shared")
    expect(eve.at("datasets")).to_contain_text("Subscribed")
    eve.press("dataset-link")
    expect(eve.at("taken")).to_contain_text("its jobs name it blooms")
    expect(eve.at("offers")).to_have_count(0)
    expect(eve.at("dataset-delete")).to_have_count(0)
    eve.at("file").get_by_text("labels.txt").click()
    expect(eve.at("look-text")).to_have_text("daisy rose\n")
    eve.page.keyboard.press("Escape")
    eve.page.get_by_test_id("use-in-job").click()
    expect(eve.at("mount-target-0")).to_have_attribute("placeholder", "/dataset")
    expect(eve.at("mount-name-0")).to_contain_text("blooms")
    eve.fill("name", "reads")
    eve.fill("roles.0.command", "cat /dataset/labels.txt")
    job = eve.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert view["spec"]["inputs"] == [{"dataset": "blooms@1", "mount": "/dataset", "read_only": True}]

    # who offers it sees which workspaces subscribe, and ends it for them; the name there stays, and says so
    console.open(f"/datasets/{id_}")
    expect(console.at("subscribers")).to_contain_text("speech, as blooms")
    console.at("offer-speech").get_by_label("Take the offer back: speech").click()
    expect(console.at("offer-speech")).to_have_count(0)
    eve.open("/datasets")
    expect(eve.at("empty")).to_be_visible()
    eve.press("datasets-published")
    expect(eve.at("lapsed")).to_contain_text("blooms")
    eve.press("unsubscribe")
    eve.press("confirm-ok")
    expect(eve.at("lapsed")).to_have_count(0)
    with world.client() as client:
        assert client.datasets.subscriptions("speech") == []
