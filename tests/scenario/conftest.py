"""Stages: the platform on the real local engine in sandboxes, or on machines that tests turn by hand."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.fixtures.two_people import two_people
from tests.scenario.doors import Scene
from tests.scenario.stage import Stage
from trainmaster.api.app import create_app
from trainmaster.core.launch import Gang
from trainmaster.core.records import Node
from trainmaster.engines.base import AttemptReport


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Two virtual nodes of the local engine, with sandboxes."""
    async with Stage(tmp_path / "home") as stage:
        yield stage


class WatchfulMachines(FakeMachines):
    """Machines that look into the ledger at every launch: what is not on disk with this placement may not start."""

    stage: Stage | None = None

    def __init__(self) -> None:
        nodes = [Node(f"n{i}", f"10.0.0.{i}", 4.0, 4096, ("A100", "A100")) for i in (1, 2)]
        super().__init__(nodes, WallClock())
        self.early: list[str] = []

    def launch(self, gang: Gang) -> None:
        """Start a gang, noting one that was started too early."""
        job = self.stage.platform.context.records.get_job(gang.job) if self.stage is not None else None
        stored = job.attempt if job is not None else None
        if self.stage is not None and (
            stored is None or (stored.number, stored.placement) != (gang.attempt, gang.placement)
        ):
            self.early.append(gang.job)
        super().launch(gang)


class FarEngine(FakeEngine):
    """An engine whose answers take a turn of the event loop, as those of a real one do."""

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Answer after a moment."""
        await asyncio.sleep(0)
        return await super().observe(attempts)


@pytest.fixture
def machines() -> WatchfulMachines:
    """Two fake nodes with four cores and two cards each."""
    return WatchfulMachines()


@pytest.fixture
async def fake(tmp_path: Path, machines: WatchfulMachines) -> AsyncIterator[Stage]:
    """The platform on the fake machines; nothing is ever launched before it is durable."""
    async with Stage(tmp_path / "home", engine=lambda: FarEngine(machines)) as stage:
        machines.stage = stage
        yield stage
    assert machines.early == []


@pytest.fixture
async def scene(fake: Stage) -> Scene:
    people = await two_people(fake)
    return Scene(fake, create_app(fake.platform), *people)
