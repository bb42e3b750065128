"""Volumes: folders that people fill and jobs read and write, within storage quotas (R47, R52, R140, R145, R245)."""

import asyncio
import itertools
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.bins import emptied
from tests.fixtures.people import person
from tests.fixtures.uploads import uploaded
from tests.fixtures.volumes import filled, put
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from tests.scenario.test_matrix import HIDDEN, MAY, READ, SHARE, WRITE, Lab, lab
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, TooLarge
from trainmaster.core.folders.room import Use
from trainmaster.core.states import JobShare
from trainmaster.service.upkeep import volumes
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.assets.versions import AssetQuery

__all__ = ["lab"]  # a fixture

ANN, BOB = person("ann", "vision"), person("bob", "vision")
STRANGER = person("stranger", "speech")
FILES: Final = {"labels.txt": b"daisy rose\n", "train/a.bin": b"a" * 3000}
MIB: Final = 1 << 20


@pytest.fixture
async def vision(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A cluster with two workspaces."""
    monkeypatch.setattr(volumes, "FIRST_S", 0.0)
    monkeypatch.setattr(volumes, "REST", 0.0)
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


def used(stage: Stage, who: str | None = None) -> Use:
    return stage.platform.context.kept.used("vision", who)


def job(name: str, /, workspace: str = "vision", command: str = "true", **mounted: Any) -> dict[str, Any]:
    return {"spec": {**fake_spec(name, command), "workspace": workspace, "inputs": [mounted]}}


def files_of(stage: Stage, volume: str) -> Path:
    return Path(stage.platform.layout.volumes, volume, "files")


async def test_a_job_writes_into_a_volume_and_another_reads_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """R47, R52, R140, R145: at the place of the manual, read-only unless asked for otherwise; what was written counts
    once the job has ended.
    """
    monkeypatch.setattr(volumes, "FIRST_S", 0.0)
    platform = stage.platform
    made = await filled(platform, ADMIN, "scratch", {"in.txt": b"from a person\n"})
    await uploaded(platform, ADMIN, "own", {"x": b"of a data set\n"})
    private = {"dataset": "own", "mount": "/workspace/dataset/private/own"}
    text = (
        "cat /workspace/volume/scratch/in.txt /workspace/dataset/private/own/x; mkdir /workspace/volume/scratch/out; "
        "head -c 300000 /dev/zero > /workspace/volume/scratch/out/big; ln -s /etc /workspace/volume/scratch/link; "
        "echo done > /workspace/volume/scratch/out/result"
    )
    first = await stage.submit(spec("write", text, inputs=[{"volume": "scratch", "read_only": False}, private]))
    view = await stage.ended(first)
    assert view.state == "succeeded", stage.log(first)
    assert "from a person\nof a data set\n" in stage.log(first)
    assert view.spec["inputs"][0] == {"volume": "scratch", "mount": "/workspace/volume/scratch", "read_only": False}
    text = "cat /data/out/result; touch /data/x || echo kept; ls /data/link"
    second = await stage.submit(spec("read", text, inputs=[{"volume": "scratch", "mount": "/data"}]))
    view = await stage.ended(second)
    assert "done\n" in stage.log(second)
    assert "kept" in stage.log(second)
    _, root = await platform.volume_files.root("scratch", ADMIN)
    assert Path(root, "out/result").read_text() == "done\n"
    await until(lambda: platform.volumes.rows.uses([made.id]).get(made.id, Use()).bytes > 300_000)
    detail = await platform.volumes.detail("scratch", ADMIN)
    assert (detail.files, detail.jobs, detail.more_jobs) == (5, [], 0)
    assert detail.path == os.path.dirname(root)


async def test_a_stranger_finds_nothing_of_it(vision: Stage) -> None:
    """Of another workspace, or of the same and it is not shared: told what is told of what never was."""
    platform = vision.platform
    made = await filled(platform, ANN, "scratch", FILES, workspace="vision")
    for who, ref in itertools.product((STRANGER, BOB), ("scratch", made.id)):
        for act in (
            lambda who=who, ref=ref: platform.volumes.detail(ref, who),
            lambda who=who, ref=ref: platform.volumes.delete(ref, who),
            lambda who=who, ref=ref: platform.volume_files.root(ref, who),
            lambda who=who, ref=ref: platform.volume_files.delete(ref, who, "labels.txt"),
            lambda who=who, ref=ref: platform.volume_files.move(ref, who, "labels.txt", "x"),
            lambda who=who, ref=ref: put(platform, who, ref, "x", b"x"),
        ):
            with pytest.raises(NotFound) as why:
                await act()
            assert why.value.code == "no_such_volume"
        assert (await platform.volumes.page(who, AssetQuery(), 9)).total == 0
    told = []
    for (who, workspace), name in itertools.product(((STRANGER, "speech"), (BOB, "vision")), ("scratch", "nothing")):
        with pytest.raises(InvalidSpec) as refused:
            await platform.submit(job("a", workspace, volume=name), who, None)
        [problem] = refused.value.problems
        told.append((problem.path, problem.code))
    assert set(told) == {("inputs.0.volume", "no_volume_for_job")}
    with pytest.raises(Conflict) as taken:
        await platform.volumes.create(BOB, "scratch", "vision")
    assert "ann" not in str(taken.value.problems)


async def test_who_may_only_read_it_gives_it_to_jobs_that_only_read(vision: Stage) -> None:
    platform = vision.platform
    await filled(platform, ANN, "scratch", FILES, workspace="vision", share=JobShare.READ)
    await platform.submit(job("a", volume="scratch"), BOB, None)
    with pytest.raises(InvalidSpec) as refused:
        await platform.submit(job("a", volume="scratch", read_only=False), BOB, None)
    [problem] = refused.value.problems
    assert (problem.path, problem.code) == ("inputs.0.read_only", "volume_not_writable_for_job")
    with pytest.raises(Forbidden):
        await put(platform, BOB, "scratch", "x", b"x")
    await platform.volumes.share("scratch", ANN, JobShare.READ_WRITE)
    await platform.submit(job("a", volume="scratch", read_only=False), BOB, None)
    await put(platform, BOB, "scratch", "x", b"x")


async def test_what_a_job_mounts_is_neither_renamed_nor_deleted(vision: Stage) -> None:
    """The jobs are named, those that may be seen; nobody that comes meanwhile is left with half a mount."""
    platform = vision.platform
    made = await filled(platform, ANN, "scratch", FILES, workspace="vision", share=JobShare.READ)
    own, _ = await platform.submit(job("mine", command="sleep infinity", volume="scratch"), ANN, None)
    other, _ = await platform.submit(job("theirs", command="sleep infinity", volume="scratch"), BOB, None)
    for act in (lambda: platform.volumes.delete("scratch", ANN), lambda: platform.volumes.change(made.id, ANN, "new")):
        with pytest.raises(Conflict) as why:
            await act()
        assert why.value.code == "volume_in_use"
        assert f"mine ({own.id[:8]}), +1" in why.value.message
        assert "theirs" not in why.value.message
    detail = await platform.volumes.detail("scratch", ANN)
    assert ([one.name for one in detail.jobs], detail.more_jobs) == (["mine"], 1)
    assert (await platform.volumes.change(made.id, ANN, description="of the walk")).description == "of the walk"
    for one, who in ((own, ANN), (other, BOB)):
        await platform.stop(one.id, who)
        await vision.ended(one.id)
    renamed = await platform.volumes.change(made.id, ANN, "other")
    assert (renamed.id, renamed.name) == (made.id, "other")
    assert files_of(vision, made.id).joinpath("labels.txt").read_bytes() == FILES["labels.txt"]
    with pytest.raises(InvalidSpec):
        await platform.submit(job("a", volume="scratch"), ANN, None)
    with platform.context.versions.changing("vision", "other"):  # a deletion that has just looked who is live
        late, _ = await platform.submit(job("late", volume="other"), ANN, None)
        ended = await vision.ended(late.id)
        assert (ended.state, ended.verdict.code) == ("failed", "launch_failed")
        assert "other: the volume no longer exists" in ended.verdict.message.en
        with pytest.raises(Conflict):
            await platform.volumes.delete("other", ANN)
    await platform.volumes.delete("other", ANN)
    assert os.listdir(platform.layout.volumes) == [made.id]
    assert used(vision).bytes > 0, "what can come back counts"
    await emptied(platform, ANN)
    await until(lambda: os.listdir(platform.layout.volumes) == [])
    with pytest.raises(NotFound):
        await platform.volumes.detail(made.id, ANN)
    assert used(vision).bytes == 0
    told = [one.code for one in (await platform.auditing.page(ADMIN, AuditFilters(), 50)).items if of_volume(one)]
    assert told[:4] == ["removed", "volume_deleted", "volume_changed", "volume_changed"]


def of_volume(one: Any) -> bool:
    return one.subject.kind == "volume"


async def broken(stage: Stage, volume: str, size: int | None) -> None:
    async with stage.platform.volume_files.arriving(volume, ANN, "labels.txt", size) as taken:
        await taken.write(b"x" * 500)
        if size is None:
            raise ConnectionError
        await taken.finish()


async def test_an_upload_that_breaks_leaves_what_was_there(vision: Stage) -> None:
    """Also one that is shorter or longer than was said; nothing of it counts."""
    platform = vision.platform
    made = await filled(platform, ANN, "scratch", FILES, workspace="vision")
    await until(lambda: used(vision).files == 3)
    for size, error in ((None, ConnectionError), (9999, InvalidSpec)):
        with pytest.raises(error):
            await broken(vision, made.id, size)
        assert used(vision).files == 3
    with pytest.raises(TooLarge):
        await put(platform, ANN, made.id, "x", b"", size=1 << 60)
    root = files_of(vision, made.id)
    assert (root / "labels.txt").read_bytes() == FILES["labels.txt"]
    assert os.listdir(root.parent / "arriving") == []
    assert sorted(os.listdir(root)) == ["labels.txt", "train"]


async def test_volumes_count_in_the_quotas_of_workspace_and_person(vision: Stage) -> None:
    """Of many uploads at once those end that there is room for; what is deleted gives it back, what a job wrote counts,
    also after a restart.
    """
    platform = vision.platform
    await platform.administer.put_workspace(Workspace("vision", storage_per_person={"mib": 10}), ADMIN)
    made = await platform.volumes.create(ANN, "scratch", "vision", share=JobShare.READ_WRITE)

    async def one(number: int) -> str:
        try:
            await put(platform, (ANN, BOB)[number % 2], made.id, f"f{number}", b"x" * (MIB - 4096))
        except InvalidSpec as error:
            return error.problems[0].code
        return "kept"

    found = list[str]()
    for at in (0, 8, 16, 24):
        found += await asyncio.gather(*(one(number) for number in range(at, at + 8)))
        await until(lambda: platform.context.kept.held("volume") == [])
    assert sorted({*found}) == ["kept", "storage_exceeded"]
    there = os.listdir(files_of(vision, made.id))
    assert len(there) == found.count("kept") == 10
    assert used(vision, "ann").files == len(there)
    assert used(vision, "bob") == Use()  # it counts for whose volume it is
    await platform.volume_files.delete(made.id, ANN, there[0])
    await until(lambda: used(vision, "ann").files == len(there) - 1)
    assert await one(99) == "kept"
    (files_of(vision, made.id) / "by-a-job").write_bytes(b"y" * 3 * MIB)  # what a job wrote
    document = job("w", volume="scratch", read_only=False)
    await vision.ended((await platform.submit(document, BOB, None))[0].id)
    await until(lambda: used(vision, "ann").bytes > 12 * MIB)
    with pytest.raises(InvalidSpec):
        await platform.submit(document, ANN, None)
    await vision.restart()
    await until(lambda: used(vision, "ann").bytes > 12 * MIB)
    assert (await vision.platform.volumes.detail(made.id, ANN)).size_bytes > 12 * MIB


async def test_who_makes_a_workspace_of_the_same_name_finds_no_volume_of_the_one_before(vision: Stage) -> None:
    platform = vision.platform
    made = await filled(platform, ANN, "scratch", FILES, workspace="vision", share=JobShare.READ_WRITE)
    await platform.administer.drop_workspace("vision", ADMIN)
    await platform.administer.put_workspace(Workspace("vision"), ADMIN)
    with pytest.raises(NotFound):
        await platform.volumes.detail(made.id, BOB)
    assert (await platform.volumes.detail(made.id, ANN)).share is JobShare.NONE


async def test_names_and_fields_are_judged_at_once(vision: Stage) -> None:
    platform = vision.platform
    for name in ("", "no way!", "x" * 31, "a/b", ".."):
        with pytest.raises(InvalidSpec):
            await platform.volumes.create(ANN, name, "vision")
    with pytest.raises(InvalidSpec) as why:
        await platform.volumes.create(ANN, "", "speech", "x" * 2001)
    assert [one.path for one in why.value.problems] == ["name", "description", "workspace"]
    made = await platform.volumes.create(ANN, "数据", "vision")
    await platform.volumes.create(ANN, "b", "vision")
    with pytest.raises(Conflict):
        await platform.volumes.change(made.id, ANN, "b")
    assert (await platform.volumes.page(ANN, AssetQuery("数据"), 9)).total == 1
    for given in ({"dataset": "d"}, {"path": "/x", "name": "n"}):
        with pytest.raises(InvalidSpec) as why:
            await platform.submit(job("a", volume="b", **given), ANN, None)
        assert why.value.problems[0].code == "several_sources"
    with pytest.raises(InvalidSpec):
        await platform.submit(job("a", volume="b@1"), ANN, None)


NEEDS: Final = {
    ("GET", "/volumes/{ref}"): (READ, None),
    ("PUT", "/volumes/{ref}/favorite"): (READ, None),
    ("DELETE", "/volumes/{ref}/favorite"): (READ, None),
    ("GET", "/volumes/{ref}/files"): (READ, None),
    ("GET", "/volumes/{ref}/files/content?path=w"): (READ, None),
    ("GET", "/volumes/{ref}/files/download"): (READ, None),
    ("PATCH", "/volumes/{ref}"): (WRITE, {"description": "of the walk"}),
    ("PUT", "/volumes/{ref}/files/content?path=n"): (WRITE, {"a": "file"}),
    ("POST", "/volumes/{ref}/folders"): (WRITE, {"path": "a/b"}),
    ("POST", "/volumes/{ref}/moves"): (WRITE, {"path": "w", "to": "a/w"}),
    ("DELETE", "/volumes/{ref}/files?path=w"): (WRITE, None),
    ("PUT", "/volumes/{ref}/share"): (SHARE, {"share": "none"}),
    ("DELETE", "/volumes/{ref}"): (WRITE, None),
}
"""What a route needs of a volume."""


async def test_the_table_has_every_route_of_a_volume(lab: Lab) -> None:
    routes = {
        (method, route.path.removeprefix(PREFIX))
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and route.path.startswith(f"{PREFIX}/volumes/{{ref}}")
        for method in route.methods or ()
    }
    assert routes == {(method, path.partition("?")[0]) for method, path in NEEDS}


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_each_may_do_what_the_table_says(lab: Lab, who: str, level: int) -> None:
    """R223 to R228: as with jobs. Who may not see it is told that it is not there."""
    may, share, platform = MAY[who][level], list(JobShare)[level], lab.stage.platform
    async with lab.client(who) as http:
        for at, ((method, path), (need, body)) in enumerate(NEEDS.items()):
            made = await filled(platform, ANN, f"d{at}", {"w": b"w"}, workspace="vision", share=share)
            listed = (await http.get(f"{PREFIX}/volumes")).json()["items"]
            assert (made.id in {one["id"] for one in listed}) == (READ in may)
            address = PREFIX + path.format(ref=made.id)
            answer = await http.request(method, address, **({} if body is None else {"json": body}))
            if need in may:
                assert answer.is_success, (method, path, answer.text)
            elif may:
                assert answer.status_code == 403, (method, path, answer.text)
            else:
                assert answer.status_code == 404, (method, path, answer.text)
                assert answer.json()["code"] in HIDDEN | {"no_such_volume"}
