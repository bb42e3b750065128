"""Homes on small disks of their own that jobs fill (B13): what must be written is, and the rest waits and says for
what.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.fixtures import disks
from tests.fixtures.api_contract import signed_in
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import StorageFailed
from trainmaster.sdk.pack import pack

BYTES = "i=0; while head -c 500000 /dev/zero > /workspace/outputs/$i; do i=$((i+1)); sleep 0.02; done; sleep 600"
FILES = "i=0; while echo > /workspace/outputs/$i; do i=$((i+1)); done 2> /dev/null; sleep 600"
MODEST = "i=0; while [ ! -e /workspace/outputs/go ]; do echo line $((i=i+1)); sleep 0.2; done; echo end"


@pytest.fixture(params=["bytes", "files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """64 MiB, or room for 2,000 files, and what fills it."""
    small = disks.in_memory(tmp_path / "d", 64) if request.param == "bytes" else disks.ext4(tmp_path / "d", 96, 2000)
    with small as folder:
        yield folder, BYTES if request.param == "bytes" else FILES


@pytest.fixture
async def stage(disk: tuple[Path, str]) -> AsyncIterator[Stage]:
    """The platform on it, without a budget that would end a job sooner."""
    async with Stage(disk[0] / "home", {"limits": {"disk_share": 0.0, "sample_s": 0.5}}) as stage:
        yield stage


async def refused(stage: Stage) -> StorageFailed:
    """Return what a submit is refused with."""
    with pytest.raises(StorageFailed) as found:
        await stage.submit(spec("more"))
    return found.value


async def test_who_fills_the_disk_is_ended_and_everything_goes_on(stage: Stage, disk: tuple[Path, str]) -> None:
    """The filler's end is recorded, it can be deleted, and then all is as before; who wrote little noticed nothing."""
    modest = await stage.submit(spec("modest", MODEST, model={"save": False}))
    await stage.running(modest, "line 1")
    filler = await stage.submit(spec("filler", disk[1], resources={"cpu": 4}))
    view = await stage.ended(filler)
    assert (view.state, view.verdict.code) == ("failed", "disk_full")
    await stage.until(filler, lambda _: bool(stage.platform.context.disks.short), "the server to notice")
    told = await refused(stage)
    assert (told.status, "is nearly full" in told.message) == (507, True)
    assert "is nearly full" in (await stage.platform.ready()).checks["disk"]
    assert (await stage.view(modest)).state == "running"
    await stage.platform.delete(filler, ADMIN)
    assert not os.path.exists(stage.platform.layout.job(filler))
    later = await stage.submit(spec("later"))
    assert (await stage.ended(later)).state == "succeeded"
    Path(stage.platform.layout.outputs(modest), "go").touch()
    assert (await stage.ended(modest)).state == "succeeded"
    assert stage.platform.context.disks.short is None


async def test_a_disk_that_somebody_else_filled_is_waited_for(tmp_path: Path) -> None:
    """Not one byte is left: ends, stops and deletions are stored, waiting jobs say why they wait, and nobody is
    ended.
    """
    with disks.in_memory(tmp_path / "d", 64) as disk:
        async with Stage(disk / "home") as stage:
            done = await stage.submit(spec("done", "head -c 100k /dev/urandom"))
            await stage.ended(done)
            runs, ends = [await stage.submit(spec(name, MODEST, resources={"cpu": 4})) for name in ("runs", "ends")]
            await stage.running(runs, "line 1")
            await stage.running(ends, "line 1")
            waits = await stage.submit(spec("waits", resources={"cpu": 4}))
            Path(stage.platform.layout.outputs(ends), "go").touch()
            ballast = disks.fill(disk)
            await stage.until(ends, lambda view: view.state != "running", "its end")
            await stage.until(waits, lambda v: v.reason is not None and v.reason.code == "disk_full", "why it waits")
            assert "所在磁盘即将写满" in (await stage.view(waits)).reason.message.zh
            assert (await stage.platform.explain(waits, ADMIN)).reason.code == "disk_full"
            await refused(stage)
            async with asyncio.timeout(60):
                while True:
                    try:
                        await stage.platform.stop(runs, ADMIN)
                        break
                    except StorageFailed:
                        await asyncio.sleep(0.2)
            assert (await stage.ended(runs)).state == "stopped"
            await stage.platform.delete(done, ADMIN)
            await stage.restart()
            assert (await stage.view(waits)).state == "queued"
            ballast.unlink()
            assert (await stage.ended(waits)).state == "succeeded"
            assert (await stage.ended(ends)).state == "succeeded"
            await stage.until(waits, lambda _: os.path.getsize(disk / "home" / "reserve") > 0, "a new reserve")


APPENDS = (
    "until [ -e /workspace/outputs/go ]; do echo line; head -c 4096 /dev/zero >> /workspace/outputs/x || exit 1; "
    "sleep 0.05; done"
)


async def test_who_finds_a_disk_full_of_what_others_wrote_has_not_failed(tmp_path: Path) -> None:
    """It is the platform's trouble: the job waits, says for what, and is tried again at no cost."""
    with disks.in_memory(tmp_path / "d", 64) as disk:
        async with Stage(disk / "home") as stage:
            job = await stage.submit(spec("small", APPENDS, model={"save": False}))
            await stage.running(job, "line")
            ballast = disks.fill(disk)
            await stage.until(job, lambda view: view.state == "queued", "the next try")
            ballast.unlink()
            await stage.until(job, lambda v: v.reason is not None and v.reason.code == "no_room", "why it waits")
            reason = (await stage.platform.explain(job, ADMIN)).reason
            assert reason.message.en.startswith(
                "main-0 could not write: the disk is full, although its job uses only 0 MiB"
            )
            assert reason.message.zh.startswith("main-0 无法写入")
            Path(stage.platform.layout.outputs(job), "go").touch()
            assert (await stage.ended(job)).state == "succeeded"


async def test_an_upload_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    """It would only be refused when the last byte fits no more, and take the room of those who must write."""
    with disks.in_memory(tmp_path / "d", 64) as disk:
        async with Stage(disk / "home") as stage:
            app, folder = create_app(stage.platform), tmp_path / "code"
            folder.mkdir()
            (folder / "train.py").write_text("print(1)")
            async with signed_in(app, stage.platform) as http:
                ballast = disks.fill(disk, 1 << 20)
                async with asyncio.timeout(60):
                    while not stage.platform.context.disks.short:
                        await asyncio.sleep(0.05)
                answer = await http.post("/api/v1/uploads", content=b"".join(pack(folder)))
                assert (answer.status_code, "is nearly full" in answer.text) == (507, True)
                ballast.unlink()
                assert (await http.post("/api/v1/uploads", content=b"".join(pack(folder)))).status_code == 201


async def test_a_job_is_deleted_where_not_even_its_record_could_be(stage: Stage, disk: tuple[Path, str]) -> None:
    """Its files go first. Somebody has taken the reserve as well."""
    big = await stage.submit(spec("big", "head -c 8M /dev/urandom > /workspace/outputs/x", model={"save": False}))
    await stage.ended(big)
    stage.platform.context.disks.give_back()
    ballast = disks.fill(disk[0])
    await stage.platform.delete(big, ADMIN)
    assert big not in stage.job_ids()
    ballast.unlink()
