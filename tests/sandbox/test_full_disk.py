"""Jobs on a small disk of their own (B13): who fills it is ended and told so, who does not goes on."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import disks
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import PATIENCE_S, Watcher
from trainmaster.core.config import LimitsConfig
from trainmaster.core.launch import Gang
from trainmaster.engines.base import TaskReport
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.messages import render

BYTES = (
    "i=0; while :; do i=$((i+1)); head -c 200000 /dev/zero > $TRAINMASTER_OUTPUT_DIR/$i || sleep 600; sleep 0.01; done"
)
FILES = "i=0; while :; do i=$((i+1)); true > $TRAINMASTER_OUTPUT_DIR/$i || sleep 600; done"
MODEST = "head -c 5000000 /dev/zero > $TRAINMASTER_OUTPUT_DIR/large; while :; do echo line; sleep 0.1; done"


@contextlib.asynccontextmanager
async def world(disk: Path, **limits: Any) -> AsyncIterator[tuple[LocalEngine, Watcher]]:
    """Give an engine whose home is a disk of its own."""
    made = LocalWorld("bubblewrap", limits=LimitsConfig(sample_s=0.2, **limits), home=str(disk / "home"))
    (disk / "home").mkdir()
    try:
        watcher = Watcher()
        yield await made.engine(watcher), watcher
    finally:
        await made.close()


@pytest.fixture(params=["bytes", "files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """48 MiB, or room for 1,500 files, and what fills it."""
    small = disks.in_memory(tmp_path / "d", 48) if request.param == "bytes" else disks.ext4(tmp_path / "d", 64, 1500)
    with small as folder:
        yield folder, BYTES if request.param == "bytes" else FILES


async def ended(watcher: Watcher, story: Gang) -> TaskReport:
    async with asyncio.timeout(PATIENCE_S):
        return (await watcher.end_of(key(story)))[0]


async def test_who_fills_the_disk_is_ended_and_nobody_else(disk: tuple[Path, str]) -> None:
    """Without a budget of its own: by what is left on the disk. The one that holds much but does not grow goes on."""
    folder, text = disk
    async with world(folder, disk_share=0.0) as (engine, watcher):
        modest = gang().role("w", 1, "sh", "-c", MODEST).build()
        await engine.launch(modest)
        filler = gang().role("w", 2, "sh", "-c", text).build()
        await engine.launch(filler)
        end = await ended(watcher, filler)
        assert end.verdict is not None
        assert end.verdict.code == "disk_full"
        assert "its job filled the disk with" in render.text(end.verdict.said)
        await engine.reap(key(filler), 0)
        (report,) = await engine.observe([key(modest)])
        assert [task.kind for task in report.tasks] == ["running"]
        await engine.reap(key(modest), 0)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"disk_share": 0.25}, "the limit is 12 MiB"),
        ({"inodes": 200}, "the limit is 200 files"),
        ({}, "the limit is 24 MiB"),
    ],
)
async def test_a_share_of_the_disk_is_a_budget(tmp_path: Path, limits: dict[str, float], told: str) -> None:
    """Long before the disk is full."""
    with disks.in_memory(tmp_path / "d", 48) as folder:
        async with world(folder, **limits) as (engine, watcher):
            text = FILES if "inodes" in limits else BYTES
            story = gang().role("w", 1, "sh", "-c", text).build()
            await engine.launch(story)
            end = await ended(watcher, story)
            assert end.verdict is not None
            assert (end.verdict.code, told in render.text(end.verdict.said)) == ("disk_full", True), render.text(
                end.verdict.said
            )
            await engine.reap(key(story), 0)
