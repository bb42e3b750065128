"""An agent whose answer is larger than any it needs is not taken into memory, and nobody waits for it for ever (B7)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from trainmaster.core.errors import Unavailable
from trainmaster.engines.local import client

PATIENCE_S = 120.0
SMALL = 64 << 10


@pytest.fixture
async def world() -> AsyncIterator[LocalWorld]:
    made = LocalWorld("none")
    yield made
    await made.close()


async def test_an_answer_without_end_fails_and_the_next_one_is_given(
    world: LocalWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked again it would be the same; so the request fails, with everything that waits beside it, and what runs runs
    on.
    """
    engine = await world.engine()
    job = gang().shell("w", 1, "sleep 1000").build()
    await engine.launch(job)
    monkeypatch.setattr(client, "MOST_LINE", SMALL)
    for _ in range(2):
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(Unavailable, match="the answer of the node agent is larger than 0 MiB"):
                await engine.observe([f"t{at:032x}.1" for at in range(50_000)])
            (report,) = await engine.observe([key(job)])
        assert [task.kind for task in report.tasks] == ["running"]


async def test_a_large_answer_comes_whole(world: LocalWorld) -> None:
    """Of many pieces of the socket."""
    engine = await world.engine()
    many = [f"t{at:032x}.1" for at in range(50_000)]
    async with asyncio.timeout(PATIENCE_S):
        reports = await engine.observe(many)
    assert [report.attempt for report in reports] == many
