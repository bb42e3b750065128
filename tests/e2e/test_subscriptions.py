"""What passes from one workspace to another: offered, found among what is published, subscribed to, given to a job
under its name there, taken back (R141).
"""

from pathlib import Path
from typing import Final

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


NET: Final = {
    "command": "python train.py",
    "code": {"path": "net"},
    "parameters": [{"name": "lr", "type": "float", "default": 0.1, "max": 1}],
}


def test_an_algorithm_that_one_workspace_publishes_runs_in_another(
    world: World, console: Console, new_console: Open, tmp_path: Path
) -> None:
    """R23, R24, R141: with its code, under the name that it has there, through a template that names it, too."""
    (folder := tmp_path / "net").mkdir()
    (folder / "train.py").write_text("import sys; print('trained with', sys.argv[1:])\n")
    with world.client() as client:
        for name in ("optics", "acoustics"):
            client.admin.put_workspace(name)
        made = client.algorithms.upload(
            {**NET, "code": {"path": str(folder)}}, "waves", workspace="optics", description="learns waves"
        )
        document = {"name": "wave", "workspace": "optics", "algorithm": "waves", "parameters": {"lr": 0.25}}
        template = client.templates.create("plan", document)
    console.open("/admin?tab=users")
    eve = come_in(new_console, "uma", add_user(console, "uma", "acoustics"))

    # offered on its page and in the row of a list
    console.open(f"/algorithms/{made.id}")
    console.choose("offer-to", "acoustics")
    expect(console.at("offer-acoustics")).to_be_visible()
    console.open("/templates")
    console.press("template-more")
    console.press("template-beyond")
    console.choose("offer-to", "Everybody")
    expect(console.at("offer-everybody")).to_be_visible()

    # the template first: what it names is not there, and the form says so
    eve.open("/templates")
    eve.press("templates-published")
    expect(eve.at("published")).to_contain_text("plan")
    eve.press("subscribe")
    eve.press("subscribe-ok")
    expect(eve.at("subscribed")).to_be_visible()
    eve.press("templates-all")
    expect(eve.at("templates")).to_contain_text("Subscribed")
    eve.press("template-submit")
    expect(eve.problem_at("algorithm")).to_be_visible()

    # the algorithm under the name that the template gives it
    eve.open("/algorithms")
    eve.press("algorithms-published")
    expect(eve.at("published")).to_contain_text("learns waves")
    eve.press("subscribe")
    eve.press("subscribe-ok")
    expect(eve.at("subscribed")).to_be_visible()
    eve.press("algorithms-shared")
    eve.press("algorithm-link")
    expect(eve.at("taken")).to_contain_text("its jobs name it waves")
    expect(eve.at("offers")).to_have_count(0)
    eve.press("run-in-job")
    expect(eve.at("field-algorithm")).to_contain_text("waves")
    eve.at("parameter-lr").fill("0.5")
    eve.fill("name", "hers")
    job = eve.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert (view["workspace"], view["spec"]["algorithm"]) == ("acoustics", "waves@1")
    with world.client() as client:
        assert "trained with ['--lr=0.5']" in client.get(job).logs()

    # and so the template, too
    eve.open(f"/submit?template={template.id}")
    expect(eve.problem_at("algorithm")).to_have_count(0)
    eve.fill("name", "planned")
    job = eve.start()
    view = world.until(job, lambda seen: seen["state"] == "succeeded")
    assert (view["workspace"], view["spec"]["roles"][0]["parameters"]["lr"]) == ("acoustics", 0.25)
