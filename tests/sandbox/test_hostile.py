"""Tasks that try to harm the agent, and with it everybody else's tasks (B2, "What bad input gets")."""

import asyncio
import os

import pytest

from tests.fixtures.gangs import gang
from tests.fixtures.local_worlds import LocalWorld
from tests.sandbox.conftest import Run
from trainmaster.agent import spawn

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
PATIENCE_S = 60.0


@pytest.mark.parametrize("file", [False, True], ids=["empty", "with a file at its end"])
async def test_folders_nested_without_end_do_not_end_the_agent(sandboxed: LocalWorld, run: Run, file: bool) -> None:
    """Python gives up at a thousand nested calls: whatever is done to a task's folder must not nest them with its depth."""
    async with asyncio.timeout(PATIENCE_S):
        _, log = await run(gang().role("w", 1, "python3", "-c", WELL.format(file=file)))
    assert "dug" in log
    assert "Traceback" not in sandboxed.read("run", "agent.log")


def test_a_tmp_of_many_folders_is_left_to_a_program(tmp_path: os.PathLike[str]) -> None:
    for number in range(100):
        os.mkdir(os.path.join(tmp_path, str(number)))
    assert not spawn.holds_nothing(str(tmp_path))
    assert spawn.remove_small(str(tmp_path)) < 0
