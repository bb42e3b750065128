"""Inputs are copied to the node's fast storage before the command runs, where a job asks for it (R187)."""

import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.uploads import uploaded
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage, spec
from trainmaster.agent.caching import filling
from trainmaster.agent.caching.cache import NodeCache
from trainmaster.agent.caching.filling import CacheLimits, sweep
from trainmaster.core.errors import InvalidSpec
from trainmaster.messages import render
from trainmaster.messages.said import said_in

FLOWERS: Final = {"labels.txt": b"daisy rose\n", "train/a.bin": os.urandom(3 << 20)}
WHERE: Final = "grep ' /dataset ' /proc/self/mountinfo; cat $TRAINMASTER_DATASET_DIR/labels.txt"
CACHED: Final = [{"dataset": "flowers", "cache": True}]


def config(tmp_path: Path, **local: Any) -> dict[str, dict[str, Any]]:
    return {"local": {"cache_folder": str(tmp_path / "fast"), **local}, "limits": {"reserve_mib": 1}}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Two virtual nodes with a cache."""
    async with Stage(tmp_path / "home", config(tmp_path)) as made:
        yield made


@pytest.fixture
def cache(tmp_path: Path) -> NodeCache:
    return NodeCache(str(tmp_path / "fast"))


def notes(stage: Stage, job: str, language: str = "en") -> list[str]:
    """Return what the job's events say of inputs that are not cached."""
    found = (one for one in stage.events(job) if one.data.get("code") == "not_cached")
    return [render.text(said, language) for one in found if (said := said_in(one.data)) is not None]


class Gate:
    """Copies wait here, each within its first file, until they are let through or nobody wants them any more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened, self.reached, copy = threading.Event(), threading.Event(), filling._copy

        def waits(source: str, part: str, entry: Any, go_on: filling.GoOn, filled: filling.Filled) -> None:
            self.reached.set()
            limit = time.monotonic() + PATIENCE_S
            while not self.opened.wait(0.005) and time.monotonic() < limit:
                go_on()
            copy(source, part, entry, go_on, filled)

        monkeypatch.setattr(filling, "_copy", waits)


async def test_a_job_reads_the_copy_and_the_next_one_copies_nothing(stage: Stage, cache: NodeCache) -> None:
    """R187: kept after the job, for whoever needs the same."""
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    first = await stage.submit(spec("a", f"{WHERE}; touch /dataset/x || echo kept", inputs=CACHED))
    view = await stage.ended(first)
    assert view.state == "succeeded", stage.log(first)
    (key,) = cache.listed()
    assert key.startswith("dataset-")
    for word in (cache.path(key, "files") + " /dataset ", "daisy rose\n", "kept"):
        assert word in stage.log(first), stage.log(first)
    assert view.spec["inputs"][0]["cache"] is True
    assert notes(stage, first) == []
    before = os.stat(cache.path(key, "files"))
    second = await stage.submit(spec("b", f"{WHERE}; ls {cache.root} || echo hidden", replicas=2, inputs=CACHED))
    assert (await stage.ended(second)).state == "succeeded", stage.log(second)
    for replica in (0, 1):
        assert cache.path(key, "files") + " /dataset " in stage.log(second, index=replica)
        assert "hidden" in stage.log(second, index=replica)
    after = os.stat(cache.path(key, "files"))
    assert (before.st_ino, before.st_ctime_ns) == (after.st_ino, after.st_ctime_ns), "it was copied again"
    assert cache.listed() == [key]
    assert not cache.used(key)


async def test_a_saved_model_is_cached_and_the_rest_is_read_where_it_lies(stage: Stage, cache: NodeCache) -> None:
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    first = await stage.submit(spec("train", "echo weights > /model/w.txt", inputs=[{"dataset": "flowers"}]))
    assert (await stage.ended(first)).state == "succeeded"
    inputs = [{"model": "train", "cache": True}, {"dataset": "flowers"}]
    second = await stage.submit(spec("tune", "cat /pretrain/train/w.txt; cat /proc/self/mountinfo", inputs=inputs))
    assert (await stage.ended(second)).state == "succeeded", stage.log(second)
    (key,) = cache.listed()
    assert key.startswith("model-")
    assert stage.log(second).startswith("weights\n")
    assert cache.path(key, "files") + " /pretrain/train " in stage.log(second)
    assert str(stage.home) in next(line for line in stage.log(second).splitlines() if " /dataset " in line)


async def test_without_room_a_job_reads_its_data_where_they_lie_and_says_so(tmp_path: Path) -> None:
    async with Stage(tmp_path / "home", config(tmp_path, cache_mib=1)) as stage:
        await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
        job = await stage.submit(spec("a", WHERE, inputs=CACHED))
        assert (await stage.ended(job)).state == "succeeded", stage.log(job)
        assert "daisy rose" in stage.log(job)
        assert str(tmp_path / "fast") not in stage.log(job)
        (said,) = notes(stage, job)
        assert said.startswith("/dataset is not cached: it takes 3")
        assert "room for 1MiB" in said
        assert "未缓存" in notes(stage, job, "zh")[0]
        assert NodeCache(str(tmp_path / "fast")).listed() == []


async def test_where_the_folder_cannot_be_used_the_job_runs_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "fast").write_text("no folder")
    async with Stage(tmp_path / "home", config(tmp_path)) as stage:
        await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
        job = await stage.submit(spec("a", WHERE, inputs=CACHED))
        assert (await stage.ended(job)).state == "succeeded", stage.log(job)
        (said,) = notes(stage, job)
        assert "it is read from where it is kept" in said


async def test_a_job_says_how_far_its_copy_is_and_copying_is_no_time_of_its_command(
    stage: Stage, cache: NodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit that is over long before the copy is does not end the job."""
    gate = Gate(monkeypatch)
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    job = await stage.submit(spec("a", WHERE, inputs=CACHED, duration=3600))
    said = "Copying /dataset to the node's fast storage: 0MiB of 3MiB"
    view = await stage.until(job, lambda v: v.reason is not None and v.reason.message.en == said, said)
    assert view.reason is not None
    assert view.reason.message.zh == "正在将 /dataset 复制到节点的高速存储：0MiB / 3MiB"
    assert view.started_at is None
    stage.let_pass(2 * 3600.0)
    assert (await stage.view(job)).state not in ("expired", "running")
    gate.opened.set()
    view = await stage.ended(job)
    assert view.state == "succeeded", view.verdict
    assert len(cache.listed()) == 1


async def test_a_stop_ends_a_copy_and_nothing_half_is_left(
    stage: Stage, cache: NodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    job = await stage.submit(spec("a", WHERE, inputs=CACHED))
    await stage.until(job, lambda _: gate.reached.is_set(), "the copy")
    assert len(cache.listed()) == 1
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    await stage.until(job, lambda _: cache.listed() == [], "the end of the copy")
    assert stage.log(job) == ""
    gate.opened.set()
    again = await stage.submit(spec("b", WHERE, inputs=CACHED))
    assert (await stage.ended(again)).state == "succeeded"
    assert str(cache.root) in stage.log(again)


async def test_a_server_that_starts_while_a_copy_was_under_way_makes_it_anew(
    stage: Stage, cache: NodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    job = await stage.submit(spec("a", WHERE, inputs=CACHED))
    await stage.until(job, lambda _: gate.reached.is_set(), "the copy")
    await stage.platform.close()
    gate.opened.set()
    stage.platform = stage._build()
    await stage.platform.start()
    assert (await stage.ended(job)).state == "succeeded", stage.log(job)
    (key,) = cache.listed()
    assert cache.path(key, "files") in stage.log(job)


async def test_a_copy_stays_while_it_is_read_though_the_agent_is_killed(stage: Stage, cache: NodeCache) -> None:
    """The record of the attempt holds it, not a process; its end lets go of it."""
    await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
    text = "until [ -e /workspace/outputs/go ]; do sleep 0.05; done; cat /dataset/labels.txt"
    job = await stage.submit(spec("a", text, inputs=CACHED))
    await stage.running(job)
    (key,) = cache.listed()
    os.kill(int((stage.home / "run" / "agent.pid").read_text()), signal.SIGKILL)
    os.utime(cache.path(key, "whole"), (1000, 1000))
    sweep(cache, CacheLimits(keep_s=1.0))
    assert cache.used(key)
    stage.output(job, "go").touch()
    assert (await stage.ended(job)).state == "succeeded", stage.log(job)
    assert "daisy rose" in stage.log(job)
    await stage.until(job, lambda _: not cache.used(key), "nobody to use it")
    sweep(cache, CacheLimits(keep_s=1000.0))
    assert cache.listed() == [key], "kept from the end of its use on"


async def refusal(stage: Stage, **fields: Any) -> dict[str, str]:
    """Return the problems of a job by their fields."""
    with pytest.raises(InvalidSpec) as refused:
        await stage.submit(spec("a", "true", **fields))
    return {one.path: render.text(one.said) for one in refused.value.problems}


async def test_only_what_never_changes_can_be_cached(stage: Stage, tmp_path: Path) -> None:
    inputs = [
        {"name": "here", "path": str(tmp_path), "mount": "/a", "cache": True},
        {"volume": "shared", "mount": "/b", "cache": True},
        {"dataset": "flowers", "mount": "/c", "cache": True, "read_only": False},
    ]
    found = await refusal(stage, inputs=inputs)
    assert {"inputs.0.cache", "inputs.1.cache", "inputs.2.read_only"} <= set(found)
    assert "inputs.2.cache" not in found


@pytest.mark.parametrize(
    ("local", "why"),
    [
        ({"cache_folder": ""}, "No fast storage is configured"),
        ({"sandbox": "none"}, "only where replicas run in a sandbox"),
    ],
)
async def test_where_nothing_is_cached_a_job_that_asks_is_refused(
    tmp_path: Path, local: dict[str, Any], why: str
) -> None:
    async with Stage(tmp_path / "home", config(tmp_path, **local)) as stage:
        await uploaded(stage.platform, ADMIN, "flowers", FLOWERS)
        assert why in (await refusal(stage, inputs=CACHED))["inputs.0.cache"]


async def test_no_job_mounts_the_cache_itself(tmp_path: Path, cache: NodeCache) -> None:
    """What somebody else's job reads is not reached by its path, although the folder beside it may be mounted."""
    cache.open()
    roots = config(tmp_path, mount_roots=[str(tmp_path)])
    async with Stage(tmp_path / "home", roots) as stage:
        for path in (cache.root, str(tmp_path / "fast")):
            found = await refusal(stage, inputs=[{"name": "x", "path": path, "mount": "/x"}])
            assert list(found) == ["inputs.0.path"]
        (tmp_path / "fast" / "other").mkdir()
        job = await stage.submit(
            spec("a", "ls /x", inputs=[{"name": "x", "path": str(tmp_path / "fast" / "other"), "mount": "/x"}])
        )
        assert (await stage.ended(job)).state == "succeeded"
