"""Storage quotas: how much may be kept for a workspace and for a person in it; at uploads, at submit, when a model is
saved, and after a restart (B13).
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.bins import emptied
from tests.fixtures.people import person
from tests.fixtures.uploads import begun, sent, uploaded
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from trainmaster.core.cluster import DEFAULT, Most, Workspace
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.room import Use
from trainmaster.service.upkeep import folders
from trainmaster.service.use_cases.auditing import AuditFilters

ANN, BOB, EVE = person("ann", "vision"), person("bob", "vision"), person("eve", "speech")
KIB = 1024
MIB = 1 << 20


async def limited(stage: Stage, storage: Most | None = None, **more: Any) -> None:
    await stage.platform.administer.put_workspace(Workspace("vision", storage=storage or {}, **more), ADMIN)


def files_of(name: str, *sizes: int) -> dict[str, bytes]:
    """Return files with contents that no other name has."""
    return {f"{name}-{at}": f"{name} {at} ".encode() + b"x" * size for at, size in enumerate(sizes)}


def used(stage: Stage, workspace: str = "vision", who: str | None = None) -> Use:
    return stage.platform.context.kept.used(workspace, who)


async def refused(work: Any) -> tuple[str, str]:
    """Return field and code of the one problem for which `work` is refused."""
    with pytest.raises(InvalidSpec) as found:
        await work
    [problem] = found.value.problems
    return problem.path, problem.code


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.fixture
async def vision(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(folders, "FIRST_S", 0.0)
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def test_of_fifty_uploads_at_once_no_more_are_kept_than_there_is_room_for(vision: Stage) -> None:
    """Each begins, sends and commits beside the others; whoever was refused leaves nothing."""
    await limited(vision, {"mib": 10})
    most = 0

    async def one(number: int) -> str:
        nonlocal most
        who, name = (ANN, BOB)[number % 2], f"set-{number}"
        content = files_of(name, MIB - 100)
        try:
            upload = await begun(vision.platform, who, name, content, workspace="vision")
            most = max(most, used(vision).bytes)
            await sent(vision.platform, who, upload, content)
            await vision.platform.dataset_uploads.commit(upload.id, who)
        except InvalidSpec as error:
            return error.problems[0].code
        most = max(most, used(vision).bytes)
        return "kept"

    found = await asyncio.gather(*(one(number) for number in range(30)))
    found += await asyncio.gather(*(one(number) for number in range(30, 50)))
    assert sorted({*found}) == ["kept", "storage_exceeded"]
    assert found.count("kept") == 10
    assert 10 * (MIB - 100) < used(vision).bytes == most <= 10 * MIB
    assert os.listdir(Path(vision.platform.layout.datasets, ".uploads")) == []
    versions = [one for one in os.listdir(vision.platform.layout.datasets) if one.startswith("u")]
    assert len(versions) == 10


async def test_files_are_limited_and_so_is_each_person(vision: Stage) -> None:
    await limited(vision, {"files": 9}, storage_per_person={"files": 4}, storage_people={"bob": {"files": 6}})
    platform = vision.platform
    await uploaded(platform, ANN, "a", files_of("a", 1, 1, 1), workspace="vision")
    assert await refused(begun(platform, ANN, "b", files_of("b", 1, 1), workspace="vision")) == (
        "workspace",
        "storage_exceeded_by_files",
    )
    await uploaded(platform, BOB, "c", files_of("c", *[1] * 5), workspace="vision")
    with pytest.raises(InvalidSpec) as found:
        await begun(platform, BOB, "d", files_of("d", 1, 1), workspace="vision")
    told = "This needs 2 files more, and workspace vision may keep 9, of which 8 are taken"
    assert found.value.problems[0].rule == told
    seen = platform.resources.workspace("vision", ANN).storage
    assert (seen.use.used_files, seen.use.limit_files, seen.mine.used_files, seen.mine.limit_files) == (8, 9, 3, 4)
    assert (seen.by_person, seen.people) == ([], {"bob": {"files": 6}})  # who keeps how much is for who administers it
    led = platform.resources.workspace("vision", ADMIN).storage
    assert [(one.person, one.used_files, one.limit_files) for one in led.by_person] == [("bob", 5, 6), ("ann", 3, 4)]
    other = platform.resources.workspace("vision", EVE).storage
    assert (other.by_person, other.people, other.use.used_files) == ([], {}, 8)


async def test_what_versions_share_counts_once_and_stays_with_the_one_that_is_left(vision: Stage) -> None:
    platform, one, two = vision.platform, files_of("one", 3000, 3000), files_of("two", 500)
    await uploaded(platform, ANN, "set", one, workspace="vision")
    first = used(vision)
    assert first == Use(sum(map(len, one.values())), 2)
    await uploaded(platform, ANN, "set", {**one, **two}, workspace="vision")
    both = Use(first.bytes + len(two["two-0"]), 3)
    assert used(vision) == both
    await uploaded(platform, EVE, "set", one, workspace="speech")  # counts for each workspace that has it
    assert used(vision, "speech") == first
    await vision.restart()
    assert (used(vision), used(vision, "speech")) == (both, first)
    platform = vision.platform
    await platform.datasets.delete_version("set", 1, ANN)
    assert used(vision) == both
    assert await emptied(platform, ANN) == ["set@1"]
    assert used(vision) == both
    await platform.datasets.delete("set", ANN)
    assert used(vision) == both, "what can come back counts"
    await emptied(platform, ANN)
    assert used(vision) == Use()
    assert used(vision, "speech") == first


async def test_an_upload_under_way_holds_its_room_also_after_a_restart(vision: Stage) -> None:
    await limited(vision, {"mib": 4})
    content = files_of("a", 2 * MIB, 1 * MIB)
    upload = await begun(vision.platform, ANN, "a", content, workspace="vision")
    holds = used(vision)
    assert holds.bytes == sum(map(len, content.values()))
    await vision.restart()
    assert used(vision) == holds
    more = files_of("b", 2 * MIB)
    assert (await refused(begun(vision.platform, BOB, "b", more, workspace="vision")))[1] == "storage_exceeded"
    await vision.platform.dataset_uploads.cancel(upload.id, ANN)
    assert used(vision) == Use()
    await uploaded(vision.platform, BOB, "b", more, workspace="vision")


async def test_an_upload_goes_on_only_while_the_quota_allows_it_and_can_be_continued(vision: Stage) -> None:
    platform, content = vision.platform, files_of("a", 2 * MIB)
    upload = await begun(platform, ANN, "a", content, workspace="vision")
    await limited(vision, {"mib": 1})
    assert (await refused(sent(platform, ANN, upload, content)))[1] == "storage_over"
    assert (await refused(platform.dataset_uploads.commit(upload.id, ANN)))[1] == "storage_over"
    await limited(vision, {"mib": 3})
    await sent(platform, ANN, upload, content)
    made, now = await platform.dataset_uploads.commit(upload.id, ANN)
    assert (made.version.version, now) == (1, True)


async def test_a_job_is_refused_where_nothing_more_may_be_kept(vision: Stage) -> None:
    platform = vision.platform
    await uploaded(platform, ANN, "a", files_of("a", MIB), workspace="vision")
    await limited(vision, {"mib": 1})
    wanted = {"spec": fake_spec("j", workspace="vision")}
    assert await refused(platform.submit(wanted, BOB, None)) == ("workspace", "storage_full")
    told = [one.code for one in (await platform.preview(wanted, BOB)).problems]
    assert "storage_full" in told
    shown = platform.resources.workspace("vision", BOB).storage.use
    assert shown.warning is not None
    await platform.datasets.delete("a", ANN)
    await emptied(platform, ANN)
    await vision.ended((await platform.submit(wanted, BOB, None))[0].id)
    await limited(vision, storage_per_person={"files": 0})
    assert (await refused(platform.submit(wanted, BOB, None)))[1] == "storage_full_of_files"


async def test_quotas_are_told_and_audited_and_wrong_ones_refused(vision: Stage) -> None:
    administer = vision.platform.administer
    await limited(vision, {"mib": 100, "files": None}, storage_people={"ann": {"mib": 10}})
    events = vision.platform.auditing.page(ADMIN, AuditFilters(subject="workspace:vision"), 10)
    changes = [(one.field, one.before, one.after) for one in (await events).items[0].changes]
    assert changes == [("storage.mib", None, 100), ("storage_people.ann.mib", None, 10)]
    wrong = Workspace("vision", storage={"gib": 1}, storage_people={"ann": {"inodes": 1}})
    with pytest.raises(InvalidSpec) as found:
        await administer.put_workspace(wrong, ADMIN)
    assert [(one.path, one.code) for one in found.value.problems] == [
        ("storage.gib", "bad_storage"),
        ("storage_people.ann.inodes", "bad_storage"),
    ]
    await administer.put_limits("vision", {}, {}, ADMIN)
    assert vision.platform.context.pools.workspaces["vision"].storage_people == {"ann": {"mib": 10}}


async def test_job_folders_and_models_count_until_they_are_deleted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a job wrote is measured after its end, its model when it is saved; holes cost nothing."""
    monkeypatch.setattr(folders, "FIRST_S", 0.0)
    await stage.platform.administer.put_workspace(Workspace(DEFAULT, storage={"mib": 4}), ADMIN)
    text = "head -c 1000000 /dev/urandom > /model/w; truncate -s 8T /model/holes"
    job = await stage.submit(spec("small", text))
    assert (await stage.ended(job)).state == "succeeded"
    await until(lambda: used(stage, DEFAULT).bytes > 2_000_000)
    kept = used(stage, DEFAULT, "admin")
    assert kept.bytes < 2_300_000
    large = await stage.submit(spec("large", "head -c 3000000 /dev/urandom > /model/w"))
    view = await stage.ended(large)
    assert view.state == "failed"
    assert (
        view.verdict.code,
        "This needs 3MiB more, and workspace default may keep 4MiB, of which 2MiB are taken" in view.verdict.message.en,
    ) == (
        "save_failed",
        True,
    ), view.verdict
    assert [one.name for one in (await stage.platform.models(ADMIN)).items] == ["small"]
    await until(lambda: used(stage, DEFAULT).bytes > kept.bytes + 3_000_000)
    for one in (job, large):
        await stage.platform.delete(one, ADMIN)
    model = used(stage, DEFAULT)
    assert 1_000_000 <= model.bytes < 1_100_000
    await stage.restart()
    assert used(stage, DEFAULT) == model


async def test_what_an_earlier_server_did_not_measure_is_measured(vision: Stage) -> None:
    platform = vision.platform
    await uploaded(platform, ANN, "a", files_of("a", 3000), workspace="vision")
    job = (await platform.submit({"spec": fake_spec("j", workspace="vision")}, ANN, None))[0].id
    await vision.ended(job)
    folder = Path(platform.layout.job(job))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log").write_bytes(b"x" * 8192)
    before = 0

    def settled() -> bool:
        nonlocal before
        before = used(vision).files
        return before >= 2

    rows = platform.context.kept._rows
    await until(lambda: rows.not_measured(10)[0] == [])
    rows._database.write(lambda connection: connection.exec_driver_sql("DELETE FROM kept_job").close()).result()
    rows._database.write(lambda connection: connection.exec_driver_sql("DELETE FROM kept_version").close()).result()
    await vision.restart()
    await until(settled)
