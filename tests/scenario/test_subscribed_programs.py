"""Algorithms, images and templates that are offered to other workspaces, taken in there, and used by their jobs under
the names that they have there (R141). What holds for every kind is told of data sets in `test_subscriptions`.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.algorithms import made_algorithm, received
from tests.fixtures.audited import audit_event
from tests.fixtures.images import stored_image
from tests.fixtures.people import person
from tests.fixtures.seeing import ALL
from tests.fixtures.uploads import uploaded
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from tests.scenario.test_environments import links, wanted
from tests.scenario.test_environments import made as made_image
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.service.environments.definition import Definition
from trainmaster.service.environments.images import NeededImage
from trainmaster.service.use_cases.assets.images import WantedImage
from trainmaster.service.use_cases.assets.templates import Templates, WantedEdit, WantedTemplate
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.assets.images import AboutImage, image_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery

__all__ = ["links"]  # a fixture

ALGORITHM, IMAGE, TEMPLATE = AssetKind.ALGORITHM, AssetKind.IMAGE, AssetKind.TEMPLATE
ANN, EVE = person("ann", "vision"), person("eve", "speech")
VIC, STRANGER = person("vic", "speech", role="viewer"), person("stranger", "text")
PRINTS: Final = {
    "command": "python train.py",
    "parameters": [{"name": "lr", "type": "float", "default": 0.1, "max": 1}],
}
SAYS: Final = {"train.py": "import sys; print('ran', sys.argv[1:])"}


async def three(stage: Stage) -> None:
    for name in ("vision", "speech", "text"):
        await stage.platform.administer.put_workspace(Workspace(name), ADMIN)


async def passed(stage: Stage, kind: AssetKind, id_: str, name: str) -> None:
    """Offer something to `speech`, which takes it in."""
    await stage.platform.subscribing.offer(kind, id_, "speech", ANN)
    await stage.platform.subscribing.subscribe(kind, "speech", name, id_, EVE)


async def refused(stage: Stage, document: dict[str, Any]) -> list[str]:
    """Return the places of what speaks against a job of eve's, of which the preview says the same."""
    with pytest.raises(InvalidSpec) as why:
        await stage.platform.submit({"spec": document}, EVE, None)
    shown = await stage.platform.preview({"spec": document}, EVE)
    assert [one.path for one in shown.problems] == [one.path for one in why.value.problems]
    return [one.path for one in why.value.problems]


def use_case(stage: Stage, kind: AssetKind) -> Any:
    return getattr(stage.platform, f"{kind}s")


async def made(stage: Stage, kind: AssetKind, name: str = "net") -> str:
    """Return the id of something of ann's in `vision`, shared with nobody."""
    if kind is ALGORITHM:
        return await made_algorithm(stage.platform, ANN, name, SAYS, PRINTS, workspace="vision")
    if kind is IMAGE:
        return stored_image(stage.platform, "ann", name, "vision")
    document = {**fake_spec("planned"), "workspace": "vision"}
    return (await stage.platform.templates.create(ANN, WantedTemplate(name, {"spec": document}))).id


@pytest.mark.parametrize("kind", [ALGORITHM, IMAGE, TEMPLATE])
async def test_each_side_sees_what_it_needs_and_no_more(fake: Stage, kind: AssetKind) -> None:
    """Who subscribes reads it, and nothing else; a stranger finds nothing, by whichever way."""
    await three(fake)
    id_, subscribing, assets = await made(fake, kind), fake.platform.subscribing, use_case(fake, kind)

    async def names(who: Any, **wanted: str) -> list[str]:
        page = await assets.page(who, AssetQuery(**wanted), 50)
        assert page.total == len(page.items)
        return [one.name for one in page.items]

    assert await names(EVE) == []
    await subscribing.offer(kind, id_, "speech", ANN)
    assert await names(EVE) == []  # nobody took it in
    found = await subscribing.published(kind, "speech", VIC, "net", 50)
    assert [(one.kind, one.name, one.taken_as) for one in found.items] == [(kind, "net", None)]
    for other in sorted({ALGORITHM, IMAGE, TEMPLATE, AssetKind.DATASET} - {kind}):
        assert (await subscribing.published(other, "speech", VIC, "", 50)).items == []
    with pytest.raises(InvalidSpec):
        await subscribing.subscribe(kind, "speech", "no way!", id_, EVE)
    view = await subscribing.subscribe(kind, "speech", "taken", id_, EVE)
    assert (view.kind, view.called, view.source, view.owner, view.latest) == (kind, "net", "vision", "ann", 1)
    for who in (EVE, VIC):
        detail = await assets.detail("taken", who)
        assert (detail.id, detail.may, detail.offers, detail.subscribers) == (id_, [], [], [])
        assert [(one.workspace, one.name) for one in detail.taken] == [("speech", "taken")]
        assert await names(who, workspace="speech") == await names(who, shared_with=who.name) == ["net"]
        assert await names(who, q="TAKEN") == await names(who, q="ta net") == ["net"]
        found = await fake.platform.searching.everything("taken", who)
        assert [one.name for one in getattr(found, f"{kind}s")] == ["net"]
        with pytest.raises(Forbidden):
            await assets.delete(id_, who)
        with pytest.raises(Forbidden):
            await subscribing.offer(kind, id_, "text", who)
    detail = await assets.detail(id_, ANN)
    assert await names(ANN, q="taken") == await names(STRANGER, q="taken") == []
    assert (detail.offers, [(one.workspace, one.name) for one in detail.subscribers], detail.taken) == (
        ["speech"],
        [("speech", "taken")],
        [],
    )
    assert await names(STRANGER) == []
    for ref in (id_, "net", "taken"):
        with pytest.raises(NotFound):
            await assets.detail(ref, STRANGER)
    with pytest.raises(NotFound):
        await subscribing.published(kind, "speech", STRANGER, "", 50)
    with pytest.raises(NotFound):
        await subscribing.subscribe(kind, "text", "net", id_, STRANGER)
    await subscribing.withdraw(kind, id_, "speech", ANN)
    assert await names(EVE) == []
    assert [one.called for one in (await subscribing.subscriptions(kind, "speech", EVE)).items] == [None]
    told = {one.code for one in (await fake.platform.auditing.page(ADMIN, AuditFilters(workspace="speech"), 50)).items}
    assert {"lapsed", "subscribed"} <= told


# -- algorithms ---------------------------------------------------------------------------------------------------


async def test_a_job_runs_with_the_code_of_another_workspaces_algorithm(stage: Stage) -> None:
    """R24, R141: settled at the submit, under the name that it has there; its hyperparameters are judged as ever."""
    await three(stage)
    id_ = await made(stage, ALGORITHM)
    document = {"name": "run", "workspace": "speech", "algorithm": "taken", "resources": {"cpu": 0.5, "memory": 256}}
    assert await refused(stage, document) == ["algorithm"]
    await passed(stage, ALGORITHM, id_, "taken")
    job, _ = await stage.platform.submit({"spec": {**document, "parameters": {"lr": 0.5}}}, EVE, None)
    view = await stage.ended(job.id)
    assert view.state == "succeeded", stage.log(job.id)
    assert "ran ['--lr=0.5']" in stage.log(job.id)
    assert view.spec["algorithm"] == "taken@1"
    assert await refused(stage, {**document, "parameters": {"lr": 2}}) == ["roles.0.parameters.lr"]
    drawn = await stage.platform.lineages.of("job", job.id, EVE)
    assert {(one.kind, one.name, one.state) for one in drawn.nodes} == {
        ("job", "run", "there"),
        ("algorithm", "net", "there"),
    }
    await stage.platform.subscribing.withdraw(ALGORITHM, id_, "speech", ANN)
    assert await refused(stage, document) == ["algorithm"]


async def test_a_job_that_was_submitted_keeps_what_it_has_of_an_algorithm(fake: Stage) -> None:
    await three(fake)
    sleeps = {"command": "sleep infinity"}
    id_ = await made_algorithm(fake.platform, ANN, "net", SAYS, sleeps, workspace="vision")
    await passed(fake, ALGORITHM, id_, "taken")
    document = {"name": "run", "workspace": "speech", "algorithm": "taken"}
    job, _ = await fake.platform.submit({"spec": document}, EVE, None)
    assert [one.name for one in (await fake.platform.algorithms.detail(id_, EVE)).jobs] == ["run"]
    assert (await fake.platform.algorithms.detail(id_, ANN)).jobs == []  # it is not hers to see
    await fake.platform.subscribing.end(ALGORITHM, "speech", "taken", EVE)
    await fake.running(job.id)


async def test_a_job_was_made_of_what_its_name_meant_then(fake: Stage) -> None:
    """Not of what was taken in later under the name that a thing of one's own had."""
    await three(fake)
    theirs = await made(fake, ALGORITHM)
    own = await made_algorithm(fake.platform, EVE, "net", SAYS, {"command": "true"}, workspace="speech")
    job, _ = await fake.platform.submit({"spec": {"name": "run", "workspace": "speech", "algorithm": "net"}}, EVE, None)
    await fake.ended(job.id)
    await fake.platform.algorithms.delete(own, EVE)
    await passed(fake, ALGORITHM, theirs, "net")
    drawn = await fake.platform.lineages.of("job", job.id, EVE)
    assert {(one.kind, one.name, one.workspace, one.state) for one in drawn.nodes} == {
        ("job", "run", "speech", "there"),
        ("algorithm", "net", "speech", "bin"),
    }
    drawn = await fake.platform.lineages.of("algorithm", f"{theirs}@1", EVE)
    assert [(one.kind, one.workspace) for one in drawn.nodes] == [("algorithm", "vision")]


# -- images -------------------------------------------------------------------------------------------------------


async def test_a_job_has_the_environment_of_another_workspaces_image(stage: Stage, links: Path) -> None:
    """R25, R141: made once, whoever asks; what runs keeps it after its subscription ended, what waits fails."""
    await three(stage)
    platform = stage.platform
    build = await made_image(stage, wanted(workspace="vision"), ANN)
    id_ = build.image or ""
    await passed(stage, IMAGE, id_, "taken")
    text = "python -c 'import tinyone; print(tinyone.value)'; sleep 600"
    job, _ = await platform.submit({"spec": spec("has", text, workspace="speech", image="taken")}, EVE, None)
    await stage.running(job.id)
    await stage.until(job.id, lambda _: "1\n" in stage.log(job.id))
    assert (await stage.view(job.id)).spec["image"] == "taken@1"
    for deleted in (platform.images.delete(id_, ANN), platform.images.delete_version(id_, 1, ANN)):
        with pytest.raises(Conflict) as why:
            await deleted
        assert why.value.said.code == "image_in_use"
    detail = await platform.images.detail(id_, ANN)
    assert (detail.jobs, detail.used_by) == (1, [])
    assert [one.name for one in (await platform.images.detail("taken", EVE)).used_by] == ["has"]

    await platform.subscribing.end(IMAGE, "speech", "taken", EVE)
    wrong = await platform.context.images.ensure("speech", "taken@1")  # asked before each start
    assert wrong is not None
    assert wrong.code == "image_gone"
    keeper = platform.context.images.keeper
    keeper._budget = 1
    await keeper.make_room()
    assert (await platform.images.detail(id_, ANN)).built, "a live job needs it"
    await platform.stop(job.id, EVE)
    await stage.ended(job.id)


@pytest.mark.parametrize("looks", ["preview", "start"])
async def test_what_is_looked_up_while_its_subscription_ends_is_not_remembered(
    fake: Stage, monkeypatch: pytest.MonkeyPatch, looks: str
) -> None:
    """Or what waits would have it all the same."""
    await three(fake)
    platform, loop = fake.platform, asyncio.get_running_loop()
    await passed(fake, IMAGE, await made(fake, IMAGE), "taken")
    images = platform.context.images
    reader, name = (platform.context.assets, "named") if looks == "preview" else (images.rows, "version")
    find = getattr(reader, name)

    def while_it_ends(*asked: Any) -> Any:
        found = find(*asked)
        monkeypatch.undo()
        asyncio.run_coroutine_threadsafe(platform.subscribing.end(IMAGE, "speech", "taken", EVE), loop).result()
        return found

    monkeypatch.setattr(reader, name, while_it_ends)
    if looks == "preview":
        await platform.preview({"spec": fake_spec("has", workspace="speech", image="taken")}, EVE)
    else:
        assert await images.key_from_disk("speech", "taken@1") is not None
    assert await images.key_from_disk("speech", "taken@1") is None


async def test_what_runs_keeps_its_environment_when_its_name_comes_to_mean_another(fake: Stage) -> None:
    """The subscription ended, and the workspace took in something else under the same name."""
    await three(fake)
    images, clock = fake.platform.context.images, fake.platform.context.clock
    for name in ("old", "new"):
        line = Asset(f"i{name}", IMAGE, name, "vision", "ann", clock(), changed_at=clock())
        version = image_version(AboutImage(f"{name}-key", "3.11", name), "sha256:1", 3, 1, clock())
        images.rows.add(ALL, line, version, lambda _: audit_event())
    await passed(fake, IMAGE, "iold", "taken")
    job = NeededImage("speech", "taken@1", "j1", clock())
    images.needed = lambda: [job]
    assert images.keys() == {"old-key"}
    await fake.platform.subscribing.end(IMAGE, "speech", "taken", EVE)
    assert images.keys() == {"old-key", "new-key"}
    await passed(fake, IMAGE, "inew", "taken")
    assert images.keys() == {"old-key", "new-key"}
    job = NeededImage("speech", "taken@1", "j2", clock())
    assert images.keys() == {"new-key"}


async def test_what_a_live_job_needs_is_known_of_a_damaged_version_too(fake: Stage) -> None:
    """No environment is removed to make room because a row of another image cannot be read."""
    await three(fake)
    rows = fake.platform.context.images.rows
    await made(fake, IMAGE)
    with closing(sqlite3.connect(fake.home / "trainmaster.db")) as connection, connection:
        connection.execute("UPDATE asset_version SET about = '{'")
    assert rows.environments(1) == {"0" * 32}


async def test_an_image_stands_on_one_that_was_taken_in(stage: Stage, links: Path) -> None:
    """R235: it is one's own from then on, and stays when the offer is taken back."""
    await three(stage)
    build = await made_image(stage, wanted(workspace="vision"), ANN)
    await passed(stage, IMAGE, build.image or "", "taken")
    definition = Definition({}, workspace="speech", base="taken@1", code=received(stage.platform.layout, SAYS))
    own = await made_image(stage, WantedImage("mine", definition, workspace="speech"), EVE)
    assert own.version == 1
    drawn = await stage.platform.lineages.of("image", f"{build.image}@1", EVE)
    assert {(one.name, one.workspace) for one in drawn.nodes} == {("tiny", "vision"), ("mine", "speech")}
    await stage.platform.subscribing.withdraw(IMAGE, build.image or "", "speech", ANN)
    text = "python -c 'import tinyone; print(tinyone.value)'"
    job, _ = await stage.platform.submit({"spec": spec("has", text, workspace="speech", image="mine")}, EVE, None)
    assert (await stage.ended(job.id)).state == "succeeded", stage.log(job.id)


# -- templates ----------------------------------------------------------------------------------------------------


async def plan(stage: Stage, **fields: Any) -> str:
    """Return the id of a template in `vision` that `speech` takes in."""
    document = {**fake_spec("planned"), "workspace": "vision", **fields}
    document["roles"][0]["parameters"] = {"lr": 0.1}
    made = await stage.platform.templates.create(ANN, WantedTemplate("plan", {"spec": document}))
    await passed(stage, TEMPLATE, made.id, "plan")
    return made.id


async def test_a_job_of_another_workspaces_template_runs_where_it_was_taken_in(fake: Stage) -> None:
    """R141, R232: with other parameters; the template counts it. Its copy lies there, too."""
    await three(fake)
    id_, templates = await plan(fake), fake.platform.templates
    for ref, parameters, lr in (("plan", {"lr": 0.5}, 0.5), (id_, {}, 0.1)):
        job, _ = await templates.submit(ref, EVE, {}, parameters)
        view = await fake.view(job.id)
        assert (view.workspace, view.owner, view.spec["workspace"]) == ("speech", "eve", "speech")
        assert view.spec["roles"][0]["parameters"] == {"lr": lr}
    assert (await templates.detail(id_, ANN)).used == 2
    assert (await fake.view((await templates.submit(id_, ANN, {}))[0].id)).workspace == "vision"
    copy = await templates.copy(id_, EVE)
    assert (copy.name, copy.workspace, copy.owner, copy.spec["workspace"]) == ("plan-copy", "speech", "eve", "speech")
    with pytest.raises(InvalidSpec) as why:  # a viewer submits nothing
        await templates.submit("plan", VIC, {})
    assert [one.path for one in why.value.problems] == ["workspace"]
    with pytest.raises(NotFound):
        await templates.submit(id_, STRANGER, {})
    own = person("eve", "speech", "text")
    job, _ = await templates.submit(id_, own, {"workspace": "text"})  # as for any document
    assert (await fake.view(job.id)).workspace == "text"


async def test_a_template_that_is_moved_to_who_took_it_in_is_taken_in_there_no_more(fake: Stage) -> None:
    await three(fake)
    id_, both = await plan(fake), person("ann", "vision", "speech")
    document = (await fake.platform.templates.detail(id_, both)).spec
    moved = WantedEdit(body={"spec": {**document, "workspace": "speech"}})
    for found in (
        await fake.platform.templates.edit(id_, both, moved),
        await fake.platform.templates.detail(id_, both),
    ):
        assert (found.workspace, found.offers, found.subscribers, found.taken) == ("speech", [], [], [])


async def test_what_a_template_names_is_looked_for_where_its_job_runs(fake: Stage) -> None:
    """And what is not there is told before: by the preview of its document, as at the submit, with its place."""
    await three(fake)
    platform = fake.platform
    await made(fake, ALGORITHM)
    flowers = await uploaded(platform, ANN, "flowers", {"a": b"a"}, workspace="vision")
    document = {"name": "run", "workspace": "vision", "algorithm": "net", "inputs": [{"dataset": "flowers"}]}
    made_plan = await platform.templates.create(ANN, WantedTemplate("plan", {"spec": document}))
    await passed(fake, TEMPLATE, made_plan.id, "plan")
    there = {**(await platform.templates.detail("plan", EVE)).spec, "workspace": "speech"}
    assert (there["algorithm"], there["inputs"][0]["dataset"]) == ("net@1", "flowers")
    assert await lacks(platform.templates) == ["algorithm"]
    assert await refused(fake, there) == ["algorithm"]
    await passed(fake, ALGORITHM, (await platform.algorithms.detail("net", ANN)).id, "net")
    assert await lacks(platform.templates) == ["inputs.0.dataset"]
    assert await refused(fake, there) == ["inputs.0.dataset"]
    await passed(fake, AssetKind.DATASET, flowers.dataset, "flowers")
    job, _ = await platform.templates.submit("plan", EVE, {})
    assert (await fake.view(job.id)).spec["algorithm"] == "net@1"


async def lacks(templates: Templates) -> list[str]:
    """Return the places of what speaks against a job of eve's of the template."""
    with pytest.raises(InvalidSpec) as why:
        await templates.submit("plan", EVE, {})
    return [one.path for one in why.value.problems]
