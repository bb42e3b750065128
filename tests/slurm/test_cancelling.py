"""Many jobs stopped at once, on a real cluster: all end, once, and nobody else's does."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.bed import Bed
from tests.slurm.served import POOL, Served, job
from tests.slurm.world import SlurmWorld
from trainmaster.core.errors import Unavailable
from trainmaster.core.launch import Gang
from trainmaster.engines.slurm.attempts.cancelling import Wish
from trainmaster.engines.slurm.engine import SlurmEngine

pytestmark = pytest.mark.timeout(300)
MANY = 100


@pytest.fixture
async def world() -> AsyncIterator[SlurmWorld]:
    made = SlurmWorld()
    yield made
    await made.close()


@contextlib.contextmanager
def closed(bed: Bed) -> Iterator[None]:
    """Let what is submitted wait."""
    bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=DOWN")
    try:
        yield
    finally:
        bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=UP")


def cancels(engine: SlurmEngine) -> list[tuple[str, ...]]:
    """Return the words of every scancel from now on."""
    run, seen = engine.commands.run, []

    async def noted(program: Any, *words: str, **more: Any) -> str:
        if program == "scancel":
            seen.append(words)
        return await run(program, *words, **more)

    engine.commands.run = noted  # type: ignore[method-assign]
    return seen


def foreign(bed: Bed, *more: str) -> str:
    """Submit a job of the same system user that is none of ours."""
    return bed.ask("sbatch", "--parsable", "-o", "/dev/null", "--job-name=other", *more, "--wrap", "sleep 600").strip()


def there(bed: Bed) -> set[str]:
    return set(bed.ask("squeue", "-h", "-r", "-t", "PENDING,RUNNING", "-o", "%i").split())


async def all_kinds(world: SlurmWorld, engine: SlurmEngine) -> list[Gang]:
    """Launch jobs that are alike, that are not, and two of unlike components."""
    stories = [gang(node="").shell("w", 1, "sleep 600").build() for _ in range(30)]
    for number in range(10):
        builder = gang(node="")
        builder.cpu = 1 + number % 4
        stories.append(builder.shell("w", 1, f"sleep {600 + number}").build())
    for _ in range(2):
        builder = gang(node="").shell("server", 1, "sleep 600")
        builder.gpus = 1
        stories.append(builder.shell("worker", 1, "sleep 600").build())
    await asyncio.gather(*(engine.launch(one) for one in stories))
    return stories


@pytest.mark.parametrize("state", ["waiting", "running"])
async def test_all_kinds_end_and_others_stay(world: SlurmWorld, state: str) -> None:
    watcher = Watcher()
    engine = await world.engine(watcher)
    plain, array = foreign(world.bed), foreign(world.bed, "--array=0-1")
    others = {plain, f"{array}_0", f"{array}_1"}
    if state == "waiting":
        await world.hold()
        stories = await all_kinds(world, engine)
    else:
        stories = [gang(node="").shell("w", 1, "sleep 600").build() for _ in range(6)]
        await asyncio.gather(*(engine.launch(one) for one in stories))
        for one in stories:
            await watcher.running(key(one))
        world.bed.ask("scancel", f"--name=tm-{key(stories[0])}")  # it ends at the same time, by another's hand
    seen = cancels(engine)
    unknown = engine.cancelling.cancel(Wish("t0000000000000000-1"))
    await asyncio.gather(unknown, *(engine.reap(key(one), 0) for one in stories))
    assert there(world.bed) == others
    assert engine._following == {}
    assert len(seen) < len(stories) / 2, seen


async def test_a_controller_that_is_down_is_said_to_all_and_asked_again(world: SlurmWorld) -> None:
    engine = await world.engine()
    await world.hold()
    stories = [gang(node="").shell("w", 1, "sleep 600").build() for _ in range(12)]
    await asyncio.gather(*(engine.launch(one) for one in stories))
    world.bed.kill("slurmctld", signal.SIGTERM)
    reaps = [engine.reap(key(one), 0) for one in stories]
    wishes = [engine.cancelling.cancel(Wish(key(one))) for one in stories]
    answers = await asyncio.gather(*reaps, *wishes, return_exceptions=True)
    assert {isinstance(answer, Unavailable) for answer in answers} == {True}
    world.bed.start_controller()
    await asyncio.gather(*(engine.reap(key(one), 0) for one in stories))
    assert there(world.bed) == set()


def stopped(served: Served, jobs: list[str]) -> list[tuple[str, str, int, int]]:
    """Return of each job, once it has ended: state, verdict, attempts, and how often its end was written down."""
    views = [served.ended(one) for one in jobs]
    ends = [
        sum(event["kind"] == "reaped" for event in served.asking.ask("GET", f"/jobs/{one}/events")["items"])
        for one in jobs
    ]
    return [
        (view["state"], view["verdict"]["code"], view["attempts"], end) for view, end in zip(views, ends, strict=True)
    ]


def stop_all(served: Served, jobs: list[str]) -> None:
    """Ask for the end of all of them as several people at once."""
    with ThreadPoolExecutor(8) as people:
        list(people.map(lambda one: served.client().ask("POST", f"/jobs/{one}/stop", {}), jobs))


def test_a_hundred_are_stopped_through_the_whole_server(served: Served) -> None:
    with closed(served.bed):
        other = foreign(served.bed)
        jobs = [served.submit(job(f"stop-{number}", "sleep 600", cpu=1 + number % 2)) for number in range(MANY)]
        for one in jobs:
            served.state(one, "pending")
        stop_all(served, jobs)
        assert stopped(served, jobs) == [("stopped", "stopped", 1, 1)] * MANY
        assert there(served.bed) == {other}
        served.bed.ask("scancel", other)


def test_a_controller_that_comes_back_and_has_forgotten(served: Served) -> None:
    """Those that it has forgotten were never to run; what others have submitted since, under the same ids, stays."""
    with closed(served.bed):
        jobs = [served.submit(job(f"kept-{number}", "sleep 600")) for number in range(6)]
        for one in jobs:
            served.state(one, "pending")
        served.bed.keep()
        lost = [served.submit(job(f"lost-{number}", "sleep 600", cpu=2)) for number in range(6)]
        for one in lost:
            served.state(one, "pending")
        numbers = {served.number(one).partition("_")[0] for one in lost}
        served.bed.kill("slurmctld")
        stop_all(served, [*jobs, *lost])
        served.bed.forget()
        served.bed.ask("scontrol", "update", f"PartitionName={POOL}", "State=DOWN")
        others = {foreign(served.bed) for _ in range(6)}
        assert numbers <= others
        assert stopped(served, [*jobs, *lost]) == [("stopped", "stopped", 1, 1)] * 12
        assert there(served.bed) == others
        served.bed.ask("scancel", *others)
