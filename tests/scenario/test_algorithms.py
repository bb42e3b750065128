"""Algorithms: made, run by jobs that are given their places as arguments, shared, deleted (R23, R24, R48, R60, R138,
R139, R150-R157).
"""

import asyncio
import itertools
from typing import Any, Final

import pytest

from tests.fixtures.algorithms import made_algorithm, received
from tests.fixtures.people import person
from tests.fixtures.uploads import uploaded
from tests.scenario.stage import ADMIN, Stage, fake_spec
from tests.scenario.test_matrix import HIDDEN, MAY, READ, SHARE, WRITE, Lab, lab
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.algorithms import WantedAlgorithm
from trainmaster.service.use_cases.assets.templates import WantedTemplate
from trainmaster.store.assets.versions import AssetQuery
from trainmaster.store.leftovers import Leftovers

__all__ = ["lab"]  # a fixture

ANN, BOB = person("ann", "vision"), person("bob", "vision")
STRANGER = person("stranger", "speech")
SCRIPT: Final = """
import argparse, os, pathlib, sys
parser = argparse.ArgumentParser()
for name in ("data_url", "train_url", "note"):
    parser.add_argument("--" + name)
parser.add_argument("--lr", type=float)
parser.add_argument("--epochs", type=int)
args = parser.parse_args()
print("got", args.lr, args.epochs, args.note, os.getcwd(), os.environ["BEST"])
pathlib.Path(args.train_url, "result.txt").write_text(pathlib.Path(args.data_url, "labels.txt").read_text())
pathlib.Path(os.environ["BEST"], "w.txt").write_text("weights")
"""
DOCUMENT: Final[dict[str, Any]] = {
    "command": "python train.py",
    "parameters": [
        {"name": "lr", "type": "float", "default": 0.1, "min": 0, "max": 1},
        {"name": "epochs", "type": "int", "required": True},
        {"name": "note", "type": "str", "default": "two 'words' & $HOME; true"},
    ],
    "custom_parameters": False,
    "inputs": ["data_url"],
    "outputs": ["train_url", {"name": "BEST", "given": "variable", "to": "model"}],
}
RUN: Final[dict[str, Any]] = {
    "parameters": {"epochs": 3},
    "inputs": [{"dataset": "digits", "channel": "data_url"}],
    "resources": {"cpu": 0.5, "memory": 256},
}
SLEEPS: Final = {"command": "sleep infinity", "parameters": DOCUMENT["parameters"], "custom_parameters": False}


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


def job(algorithm: str = "net", **fields: Any) -> dict[str, Any]:
    return {"name": "run", "workspace": "vision", "algorithm": algorithm, "parameters": {"epochs": 1}, **fields}


async def refusals(stage: Stage, document: dict[str, Any], who: Any = ANN) -> list[tuple[str, str]]:
    """Return what speaks against a job; the preview says the same."""
    with pytest.raises(InvalidSpec) as why:
        await stage.platform.submit({"spec": document}, who, None)
    shown = await stage.platform.preview({"spec": document}, who)
    assert [(one.path, one.code) for one in shown.problems] == [(one.path, one.code) for one in why.value.problems]
    return [(one.path, one.code) for one in why.value.problems]


async def test_an_unchanged_script_gets_its_parameters_and_places(stage: Stage) -> None:
    """R135, R138, R139, R152, R154: as arguments or variables; the job says all of it, and its clone runs the same."""
    await uploaded(stage.platform, ADMIN, "digits", {"labels.txt": b"0 1 2\n"})
    await made_algorithm(stage.platform, ADMIN, "net", {"train.py": SCRIPT}, DOCUMENT)
    document = {**RUN, "name": "run", "algorithm": "net"}
    shown = await stage.platform.preview({"spec": document}, ADMIN)
    assert (shown.ok, shown.problems) == (True, [])
    assert "--data_url=/dataset" in shown.roles[0].command
    first = await stage.submit(document)
    view = await stage.ended(first)
    assert view.state == "succeeded", stage.log(first)
    assert "got 0.1 3 two 'words' & $HOME; true /code /model" in stage.log(first)
    assert view.spec["algorithm"] == "net@1"
    assert view.spec["roles"][0]["parameters"] == {
        "lr": 0.1,
        "epochs": 3,
        "note": "two 'words' & $HOME; true",
        "data_url": "$TRAINMASTER_DATASET_DIR",
        "train_url": "$TRAINMASTER_OUTPUT_DIR",
    }
    layout = stage.platform.layout
    with open(f"{layout.outputs(first)}/result.txt") as file:
        assert file.read() == "0 1 2\n"
    await made_algorithm(stage.platform, ADMIN, "net", {"train.py": "print('another')"}, DOCUMENT)
    copy = await stage.platform.clone(first, ADMIN, {})
    assert (await stage.view(copy.id)).spec["algorithm"] == "net@1"
    assert (await stage.ended(copy.id)).state == "succeeded"
    assert "got 0.1 3" in stage.log(copy.id)


async def test_a_version_is_made_once_and_its_number_given_once(vision: Stage) -> None:
    """R24: the same document again is the same version."""
    platform = vision.platform
    code = {"train.py": "print(1)"}
    one = await made_algorithm(platform, ANN, "net", code, DOCUMENT, workspace="vision")
    assert await made_algorithm(platform, ANN, "net", code, DOCUMENT, workspace="vision") == one
    assert (await platform.algorithms.detail("net", ANN)).versions == 1
    await made_algorithm(platform, ANN, "net", {"train.py": "print(2)"}, DOCUMENT, workspace="vision")
    detail = await platform.algorithms.detail("net", ANN)
    assert ([entry.version for entry in detail.history], detail.shown) == ([2, 1], 2)
    assert (await platform.algorithms.detail("net", ANN, 1)).spec["code"]["upload"] == detail.history[1].code
    await platform.algorithms.delete_version("net", 2, ANN)
    await made_algorithm(platform, ANN, "net", {"train.py": "print(3)"}, DOCUMENT, workspace="vision")
    assert [entry.version for entry in (await platform.algorithms.detail("net", ANN)).history] == [3, 1]
    for version in (2, 4):
        with pytest.raises(NotFound):
            await platform.algorithms.detail("net", ANN, version)
    with pytest.raises(NotFound):
        await platform.algorithms.delete_version("net", 2, ANN)


async def test_all_that_is_wrong_is_told_at_once(vision: Stage) -> None:
    wanted = WantedAlgorithm("no way!", {"command": "a && b", "code": {"upload": "sha256:" + "0" * 64}}, "nowhere")
    with pytest.raises(InvalidSpec) as why:
        await vision.platform.algorithms.create(ANN, wanted)
    assert {one.path for one in why.value.problems} == {"name", "workspace", "command"}
    for code, path in (({"upload": "sha256:" + "0" * 64}, "code.upload"), ({"path": "src"}, "code.path")):
        wanted = WantedAlgorithm("net", {"command": "true", "code": code}, "vision")
        with pytest.raises(InvalidSpec) as why:
            await vision.platform.algorithms.create(ANN, wanted)
        assert [one.path for one in why.value.problems] == [path]
    with pytest.raises(InvalidSpec):
        await made_algorithm(vision.platform, STRANGER, "net", workspace="vision")


async def test_a_job_is_judged_by_it_before_it_is_taken_in(vision: Stage) -> None:
    """R60, R155, R156: with everything else that is wrong with it."""
    await made_algorithm(vision.platform, ANN, "net", {}, {**SLEEPS, "runs_on": ["gpu"]}, workspace="vision")
    wanted = {"epochs": "three", "lr": 2, "momentum": 0.9}
    assert await refusals(vision, job(parameters=wanted)) == [
        ("roles.0.parameters.lr", "too_big"),
        ("roles.0.parameters.epochs", "not_integer"),
        ("roles.0.parameters.momentum", "no_such_parameter"),
        ("roles.0.resources.gpu", "runs_on_others"),
    ]
    assert await refusals(vision, job("gone", name="no way!")) == [
        ("algorithm", "no_algorithm_for_job"),
        ("name", "bad_name"),
    ]
    assert await refusals(vision, job("a b")) == [("algorithm", "bad_reference")]


async def test_anothers_is_the_same_as_none(vision: Stage) -> None:
    platform = vision.platform
    made = await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision")
    for who, workspace in ((STRANGER, "speech"), (BOB, "vision")):
        for ref in ("net", made):
            for asked in (
                platform.algorithms.detail(ref, who),
                platform.algorithms.code(ref, 1, who),
                platform.algorithms.delete(ref, who),
            ):
                with pytest.raises(NotFound):
                    await asked
        assert (await platform.algorithms.page(who, AssetQuery(), 9)).total == 0
        for name in ("net", "nothing"):
            assert await refusals(vision, job(name, workspace=workspace), who) == [
                ("algorithm", "no_algorithm_for_job")
            ]
    with pytest.raises(Conflict):
        await made_algorithm(platform, BOB, "net", workspace="vision")


async def test_it_is_shared_as_data_sets_are(vision: Stage) -> None:
    """R23, R223: to read, its members run it; read-write, they make versions of it. An administrator's is a preset."""
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision", share=JobShare.READ)
    made, _ = await platform.submit({"spec": job()}, BOB, None)
    assert (await vision.view(made.id)).spec["algorithm"] == "net@1"
    [seen] = (await platform.algorithms.detail("net", BOB)).jobs
    assert (seen.id, seen.version) == (made.id, 1)
    for refused in (
        platform.algorithms.describe("net", BOB, "mine"),
        platform.algorithms.share("net", BOB, JobShare.NONE),
        made_algorithm(platform, BOB, "net", workspace="vision"),
    ):
        with pytest.raises(Forbidden):
            await refused
    await platform.algorithms.share("net", ANN, JobShare.READ_WRITE)
    await made_algorithm(platform, BOB, "net", {"train.py": "1"}, SLEEPS, workspace="vision")
    detail = await platform.algorithms.describe("net", BOB, "a net")
    assert (detail.owner, detail.latest, detail.history[0].by, detail.may) == ("ann", 2, "bob", ["write"])
    assert not detail.preset
    await made_algorithm(platform, ADMIN, "given", {}, SLEEPS, workspace="vision", share=JobShare.READ)
    assert (await platform.algorithms.detail("given", BOB)).preset


async def test_what_a_version_names_is_kept_and_a_job_outlives_it(vision: Stage) -> None:
    """Its code is an upload: needed by versions, and by jobs, which keep what they got."""
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {"train.py": "kept"}, SLEEPS, workspace="vision")
    digest = received(platform.layout, {"train.py": "kept"}).removeprefix("sha256:")
    leftovers = Leftovers(platform._life._database)

    def named() -> set[str]:
        found, after = leftovers.uploads_named()
        while after is not None:
            more, after = leftovers.uploads_named(after)
            found |= more
        return found

    assert digest in await asyncio.to_thread(named)
    made, _ = await platform.submit({"spec": job()}, ANN, None)
    await platform.algorithms.delete("net", ANN)
    with pytest.raises(NotFound):
        await platform.algorithms.detail("net", ANN)
    assert digest in await asyncio.to_thread(named)
    assert await refusals(vision, job()) == [("algorithm", "no_algorithm_for_job")]
    unnamed = (await vision.view(made.id)).spec | {"algorithm": None}
    again, _ = await platform.submit({"spec": unnamed}, ANN, None)
    assert (await vision.view(again.id)).spec["code"] == {"path": None, "upload": f"sha256:{digest}"}


async def test_a_sweep_goes_over_its_parameters(vision: Stage) -> None:
    """R45, R155: every entry is judged, and all run one version."""
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision")
    document = job(sweep={"grid": {"lr": [0.1, 0.5]}})
    made, _ = await platform.sweeps.submit({"spec": document}, ANN, None)
    entries = (await platform.sweeps.views.entries(made.id, ANN, "index", (), 9, 0)).items
    specs = [(await vision.view(entry.job)).spec for entry in entries]
    assert [(spec["algorithm"], spec["roles"][0]["parameters"]["lr"]) for spec in specs] == [
        ("net@1", 0.1),
        ("net@1", 0.5),
    ]
    document["sweep"] = {"grid": {"lr": [0.1, 5]}}
    with pytest.raises(InvalidSpec) as why:
        await platform.sweeps.submit({"spec": document}, ANN, None)
    assert [(one.path, one.code) for one in why.value.problems] == [("entries.2.roles.0.parameters.lr", "too_big")]


async def test_each_entry_of_a_batch_has_its_own(vision: Stage) -> None:
    """R48: one submit, each entry with its algorithm, command and parameters; judged each by its own."""
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision")
    await made_algorithm(platform, ANN, "tree", None, {"command": "python tree.py"}, workspace="vision")
    rows: list[dict[str, Any]] = [
        {"algorithm": "net", "parameters": {"epochs": 2, "lr": 0.5}},
        {"algorithm": "tree@1", "parameters": {"depth": 3}},
        {"command": "python baseline.py"},
        {"algorithm": "tree", "parameters": {"depth": 4}},
    ]
    document = {**job(), "command": "true", "parameters": {}, "sweep": {"list": rows}}
    del document["algorithm"]
    would = await platform.sweeps.preview({"spec": document}, ANN)
    assert would.problems == []
    assert [(one.algorithm, one.command) for one in would.first] == [
        ("net", None), ("tree@1", None), (None, "python baseline.py"), ("tree", None),
    ]  # fmt: skip
    made, _ = await platform.sweeps.submit({"spec": document}, ANN, None)
    entries = (await platform.sweeps.views.entries(made.id, ANN, "index", (), 9, 0)).items
    assert [(one.algorithm, one.own) for one in entries] == [
        ("net", ["algorithm"]), ("tree@1", ["algorithm"]), (None, ["command"]), ("tree", ["algorithm"]),
    ]  # fmt: skip
    specs = [(await vision.view(entry.job)).spec for entry in entries]
    roles = [spec["roles"][0] for spec in specs]
    assert [(spec["algorithm"], role["command"]) for spec, role in zip(specs, roles, strict=True)] == [
        ("net@1", "sleep infinity"),
        ("tree@1", "python tree.py"),
        (None, "python baseline.py"),
        ("tree@1", "python tree.py"),
    ]
    assert [role["parameters"].get("depth") for role in roles] == [None, 3, None, 4]
    assert roles[0]["parameters"]["epochs"] == 2
    assert specs[1]["code"]["upload"] == specs[3]["code"]["upload"]
    ordered = (await platform.sweeps.views.entries(made.id, ANN, "algorithm", (), 9, 0)).items
    assert [one.index for one in ordered] == [1, 4, 2, 3]
    rows += [
        {"algorithm": "net", "parameters": {"epochs": 2, "lr": 7}},
        {"algorithm": "nothing"},
        {"algorithm": "tree", "command": "python other.py"},
    ]
    with pytest.raises(InvalidSpec) as why:
        await platform.sweeps.submit({"spec": document}, ANN, None)
    found = [(one.path, one.code) for one in why.value.problems]
    assert ("entries.5.roles.0.parameters.lr", "too_big") in found
    assert ("entries.6.algorithm", "no_algorithm_for_job") in found
    assert "entries.7.roles.0.command" in dict(found)
    assert {path.split(".")[1] for path, _ in found} == {"5", "6", "7"}


async def test_a_template_holds_the_version_that_it_was_made_with(vision: Stage) -> None:
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision")
    with pytest.raises(InvalidSpec):
        await platform.templates.create(ANN, WantedTemplate("bad", {"spec": job(parameters={"epochs": 1, "lr": 9})}))
    await platform.templates.create(ANN, WantedTemplate("plan", {"spec": job()}))
    await made_algorithm(platform, ANN, "net", {"train.py": "2"}, SLEEPS, workspace="vision")
    made, _ = await platform.templates.submit("plan", ANN, {}, {"lr": 0.2})
    spec = (await vision.view(made.id)).spec
    assert (spec["algorithm"], spec["roles"][0]["parameters"]["lr"]) == ("net@1", 0.2)
    with pytest.raises(InvalidSpec):
        await platform.templates.submit("plan", ANN, {}, {"lr": 2})
    again, _ = await platform.submit({"spec": job(), "set": {"algorithm": "net@2"}}, ANN, None)
    assert (await vision.view(again.id)).spec["algorithm"] == "net@2"


async def test_a_removed_workspace_takes_its_shares_with_it(vision: Stage) -> None:
    platform = vision.platform
    await made_algorithm(platform, ANN, "net", {}, SLEEPS, workspace="vision", share=JobShare.READ)
    await platform.administer.drop_workspace("vision", ADMIN)
    assert (await platform.algorithms.detail("net", ANN)).share == "none"


async def test_without_algorithm_nothing_changes(vision: Stage) -> None:
    made = await vision.submit(fake_spec("plain"))
    assert (await vision.view(made)).spec["algorithm"] is None


NEEDS: Final = {
    ("GET", "/algorithms/{ref}"): (READ, None),
    ("PUT", "/algorithms/{ref}/favorite"): (READ, None),
    ("DELETE", "/algorithms/{ref}/favorite"): (READ, None),
    ("GET", "/algorithms/{ref}/versions/{version}/download"): (READ, None),
    ("PATCH", "/algorithms/{ref}"): (WRITE, {"description": "of the walk"}),
    ("PUT", "/algorithms/{ref}/share"): (SHARE, {"share": "none"}),
    ("PUT", "/algorithms/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/algorithms/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/algorithms/{ref}/versions/{version}"): (WRITE, None),
    ("DELETE", "/algorithms/{ref}"): (WRITE, None),
}
"""What a route needs of an algorithm."""


async def test_the_table_has_every_route_of_an_algorithm(lab: Lab) -> None:
    routes = {
        (method, route.path.removeprefix(PREFIX))
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and route.path.startswith(f"{PREFIX}/algorithms/{{ref}}")
        for method in route.methods or ()
    }
    assert routes == set(NEEDS)


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_each_may_do_what_the_table_says(lab: Lab, who: str, level: int) -> None:
    """R223 to R228: as with jobs. Who may not see it is told that it is not there."""
    may, share, platform = MAY[who][level], list(JobShare)[level], lab.stage.platform
    async with lab.client(who) as http:
        for at, ((method, path), (need, body)) in enumerate(NEEDS.items()):
            made = await made_algorithm(platform, ANN, f"a{at}", workspace="vision", share=share)
            listed = (await http.get(f"{PREFIX}/algorithms")).json()["items"]
            assert (made in {one["id"] for one in listed}) == (READ in may)
            address = PREFIX + path.format(ref=made, version=1, workspace="*")
            answer = await http.request(method, address, **({} if body is None else {"json": body}))
            if need in may:
                assert answer.is_success, (method, path, answer.text)
            elif may:
                assert answer.status_code == 403, (method, path, answer.text)
            else:
                assert answer.status_code == 404, (method, path, answer.text)
                assert answer.json()["code"] in HIDDEN | {"no_such_algorithm"}
