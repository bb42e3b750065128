"""What an engine that owns its queue promises besides (engines/base.py): accepted is not started, and nothing in
between is lost.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from trainmaster.core.launch import Asked, Gang
from trainmaster.core.records import PortRequest
from trainmaster.engines.base import Refused, Started, Waiting
from trainmaster.messages import render


@pytest.fixture
async def engine(cluster: Any, watcher: Watcher) -> Any:
    """The engine under test, whose queue is held."""
    engine = await cluster.engine(watcher)
    assert engine.owns_queue
    await cluster.hold()
    return engine


def story_of(cluster: Any, text: str = "exit 0", replicas: int = 1) -> Gang:
    """Return a gang of one role that is placed nowhere yet."""
    return gang(node="").told("w", replicas, cluster.command(text)).build()


async def started(watcher: Watcher, attempt: str) -> Started:
    """Wait for the start of `attempt`."""
    await watcher.until(lambda: isinstance((watcher.queue(attempt) or [None])[-1], Started), f"the start of {attempt}")
    (found,) = [fact for fact in watcher.queue(attempt) if isinstance(fact, Started)]
    return found


async def test_what_is_accepted_waits_with_a_reason_in_words(cluster: Any, engine: Any, watcher: Watcher) -> None:
    story = story_of(cluster)
    await engine.launch(story)
    await watcher.until(lambda: bool(watcher.queue(key(story))), "a reason")
    (reason, *_) = watcher.queue(key(story))
    assert isinstance(reason, Waiting)
    assert reason.code
    assert render.text(reason.said)
    (report,) = await engine.observe([key(story)])
    assert report.known
    assert isinstance(report.queue, Waiting)
    assert report.tasks == ()
    assert watcher.of(key(story)) == []


async def test_a_start_tells_where_every_replica_is_before_anything_of_it_runs(
    cluster: Any, engine: Any, watcher: Watcher
) -> None:
    """R80: ports are chosen where the replica is; cards are those of the node."""
    builder = gang(node="", gpus=1).told("ps", 1, cluster.command("sleep 300"), PortRequest("http", 2))
    story = builder.told("worker", 2, cluster.command("sleep 300")).build()
    await engine.launch(story)
    await cluster.release()
    await watcher.running(key(story), 3)
    start = await started(watcher, key(story))
    about = [fact for fact in watcher.facts if fact in watcher.of(key(story)) or fact is start]
    assert about[0] is start
    assert sorted((place.role, place.index) for place in start.placement) == [(0, 0), (1, 0), (1, 1)]
    nodes = {node.name: node for node in await engine.nodes()}
    for place in start.placement:
        assert place.host == nodes[place.node].host
        assert len(place.gpus) == 1
        assert place.gpus[0] < len(nodes[place.node].gpus)
    assert len({(place.node, *place.gpus) for place in start.placement}) == 3, "a card has one holder"
    ((label, ports),) = next(place.ports for place in start.placement if place.role == 0)
    assert (label, len(ports)) == ("http", 2)
    (report,) = await engine.observe([key(story)])
    assert report.queue == start
    await engine.reap(key(story), 0)


async def test_handing_over_twice_is_waiting_once_and_running_once(cluster: Any, engine: Any, watcher: Watcher) -> None:
    story = story_of(cluster, "exit 3")
    await engine.launch(story)
    await engine.launch(story)
    await cluster.release()
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 3
    await engine.launch(story)
    assert [fact.kind for fact in watcher.of(key(story))] == ["running", "exited"]
    await started(watcher, key(story))


async def test_what_is_reaped_while_it_waits_never_runs(cluster: Any, engine: Any, watcher: Watcher) -> None:
    """B2: nothing is left of it, also not in the cluster's queue. No grace is given to what does not run."""
    story, later = story_of(cluster), story_of(cluster)
    await engine.launch(story)
    await asyncio.wait_for(engine.reap(key(story), 300), 60)
    (report,) = await engine.observe([key(story)])
    assert not report.known
    await engine.launch(later)
    await cluster.release()
    await watcher.end_of(key(later))
    assert watcher.of(key(story)) == []
    assert not any(isinstance(fact, Started) for fact in watcher.queue(key(story)))


async def test_what_is_asked_may_change_at_any_time(cluster: Any, engine: Any, watcher: Watcher) -> None:
    """R191, R170: while it waits, while it runs, and when it is no more."""
    story = story_of(cluster, "sleep 0.3")
    await engine.adjust(key(story), Asked("default", limit_s=60.0))
    await engine.launch(story)
    await engine.adjust(key(story), Asked("default", limit_s=7200.0, priority=1))
    await cluster.release()
    await watcher.running(key(story))
    await engine.adjust(key(story), Asked("default", limit_s=None, priority=0))
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 0


async def test_a_signal_to_what_waits_does_nothing(cluster: Any, engine: Any, watcher: Watcher) -> None:
    story = story_of(cluster)
    await engine.launch(story)
    await engine.signal(key(story), 15)
    await cluster.release()
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 0


async def test_what_the_cluster_cancels_is_told_as_refused(cluster: Any, engine: Any, watcher: Watcher) -> None:
    story = story_of(cluster)
    await engine.launch(story)
    await cluster.cancel(key(story))
    await watcher.until(lambda: isinstance((watcher.queue(key(story)) or [None])[-1], Refused), "the refusal")
    (report,) = await engine.observe([key(story)])
    assert isinstance(report.queue, Refused)
    assert render.text(report.queue.said)
    await engine.reap(key(story), 0)
    (report,) = await engine.observe([key(story)])
    assert not report.known


async def test_another_server_hears_of_what_it_asked_about(cluster: Any, engine: Any) -> None:
    """The server restarts while an attempt waits: asked about once, its start and its end are pushed."""
    story = story_of(cluster, "exit 3", replicas=2)
    await engine.launch(story)
    await engine.close()
    watcher = Watcher()
    again = await cluster.engine(watcher)
    (report,) = await again.observe([key(story)])
    assert report.known
    assert not isinstance(report.queue, Started)
    await cluster.release()
    assert [end.exit_code for end in await watcher.end_of(key(story), 2)] == [3, 3]
    await started(watcher, key(story))


async def test_what_is_lost_is_told_from_what_finished_while_the_server_was_away(
    cluster: Any, engine: Any, watcher: Watcher
) -> None:
    """Of what is gone without an end record nothing is known, or its tasks are lost; never is it taken for a
    success.
    """
    waits, runs, ends = story_of(cluster), story_of(cluster, "sleep 300"), story_of(cluster, "exit 0")
    await cluster.release()
    for story in (runs, ends):
        await engine.launch(story)
    await watcher.end_of(key(ends))
    await watcher.running(key(runs))
    await cluster.hold()
    await engine.launch(waits)
    await engine.close()
    await cluster.lose(key(waits))
    await cluster.lose(key(runs))
    second = Watcher()
    again = await cluster.engine(second)
    (end,) = (await again.observe([key(ends)]))[0].tasks
    assert (end.kind, end.exit_code) == ("exited", 0)
    for story in (waits, runs):
        (report,) = await again.observe([key(story)])
        assert not report.known or {task.kind for task in report.tasks} == {"lost"}
    await again.reap(key(runs), 0)


async def test_what_is_foreseen_for_a_gang_is_not_handed_over(cluster: Any, engine: Any, watcher: Watcher) -> None:
    """B8: while the queue is held no start is foreseen, then one now; nothing of it is in the queue or ever runs."""
    story = story_of(cluster)
    held = await engine.estimate(story)
    assert isinstance(held, Waiting)
    assert (held.attempt, held.starts_at, bool(render.text(held.said))) == (key(story), None, True)
    await cluster.release()
    free = await engine.estimate(replace(story, attempt=2))
    assert isinstance(free, Waiting)
    assert free.starts_at is not None
    assert free.starts_at <= free.at + 1
    assert set(free.nodes) <= {node.name for node in await engine.nodes()}
    assert len(free.nodes) == 1
    assert [report.known for report in await engine.observe([key(story)])] == [False]
    assert watcher.facts == []


async def test_what_could_never_start_is_foreseen_to_be_refused(cluster: Any, engine: Any) -> None:
    await cluster.release()
    story = gang(node="", gpus=99).told("w", 1, cluster.command("exit 0")).build()
    refused = await engine.estimate(story)
    assert isinstance(refused, Refused)
    assert render.text(refused.said)
