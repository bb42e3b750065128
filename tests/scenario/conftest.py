"""Stages: the platform on the real local engine in sandboxes, or on machines that tests turn by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenario.stage import Stage
from trainmaster.core.records import Node
from trainmaster.engines.fake import FakeEngine, FakeMachines
from trainmaster.engines.fake_clock import WallClock


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Two virtual nodes of the local engine, with sandboxes."""
    async with Stage(tmp_path / "home") as stage:
        yield stage


@pytest.fixture
def machines() -> FakeMachines:
    """Two fake nodes with four cores and two cards each."""
    nodes = [Node(f"n{i}", f"10.0.0.{i}", 4.0, 4096, ("A100", "A100")) for i in (1, 2)]
    return FakeMachines(nodes, WallClock())


@pytest.fixture
async def fake(tmp_path: Path, machines: FakeMachines) -> AsyncIterator[Stage]:
    """The platform on the fake machines."""
    async with Stage(tmp_path / "home", engine=lambda: FakeEngine(machines)) as stage:
        yield stage
