"""Homes whose tasks run in real sandboxes, and in none."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.fixtures.gangs import GangBuilder, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.core.config import LimitsConfig
from trainmaster.engines.base import TaskReport

Run = Callable[[GangBuilder], Awaitable[tuple[TaskReport, str]]]

LIMITS = LimitsConfig(log_mib=1, processes=64, sample_s=0.2)


def runner(world: LocalWorld) -> Run:
    """Return a function that runs a gang of one task to its end and gives its last word and its log."""

    async def run(story: GangBuilder) -> tuple[TaskReport, str]:
        watcher = Watcher()
        engine = await world.engine(watcher)
        built = story.build()
        handle = await engine.launch(built)
        (end,) = await watcher.end_of(key(built))
        await engine.reap(key(built), handle, 0)
        return end, world.log(built.job)

    return run


@pytest.fixture
async def sandboxed() -> AsyncIterator[LocalWorld]:
    """A home whose tasks run in bubblewrap."""
    world = LocalWorld("bubblewrap", limits=LIMITS)
    yield world
    await world.close()


@pytest.fixture
async def bare() -> AsyncIterator[LocalWorld]:
    """A home whose tasks run without a sandbox and without control groups: the least protection there is."""
    world = LocalWorld("none", "off", limits=LIMITS)
    yield world
    await world.close()


@pytest.fixture
def run(sandboxed: LocalWorld) -> Run:
    """Runs one task in a sandbox."""
    return runner(sandboxed)
