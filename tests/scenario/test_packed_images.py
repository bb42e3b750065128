"""Code packed on a base (R235): a version that holds code, run by jobs that bring none, and what keeps it true."""

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.algorithms import received
from tests.fixtures.bins import emptied
from tests.fixtures.packages import sdist
from tests.scenario.stage import Stage, spec
from tests.scenario.test_environments import ANN, BOB, ended, links, made, ran, wanted
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.states import JobShare
from trainmaster.service.environments.definition import REQUIREMENTS, Definition
from trainmaster.service.use_cases.assets.images import WantedImage
from trainmaster.store.leftovers import Leftovers

__all__ = ["links"]
RUN: Final = "python train.py"


def packed(
    stage: Stage, text: str, base: str = "", requirements: str | None = None, name: str = "digits", **fields: Any
) -> WantedImage:
    """Return an image whose code prints `text` and what its environment says."""
    code = received(stage.platform.layout, {"train.py": f"import tinyone; print({text!r}, tinyone.value)\n"})
    files = {} if requirements is None else {REQUIREMENTS: requirements}
    return WantedImage(name, Definition(files, workspace="default", base=base, code=code), **fields)


async def test_a_job_runs_the_code_of_its_image(stage: Stage, links: Path) -> None:
    """R26, R235: on a version of an image, whose environment it shares and whose purpose it has; provenance is kept."""
    await made(stage, wanted(cards=("cpu",)))
    build = await made(stage, packed(stage, "first", base="tiny"))
    assert (build.image is not None, build.version, build.packages) == (True, 1, 1)
    image = await stage.platform.images.detail("digits", ANN)
    version, base = image.versions[0], (await stage.platform.images.detail("tiny", ANN)).versions[0]
    assert (version.base, version.cards, version.packages) == ("tiny@1", ["cpu"], 1)
    assert version.digest != base.digest
    assert version.size_bytes > base.size_bytes
    state, log = await ran(stage, RUN, image="digits")
    assert (state, log.split()) == ("succeeded", ["first", "1"])
    view, _ = await stage.platform.submit({"spec": {"name": "x", "command": RUN, "image": "digits"}}, ANN, None)
    assert (await stage.view(view.id)).spec["code"]["upload"] == version.code


async def test_a_version_with_code_is_made_of_packages_at_once(stage: Stage, links: Path) -> None:
    """And a job that brings code runs its own."""
    await made(stage, packed(stage, "both", requirements="tinyone==2.0\n"))
    assert (await ran(stage, RUN, image="digits"))[1].split() == ["both", "2"]
    own = received(stage.platform.layout, {"train.py": "print('mine')\n"})
    assert (await ran(stage, RUN, image="digits", code={"upload": own}))[1].split() == ["mine"]


async def test_a_copy_with_another_version_runs_the_code_of_that(stage: Stage, links: Path) -> None:
    """A document that was settled says which code: it is the image's, not the copier's."""
    await made(stage, packed(stage, "one", requirements="tinyone==1.0\n"))
    await made(stage, packed(stage, "two", base="digits@1"))
    view, _ = await stage.platform.submit({"spec": {"name": "x", "command": RUN, "image": "digits@1"}}, ANN, None)
    before = (await stage.view(view.id)).spec
    after, _ = await stage.platform.submit({"spec": before | {"image": "digits@2"}}, ANN, None)
    codes = [one.code for one in (await stage.platform.images.detail("digits", ANN)).versions]
    assert [(await stage.view(one)).spec["code"]["upload"] for one in (after.id, view.id)] == codes


async def test_code_of_an_image_is_kept_as_long_as_the_image(stage: Stage, links: Path) -> None:
    await made(stage, packed(stage, "kept", requirements="tinyone==1.0\n"))
    code = (await stage.platform.images.detail("digits", ANN)).versions[0].code
    assert code is not None
    leftovers = Leftovers(stage.platform._life._database)

    def named() -> set[str]:
        found, after = leftovers.uploads_named()
        while after is not None:
            more, after = leftovers.uploads_named(after)
            found |= more
        return found

    assert code.removeprefix("sha256:") in await asyncio.to_thread(named)
    await stage.platform.images.delete("digits", ANN)
    assert code.removeprefix("sha256:") in await asyncio.to_thread(named), "it may come back"
    await emptied(stage.platform, ANN)
    assert code.removeprefix("sha256:") not in await asyncio.to_thread(named)


async def test_a_removed_base_is_made_again_for_the_build(stage: Stage, links: Path) -> None:
    """Also once the base itself was deleted, the version stands: it holds all that it is made of."""
    await made(stage, wanted())
    parts = stage.platform.context.images
    key = next(iter(parts.keeper._kept))
    await parts.keeper.remove(key)
    await made(stage, packed(stage, "again", base="tiny@1"))
    await stage.platform.images.delete("tiny", ANN)
    assert (await ran(stage, RUN, image="digits"))[1].split() == ["again", "1"]


async def test_what_is_refused_before_anything_is_built(stage: Stage, links: Path) -> None:
    """A base of nobody's, or another's that is not shared; packages beside it; code that is not there."""
    await made(stage, wanted())
    gone = "sha256:" + "0" * 64
    code = packed(stage, "x").definition.code
    cases = [
        (Definition({}, base="none", code=code), {"base"}),
        (Definition({}, base="a b", code=code), {"base"}),
        (Definition({}, base="tiny@7", code=code), {"base"}),
        (Definition({REQUIREMENTS: "six\n"}, base="tiny", code=code), {"base"}),
        (Definition({}, base="tiny"), {"code"}),
        (Definition({}, base="tiny", code=gone), {"code"}),
        (Definition({REQUIREMENTS: "tinyone\n"}, code="sha256:../../../etc"), {"code"}),
    ]
    for definition, paths in cases:
        whole = Definition(definition.files, workspace="default", base=definition.base, code=definition.code)
        with pytest.raises(InvalidSpec) as why:
            await stage.platform.images.create(ANN, WantedImage("y", whole))
        assert {one.path for one in why.value.problems} == paths, definition
    with pytest.raises(InvalidSpec) as why:
        await stage.platform.images.create(BOB, packed(stage, "x", base="tiny", name="bobs"))
    assert [one.path for one in why.value.problems] == ["base"]
    await stage.platform.images.share("tiny", ANN, JobShare.READ)
    build = await ended(stage, await stage.platform.images.create(BOB, packed(stage, "x", "tiny", name="bobs")), BOB)
    assert build.state == "ready"


async def test_a_job_says_how_far_its_environment_is(stage: Stage, links: Path) -> None:
    """While it is made again, in both languages; and when that fails, what the log says last."""
    source = sdist(links, "slow", "1.0", "import time\ntime.sleep(2)\nFOUND = 0\n")
    await made(stage, wanted("slow", "slow\n"))
    keeper = stage.platform.context.images.keeper

    async def without() -> str:
        await keeper.remove(next(iter(keeper._kept)))
        view, _ = await stage.platform.submit({"spec": spec("waits", "true", image="slow")}, ANN, None)
        return view.id

    job = await without()
    view = await stage.until(job, lambda seen: seen.reason is not None and seen.reason.code == "staging")
    assert view.reason is not None
    assert view.reason.message.en.startswith("The environment of image slow@1 is being made again")
    assert view.reason.message.zh.startswith("正在重新生成镜像 slow@1 的环境")
    assert (await stage.ended(job)).state == "succeeded"
    source.unlink()
    view = await stage.ended(await without())
    assert view.state == "failed"
    assert "The log ends with: " in repr(view)
