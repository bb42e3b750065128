"""A sandbox is made while the decision to launch is written down, and waits at its gate: nothing of the user's runs
before, everything runs once after, whoever is killed in between.
"""

import asyncio
import json
import os
import signal
import stat
import time

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.open_files import open_files
from tests.fixtures.watcher import Watcher
from trainmaster.agent.host import procs
from trainmaster.agent.tasks import ending
from trainmaster.core.launch import Gang
from trainmaster.engines.local.engine import LocalEngine

PATIENCE_S = 120.0
PROGRAM = "echo once >> $TRAINMASTER_MODEL_DIR/ran; exit 3"


async def _announced(world: LocalWorld, engine: LocalEngine) -> tuple[Gang, int]:
    """Announce a gang of one; return it with the process that waits for it, which is the first in its sandbox."""
    story = gang().shell("w", 1, PROGRAM).build()
    status = world.layout.task(story.job, 1, 0, 0).status
    engine.announce(story)
    async with asyncio.timeout(PATIENCE_S):
        while not (pid := ending.status_lines(status).get("child-pid", 0)):
            await engine.observe([])
    return story, pid


async def _ran_once(world: LocalWorld, engine: LocalEngine, watcher: Watcher, story: Gang) -> None:
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert (end.kind, end.exit_code) == ("exited", 3)
    assert world.read(world.layout.model_out(story.job), "ran") == "once\n"
    await engine.reap(key(story), 0)


async def _gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while (found := procs.stat(pid)) is not None and found.alive:
            await asyncio.sleep(0.01)


async def test_a_sandbox_waits_for_its_launch(sandboxed: LocalWorld) -> None:
    """Another one, announced after it, is launched, runs and ends meanwhile: each has a gate of its own."""
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story, _ = await _announced(sandboxed, engine)
    other, _ = await _announced(sandboxed, engine)
    await _ran_once(sandboxed, engine, watcher, other)
    assert not os.path.exists(os.path.join(sandboxed.layout.model_out(story.job), "ran"))
    assert not watcher.of(key(story))
    await _ran_once(sandboxed, engine, watcher, story)


async def test_a_sandbox_that_ended_while_it_waited_is_made_again(sandboxed: LocalWorld) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story, pid = await _announced(sandboxed, engine)
    os.kill(pid, signal.SIGKILL)
    await _gone(pid)
    await _ran_once(sandboxed, engine, watcher, story)


async def test_what_waited_when_its_agent_was_killed_is_ended_by_the_next(sandboxed: LocalWorld) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story, pid = await _announced(sandboxed, engine)
    os.kill(sandboxed.agent_pid(), signal.SIGKILL)
    await _gone(pid)
    await _ran_once(sandboxed, engine, watcher, story)


async def test_a_decided_launch_is_carried_out_by_the_next_agent(sandboxed: LocalWorld) -> None:
    """The agent is killed after it wrote the launch down and before it opened the gate."""
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story, pid = await _announced(sandboxed, engine)
    keeper = int(sandboxed.read("run", "keeper.pid"))
    os.kill(keeper, signal.SIGSTOP)
    os.kill(sandboxed.agent_pid(), signal.SIGKILL)
    with open(sandboxed.layout.path("run", "live", key(story)), "a", encoding="ascii") as record:
        record.write(json.dumps({"launched": time.time()}) + "\n")
    found = procs.stat(pid)
    assert found is not None
    assert found.alive  # an agent's death opens no gate
    os.kill(keeper, signal.SIGCONT)
    await _ran_once(sandboxed, engine, watcher, story)


async def test_what_is_announced_and_never_launched_ends(sandboxed: LocalWorld) -> None:
    """As when the decision could not be written down, and the job was taken back while it waited again."""
    engine = await sandboxed.engine()
    story, pid = await _announced(sandboxed, engine)
    await _gone(pid)
    async with asyncio.timeout(PATIENCE_S):
        while os.path.exists(sandboxed.layout.task(story.job, 1, 0, 0).root):
            await asyncio.sleep(0.01)
        while os.listdir(sandboxed.layout.path("run", "live")):  # its record goes last
            await asyncio.sleep(0.01)


async def test_an_ended_task_leaves_nothing_but_files_and_folders(sandboxed: LocalWorld) -> None:
    """Whoever copies or packs the folder of a job would wait at a pipe for ever."""
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story, _ = await _announced(sandboxed, engine)
    await _ran_once(sandboxed, engine, watcher, story)
    job = sandboxed.layout.job(story.job)
    left = [os.path.join(root, name) for root, folders, files in os.walk(job) for name in (*folders, *files)]
    modes = {path: os.lstat(path).st_mode for path in left}
    assert sandboxed.layout.task(story.job, 1, 0, 0).log in modes
    assert not [path for path, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


async def test_no_descriptor_of_a_gate_stays_with_the_agent(sandboxed: LocalWorld) -> None:
    """Neither of one that was opened, nor of one that waited for nothing."""
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    before = _pipes(sandboxed.agent_pid())
    await _ran_once(sandboxed, engine, watcher, (await _announced(sandboxed, engine))[0])
    _, pid = await _announced(sandboxed, engine)
    assert _pipes(sandboxed.agent_pid()) > before
    os.kill(pid, signal.SIGKILL)
    await _gone(pid)
    async with asyncio.timeout(PATIENCE_S):
        while _pipes(sandboxed.agent_pid()) != before:
            await asyncio.sleep(0.01)


def _pipes(pid: int) -> set[str]:
    return {one for one in open_files(pid) if one.startswith("pipe:")}
