"""The bin: what is deleted waits there under its name for whoever could delete it, counts, and goes for good."""

import itertools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.bins import emptied
from tests.fixtures.images import stored_image
from tests.fixtures.kept_models import stored_model
from tests.fixtures.people import person
from tests.fixtures.uploads import uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, Stage, fake_spec
from tests.scenario.test_matrix import MAY, WRITE, Lab, lab
from trainmaster.access.roles import Principal
from trainmaster.api.policy import PREFIX
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.upkeep.retention_rules import DAY_S
from trainmaster.service.use_cases.assets.templates import WantedTemplate
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.assets.bin import BinQuery
from trainmaster.store.assets.versions import AssetQuery

__all__ = ["lab"]  # a fixture

ANN, BOB = person("ann", "vision"), person("bob", "vision")
LABELS: Final = {"labels.txt": b"daisy\n"}


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def of_dataset(stage: Stage) -> str:
    return (await uploaded(stage.platform, ANN, "mine", LABELS, workspace="vision")).dataset


async def of_algorithm(stage: Stage) -> str:
    return await made_algorithm(stage.platform, ANN, "mine", {"train.py": "print(1)"}, workspace="vision")


async def of_template(stage: Stage) -> str:
    wanted = WantedTemplate("mine", {"spec": {**fake_spec("mine", "true"), "workspace": "vision"}})
    return (await stage.platform.templates.create(ANN, wanted)).id


async def of_volume(stage: Stage) -> str:
    return (await filled(stage.platform, ANN, "mine", LABELS, workspace="vision")).id


async def of_image(stage: Stage) -> str:
    return stored_image(stage.platform, "ann", "mine", "vision")


async def of_model(stage: Stage) -> str:
    return stored_model(stage.platform, "ann", "mine", "vision", 2)


async def delete(stage: Stage, kind: str, ref: str, who: Principal = ANN) -> None:
    if kind == "model":
        await stage.platform.delete_model(ref, None, who)
    else:
        await getattr(stage.platform, f"{kind}s").delete(ref, who)


async def listed(stage: Stage, kind: str) -> int:
    if kind == "model":
        return (await stage.platform.models(ANN)).total
    return int((await getattr(stage.platform, f"{kind}s").page(ANN, AssetQuery(), 9)).total)


async def binned(stage: Stage, who: Principal = ANN) -> list[tuple[str, str, int | None]]:
    return [(one.kind, one.name, one.version) for one in (await stage.platform.bin.page(who, BinQuery(), 9)).items]


MAKES: Final[dict[str, Callable[[Stage], Awaitable[str]]]] = {
    "dataset": of_dataset,
    "algorithm": of_algorithm,
    "template": of_template,
    "volume": of_volume,
    "image": of_image,
    "model": of_model,
}


@pytest.mark.parametrize("kind", MAKES)
async def test_what_is_deleted_is_not_there_until_it_is_restored(vision: Stage, kind: str) -> None:
    """Whatever its kind: in no list, nobody else's, told, and afterwards the same thing."""
    platform = vision.platform
    ref = await MAKES[kind](vision)
    await delete(vision, kind, ref)
    assert await listed(vision, kind) == 0
    with pytest.raises(NotFound):
        await delete(vision, kind, ref)
    assert await binned(vision) == [(kind, "mine", None)]
    assert await binned(vision, BOB) == []
    for refused in (platform.bin.restore("mine", BOB), platform.bin.restore("nothing", ANN)):
        with pytest.raises(NotFound):
            await refused
    page = await platform.bin.page(ANN, BinQuery(), 9)
    assert page.keeps_s == 7 * DAY_S
    assert page.items[0].until == page.items[0].at + 7 * DAY_S
    back = await platform.bin.restore("mine", ANN)
    assert (back.kind, back.id, back.name, back.version) == (kind, ref, "mine", None)
    assert (await listed(vision, kind), await binned(vision)) == (1, [])
    told = [one.kind for one in (await platform.auditing.page(ANN, AuditFilters(f"{kind}:{ref}"))).items]
    assert told[:2] == ["restored", f"{kind}_deleted"]
    await delete(vision, kind, ref)
    await vision.restart()
    assert await emptied(vision.platform, ANN) == ["mine"]
    assert await binned(vision) == []
    assert await listed(vision, kind) == 0


async def test_files_go_with_what_is_deleted_for_good_and_not_before(vision: Stage) -> None:
    platform, layout = vision.platform, vision.platform.layout
    model, volume, dataset = await of_model(vision), await of_volume(vision), await of_dataset(vision)
    _, files = await platform.datasets.files(dataset, 1, ANN)
    places = [Path(layout.model(model, 1)), Path(layout.model(model, 2)), Path(layout.volumes, volume), Path(files)]
    await delete(vision, "model", model)
    await delete(vision, "volume", volume)
    await delete(vision, "dataset", dataset)
    vision.let_pass(3 * DAY_S)
    for step in platform._life._sweeper.steps():
        assert step is None or await step() is None
    assert all(place.is_dir() for place in places)
    await emptied(platform, ADMIN)
    assert not any(place.exists() for place in places)
    assert os.listdir(os.path.join(layout.bulk, "models", ".saving")) == []
    assert not Path(layout.bulk, "models", model).exists()


async def test_versions_of_models_and_images_go_one_by_one_and_the_last_takes_all(vision: Stage) -> None:
    platform = vision.platform
    ref = await of_model(vision)
    with pytest.raises(NotFound):
        await platform.delete_model(ref, 3, ANN)
    await platform.delete_model(ref, 2, ANN)
    assert [one.version for one in (await platform.model(ref, ANN)).versions] == [1]
    await platform.delete_model(ref, 1, ANN)
    assert await binned(vision) == [("model", "mine", None), ("model", "mine", 2)]
    with pytest.raises(Conflict):
        await platform.bin.restore("mine@2", ANN)
    with pytest.raises(Conflict):
        await platform.bin.restore("mine", ANN)  # which of the two
    whole = (await platform.bin.page(ANN, BinQuery(), 9)).items[0].id
    await platform.bin.restore(whole, ANN)
    await platform.bin.restore("mine@2", ANN)
    assert [one.version for one in (await platform.model(ref, ANN)).versions] == [2, 1]
    image = await of_image(vision)
    with pytest.raises(NotFound):
        await platform.images.delete_version(image, 2, ANN)
    await platform.images.delete_version(image, 1, ANN)
    assert await binned(vision) == [("image", "mine", None)]


async def test_what_a_job_needs_that_has_not_ended_is_not_deleted(vision: Stage) -> None:
    platform = vision.platform
    ref = await of_model(vision)
    document = {**fake_spec("needs", "sleep infinity"), "workspace": "vision", "inputs": [{"model": "mine@2"}]}
    job, _ = await platform.submit({"spec": document}, ANN, None)
    for version in (2, None):
        with pytest.raises(Conflict) as why:
            await platform.delete_model(ref, version, ANN)
        assert "needs" in why.value.message
    await platform.delete_model(ref, 1, ANN)
    await platform.stop(job.id, ANN)
    await vision.ended(job.id)
    await platform.delete_model(ref, 2, ANN)
    with pytest.raises(InvalidSpec):
        await platform.submit({"spec": document}, ANN, None)


async def test_a_name_is_free_again_and_what_has_it_stays(vision: Stage) -> None:
    platform = vision.platform
    old = await of_dataset(vision)
    await delete(vision, "dataset", old)
    new = await of_dataset(vision)
    assert new != old
    with pytest.raises(Conflict) as why:
        await platform.bin.restore("mine", ANN)
    assert why.value.code == "name_taken_meanwhile"
    with pytest.raises(InvalidSpec):
        await platform.bin.restore("mine", ANN, "no way!")
    assert (await platform.bin.restore("mine", ANN, "old")).name == "old"
    assert (await platform.datasets.detail("old", ANN)).id == old
    await platform.datasets.delete_version(new, 1, ANN)
    with pytest.raises(InvalidSpec):
        await platform.bin.restore("mine@1", ANN, "other")


async def test_it_goes_by_itself_after_its_time_and_not_before(vision: Stage) -> None:
    """What would go is what `tm retention` says; the audit tells that nobody did it."""
    platform = vision.platform
    ref = await of_model(vision)
    await delete(vision, "model", ref)

    async def asked(**days: float) -> int:
        found = await platform.retention.ask(ADMIN, **{name: value * DAY_S for name, value in days.items()})
        return {one.rule: one.count for one in found.items}["bin"]

    async def swept() -> None:
        for step in platform._life._sweeper.steps():
            assert step is None or await step() is None

    vision.let_pass(6.9 * DAY_S)
    assert (await asked(), await asked(bin=1), await asked(bin=0)) == (0, 1, 0)
    await swept()
    assert await binned(vision) == [("model", "mine", None)]
    vision.let_pass(0.2 * DAY_S)
    assert await asked() == 1
    await swept()
    assert (await binned(vision), await asked()) == ([], 0)
    assert not Path(platform.layout.bulk, "models", ref).exists()
    told = (await platform.auditing.page(ADMIN, AuditFilters(f"model:{ref}"))).items[0]
    assert (told.kind, told.by) == ("bin_outlived", "system")


async def test_what_lost_its_files_is_not_restored(vision: Stage) -> None:
    platform = vision.platform
    ref = await of_model(vision)
    await delete(vision, "model", ref)
    Path(platform.layout.bulk, "models", ref).rename(Path(platform.layout.bulk, "models", "elsewhere"))
    with pytest.raises(Conflict) as why:
        await platform.bin.restore("mine", ANN)
    assert why.value.code == "files_are_gone"
    assert await emptied(platform, ANN) == ["mine"]


SEES: Final[dict[str, tuple[bool, bool, bool]]] = {
    who: tuple(WRITE in column for column in columns)  # type: ignore[misc]
    for who, columns in MAY.items()
}
CASES: Final = [*itertools.product(MAY, range(len(JobShare)))]


@pytest.mark.parametrize(("who", "level"), CASES)
async def test_each_may_do_in_the_bin_what_they_may_delete(lab: Lab, who: str, level: int) -> None:
    """Every role x every level of sharing: whoever could delete it sees it, restores it, deletes it for good; to all
    others it is not there.
    """
    platform = lab.stage.platform
    ann = person("ann", "vision")
    made = await uploaded(platform, ann, "mine", LABELS, workspace="vision", share=[*JobShare][level])
    await platform.datasets.delete(made.dataset, ann)
    async with lab.client(who) as http:
        seen = (await http.get(f"{PREFIX}/bin")).json()
        restored = await http.post(f"{PREFIX}/bin/mine/restore", json={})
        if not SEES[who][level]:
            assert (seen["items"], seen["total"]) == ([], 0)
            assert (restored.status_code, restored.json()["code"]) == (404, "not_in_the_bin")
            removed = (await http.post(f"{PREFIX}/bin/remove", json={"ids": ["mine"]})).json()
            assert [one["code"] for one in removed["refused"]] == ["not_in_the_bin"]
            return
        assert [one["name"] for one in seen["items"]] == ["mine"]
        assert restored.json()["id"] == made.dataset
        await platform.datasets.delete(made.dataset, ann)
        removed = (await http.post(f"{PREFIX}/bin/remove", json={"ids": ["mine"]})).json()
        assert (removed["done"], removed["refused"]) == (["mine"], [])


async def test_a_token_reaches_in_the_bin_what_it_may_delete(lab: Lab) -> None:
    narrow = Principal("ann", memberships=(("vision", "member"),), scopes=frozenset({"models:write"}))
    made = await uploaded(lab.stage.platform, ANN, "mine", LABELS, workspace="vision")
    await lab.stage.platform.datasets.delete(made.dataset, ANN)
    assert await binned(lab.stage, narrow) == []
    with pytest.raises(NotFound):
        await lab.stage.platform.bin.restore("mine", narrow)
