"""Images and their builds, models, sweeps, and what is done to several jobs at once: every route x every role x every
level of sharing answers as the tables of rights say (B11, R223 to R228). And no route about one thing is in no table.
"""

import itertools
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from tests.fixtures.images import stored_image
from tests.fixtures.kept_models import stored_model
from tests.fixtures.people import person
from tests.scenario.test_matrix import ABOUT_JOBS, HIDDEN, MAY, READ, SHARE, WRITE, Lab, lab
from tests.scenario.test_sweeps import swept
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.states import JobShare, Shown
from trainmaster.service.environments.builds import Build

__all__ = ["lab"]

ANN: Final = person("ann", "vision")
OWNER: Final = "owner"
"""What is for whose it is alone, whatever others may."""
Needs = dict[tuple[str, str], tuple[str, Any]]

IMAGES: Final[Needs] = {
    ("GET", "/images/{ref}"): (READ, None),
    ("PUT", "/images/{ref}/favorite"): (READ, None),
    ("DELETE", "/images/{ref}/favorite"): (READ, None),
    ("PATCH", "/images/{ref}"): (WRITE, {"description": "of the walk"}),
    ("PUT", "/images/{ref}/share"): (SHARE, {"share": "none"}),
    ("PUT", "/images/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/images/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/images/{ref}/versions/{version}"): (WRITE, None),
    ("DELETE", "/images/{ref}"): (WRITE, None),
}
BUILDS: Final[Needs] = {
    ("GET", "/image-builds/{ref}"): (READ, None),
    ("DELETE", "/image-builds/{ref}"): (WRITE, None),
}
MODELS: Final[Needs] = {
    ("GET", "/models/{ref}"): (READ, None),
    ("GET", "/models/{ref}/versions/{version}/files"): (READ, None),
    ("GET", "/models/{ref}/versions/{version}/files/content?path=w.bin"): (READ, None),
    ("GET", "/models/{ref}/versions/{version}/download"): (READ, None),
    ("PUT", "/models/{ref}/favorite"): (READ, None),
    ("DELETE", "/models/{ref}/favorite"): (READ, None),
    ("DELETE", "/models/{ref}/versions/{version}"): (WRITE, None),
    ("DELETE", "/models/{ref}"): (WRITE, None),
}
SWEEPS: Final[Needs] = {
    ("GET", "/sweeps/{ref}"): (READ, None),
    ("GET", "/sweeps/{ref}/entries"): (READ, None),
    ("POST", "/sweeps/{ref}/stop"): (WRITE, {}),
    ("POST", "/sweeps/{ref}/retry"): (OWNER, None),
    ("DELETE", "/sweeps/{ref}?keep_jobs=true"): (WRITE, None),
}
SEVERAL: Final = {
    "/jobs/stop": (WRITE, {}),
    "/jobs/delete": (WRITE, {}),
    "/jobs/change": (WRITE, {"duration_s": 3600}),
    "/jobs/tags": (WRITE, {"add": ["good"]}),
    "/jobs/share": (SHARE, {"share": "none"}),
}
ELSEWHERE: Final = {"datasets", "volumes", "templates", "algorithms"}
"""Kinds with a table of their own, beside their stories."""
BIN: Final = {("POST", "/bin/{ref}/restore")}
"""Tried in test_bin.py, with who may have back what was deleted."""


def test_every_route_about_one_thing_is_in_a_table(lab: Lab) -> None:
    about = {
        (method, route.path.removeprefix(PREFIX))
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and "{ref}" in route.path and not route.path.startswith(ABOUT_JOBS)
        for method in route.methods or ()
    }
    rest = {(method, path) for method, path in about if path.split("/")[1] not in ELSEWHERE} - BIN
    tables = itertools.chain(IMAGES, BUILDS, MODELS, SWEEPS)
    assert rest == {(method, path.partition("?")[0]) for method, path in tables}
    several = {
        route.path.removeprefix(PREFIX)
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and re.fullmatch(f"{PREFIX}/jobs/[a-z]+", route.path)
        if "POST" in (route.methods or ())
    }
    assert several == {*SEVERAL, "/jobs/batch", "/jobs/preview"}


async def judged(
    lab: Lab, who: str, may: tuple[str, ...], needs: Needs, made: Callable[[int], Awaitable[str]], absent: set[str]
) -> None:
    """Ask every route for a thing of its own, and hold the answer against what `who` may."""
    async with lab.client(who) as http:
        for at, ((method, path), (need, body)) in enumerate(needs.items()):
            address = PREFIX + path.format(ref=await made(at), version=1, workspace="*")
            answer = await http.request(method, address, **({} if body is None else {"json": body}))
            allowed = who == "ann" if need == OWNER else need in may
            if not may:
                assert answer.status_code == 404, (who, method, path, answer.text)
                assert answer.json()["code"] in HIDDEN | absent
                assert "ann" not in answer.text
            elif not allowed:
                assert answer.status_code == 403, (who, method, path, answer.text)
            else:
                assert answer.is_success or answer.status_code == 409, (who, method, path, answer.text)


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_images(lab: Lab, who: str, level: int) -> None:
    share = list(JobShare)[level].value

    async def made(at: int) -> str:
        return stored_image(lab.stage.platform, "ann", f"e{at}", "vision", share)

    await judged(lab, who, MAY[who][level], IMAGES, made, {"no_such_image"})


@pytest.mark.parametrize("who", MAY)
async def test_builds_of_images(lab: Lab, who: str) -> None:
    """A build is shared with nobody, whatever becomes of it."""

    async def made(at: int) -> str:
        build = Build(f"b{at}of", f"e{at}", "vision", "ann", 1.0, "failed", 2.0)
        lab.stage.platform.context.images.builds.add(build)
        return build.id

    await judged(lab, who, MAY[who][0], BUILDS, made, {"no_such_build", "no_such_image_build"})


@pytest.mark.parametrize("who", MAY)
async def test_models(lab: Lab, who: str) -> None:
    """A model is shared with nobody."""

    async def made(at: int) -> str:
        return stored_model(lab.stage.platform, "ann", f"net{at}", "vision")

    await judged(lab, who, MAY[who][0], MODELS, made, {"no_such_model"})


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_sweeps(lab: Lab, who: str, level: int) -> None:
    async def made(at: int) -> str:
        body = swept(f"s{at}", {"grid": {"n": [1]}}, "sleep infinity", workspace="vision")
        body["spec"]["share"] = list(JobShare)[level].value
        return (await lab.stage.platform.sweeps.submit(body, ANN, None))[0].id

    await judged(lab, who, MAY[who][level], SWEEPS, made, {"no_such_sweep"})


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_several_jobs_at_once(lab: Lab, who: str, level: int) -> None:
    """Each is done or refused for its own reason: one that is hidden as one that is not there; by a filter nothing is
    found of it.
    """
    may, share = MAY[who][level], list(JobShare)[level]
    async with lab.client(who) as http:
        for path, (need, body) in SEVERAL.items():
            job = await lab.job(share)
            by_filter = {"filter": {"q": "shared", "workspace": "vision"}, "expected": 0 if not may else 1000}
            found = await http.post(PREFIX + path, json={**body, **by_filter}) if READ not in may else None
            assert found is None or found.json()["done"] == found.json()["refused"] == [], (path, found.text)
            answer = await http.post(PREFIX + path, json={**body, "ids": [job]})
            assert answer.status_code == 200, (path, answer.text)
            outcome = answer.json()
            codes = [one["code"] for one in outcome["refused"]]
            if READ not in may:
                assert (outcome["done"], codes) == ([], ["no_such_job"]), (path, answer.text)
            elif need not in may:
                wanted = "not_yours_to_share" if need == SHARE else "only_shared_to_read"
                assert (outcome["done"], codes) == ([], [wanted]), (path, answer.text)
            else:
                assert outcome["done"] == [job] or path == "/jobs/delete", (path, answer.text)  # it has not ended
            if READ not in may:  # nothing became of it
                row = lab.stage.platform.context.master.live[job]
                assert (row.share, row.tags, row.policy.duration_s) == (share, (), None)
                assert row.shown is not Shown.STOPPING
