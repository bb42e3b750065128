"""A data set that is offered to other workspaces, taken in there, and read by their jobs under the name that it has
there (R141).
"""

from dataclasses import replace
from typing import Final

import pytest

from tests.fixtures.people import person
from tests.fixtures.uploads import begun, uploaded
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.assets import subscriptions
from trainmaster.store.assets.versions import AssetKind, AssetQuery

DATASET: Final = AssetKind.DATASET

ANN, BOB = person("ann", "vision"), person("bob", "vision")
EVE, VIC = person("eve", "speech"), person("vic", "speech", role="viewer")
STRANGER = person("stranger", "text")
FLOWERS: Final = {"labels.txt": b"daisy rose\n"}


async def opened(stage: Stage) -> str:
    """See that there are three workspaces and a data set in one of them; return its id."""
    for name in ("vision", "speech", "text"):
        await stage.platform.administer.put_workspace(Workspace(name), ADMIN)
    made = await uploaded(stage.platform, ANN, "flowers", FLOWERS, workspace="vision")
    return made.dataset


async def taken(stage: Stage, name: str = "blooms") -> str:
    """The same, and `speech` takes it in."""
    id_ = await opened(stage)
    await stage.platform.subscribing.offer(DATASET, id_, "speech", ANN)
    await stage.platform.subscribing.subscribe(DATASET, "speech", name, id_, EVE)
    return id_


async def names(stage: Stage, who: Principal, **wanted: str) -> list[str]:
    page = await stage.platform.datasets.page(who, AssetQuery(**wanted), 50)
    assert page.total == len(page.items)
    return [one.name for one in page.items]


async def published(stage: Stage, workspace: str, who: Principal) -> list[tuple[str, str | None]]:
    found = await stage.platform.subscribing.published(DATASET, workspace, who, "", 50)
    return [(one.name, one.taken_as) for one in found.items]


async def test_a_job_reads_under_its_name_there_what_another_workspace_offers(stage: Stage) -> None:
    """The version is settled at the submit, and has the name of the job's side."""
    view_id = await taken(stage)
    text = "cat /dataset/labels.txt; touch /dataset/x || echo kept"
    document = spec("train", text, workspace="speech", inputs=[{"dataset": "blooms"}])
    job, _ = await stage.platform.submit({"spec": document}, EVE, None)
    view = await stage.ended(job.id)
    assert view.state == "succeeded", stage.log(job.id)
    assert "daisy rose\n" in stage.log(job.id)
    assert "kept" in stage.log(job.id)
    assert view.spec["inputs"] == [{"dataset": "blooms@1", "mount": "/dataset", "read_only": True}]
    for kind, ref in (("job", job.id), ("dataset", f"{view_id}@1")):  # what was made of what, from both ends
        drawn = await stage.platform.lineages.of(kind, ref, EVE)
        assert {(one.kind, one.name, one.state) for one in drawn.nodes} == {
            ("job", "train", "there"),
            ("dataset", "flowers", "there"),
        }
    drawn = await stage.platform.lineages.of("dataset", f"{view_id}@1", ANN)
    assert [one.name for one in drawn.nodes] == ["flowers"]  # and nothing of the other side's jobs
    await uploaded(stage.platform, ANN, "flowers", {"labels.txt": b"tulip\n"}, workspace="vision")
    copy = await stage.platform.clone(job.id, EVE, {})
    assert (await stage.view(copy.id)).spec["inputs"][0]["dataset"] == "blooms@1"


async def test_each_side_sees_what_it_needs_and_no_more(fake: Stage) -> None:
    """Members of the workspace that subscribes read it, and nothing else; who offers it sees workspaces and no people;
    others find nothing.
    """
    platform, id_ = fake.platform, await opened(fake)
    for who in (EVE, VIC, STRANGER):
        assert await names(fake, who) == []
    await platform.subscribing.offer(DATASET, id_, "speech", ANN)
    assert await published(fake, "speech", VIC) == [("flowers", None)]
    assert await names(fake, EVE) == []  # nobody took it in
    view = await platform.subscribing.subscribe(DATASET, "speech", "blooms", id_, EVE)
    assert (view.called, view.source, view.owner, view.latest) == ("flowers", "vision", "ann", 1)
    assert await published(fake, "speech", EVE) == [("flowers", "blooms")]
    for who in (EVE, VIC):
        detail = await platform.datasets.detail("blooms", who)
        assert (detail.id, detail.may, detail.offers, detail.subscribers) == (id_, [], [], [])
        assert [(one.workspace, one.name) for one in detail.taken] == [("speech", "blooms")]
        assert await names(fake, who, workspace="speech") == await names(fake, who, shared_with=who.name) == ["flowers"]
        with pytest.raises(Forbidden):
            await platform.datasets.describe(id_, who, "mine now")
        with pytest.raises(Forbidden):
            await platform.datasets.delete(id_, who)
        with pytest.raises(Forbidden):
            await platform.subscribing.offer(DATASET, id_, "text", who)
    detail = await platform.datasets.detail(id_, ANN)
    assert (detail.offers, [(one.workspace, one.name) for one in detail.subscribers], detail.taken) == (
        ["speech"],
        [("speech", "blooms")],
        [],
    )
    for who in (STRANGER, BOB):
        assert await names(fake, who) == []
        with pytest.raises(NotFound):
            await platform.datasets.detail(id_, who)
        with pytest.raises(NotFound):
            await platform.subscribing.published(DATASET, "speech", who, "", 50)
    with pytest.raises(NotFound):  # it is offered to another one
        await platform.subscribing.subscribe(DATASET, "text", "flowers", id_, STRANGER)
    with pytest.raises(Forbidden):  # a viewer submits nothing
        await platform.subscribing.subscribe(DATASET, "speech", "others", id_, VIC)
    page = await platform.auditing.page(ANN, AuditFilters(), 50)
    assert not [one for one in page.items if one.by == "eve"]


async def test_an_offers_end_is_told_to_the_other_side_without_who_ended_it(fake: Stage) -> None:
    """Who administers a workspace reads its audit with addresses and tokens: none of them may be another's."""
    id_ = await taken(fake)
    ann = replace(ANN, address="192.0.2.7", through="k1")
    await fake.platform.subscribing.withdraw(DATASET, id_, "speech", ann)
    eve = person("eve", "speech", role="admin")
    page = await fake.platform.auditing.page(eve, AuditFilters(workspace="speech"), 50)
    [lapsed] = [one for one in page.items if one.code == "lapsed"]
    by = lapsed.actor
    assert (lapsed.by, by.kind, by.address, by.through) == ("system", "system", None, None)
    assert "ann" not in {one.by for one in page.items}


async def test_a_token_for_one_workspace_sees_what_that_one_took_in(fake: Stage) -> None:
    await taken(fake)
    both = replace(person("eve", "speech", "text"), sharing=frozenset({"speech", "text"}))
    assert await names(fake, replace(both, within="speech")) == ["flowers"]
    assert await names(fake, replace(both, within="text")) == []
    assert await names(fake, replace(ADMIN, within="speech")) == ["flowers"]
    assert await names(fake, replace(ADMIN, within="text")) == []


async def test_an_offer_that_is_taken_back_opens_nothing_and_fails_what_waits(fake: Stage) -> None:
    platform, id_ = fake.platform, await taken(fake)
    blocks = await fake.submit(fake_spec("blocks", "sleep infinity", replicas=8, resources={"cpu": 1.0}))
    await fake.running(blocks)
    document = {**fake_spec("waits"), "workspace": "speech", "inputs": [{"dataset": "blooms"}]}
    job, _ = await platform.submit({"spec": document}, EVE, None)
    await platform.subscribing.withdraw(DATASET, id_, "speech", ANN)
    assert (await names(fake, EVE), await published(fake, "speech", EVE)) == ([], [])
    [one] = (await platform.subscribing.subscriptions(DATASET, "speech", EVE)).items
    assert (one.name, one.called, one.by) == ("blooms", None, "eve")
    with pytest.raises(InvalidSpec):
        await platform.submit({"spec": document}, EVE, None)
    await platform.stop(blocks, ADMIN)
    ended = await fake.ended(job.id)
    assert ended.state == "failed"
    assert ended.verdict is not None
    assert "blooms" in str(ended.verdict) or "data set" in ended.verdict.text.lower()
    told = [one.code for one in (await platform.auditing.page(ADMIN, AuditFilters(workspace="speech"), 50)).items]
    assert {"lapsed", "subscribed"} <= set(told)
    await platform.subscribing.end(DATASET, "speech", "blooms", EVE)
    assert (await platform.subscribing.subscriptions(DATASET, "speech", EVE)).items == []


async def test_what_a_job_elsewhere_needs_is_not_deleted(fake: Stage) -> None:
    """Its owner is told how many need it, and none of their names."""
    platform, id_ = fake.platform, await taken(fake)
    document = {**fake_spec("hers", "sleep infinity"), "workspace": "speech", "inputs": [{"dataset": "blooms@1"}]}
    job, _ = await platform.submit({"spec": document}, EVE, None)
    for deleted in (platform.datasets.delete(id_, ANN), platform.datasets.delete_version(id_, 1, ANN)):
        with pytest.raises(Conflict) as why:
            await deleted
        assert why.value.said.code == "dataset_in_use"
        assert "+1" in str(why.value.said.args)
        assert "hers" not in str(why.value.said.args)
    await fake.running(job.id)
    await platform.stop(job.id, EVE)
    await fake.ended(job.id)
    await platform.datasets.delete(id_, ANN)


async def test_the_administrators_switch_covers_it_on_both_sides(fake: Stage) -> None:
    """R225: nothing is published, what was is hidden, and it is there again afterwards."""
    platform, id_ = fake.platform, await taken(fake)
    await platform.administer.put_workspace(Workspace("vision", sharing="off"), ADMIN)
    assert await published(fake, "speech", EVE) == []
    eve = replace(EVE, closed=frozenset({"vision"}))  # as she is read then
    assert await names(fake, eve) == []
    with pytest.raises(InvalidSpec) as why:
        await platform.subscribing.offer(DATASET, id_, "text", ANN)
    assert [one.code for one in why.value.problems] == ["nothing_passed_on"]
    await platform.administer.put_workspace(Workspace("vision"), ADMIN)
    assert await names(fake, EVE) == ["flowers"]
    await platform.administer.put_workspace(Workspace("speech", sharing="off"), ADMIN)
    assert await names(fake, replace(EVE, sharing=frozenset(), closed=frozenset({"speech"}))) == []
    assert await published(fake, "speech", EVE) == []
    with pytest.raises(InvalidSpec) as why:
        await platform.subscribing.subscribe(DATASET, "speech", "again", id_, EVE)
    assert [one.code for one in why.value.problems] == ["nothing_passed_on"]


async def test_a_job_is_shared_no_further_than_what_it_took_in(fake: Stage) -> None:
    """R224: what is taken in is there to be read."""
    platform = fake.platform
    await taken(fake)
    document = {**fake_spec("hers"), "workspace": "speech", "inputs": [{"dataset": "blooms"}]}
    with pytest.raises(InvalidSpec):
        await platform.submit({"spec": {**document, "share": "read-write"}}, EVE, None)
    job, _ = await platform.submit({"spec": {**document, "share": "read"}}, EVE, None)
    assert job.share is JobShare.READ


async def test_what_is_wrong_is_told_with_its_place(fake: Stage) -> None:
    platform, id_ = fake.platform, await opened(fake)
    for workspace, code in (("vision", "offered_to_itself"), ("none", "unknown_workspace")):
        with pytest.raises(InvalidSpec) as why:
            await platform.subscribing.offer(DATASET, id_, workspace, ANN)
        assert [(one.path, one.code) for one in why.value.problems] == [("workspace", code)]
    await platform.subscribing.offer(DATASET, id_, "*", ANN)
    assert (await platform.datasets.detail(id_, ANN)).offers == ["*"]
    with pytest.raises(InvalidSpec) as why:
        await platform.subscribing.subscribe(DATASET, "speech", "no way!", id_, EVE)
    assert [one.path for one in why.value.problems] == ["name"]
    await uploaded(platform, EVE, "mine", FLOWERS, workspace="speech")
    with pytest.raises(Conflict):
        await platform.subscribing.subscribe(DATASET, "speech", "mine", id_, EVE)
    await platform.subscribing.subscribe(DATASET, "speech", "blooms", id_, EVE)
    with pytest.raises(Conflict) as taken_already:
        await begun(platform, EVE, "blooms", FLOWERS, workspace="speech")
    assert [one.code for one in taken_already.value.problems] == ["name_subscribed"]
    await platform.subscribing.subscribe(DATASET, "speech", "petals", id_, EVE)  # another name for it
    assert [one.name for one in (await platform.subscribing.subscriptions(DATASET, "speech", EVE)).items] == ["petals"]
    for name in ("blooms", "never"):
        with pytest.raises(NotFound):
            await platform.subscribing.end(DATASET, "speech", name, EVE)


async def test_a_workspace_that_can_take_in_no_more_renames_what_it_has(
    fake: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MOST", 1)
    id_ = await taken(fake, "blooms")
    view = await fake.platform.subscribing.subscribe(DATASET, "speech", "petals", id_, EVE)
    assert view.name == "petals"
    more = await uploaded(fake.platform, ANN, "trees", FLOWERS, workspace="vision")
    await fake.platform.subscribing.offer(DATASET, more.dataset, "speech", ANN)
    with pytest.raises(Conflict) as why:
        await fake.platform.subscribing.subscribe(DATASET, "speech", "trees", more.dataset, EVE)
    assert why.value.said.code == "too_many_subscriptions"
