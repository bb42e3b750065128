"""A job is shared no further than what it uses: at its submit, in its preview, and afterwards (R224)."""

from typing import Any

import pytest

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.images import stored_image
from tests.fixtures.kept_models import stored_model
from tests.fixtures.people import person
from tests.fixtures.uploads import uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.clamping import LEVELS
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.engines.abilities import Abilities
from trainmaster.messages import render
from trainmaster.service.use_cases.listing import Chosen

ANN, BOB, LEAD = person("ann", "vision"), person("bob", "vision"), person("lead", "vision", role="owner")
NONE, READ, READ_WRITE = JobShare.NONE, JobShare.READ, JobShare.READ_WRITE
SHARABLE = ("dataset", "volume", "algorithm", "image")


@pytest.fixture
async def vision(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A workspace, on machines that are said to show images."""
    monkeypatch.setattr(Abilities, "no_environments", None)
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    return fake


async def kept(stage: Stage, kind: str, share: JobShare = NONE) -> dict[str, Any]:
    """Make a thing of this kind that is ann's; return what a job says that uses it."""
    platform, place = stage.platform, {"workspace": "vision"}
    if kind == "dataset":
        await uploaded(platform, ANN, "thing", {"w": b"w"}, share=share, **place)
        return {"inputs": [{"dataset": "thing"}]}
    if kind == "volume":
        await filled(platform, ANN, "thing", {"w": b"w"}, share=share, **place)
        return {"inputs": [{"volume": "thing"}]}
    if kind == "model":
        stored_model(platform, "ann", "thing", "vision")
        return {"inputs": [{"model": "thing"}]}
    if kind == "image":
        stored_image(platform, "ann", "thing", "vision", share.value)
        return {"image": "thing"}
    await made_algorithm(platform, ANN, "thing", {}, {"command": "sleep infinity"}, share=share, **place)
    return {"algorithm": "thing"}


def body(uses: dict[str, Any], **fields: Any) -> dict[str, Any]:
    document = {**fake_spec("job", "sleep infinity"), "workspace": "vision", **uses, **fields}
    if "algorithm" in uses:
        del document["roles"]
    return {"spec": document}


async def share_of(stage: Stage, kind: str, share: JobShare) -> None:
    """Share what `kept` made otherwise."""
    use_cases = {"dataset": "datasets", "volume": "volumes", "algorithm": "algorithms", "image": "images"}
    await getattr(stage.platform, use_cases[kind]).share("thing", ANN, share)


@pytest.mark.parametrize("used", JobShare, ids=lambda one: one.value)
@pytest.mark.parametrize("kind", SHARABLE)
async def test_a_job_is_shared_no_further_than_each_thing_that_it_uses(
    vision: Stage, kind: str, used: JobShare
) -> None:
    """At the submit, in the preview and later the same, with the name of what forbids it, in both languages."""
    uses = await kept(vision, kind, used)
    for wanted in JobShare:
        given = body(uses, share=wanted.value)
        shown = [one.path for one in (await vision.platform.preview(given, ANN)).problems]
        plain, _ = await vision.platform.submit(body(uses), ANN, None)
        if LEVELS.index(wanted) <= LEVELS.index(used):
            assert shown == []
            assert (await vision.platform.submit(given, ANN, None))[0].share == wanted.value
            assert (await vision.platform.share(plain.id, ANN, wanted)).share == wanted.value
            continue
        assert shown == ["share"]
        for refused in (vision.platform.submit(given, ANN, None), vision.platform.share(plain.id, LEAD, wanted)):
            with pytest.raises(InvalidSpec) as why:
                await refused
            [problem] = why.value.problems
            code = "share_of_private" if used is NONE else "share_of_readable"
            assert (problem.path, problem.code) == ("share", code)
            assert f"{kind if kind != 'dataset' else 'data set'} thing" in render.text(problem.said, "en")
            assert "thing" in render.text(problem.said, "zh")
        assert (await vision.platform.job(plain.id, ANN)).share == "none"


async def test_a_model_has_no_sharing_of_its_own_and_limits_nothing(vision: Stage) -> None:
    """A colleague sees the job, and not the model."""
    uses = await kept(vision, "model")
    job, _ = await vision.platform.submit(body(uses, share="read"), ANN, None)
    assert (await vision.platform.job(job.id, BOB)).share == "read"
    with pytest.raises(NotFound):
        await vision.platform.model("thing", BOB)


async def test_everything_that_forbids_it_is_named_at_once(vision: Stage) -> None:
    uses = {**await kept(vision, "image"), **await kept(vision, "dataset")}
    uses["inputs"] += (await kept(vision, "volume", READ_WRITE))["inputs"]
    with pytest.raises(InvalidSpec) as why:
        await vision.platform.submit(body(uses, share="read"), ANN, None)
    [problem] = why.value.problems
    said = render.text(problem.said, "en")
    assert "image thing" in said
    assert "data set thing" in said
    assert "volume" not in said


async def test_what_is_private_and_what_is_only_read_are_told_together(vision: Stage) -> None:
    uses = {**await kept(vision, "image"), **await kept(vision, "dataset", READ)}
    with pytest.raises(InvalidSpec) as why:
        await vision.platform.submit(body(uses, share="read-write"), ANN, None)
    assert [one.code for one in why.value.problems] == ["share_of_private", "share_of_readable"]


@pytest.mark.parametrize("kind", SHARABLE)
async def test_once_what_it_uses_is_shared_so_is_the_job(vision: Stage, kind: str) -> None:
    """What is asked is how it is shared now; what was shared before stays so when it is narrowed."""
    uses = await kept(vision, kind)
    job, _ = await vision.platform.submit(body(uses), ANN, None)
    refused = await vision.platform.many("share", Chosen((job.id,)), ANN, share=READ)
    assert (refused.done, [one.code for one in refused.refused]) == ([], ["change_not_valid"])
    await share_of(vision, kind, READ_WRITE)
    assert (await vision.platform.share(job.id, ANN, READ_WRITE)).share == "read-write"
    assert (await vision.platform.job(job.id, BOB)).may == ["write"]
    await share_of(vision, kind, NONE)
    assert (await vision.platform.job(job.id, BOB)).share == "read-write"
    assert (await vision.platform.share(job.id, ANN, NONE)).share == "none"


async def test_what_is_gone_forbids_nothing(vision: Stage) -> None:
    uses = await kept(vision, "dataset")
    job, _ = await vision.platform.submit(body(uses), ANN, None)
    await vision.platform.stop(job.id, ANN)
    await vision.ended(job.id)
    await vision.platform.datasets.delete("thing", ANN)
    assert (await vision.platform.share(job.id, ANN, READ_WRITE)).share == "read-write"


async def test_one_of_the_same_name_elsewhere_says_nothing(vision: Stage) -> None:
    """Names are of a workspace and a kind."""
    await vision.platform.administer.put_workspace(Workspace("speech"), ADMIN)
    uses = await kept(vision, "dataset", READ)
    await filled(vision.platform, ANN, "thing", {"w": b"w"}, workspace="vision")
    other = person("ann", "speech")
    await uploaded(vision.platform, other, "thing", {"w": b"w"}, workspace="speech")
    assert (await vision.platform.submit(body(uses, share="read"), ANN, None))[0].share == "read"


async def test_all_of_a_batch_are_asked(vision: Stage) -> None:
    uses = await kept(vision, "dataset")
    bodies = [body(uses), body(uses, share="read"), body({}, share="read")]
    with pytest.raises(InvalidSpec) as why:
        await vision.platform.submit_batch(bodies, ANN, None)
    assert [(one.path, one.code) for one in why.value.problems] == [("items.1.share", "share_of_private")]
