"""Blue and green folders, rebuilt environments, moved checkouts, and back again: the agent is of the server's code,
jobs go on, and nothing goes round in circles (B7).
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fixtures.copies import OURS, Copy, who
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.agent.host import procs
from trainmaster.core.launch import Gang
from trainmaster.engines.local.messages import local
from trainmaster.messages import render

AGES = pytest.mark.parametrize("age_s", [86_400.0, -86_400.0], ids=["older", "younger"])
PROGRAM = (
    'echo once >> "$TRAINMASTER_MODEL_DIR/ran"; until [ -e "$TRAINMASTER_MODEL_DIR/go" ]; do sleep 0.05; done; exit 5'
)
OWN = {"text": "def op_leave(", "instead": "# a release of its own\n    def op_leave("}


class Upgraded(LocalWorld):
    """A home with a job that runs through everything that is done to its agent."""

    job: Gang
    leader: int

    async def begin(self, copy: Copy) -> None:
        """Start the job from a place."""
        self.job = gang().shell("w", 1, PROGRAM).build()
        await copy.visit(self.home, launch=self.job)
        model = Path(self.layout.model_out(self.job.job))
        async with asyncio.timeout(60):
            while not (model / "ran").exists():
                await asyncio.sleep(0.01)
        self.leader = self._leader()

    def _leader(self) -> int:
        """Return the pid of the task's first process; the pids of those that it starts may be smaller."""
        found = procs.scan(f"TRAINMASTER_TASK={key(self.job)}/task0-0".encode())
        (leader,) = (pid for pid in found if (seen := procs.stat(pid)) is not None and seen.sid == pid)
        return leader

    async def finish(self) -> None:
        """From our own place again: the job is still the same processes, ends as its program says, and has run once."""
        watcher = Watcher()
        engine = await self.engine(watcher)
        assert who(self.home)["package"] == str(OURS)
        (report,) = await engine.observe([key(self.job)])
        assert [task.kind for task in report.tasks] == ["running"]
        assert self._leader() == self.leader
        model = Path(self.layout.model_out(self.job.job))
        (model / "go").touch()
        await engine.observe([key(self.job)])
        async with asyncio.timeout(60):
            while (report := (await engine.observe([key(self.job)]))[0]).tasks[0].kind == "running":
                await asyncio.sleep(0.02)
        assert (report.tasks[0].kind, report.tasks[0].exit_code) == ("exited", 5)
        assert (model / "ran").read_text() == "once\n"
        await engine.reap(key(self.job), 0)


@pytest.fixture
async def world() -> AsyncIterator[Upgraded]:
    """A home with a running job and no server."""
    found = Upgraded("none", "off")
    await found.begin(Copy(OURS.parent))
    yield found
    await found.close()


async def agent_pid(world: LocalWorld, other_than: int) -> int:
    """Return the agent's pid once another one serves."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(OSError, ValueError):
                if (pid := int(who(world.home)["pid"])) != other_than:
                    return pid
            await asyncio.sleep(0.02)


@AGES
async def test_the_same_code_elsewhere_is_no_other_code(world: Upgraded, tmp_path: Path, age_s: float) -> None:
    before = who(world.home)
    copy = Copy.make(tmp_path / "green", age_s)
    assert await copy.visit(world.home, key(world.job)) == [True]
    assert who(world.home) == before
    await world.finish()


@AGES
async def test_other_code_takes_over_and_gives_way_again(world: Upgraded, tmp_path: Path, age_s: float) -> None:
    """An upgrade, and back: file times say nothing."""
    copy = Copy.make(tmp_path / "green", age_s).change("agent/server.py", **OWN)
    assert await copy.visit(world.home, key(world.job)) == [True]
    assert who(world.home)["package"] == str(copy.folder / "trainmaster")
    assert await copy.visit(world.home, key(world.job)) == [True]
    await world.finish()
    assert world.read("run", "agent.log").count("gives way") == 2


async def test_an_agent_whose_place_is_gone_starts_where_the_last_server_lies(world: Upgraded, tmp_path: Path) -> None:
    blue = Copy.make(tmp_path / "blue").change("agent/server.py", **OWN)
    green = Copy.make(tmp_path / "green").change("agent/server.py", **OWN)
    assert await blue.visit(world.home) == []
    assert await green.visit(world.home) == []
    first = who(world.home)
    assert first["package"] == str(blue.folder / "trainmaster")
    shutil.rmtree(blue.folder)
    os.kill(first["pid"], signal.SIGKILL)
    await agent_pid(world, first["pid"])
    assert who(world.home)["package"] == str(green.folder / "trainmaster")
    await world.finish()


async def test_a_place_that_goes_while_its_agent_runs_harms_nothing(world: Upgraded, tmp_path: Path) -> None:
    """Also its keeper may be killed then: the agent has all that it takes to take its place."""
    blue = Copy.make(tmp_path / "blue").change("agent/server.py", **OWN)
    assert await blue.visit(world.home) == []
    shutil.rmtree(blue.folder)
    before = who(world.home)["pid"]
    os.kill(int(world.read("run", "keeper.pid")), signal.SIGKILL)
    async with asyncio.timeout(60):
        while (found := procs.stat(before)) is not None and "keeper" not in Path(f"/proc/{before}/cmdline").read_text():
            await asyncio.sleep(0.02)
        assert found is not None
    await world.finish()


async def test_code_that_cannot_start_is_tried_a_few_times_and_said(world: Upgraded, tmp_path: Path) -> None:
    broken = Copy.make(tmp_path / "green").change("agent/__main__.py", "    own_digest()\n", "    sys.exit(7)\n")
    stays = render.text(local.agent_does_not_give_way())
    assert await broken.visit(world.home) == stays
    assert await broken.visit(world.home) == stays
    await world.finish()


async def test_an_agent_that_does_not_know_the_question_is_replaced(tmp_path: Path) -> None:
    """As one of a release before, whose keeper would start it from its old place for ever."""
    old = Copy.make(tmp_path / "blue").change("agent/server.py", "def op_who(", "def op_whom(")
    old.change(
        "engines/local/client.py", 'self._ask("who", self._meet)', 'self._ask("hello", self._welcome, **self.greet())'
    )
    old.change("agent/keeper.py", 'os.path.join(FOLDER, "place")', 'os.path.join(FOLDER, "nowhere")')
    old.change("agent/keeper.py", "if guards() else 0", "if True else 0")
    world = Upgraded("none", "off")
    await world.begin(old)
    await world.finish()
    await world.close()


async def test_a_home_that_was_moved_while_tasks_run_is_said(world: Upgraded) -> None:
    old, new = world.home, world.home + "-moved"
    os.rename(old, new)
    try:
        said = await Copy(OURS.parent).visit(new)
        assert (
            said == f"the node agent that answers belongs to {old}: the home folder was moved while jobs were running"
        )
        assert not os.path.exists(old)
    finally:
        os.rename(new, old)
    await world.finish()
