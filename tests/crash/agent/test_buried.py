"""Agent and keeper are killed, and whoever gets their tasks then buries them at once, as the init of a machine does:
how a task without a sandbox ended is known all the same (B7).
"""

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.fixtures.burier import TELLS, agent_below_a_burier
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.open_files import open_files
from tests.fixtures.watcher import PATIENCE_S, Watcher
from trainmaster.agent import place
from trainmaster.agent.host import procs
from trainmaster.core.launch import Gang
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.storage.trees import remove_tree


async def until(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():
            await asyncio.sleep(0.01)


class Orphaned(LocalWorld):
    """A home below a burier, with a task that is the burier's child."""

    watcher: Watcher
    server: LocalEngine
    burier: "subprocess.Popen[bytes]"
    job: Gang
    task: int

    async def begin(self) -> None:
        """Start the task, kill the agent, and when there is another one kill the keeper, too."""
        self.burier = agent_below_a_burier(self.home)
        await until(self.guarded)
        self.watcher = Watcher()
        self.server = await self.engine(self.watcher)
        text = 'echo $$; until [ -e "$TRAINMASTER_MODEL_DIR/go" ]; do sleep 0.02; done; exit 5'
        self.job = gang().shell("w", 1, text).build()
        await self.server.launch(self.job)
        await until(lambda: self.log(self.job.job).endswith("\n"))
        self.task = int(self.log(self.job.job))
        await self.kill(self.agent_pid())
        agent = 0
        while self.keeper_pid() != agent:  # else the server was faster, and has started a keeper that knows nothing
            agent = self.agent_pid()
            await self.kill(self.keeper_pid())
        found = procs.stat(self.task)
        assert found is not None
        assert found.ppid == self.burier.pid

    def keeper_pid(self) -> int:
        """Return the pid of the keeper."""
        return int(self.read("run", "keeper.pid"))

    def guarded(self) -> bool:
        """Return whether agent and keeper both live, the one below the other."""
        try:
            agent, keeper = procs.stat(self.agent_pid()), procs.stat(self.keeper_pid())
        except (ValueError, FileNotFoundError):
            return False
        return agent is not None and keeper is not None and agent.alive and keeper.alive and agent.ppid == keeper.pid

    async def kill(self, pid: int) -> None:
        """Kill agent or keeper, and wait until an agent answers that has taken over what there is."""
        os.kill(pid, signal.SIGKILL)
        await until(lambda: self.guarded() and pid not in (self.agent_pid(), self.keeper_pid()))
        assert (await self.server.observe([key(self.job)]))[0].known

    def let_go(self) -> None:
        """Let the task end."""
        Path(self.layout.model_out(self.job.job), "go").touch()

    async def told(self) -> tuple[str, int | None]:
        """Return how the task ended."""
        (end,) = await self.watcher.end_of(key(self.job))
        return end.kind, end.exit_code


@pytest.fixture
async def world() -> AsyncIterator[Orphaned]:
    """A home whose task has lost both its parents."""
    found = Orphaned("none", "off")
    await found.begin()
    yield found
    await found.close()
    await asyncio.to_thread(found.burier.wait)


KNOWN = ("exited", 5) if TELLS else ("lost", None)


async def test_how_a_task_ended_that_somebody_else_buried_is_known(world: Orphaned) -> None:
    """The next agent is not its parent: it asks the kernel by the handle that it took when it came."""
    world.let_go()
    assert await world.told() == KNOWN


async def test_what_ends_while_no_agent_is_there_is_known_as_well(world: Orphaned) -> None:
    """The keeper has the handles of the agent that it was, and gives them to each agent after it."""
    keeper = world.keeper_pid()
    os.kill(keeper, signal.SIGSTOP)  # it would start another agent at once
    os.kill(world.agent_pid(), signal.SIGKILL)
    world.let_go()
    await until(lambda: procs.stat(world.task) is None)
    os.kill(keeper, signal.SIGCONT)
    assert await world.told() == KNOWN


async def test_a_keeper_that_starts_while_a_server_looks_for_one_guards(tmp_path: Path) -> None:
    """A server that asks whether there is a keeper holds the lock for a moment; a keeper that found it held took that
    for another.
    """
    world = LocalWorld("none", "off", home=str(tmp_path / "home"))
    os.makedirs(world.layout.path("run"))
    exits = world.layout.path("run", "exits")
    asks = os.open(exits, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(asks, fcntl.LOCK_SH)
        keeper = subprocess.Popen(place.keeper_command(world.layout))

        def waits() -> bool:
            found = procs.stat(keeper.pid)
            asleep = found is not None and found.state == "S"
            return keeper.poll() is not None or (asleep and exits in open_files(keeper.pid))

        await until(waits)
        assert keeper.poll() is None
    finally:
        os.close(asks)
    await until(lambda: place.guarded(world.layout))
    await world.close()
    await asyncio.to_thread(keeper.wait)


async def test_a_keeper_whose_home_was_removed_ends_with_its_tasks(tmp_path: Path) -> None:
    """The next agent would make the home anew, and keep it for nobody."""
    world = LocalWorld("none", "off", home=str(tmp_path / "home"))
    engine = await world.engine()
    story = gang().shell("w", 1, "echo $$; exec sleep 600").build()
    await engine.launch(story)
    await until(lambda: world.log(story.job).endswith("\n"))
    task, keeper = int(world.log(story.job)), int(world.read("run", "keeper.pid"))
    agent = world.agent_pid()
    await engine.close()  # it would start another keeper
    os.kill(agent, signal.SIGSTOP)  # it would write meanwhile
    remove_tree(world.home)
    os.kill(agent, signal.SIGKILL)
    await until(lambda: (left := procs.stat(task)) is not None and left.ppid == keeper)
    os.kill(task, signal.SIGKILL)
    await until(lambda: (left := procs.stat(keeper)) is None or not left.alive)
    assert not os.path.exists(world.home)
