"""Progress is pushed to who listens, and never together with something that is not on disk yet."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.fixtures.histories import new_job
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import StorageFailed
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.control.feed import Feed
from trainmaster.service.curves.metrics import Summary
from trainmaster.service.upkeep import pulse
from trainmaster.service.upkeep.pulse import Pulse


class Counted(Feed):
    """A feed that counts the beats: each begins by asking whether somebody listens."""

    beats = 0

    @property
    def listeners(self) -> int:
        self.beats += 1
        return super().listeners


@dataclass
class World:
    """One running job whose step can be set, and a ledger that answers when told to. It is master, metrics and
    specs.
    """

    job: Job = field(default_factory=lambda: replace(new_job(), state=JobState.ACTIVE))
    feed: Counted = field(default_factory=lambda: Counted(None))  # type: ignore[arg-type]
    step: int = 0
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = {self.job.id: self.job}

    def durable(self) -> asyncio.Future[None]:
        self.waiting.append(asyncio.get_running_loop().create_future())
        return self.waiting[-1]

    def fetch_or_none(self, digest: str) -> None:
        return None

    def summary(self, job: Job, spec: None) -> Summary:
        return Summary(metrics={"step": float(self.step)})

    async def asked(self) -> asyncio.Future[None]:
        """Return the next question whether all is on disk."""
        while not self.waiting:
            await asyncio.sleep(0.001)
        return self.waiting.pop(0)

    async def beat(self) -> None:
        """Return when the beat that is at work has ended, and another one after it."""
        until = self.feed.beats + 2
        while self.feed.beats < until:
            await asyncio.sleep(0.001)


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[World, list[Any]]]:
    monkeypatch.setattr(pulse, "EVERY_S", 0.001)
    made, heard, kept = World(), [], []
    beating = Pulse(made.feed, made, made, made, kept.append)  # type: ignore[arg-type]

    async def listen() -> None:
        async for item in made.feed.subscribe(ALL, 0):
            heard.append(item.job)

    listening = asyncio.create_task(listen())
    yield made, heard
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await beating.close()


async def test_what_moves_is_pushed_once(world: tuple[World, list[Any]]) -> None:
    made, heard = world
    for times in (1, 2):
        (await made.asked()).set_result(None)
        await made.beat()
        assert heard == [made.job] * times
        assert made.waiting == []
        made.step += 1


async def test_what_is_only_in_memory_is_not_pushed(world: tuple[World, list[Any]]) -> None:
    made, heard = world
    question = await made.asked()
    made.live[made.job.id] = replace(
        made.job, state=JobState.STOPPED
    )  # ordered while the ledger writes what went before
    question.set_result(None)
    await made.beat()
    assert heard == []


async def test_it_waits_while_the_ledger_is_out_of_order(world: tuple[World, list[Any]]) -> None:
    made, heard = world
    (await made.asked()).set_exception(StorageFailed("full"))
    again = await made.asked()  # by the next beat
    assert heard == []
    again.set_result(None)
    await made.beat()
    assert heard == [made.job]
