"""What thousands of tasks leave behind in the agent: nothing (an agent lives as long as its host)."""

import asyncio
import os
import resource

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.core.config import LimitsConfig
from trainmaster.engines.local.engine import LocalEngine

TOGETHER = 20
PATIENCE_S = 300.0


def _resident_kib(pid: int) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def _files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


async def _run(engine: LocalEngine, watcher: Watcher, count: int) -> None:
    turn = asyncio.Semaphore(TOGETHER)

    async def one() -> None:
        async with turn:
            story = gang().role("w", 1, "true").build()
            engine.announce(story)
            await engine.launch(story)
            await watcher.end_of(key(story))
            await engine.reap(key(story), 0)

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(one() for _ in range(count)))


async def test_two_thousand_tasks_leave_neither_files_nor_memory_in_the_agent() -> None:
    world = LocalWorld("none", limits=LimitsConfig(sample_s=0.1))
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        await _run(engine, watcher, 200)
        pid = world.agent_pid()
        files, memory = _files(pid), _resident_kib(pid)
        await _run(engine, watcher, 2000)
        assert world.agent_pid() == pid
        assert _files(pid) <= files + 10  # one group more, should twenty tasks not have met before
        assert (
            _resident_kib(pid) <= memory + 4096
        )  # what is known of one task takes more than 5 KiB; the allocator steps by 1 MiB
        assert os.listdir(world.layout.path("run", "live")) == []
        assert os.path.getsize(world.layout.path("run", "exits")) < 1000
    finally:
        await world.close()


async def test_hundreds_of_tasks_at_once_do_not_use_up_the_agents_files() -> None:
    """A shell gives 1,024 files to a program that does not ask for more; a task in its group takes about ten."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    world = LocalWorld("none", limits=LimitsConfig(sample_s=5.0))
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        story = gang().shell("w", 200, "sleep 600").build()
        async with asyncio.timeout(PATIENCE_S):
            await engine.launch(story)
            await engine.reap(key(story), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        await world.close()


async def test_what_was_only_announced_leaves_no_trace(sandboxed: LocalWorld) -> None:
    """Neither when it is taken back nor when the server that announced it is gone."""
    engine, other = await sandboxed.engine(), await sandboxed.engine()
    stories = [gang().role("w", 1, "true").build() for _ in range(2)]
    roots = [sandboxed.layout.task(story.job, 1, 0, 0).root for story in stories]
    for story in stories:
        engine.announce(story)
    await engine.observe([])  # answered after what was sent before
    assert [os.path.isdir(root) for root in roots] == [True, True]
    await engine.reap(key(stories[0]), 0)
    assert not os.path.exists(roots[0])
    await engine.close()
    async with asyncio.timeout(PATIENCE_S):
        while os.path.exists(roots[1]):
            await other.observe([])
