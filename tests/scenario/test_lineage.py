"""Lineage: from data to model to the next model, of what one may see, and what became of the rest."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.audited import audit_event
from tests.fixtures.images import stored_image
from tests.fixtures.people import person
from tests.fixtures.seeing import ALL
from tests.fixtures.uploads import uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.answers import LineageView
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.finding import lineage
from trainmaster.store.assets.bin import BinQuery
from trainmaster.store.assets.images import about_of, image_version
from trainmaster.store.assets.models import ModelRows, saved_model
from trainmaster.store.assets.versions import Asset, AssetKind

ANN, BOB = person("ann", "vision"), person("bob", "vision")
LABELS: Final = {"labels.txt": b"daisy\n"}


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def ran(stage: Stage, name: str, who: Principal = ANN, **fields: Any) -> str:
    """A job that ended."""
    document = {**fake_spec(name, "exit 0"), "workspace": "vision", "model": {"save": False}, **fields}
    if "algorithm" in fields:
        del document["roles"][0]["command"]
    job = (await stage.platform.submit({"spec": document}, who, None))[0].id
    await stage.ended(job)
    return job


def saved(stage: Stage, job: str, name: str, who: Principal = ANN, attempt: int = 1) -> str:
    """A version of a model that a job made."""
    path = f"models/{name}/{job}-{attempt}"
    Path(stage.platform.layout.bulk, path, "files", "model").mkdir(parents=True)
    Path(stage.platform.layout.bulk, path, "files", "model", "w").write_text("w")
    rows = ModelRows(stage.platform._life._database)
    new = saved_model("sha256:1", 1, 1, stage.platform.context.clock(), job, attempt, path)
    made = rows.register(model_id=f"m{name}", name=name, owner=who.name, saved=new, workspace="vision")
    return f"{name}@{made.number}"


async def asked(stage: Stage, kind: str, ref: str, who: Principal = ANN, depth: int = 6) -> LineageView:
    return await stage.platform.lineages.of(kind, ref, who, depth)


def told(view: LineageView) -> list[str]:
    """What is in it by layer, with what is said of it."""
    return [
        f"{one.layer:+d} {one.kind} {one.name}"
        + (f"@{one.version}" if one.version is not None else "")
        + (f" {one.state}" if one.state != "there" else "")
        for one in view.nodes
    ]


def edges(view: LineageView) -> set[tuple[str, str, str]]:
    name = {one.id: one.name + (f"@{one.version}" if one.version is not None else "") for one in view.nodes}
    return {(name[one.source], name[one.target], one.how) for one in view.edges}


async def chain(stage: Stage) -> tuple[str, str]:
    """Data, an algorithm, an image and a volume, a job, a model, a job, and the next version of the model."""
    await uploaded(stage.platform, ANN, "flowers", LABELS, workspace="vision")
    await filled(stage.platform, ANN, "scratch", LABELS, workspace="vision")
    await made_algorithm(stage.platform, ANN, "net", {"train.py": "print(1)"}, workspace="vision")
    inputs = [{"dataset": "flowers"}, {"volume": "scratch", "read_only": False}]
    first = await ran(stage, "train", algorithm="net", inputs=inputs)
    model = saved(stage, first, "digits")
    second = await ran(stage, "tune", inputs=[{"model": model}])
    saved(stage, second, "digits")
    return first, second


async def test_from_data_to_the_next_model(vision: Stage) -> None:
    first, second = await chain(vision)
    view = await asked(vision, "model", "digits@1")
    assert told(view) == [
        "-2 algorithm net@1",
        "-2 dataset flowers@1",
        "-2 volume scratch",
        "-1 job train",
        "+0 model digits@1",
        "+1 job tune",
        "+2 model digits@2",
    ]
    assert edges(view) == {
        ("net@1", "train", "algorithm"),
        ("flowers@1", "train", "input"),
        ("scratch", "train", "written"),
        ("train", "digits@1", "output"),
        ("digits@1", "tune", "input"),
        ("tune", "digits@2", "output"),
    }
    assert not view.more
    assert {one.ref for one in view.nodes if one.kind == "job"} == {first, second}
    middle = await asked(vision, "job", first[:12])
    assert [line for line in told(middle) if line.startswith("+")] == [
        "+0 job train",
        "+1 model digits@1",
        "+2 job tune",
        "+3 model digits@2",
    ]
    assert told(await asked(vision, "model", "digits"))[-1] == "+0 model digits@2"
    assert told(await asked(vision, "volume", "scratch"))[1] == "+1 job train"
    short = await asked(vision, "dataset", "flowers@1", depth=2)
    assert told(short) == ["+0 dataset flowers@1", "+1 job train", "+2 model digits@1"]
    assert (short.more, short.nodes[-1].more) == (True, True)
    for kind, ref in (("model", "digits@9"), ("dataset", "roses"), ("job", "nothing-like-it"), ("volume", "digits")):
        with pytest.raises(NotFound):
            await asked(vision, kind, ref)


async def test_images_stand_on_images_and_jobs_run_in_them(vision: Stage) -> None:
    stored_image(vision.platform, "ann", "torch", "vision")
    rows = vision.platform.context.images.rows
    about = about_of(rows.version("vision", "torch", 1))  # type: ignore[arg-type]
    assert about is not None
    wanted = Asset("itop1", AssetKind.IMAGE, "top", "vision", "ann", 2.0)
    new = image_version(replace(about, base="torch@1"), "sha256:2", 3, 1, 2.0)
    rows.add(ALL, wanted, new, lambda _: audit_event(name="ann", by="ann"))
    assert told(await asked(vision, "image", "top")) == ["-1 image torch@1", "+0 image top@1"]
    assert edges(await asked(vision, "image", "torch")) == {("torch@1", "top@1", "base")}


async def test_what_was_deleted_stands_by_its_name_where_a_document_names_it(vision: Stage) -> None:
    """As in the bin to whom it can restore, as deleted to whom sees everything, else as one or the other."""
    first, _ = await chain(vision)
    uses = {"datasets": "flowers", "volumes": "scratch", "algorithms": "net"}
    for kind, name in uses.items():  # a job is shared as far as what it uses
        await getattr(vision.platform, kind).share(name, ANN, JobShare.READ)
    await vision.platform.share(first, ANN, JobShare.READ)
    await vision.platform.datasets.delete("flowers", ANN)

    async def said(who: Principal) -> list[str]:
        return [line for line in told(await asked(vision, "job", first, who)) if "flowers" in line]

    assert await said(ANN) == ["-1 dataset flowers@1 bin"]
    assert await said(BOB) == ["-1 dataset flowers@1 unseen"]
    [binned] = (await vision.platform.bin.page(ANN, BinQuery(), 9)).items
    await vision.platform.bin.remove((binned.id,), ANN)
    assert await said(ANN) == ["-1 dataset flowers@1 unseen"]
    assert await said(ADMIN) == ["-1 dataset flowers@1 deleted"]
    await uploaded(vision.platform, ANN, "flowers", LABELS, workspace="vision")
    assert await said(ANN) == ["-1 dataset flowers@1 unseen"], "another one, which has the name by now"
    assert told(await asked(vision, "dataset", "flowers")) == ["+0 dataset flowers@1"]


async def test_a_job_that_is_gone_or_hidden_stands_without_a_word(vision: Stage) -> None:
    """Both in the same way: that a model came of a job is all that is told."""
    first, second = await chain(vision)
    await vision.platform.delete(second, ANN)
    assert told(await asked(vision, "model", "digits@2")) == ["-1 job  unseen", "+0 model digits@2"]
    assert told(await asked(vision, "model", "digits@2", ADMIN)) == ["-1 job  deleted", "+0 model digits@2"]
    leader = person("eve", "vision", role="admin")
    only_models = Principal("eve", memberships=leader.memberships, scopes=frozenset({"models:read"}))
    assert told(await asked(vision, "model", "digits@1", leader))[-2:] == ["-1 job train", "+0 model digits@1"]
    view = await asked(vision, "model", "digits@1", only_models)
    assert told(view) == ["-1 job  unseen", "+0 model digits@1"]
    assert view.nodes[0].ref == view.nodes[0].owner == view.nodes[0].workspace == ""
    assert first not in str(view)


async def test_nobody_learns_who_else_uses_what_is_shared(vision: Stage) -> None:
    """Neither their jobs, nor that there is one, nor how many."""
    await uploaded(vision.platform, ANN, "flowers", LABELS, workspace="vision")
    await vision.platform.datasets.share("flowers", ANN, JobShare.READ)
    theirs = await ran(vision, "secret-of-ann", inputs=[{"dataset": "flowers"}])
    alone = await asked(vision, "dataset", "flowers", BOB)
    assert (told(alone), alone.more) == (["+0 dataset flowers@1"], False)
    mine = await ran(vision, "of-bob", BOB, inputs=[{"dataset": "flowers"}])
    assert told(await asked(vision, "dataset", "flowers", BOB)) == ["+0 dataset flowers@1", "+1 job of-bob"]
    assert {one.ref for one in (await asked(vision, "dataset", "flowers", ADMIN)).nodes[1:]} == {theirs, mine}
    await vision.platform.datasets.share("flowers", ANN, JobShare.NONE)
    view = await asked(vision, "job", mine, BOB)
    assert told(view) == ["-1 dataset flowers@1 unseen", "+0 job of-bob"]
    assert "ann" not in str(view)


async def test_many_are_cut_and_said(vision: Stage) -> None:
    await uploaded(vision.platform, ANN, "flowers", LABELS, workspace="vision")
    jobs = [await ran(vision, f"j{at}", inputs=[{"dataset": "flowers"}]) for at in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lineage, "EACH", 2)
        view = await asked(vision, "dataset", "flowers")
    assert [one.ref for one in view.nodes[1:]] == [jobs[2], jobs[1]], "the newest"
    assert (view.more, view.nodes[0].more) == (True, True)
