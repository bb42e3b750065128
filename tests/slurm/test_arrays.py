"""Attempts that come at the same time are elements of one array to Slurm, and as much apart as any others."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import PATIENCE_S, Watcher
from tests.slurm.world import SlurmWorld
from trainmaster.core.launch import Asked, Gang
from trainmaster.engines.base import Refused, Waiting
from trainmaster.engines.slurm.attempts import stored
from trainmaster.engines.slurm.attempts.submitter import SUBMITTED
from trainmaster.engines.slurm.engine import SlurmEngine


class World(SlurmWorld):
    """A cluster with one server on it whose queue is held."""

    watcher: Watcher
    server: SlurmEngine

    async def connect(self) -> None:
        self.watcher = Watcher()
        self.server = await self.engine(self.watcher)

    def elements(self, *stories: Gang) -> list[Gang]:
        """Return those of `stories` that are elements of an array."""
        return [one for one in stories if self.server._following[key(one)].id.element is not None]

    async def ends(self, *stories: Gang) -> list[int | None]:
        """Wait for the end of all tasks; return their exit codes."""
        return [(await self.watcher.end_of(key(one)))[0].exit_code for one in stories]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    await made.connect()
    await made.hold()
    try:
        yield made
    finally:
        await made.close()


async def launched(world: World, count: int, text: str) -> list[Gang]:
    """Launch so many attempts at the same time; more than one of them came together."""
    stories = [gang(node="").shell("w", 1, text.replace("NUMBER", str(number))).build() for number in range(count)]
    await asyncio.gather(*(world.server.launch(one) for one in stories))
    assert len(world.elements(*stories)) > 1
    return stories


async def test_each_does_its_own_work(world: World) -> None:
    stories = await launched(world, 12, "echo I am NUMBER; env | grep SLURM_ARRAY; exit NUMBER")
    await world.release()
    assert await world.ends(*stories) == list(range(12))
    for number, one in enumerate(stories):
        log = world.layout.task(one.job, one.attempt, 0, 0).log
        assert Path(log).read_text() == f"I am {number}\n", "it is nobody's array but ours"
        await world.server.reap(key(one), 0)
    assert world.bed.ask("squeue", "-h").split() == []


async def test_one_is_entered(world: World) -> None:
    stories = await launched(world, 6, "sleep 300")
    one = world.elements(*stories)[-1]
    await world.release()
    await world.watcher.running(key(one))
    terminal = await world.server.attach(
        key(one), 0, 0, ("sh", "-c", "ps -o args= -u 0 | grep -c '^sleep 300'; exit 4"), None
    )
    out = b""
    while data := await terminal.read(1):
        out += data
    assert (int(out) >= 1, await terminal.wait()) == (True, 4)
    await terminal.close()
    await world.server.reap(key(one), 0)
    assert str(world.bed.ask("squeue", "-h", "-r", "-o", "%i")).count("_") == len(
        world.elements(*(x for x in stories if x is not one))
    )


async def test_one_is_taken_away_and_the_others_stay(world: World) -> None:
    stories = await launched(world, 8, "exit 0")
    gone, changed, *others = world.elements(*stories)
    alone = [one for one in stories if one not in (gone, changed, *others)]
    ids = {key(one): str(world.server._following[key(one)].id) for one in stories}
    await world.server.reap(key(gone), 0)
    await world.server.adjust(key(changed), replace(changed.asked or Asked(""), limit_s=7200))
    limits = {
        line.split()[0]: line.split()[1] for line in world.bed.ask("squeue", "-h", "-r", "-o", "%i %l").splitlines()
    }
    told = {attempt: limits.get(number) for attempt, number in ids.items()}  # others may still be going
    unchanged = {key(one): "UNLIMITED" for one in (*others, *alone)}
    assert told == {key(gone): None, key(changed): "2:03:00", **unchanged}
    await world.release()
    assert set(await world.ends(changed, *others, *alone)) == {0}
    assert world.watcher.of(key(gone)) == []


@pytest.mark.parametrize("which", ["one", "array"])
async def test_somebody_cancels(world: World, which: str) -> None:
    stories = await launched(world, 8, "exit 0")
    taken, *_ = world.elements(*stories)
    job = world.server._following[key(taken)].id
    world.bed.ask("scancel", str(job if which == "one" else job.number))
    ended = [one for one in stories if which == "array" and world.server._following[key(one)].id.number == job.number]
    for one in ended or [taken]:
        await world.watcher.until(partial(refused, world, one), "it is told")
        assert last(world, one).code == "stopped"
    await world.release()
    assert set(await world.ends(*(one for one in stories if one not in (ended or [taken])))) <= {0}


def last(world: World, one: Gang) -> Any:
    """Return what was told last of how an attempt stands with Slurm."""
    return (world.watcher.queue(key(one)) or [None])[-1]


def refused(world: World, one: Gang) -> bool:
    return isinstance(last(world, one), Refused)


async def test_another_server_finds_each_by_its_name(world: World) -> None:
    """The first server ended, or its machine lost its power, before it had heard or written down what Slurm said."""
    stories = world.elements(*await launched(world, 8, "sleep 300"))
    known = {key(one): world.server._following[key(one)].id for one in stories}
    for number, one in enumerate(stories):
        path = Path(world.server._folder(key(one)).file(SUBMITTED))
        if number % 2:
            path.write_text(path.read_text().splitlines()[0] + "\n")  # no id
        before = stored.remembered(world.server._folder(key(one)))
        assert before is not None
        assert (before.number is None) == bool(number % 2)
    watcher = Watcher()
    second = await world.engine(watcher)
    reports = await second.observe([key(one) for one in stories])
    assert [(report.known, isinstance(report.queue, Waiting)) for report in reports] == [(True, True)] * len(stories)
    assert {attempt: second._following[attempt].id for attempt in known} == known
    ids = {str(one) for one in known.values()}
    for one in stories:
        await second.launch(one)
    there = world.bed.ask("squeue", "-h", "-r", "-t", "PENDING", "-o", "%i").split()
    assert len(there) == 8, "nothing was submitted twice"
    assert ids <= set(there)


async def test_a_stop_while_it_is_submitted_leaves_nothing(world: World) -> None:
    """The controller has not answered yet: nobody knows whether it has the jobs."""
    stories = [gang(node="").shell("w", 1, "sleep 300").build() for _ in range(6)]
    controller = world.bed.daemons["slurmctld"].pid
    os.kill(controller, signal.SIGSTOP)
    try:
        launches = [asyncio.create_task(world.server.launch(one)) for one in stories]
        async with asyncio.timeout(PATIENCE_S):
            while not all(world.server._folder(key(one)).begun for one in stories):
                await asyncio.sleep(0.05)
        reaps = [asyncio.create_task(world.server.reap(key(one), 0)) for one in stories]
        await world.server.reap("t" + "0" * 32 + "-1", 0)  # it comes after them, and nobody has to be asked for it
        assert not any(one.done() for one in reaps)
    finally:
        os.kill(controller, signal.SIGCONT)
    await asyncio.gather(*launches, return_exceptions=True)
    await asyncio.gather(*reaps)
    assert world.bed.ask("squeue", "-h", "-r", "-t", "PENDING,RUNNING", "-o", "%i").split() == []
    assert world.server._following == {}


async def test_a_cluster_without_arrays(world: World) -> None:
    config = world.bed.folder / "slurm.conf"
    text = config.read_text()
    config.write_text(f"{text}\nMaxArraySize=0\n")
    again(world)
    try:
        stories = [gang(node="").shell("w", 1, "exit 0").build() for _ in range(6)]
        await asyncio.gather(*(world.server.launch(one) for one in stories))
        assert world.elements(*stories) == []
        await world.release()
        assert await world.ends(*stories) == [0] * 6
    finally:
        config.write_text(text)
        again(world)


def again(world: World) -> None:
    """Start the controller again: it reads its configuration, and keeps what it knows."""
    world.bed.kill("slurmctld", signal.SIGTERM)
    world.bed.start_controller()
