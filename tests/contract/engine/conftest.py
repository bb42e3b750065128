"""The engines that must pass the contract. A new engine: one entry in WORLDS.

A world has `engine(watcher)` (one more server's connection), `command(text)`, `node`, `close()` and `over(attempt)`
(waits until all its tasks have ended, without a server). That of an engine which owns its queue (one more entry, in
CLUSTERS) has the node "" and `hold()`, `release()`, `cancel(attempt)`, `lose(attempt)`: see FakeClusterWorld.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest
import pytest_asyncio

from tests.fixtures.fakes.world import FakeClusterWorld, FakeWorld
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.plain import PlainWorld
from tests.fixtures.watcher import Watcher
from tests.slurm.world import SlurmWorld

CLUSTERS: Final[dict[str, Callable[[], Any]]] = {
    "fake-cluster": FakeClusterWorld,
    "slurm": SlurmWorld,
}
WORLDS: Final[dict[str, Callable[[], Any]]] = {
    **CLUSTERS,
    "fake": FakeWorld,
    "local-sandbox": lambda: LocalWorld("bubblewrap"),
    "local-bare": lambda: LocalWorld("none"),
    "local-no-cgroups": lambda: LocalWorld("none", "off"),
    "plain": PlainWorld,
}
NOT_ENTERED: Final = ("fake", "fake-cluster", "plain")
"""Those whose tasks cannot be entered (abilities.Attaches)."""
ONE_LOOP: Final = pytest.mark.asyncio(loop_scope="module")
"""For files whose tests share the surroundings of an engine, and its agent: each starts jobs of its own."""


@pytest_asyncio.fixture(params=WORLDS, scope="module", loop_scope="module")
async def world(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """An engine's surroundings, which the tests of a file share."""
    found = WORLDS[request.param]()
    yield found
    await found.close()


@pytest.fixture(params=CLUSTERS)
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """The surroundings of an engine that owns its queue, empty."""
    found = CLUSTERS[request.param]()
    yield found
    await found.close()


@pytest.fixture
def watcher() -> Watcher:
    """Sees what the engine under test pushes."""
    return Watcher()


@pytest_asyncio.fixture(loop_scope="module")
async def engine(world: Any, watcher: Watcher) -> AsyncIterator[Any]:
    """The engine under test: a server of its own for each test."""
    yield await world.engine(watcher)
    while world.engines:  # and those that the test started besides
        await world.engines.pop().close()
