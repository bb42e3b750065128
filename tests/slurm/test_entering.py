"""Entering tasks on a real cluster where it is more than the contract says: in a sandbox, and in a component of unequal
tasks.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.contract.engine.test_entering import marked, run, said
from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.world import SlurmWorld


@pytest.fixture
async def world() -> AsyncIterator[SlurmWorld]:
    made = SlurmWorld("bubblewrap")
    yield made
    await made.close()


async def test_in_a_component_of_unequal_tasks_and_in_its_sandbox(world: SlurmWorld) -> None:
    watcher = Watcher()
    engine = await world.engine(watcher)
    builder = gang(node="").told("server", 1, world.command("sleep 300"))
    builder.gpus = 1
    story = builder.told("worker", 2, world.command("sleep 300")).build()
    await engine.launch(story)
    await watcher.running(key(story), 3)
    for role, index, cards in ((0, 0, 0), (1, 0, 1), (1, 1, 1)):
        attached = await engine.attach(
            key(story), role, index, ("sh", "-c", "hostname; pwd; echo $CUDA_VISIBLE_DEVICES; ls /"), None
        )
        out, err, code = await said(attached)
        host, folder, visible, *top = out.decode().splitlines()
        assert (host, folder, err, code) == (f"task{role}-{index}", "/workspace", b"", 0)
        assert len(list(filter(None, visible.split(",")))) == cards
        assert "root" not in top, "the node's own files"
    _, _, code = await run(
        engine, story, "sh", "-c", "echo 1 > /proc/sys/kernel/domainname || mount -t proc p /tmp", index=0
    )
    assert code != 0
    await asyncio.wait_for(engine.reap(key(story), 0), 60)
    assert marked(key(story)) == []
