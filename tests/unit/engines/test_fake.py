"""The fake engine keeps the promises of engines/base on a clock that is turned by hand (B2)."""

import asyncio
import signal

import pytest

from tests.builders import gang, job, node
from tests.fixtures.fakes.clock import VirtualClock
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines, Fate, understand
from trainmaster.core.errors import Unavailable
from trainmaster.core.ids import attempt_id
from trainmaster.engines.base import LaunchRefused, Note, TaskReport


class World:
    """A fake cluster with one server connected to it, and what that server was told."""

    def __init__(self, script=understand) -> None:
        self.clock = VirtualClock()
        self.machines = FakeMachines((node("n1", gpus=4), node("n2", gpus=4)), self.clock, script)
        self.engine = FakeEngine(self.machines)
        self.told: list[TaskReport | Note] = []

    def kinds(self) -> list[tuple[str, int, int | None, int | None]]:
        return [(f.kind, f.index, f.exit_code, f.signal) for f in self.told if isinstance(f, TaskReport)]


@pytest.fixture
async def world() -> World:
    made = World()
    await made.engine.start(made.told.append)
    return made


async def test_tasks_run_and_end_when_their_time_has_come(world: World) -> None:
    two = gang(job().role("w", 2).done(), node("n1"), command="sleep 5 && exit 3")
    await world.engine.launch(two)
    await world.engine.launch(two)
    await world.clock.advance(1)
    assert world.kinds() == [("running", 0, None, None), ("running", 1, None, None)]
    await world.clock.advance(10)
    assert world.kinds()[2:] == [("exited", 0, 3, None), ("exited", 1, 3, None)]
    assert [fact.at for fact in world.told[2:]] == [1_700_000_005.0] * 2


async def test_reap_waits_for_the_grace_and_proves_that_nothing_is_left(world: World) -> None:
    """B2: a task that ignores SIGTERM is killed after the grace; an attempt that was reaped never starts again."""
    stubborn = gang(job().done(), command="trap '' TERM; sleep infinity")
    name = attempt_id(stubborn.job, 1)
    await world.engine.launch(stubborn)
    await world.clock.advance(1)
    reaped = []

    async def reap() -> None:
        await world.engine.reap(name, 10)
        reaped.append(world.clock.now())

    task = asyncio.create_task(reap())
    await world.clock.advance(9)
    assert reaped == []
    await world.clock.advance(2)
    await task
    assert reaped == [1_700_000_011.0]
    assert world.kinds()[-1] == ("exited", 0, None, signal.SIGKILL)
    assert world.machines.alive == frozenset()
    assert not (await world.engine.observe([name]))[0].known
    with pytest.raises(LaunchRefused):
        await world.engine.launch(stubborn)


async def test_an_attempt_that_never_started_is_confirmed_at_once(world: World) -> None:
    await world.engine.reap("tnever-1", 10)


async def test_a_gang_starts_whole_or_not_at_all(world: World) -> None:
    """A refusal leaves nothing; so does a card that another attempt holds, and a node that is away."""
    first, second = (gang(job(name).role(gpu=4).done(), node("n1"), command="sleep infinity") for name in "ab")
    world.machines.refuse_next("launch_failed", "no more processes")
    with pytest.raises(LaunchRefused, match="no more processes"):
        await world.engine.launch(first)
    await world.engine.launch(first)
    with pytest.raises(LaunchRefused, match="card 0 of n1 is held"):
        await world.engine.launch(second)
    world.machines.break_node("n2")
    with pytest.raises(LaunchRefused) as refused:
        await world.engine.launch(gang(job("c").done(), node("n2")))
    assert (refused.value.code, refused.value.node) == ("bad_node", "n2")
    await world.clock.advance(1)
    assert world.machines.alive == {attempt_id(first.job, 1)}


async def test_a_restarted_server_finds_the_truth(world: World) -> None:
    """Tasks outlive the server; what ended meanwhile is observed, not pushed."""
    ours = gang(job().role("w", 2).done(), command="sleep 5")
    await world.engine.launch(ours)
    await world.clock.advance(1)
    await world.engine.close()
    await world.clock.advance(60)
    assert len(world.told) == 2
    again = FakeEngine(world.machines)
    await again.start(world.told.append)
    reports = await again.observe(["tother-1", attempt_id(ours.job, 1)])
    assert [report.known for report in reports] == [False, True]
    assert [(t.kind, t.exit_code) for t in reports[1].tasks] == [("exited", 0)] * 2


async def test_losses_are_told_or_silent(world: World) -> None:
    """A lost task and a broken node are reported; a wiped attempt is just not known any more."""
    ours = gang(job().role("w", 3).done(), node("n1"), node("n2"), command="sleep infinity")
    name = attempt_id(ours.job, 1)
    await world.engine.launch(ours)
    await world.clock.advance(1)
    world.machines.lose_task(name, index=0)
    world.machines.break_node("n2")
    assert world.kinds()[3:] == [("lost", 0, None, None), ("lost", 1, None, None)]
    world.machines.lose(name)
    assert len(world.told) == 5
    assert not (await world.engine.observe([name]))[0].known


async def test_a_checkpoint_signal_is_survived(world: World) -> None:
    ours = gang(job().done(), command="sleep infinity")
    name = attempt_id(ours.job, 1)
    await world.engine.launch(ours)
    await world.clock.advance(1)
    await world.engine.signal(name, signal.SIGUSR1)
    assert world.machines.signals_of(name) == (signal.SIGUSR1,)
    await world.engine.signal(name, signal.SIGINT)
    assert world.kinds()[-1] == ("exited", 0, None, signal.SIGINT)


async def test_unreachable_machines_say_so(world: World) -> None:
    world.machines.reachable = False
    for call in (world.engine.nodes(), world.engine.observe(["t-1"]), world.engine.reap("t-1", 0)):
        with pytest.raises(Unavailable):
            await call


@pytest.mark.parametrize(
    ("command", "fate"),
    [
        ("true", Fate(0.0, 0)),
        ("false", Fate(0.0, 1)),
        ("sleep 2 && exit 3", Fate(2.0, 3)),
        ("sleep infinity", Fate(None)),
        ("trap '' TERM; sleep 1", Fate(1.0, 0, ignores_term=True)),
        ("sleep 1; kill -9 $$", Fate(1.0, None, signal.SIGKILL)),
    ],
)
def test_commands_a_fake_task_understands(command: str, fate: Fate) -> None:
    ours = gang(job().done(), command=command)
    assert understand(ours, ours.placement[0]) == fate


def test_other_commands_are_not_found() -> None:
    ours = gang(job().done(), command="python train.py")
    with pytest.raises(LaunchRefused) as refused:
        understand(ours, ours.placement[0])
    assert refused.value.code == "command_not_found"
