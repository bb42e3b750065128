"""The engines that must pass the contract. A new engine: one entry in WORLDS.

A world has `engine(watcher)` (one more server's connection), `command(text)`, `node` and `close()`.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest

from tests.fixtures.fake_world import FakeWorld
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher

WORLDS: Final[dict[str, Callable[[], Any]]] = {
    "fake": FakeWorld,
    "local-sandbox": lambda: LocalWorld("bubblewrap"),
    "local-bare": lambda: LocalWorld("none"),
    "local-no-cgroups": lambda: LocalWorld("none", "off"),
}


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """An engine's surroundings, empty."""
    found = WORLDS[request.param]()
    yield found
    await found.close()


@pytest.fixture
def watcher() -> Watcher:
    """Sees what the engine under test pushes."""
    return Watcher()


@pytest.fixture
async def engine(world: Any, watcher: Watcher) -> Any:
    """The engine under test."""
    return await world.engine(watcher)
