"""Several engines in one server: who has which pool, and one that is down while the others work."""

import asyncio
from dataclasses import fields

import pytest

from tests.builders import node
from tests.fixtures.fakes.clock import VirtualClock
from tests.fixtures.fakes.cluster import FakeCluster, FakeClusterEngine
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from trainmaster.core.errors import Unavailable
from trainmaster.engines import registry
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import Engine, Sink
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.engines.registry import Engines
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.messages import render


def two() -> tuple[FakeMachines, FakeCluster, Engines]:
    """Return this machine, a cluster with the pool "alps", and both as the engines of a server."""
    clock = VirtualClock()
    here = FakeMachines((node("n1"),), clock)
    there = FakeCluster((node("c1", pool="alps"), node("n1", pool="alps"), node("c2", pool="debug")), clock)
    return here, there, Engines([FakeEngine(here, "local"), FakeClusterEngine(there, "alps")], {"alps": "alps"})


def test_a_pool_lives_on_the_engine_that_names_it_and_else_on_the_first() -> None:
    _, _, engines = two()
    assert [engines.of(pool).name for pool in ("alps", "default", "made-by-hand")] == ["alps", "local", "local"]
    assert [engines.owns_queue(pool) for pool in ("alps", "default")] == [True, False]


def test_what_an_engine_can_do_beside_is_what_it_implements() -> None:
    _, _, engines = two()
    here, there = (engines.abilities(engine) for engine in engines)
    assert {one.name for one in fields(Abilities)} - _lacking(here) == {"checks_gangs"}
    assert there.estimates is there.adjusts is engines.of("alps")
    assert there.attaches is None
    local, slurm = (Abilities.of(engine) for engine in (object.__new__(LocalEngine), object.__new__(SlurmEngine)))
    assert _lacking(local) == {"estimates", "adjusts", "checks_owners"}
    assert _lacking(slurm) == {"measures", "keeps_agent", "takes_secrets", "caches_inputs"}
    assert engines.card_usage() == {}


def _lacking(can: Abilities) -> set[str]:
    return {one.name for one in fields(Abilities) if getattr(can, one.name) is None}


async def test_nodes_are_those_of_all_with_unique_names_and_in_pools_of_their_engine() -> None:
    _, _, engines = two()
    await engines.start(lambda fact: None)
    assert [(one.name, one.pool) for one in await engines.nodes()] == [("n1", "default"), ("c1", "alps")]
    await engines.close()


async def test_an_engine_that_is_down_is_tried_again_and_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "AGAIN_S", 0.01)
    _, there, engines = two()
    there.reachable = False
    came: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def note(engine: Engine) -> None:
        came.set_result(engine.name)

    await engines.start(lambda fact: None, note)
    assert [one.name for one in await engines.nodes()] == ["n1"]
    assert (await engines.health())["local"] is None
    with pytest.raises(Unavailable, match="alps cannot be used: The fake machines do not answer"):
        engines.up(engines.of("alps"))
    there.reachable = True
    assert await asyncio.wait_for(came, 30) == "alps"
    assert [one.name for one in await engines.nodes()] == ["n1", "c1"]
    await engines.close()


async def test_an_engine_that_is_down_is_closed_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have a client that goes on trying, or a process of its own."""
    closed: list[str] = []
    _, there, engines = two()
    there.reachable = False
    for engine in engines:
        close = engine.close
        monkeypatch.setattr(engine, "close", lambda name=engine.name, close=close: closed.append(name) or close())
    await engines.start(lambda fact: None)
    await engines.close()
    assert closed == ["local", "alps"]


async def test_an_engine_that_takes_long_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "PATIENCE_S", 0.0)
    _, _, engines = two()
    slow, answers, came = engines.of("alps"), asyncio.Event(), asyncio.Event()
    start = slow.start

    async def late(sink: Sink) -> None:
        await answers.wait()
        await start(sink)

    async def note(engine: Engine) -> None:
        came.set()

    monkeypatch.setattr(slow, "start", late)
    await engines.start(lambda fact: None, note)
    assert [one.name for one in await engines.nodes()] == ["n1"]
    with pytest.raises(Unavailable, match="It has not answered yet"):
        engines.up(slow)
    answers.set()
    await asyncio.wait_for(came.wait(), 30)
    assert [one.name for one in await engines.nodes()] == ["n1", "c1"]
    await engines.close()


async def test_machines_that_do_not_answer_for_a_while_stay_as_they_were() -> None:
    _, there, engines = two()
    await engines.start(lambda fact: None)
    before = await engines.nodes()
    there.reachable = False
    assert await engines.nodes() == before
    assert render.text((await engines.health())["alps"]) == "The fake machines do not answer"
    await engines.close()


async def test_without_any_engine_a_server_does_not_start() -> None:
    here, there, engines = two()
    here.reachable = there.reachable = False
    with pytest.raises(Unavailable, match="do not answer"):
        await engines.start(lambda fact: None)
    await engines.close()
