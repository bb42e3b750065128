"""Tasks that try to harm the agent, and with it everybody else's tasks (B2, "What bad input gets")."""

import asyncio
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from tests.sandbox.conftest import Run
from trainmaster.agent.host import procs
from trainmaster.agent.measuring import samples
from trainmaster.agent.starting import spawn
from trainmaster.agent.tasks import ending
from trainmaster.core.config import LimitsConfig
from trainmaster.engines.base import TaskReport
from trainmaster.messages import render

WELL = """
import os
for folder in ("/tmp", "/model"):
    os.chdir(folder)
    for _ in range(1500):
        os.mkdir("a")
        os.chdir("a")
    if {file}:
        open("end", "w").close()
print("dug")
"""
PATIENCE_S = 120.0


@pytest.mark.parametrize("file", [False, True], ids=["empty", "with a file at its end"])
async def test_folders_nested_without_end_do_not_end_the_agent(sandboxed: LocalWorld, run: Run, file: bool) -> None:
    """Python gives up at a thousand nested calls: whatever is done to a task's folder must not nest them with its
    depth.
    """
    async with asyncio.timeout(PATIENCE_S):
        _, log = await run(gang().role("w", 1, "python3", "-c", WELL.format(file=file)))
    assert "dug" in log
    assert "Traceback" not in sandboxed.read("run", "agent.log")


def test_a_tmp_of_many_folders_is_left_to_a_program(tmp_path: os.PathLike[str]) -> None:
    for number in range(100):
        os.mkdir(os.path.join(tmp_path, str(number)))
    assert not spawn.holds_nothing(str(tmp_path))
    assert spawn.remove_small(str(tmp_path)) < 0


FILLS = """
import os, time
os.chdir(os.environ["TRAINMASTER_MODEL_DIR"])
with open("large", "wb") as file:
    file.write(b"x" * (4 << 20))
print("written", flush=True)
time.sleep({stays})
"""


async def _filled(stays: float, budget: int) -> TaskReport:
    world = LocalWorld("bubblewrap", limits=LimitsConfig(disk_mib=budget, sample_s=0.05))
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        story = gang().role("w", 1, "python3", "-c", FILLS.format(stays=stays)).build()
        await engine.launch(story)
        async with asyncio.timeout(PATIENCE_S):
            end = (await watcher.end_of(key(story)))[0]
        await engine.reap(key(story), 0)
        return end
    finally:
        await world.close()


async def test_a_job_over_its_disk_budget_is_ended_and_told_why() -> None:
    """limits.disk_mib bounds what the job's folder holds."""
    end = await _filled(600.0, 2)
    assert end.verdict is not None
    assert end.verdict.code == "disk_full"
    assert "the limit is 2 MiB" in render.text(end.verdict.said)


async def test_a_job_within_its_disk_budget_is_left_alone() -> None:
    end = await _filled(2.0, 64)
    assert end.exit_code == 0


def test_a_folder_is_counted_to_its_end_in_bounded_steps(tmp_path: Path) -> None:
    """Many small files neither hold the agent up nor hide a large one."""
    for folder in ("a", "b", "c/d"):
        (tmp_path / folder).mkdir(parents=True)
        for number in range(100):
            (tmp_path / folder / str(number)).touch()
        (tmp_path / folder / "x").write_bytes(os.urandom(1 << 20))
    use = samples.DiskUse(str(tmp_path))
    steps = 1
    while not use.step(20):
        steps += 1
    assert steps >= 300 // 20
    assert use.files == 307  # folders count as well
    assert use.bytes >> 20 == 3


def test_a_stranger_with_the_number_of_a_former_sandbox_is_not_taken_for_it(tmp_path: Path) -> None:
    """An agent that comes back after days, or after the host was started again, finds old numbers in its records."""
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        found = procs.stat(stranger.pid)
        assert found is not None
        (tmp_path / "status").write_text(f'{{ "child-pid": {stranger.pid} }}\n')
        for age_s in (0, 3600):
            task: Any = SimpleNamespace(
                init=0,
                start=found.start - age_s * procs.TICKS,
                prepared=SimpleNamespace(paths=SimpleNamespace(status=str(tmp_path / "status"))),
            )
            assert ending.find_init(task) == 0
    finally:
        stranger.kill()
        stranger.wait()
