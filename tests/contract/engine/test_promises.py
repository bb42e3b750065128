"""What every engine promises (engines/base.py), told on real commands. B2: nothing of an attempt may be left."""

import asyncio
import signal
from typing import Any

import pytest

from tests.contract.engine.conftest import ONE_LOOP
from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from trainmaster.core.launch import Asked, Gang
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import LaunchRefused, Refused, Waiting
from trainmaster.messages import render

pytestmark = ONE_LOOP


def announce(engine: Any, story: Gang) -> None:
    """Say what may be launched, to an engine that can use it; what follows is promised by all."""
    announces = Abilities.of(engine).announces
    if announces is not None:
        announces.announce(story)


async def test_every_replica_of_every_role_is_reported_started_and_ended_in_order(
    world: Any, engine: Any, watcher: Watcher
) -> None:
    """R111: tasks are named by role and index; a start comes before its end."""
    story = (
        gang(node=world.node).told("ps", 1, world.command("exit 0")).told("worker", 3, world.command("exit 0")).build()
    )
    await engine.launch(story)
    ends = await watcher.end_of(key(story), 4)
    assert [(end.role, end.index, end.kind, end.exit_code) for end in ends] == [
        (0, 0, "exited", 0),
        (1, 0, "exited", 0),
        (1, 1, "exited", 0),
        (1, 2, "exited", 0),
    ]
    for end in ends:
        mine = [fact.kind for fact in watcher.of(key(story)) if (fact.role, fact.index) == (end.role, end.index)]
        assert mine == ["running", "exited"]


async def test_an_exit_code_comes_with_a_verdict(world: Any, engine: Any, watcher: Watcher) -> None:
    story = gang(node=world.node).told("worker", 1, world.command("exit 7")).build()
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert (end.exit_code, end.signal) == (7, None)


async def test_a_signal_is_reported_as_a_signal(world: Any, engine: Any, watcher: Watcher) -> None:
    story = gang(node=world.node).told("worker", 1, world.command("kill -9 $$")).build()
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert (end.exit_code, end.signal) == (None, 9)


async def test_launching_twice_starts_once(world: Any, engine: Any, watcher: Watcher) -> None:
    """The attempt id is the token against a second start."""
    story = gang(node=world.node).told("worker", 1, world.command("sleep 30")).build()
    await engine.launch(story)
    await engine.launch(story)
    assert len([fact for fact in watcher.of(key(story)) if fact.kind == "running"]) <= 1
    await engine.reap(key(story), 0)


async def test_what_is_only_announced_does_not_run_and_once_launched_runs_once(
    world: Any, engine: Any, watcher: Watcher
) -> None:
    """Nothing of the user's may run before the decision is on disk."""
    story = gang(node=world.node).told("worker", 1, world.command("exit 3")).build()
    announce(engine, story)
    announce(engine, story)
    (report,) = await engine.observe([key(story)])
    assert not report.known
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 3
    assert [fact.kind for fact in watcher.of(key(story))] == ["running", "exited"]


async def test_another_gang_than_the_announced_may_be_launched(world: Any, engine: Any, watcher: Watcher) -> None:
    """The decision was not durable; another was taken for the same attempt."""
    first, second = (gang(job="t" + "3" * 32, node=world.node) for _ in range(2))
    announce(engine, first.told("worker", 1, world.command("exit 3")).build())
    story = second.told("worker", 1, world.command("exit 4")).build()
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 4


async def test_what_a_server_announced_another_may_launch(world: Any, engine: Any) -> None:
    story = gang(node=world.node).told("worker", 1, world.command("exit 3")).build()
    announce(engine, story)
    await engine.close()
    watcher = Watcher()
    await (await world.engine(watcher)).launch(story)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 3


async def why_not(engine: Any, watcher: Watcher, story: Gang) -> tuple[str, str]:
    """Launch what cannot run; return the code and the words of what is said: by the launch or, from one that owns its
    queue, later.
    """
    try:
        await engine.launch(story)
    except LaunchRefused as refusal:
        return refusal.code, render.text(refusal.said)
    assert engine.owns_queue, "the launch was not refused"

    def said() -> list[tuple[str, str]]:
        refused = [
            (fact.code, render.text(fact.said)) for fact in watcher.queue(key(story)) if isinstance(fact, Refused)
        ]
        ends = [end.verdict for end in watcher.ended(key(story)) if end.verdict is not None]
        return refused or [(verdict.code, render.text(verdict.said)) for verdict in ends]

    await watcher.until(lambda: bool(said()), "a refusal")
    found = said()[0]
    await engine.reap(key(story), 0)
    return found


async def test_what_is_wrong_with_an_announced_gang_is_said_by_the_launch(
    world: Any, engine: Any, watcher: Watcher
) -> None:
    story = gang(node=world.node).role("bad", 1, "no-such-command-here").build()
    announce(engine, story)
    code, words = await why_not(engine, watcher, story)
    assert code == "command_not_found", words


async def test_a_reaped_attempt_is_never_started_again(world: Any, engine: Any, watcher: Watcher) -> None:
    story = gang(node=world.node).told("worker", 1, world.command("exit 0")).build()
    await engine.launch(story)
    await watcher.end_of(key(story))
    await engine.reap(key(story), 0)
    with pytest.raises(LaunchRefused):
        await engine.launch(story)


async def test_a_gang_with_an_unknown_command_is_refused_and_leaves_nothing(
    world: Any, engine: Any, watcher: Watcher
) -> None:
    """All or none: the good role is not left running."""
    story = (
        gang(node=world.node).told("good", 2, world.command("sleep 30")).role("bad", 1, "no-such-command-here").build()
    )
    code, words = await why_not(engine, watcher, story)
    assert code == "command_not_found", words
    (report,) = await engine.observe([key(story)])
    assert not report.known


async def test_reap_ends_what_runs_and_then_nothing_is_known(world: Any, engine: Any, watcher: Watcher) -> None:
    """B2."""
    story = gang(node=world.node).told("worker", 2, world.command("sleep 300")).build()
    await engine.launch(story)
    await asyncio.wait_for(engine.reap(key(story), 5), 60)
    (report,) = await engine.observe([key(story)])
    assert not report.known


async def test_reap_ends_a_task_that_ignores_sigterm_after_the_grace(world: Any, engine: Any, watcher: Watcher) -> None:
    """B2: grace, then SIGKILL."""
    story = gang(node=world.node).told("worker", 1, world.command("trap '' TERM; sleep 300")).build()
    await engine.launch(story)
    await asyncio.wait_for(engine.reap(key(story), 0.5), 60)
    (report,) = await engine.observe([key(story)])
    assert not report.known


async def test_reaping_what_never_started_is_confirmed_at_once(world: Any, engine: Any) -> None:
    await asyncio.wait_for(engine.reap("t" + "0" * 32 + "-1", 300), 60)


async def test_reaping_twice_at_once_is_answered_twice(world: Any, engine: Any, watcher: Watcher) -> None:
    story = gang(node=world.node).told("worker", 1, world.command("sleep 300")).build()
    await engine.launch(story)
    await asyncio.wait_for(asyncio.gather(engine.reap(key(story), 0), engine.reap(key(story), 0)), 60)


async def test_observe_tells_the_truth_to_another_server(world: Any, engine: Any, watcher: Watcher) -> None:
    """After a restart the server finds everything again by asking; the order of the answer is the order asked."""
    done = gang(node=world.node).told("worker", 1, world.command("exit 3")).build()
    running = gang(node=world.node).told("worker", 1, world.command("sleep 300")).build()
    await engine.launch(done)
    await engine.launch(running)
    await watcher.end_of(key(done))
    await watcher.running(key(running))
    await engine.close()
    second = await world.engine()
    never = "t" + "1" * 32 + "-1"
    first, gone, last = await second.observe([key(running), never, key(done)])
    assert [task.kind for task in first.tasks] == ["running"]
    assert not gone.known
    assert [(task.kind, task.exit_code) for task in last.tasks] == [("exited", 3)]
    await second.reap(key(running), 0)


async def test_what_finished_while_the_server_was_away_is_told_to_the_next(
    world: Any, engine: Any, watcher: Watcher
) -> None:
    story = gang(node=world.node).told("worker", 2, world.command("sleep 0.3; exit 3")).build()
    await engine.launch(story)
    await watcher.running(key(story), 2)
    await engine.close()
    await world.over(key(story))
    second = Watcher()
    again = await world.engine(second)
    (report,) = await again.observe([key(story)])
    ends = report.tasks if all(task.kind == "exited" for task in report.tasks) else await second.end_of(key(story), 2)
    assert [(end.index, end.exit_code) for end in ends] == [(0, 3), (1, 3)]


async def test_a_signal_reaches_what_runs_and_nobody_else(world: Any, engine: Any, watcher: Watcher) -> None:
    first, second = (gang(node=world.node).told("w", 1, world.command("sleep 300")).build() for _ in "12")
    for story in (first, second):
        await engine.launch(story)
        await watcher.running(key(story))
    await engine.signal(key(first), signal.SIGTERM)
    (end,) = await watcher.end_of(key(first))
    assert end.signal == signal.SIGTERM
    (report,) = await engine.observe([key(second)])
    assert [task.kind for task in report.tasks] == ["running"]
    await engine.reap(key(second), 0)


async def test_prepare_is_a_dry_run(world: Any, engine: Any) -> None:
    """R41, B8: printable, and nothing is started by it."""
    story = gang(node=world.node).told("worker", 2, world.command("exit 0")).build()
    request = engine.prepare(story)
    assert request.kind
    assert request.document
    (report,) = await engine.observe([key(story)])
    assert not report.known


async def test_what_is_foreseen_is_said_by_engines_with_a_queue_alone(world: Any, engine: Any) -> None:
    story = gang(node=world.node).told("worker", 2, world.command("exit 0")).build()
    estimates = Abilities.of(engine).estimates
    assert estimates is None or engine.owns_queue
    if estimates is not None:
        assert estimates.objections(story.roles, story.asked or Asked("default")) == ()
        assert isinstance(await estimates.estimate(story), Waiting | Refused)


async def test_nodes_have_room(world: Any, engine: Any) -> None:
    nodes = await engine.nodes()
    assert nodes
    assert all(node.cpu > 0 and node.memory_mib > 0 and node.host for node in nodes)
