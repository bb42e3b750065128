"""kill -9 of agent and keeper at random instants: no task lost, none run twice, exit codes right (shows-list item
3).
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import PATIENCE_S, Watcher
from trainmaster.agent.host import procs
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.engines.local.guard import Guard


def story(ledger: str, number: int) -> GangBuilder:
    """Two tasks that write one line each when they run and end with a code of their own."""
    text = f'echo "$TRAINMASTER_TASK" >> {ledger}/ran; sleep {random.choice([0, 0, 0.05, 0.3, 1])}; exit {number % 7}'
    return gang().shell("w", 2, text)


def _guarded(world: LocalWorld) -> bool:
    """Return whether agent and keeper both live, the one below the other, and have read how every child of theirs
    ended: on a busy machine that takes them a while, and a keeper that is killed before leaves nobody to ask.
    """
    try:
        agent, keeper = (procs.stat(int(world.read("run", name))) for name in ("agent.pid", "keeper.pid"))
    except (ValueError, FileNotFoundError):
        return False
    if agent is None or keeper is None or not (agent.alive and keeper.alive and agent.ppid == keeper.pid):
        return False
    every = [found for pid in procs.all_pids() if (found := procs.stat(pid)) is not None]
    return all(found.alive for found in every if found.ppid in (agent.pid, keeper.pid))


async def _kill_until(
    world: LocalWorld,
    engine: LocalEngine,
    done: asyncio.Event,
    victims: tuple[str, ...],
    kills: list[str],
    *,
    both: bool,
) -> None:
    """Kill at random instants: every second time after an answer, for on a busy machine an agent that is always killed
    while it starts would never come to anything; the other times perhaps while it starts. `both`: then also while the
    last kill is being mended, so that agent and keeper may be dead at once: only a sandboxed task has a witness of its
    own then (docs/design/agent.md).
    """
    while not done.is_set():
        if len(kills) % 2 == 0:
            await engine.observe([])
        await asyncio.sleep(random.uniform(0.05, 0.8))
        if not (both and len(kills) % 2) and not _guarded(world):
            continue
        try:
            victim = random.choice(victims)
            os.kill(int(world.read("run", victim)), signal.SIGKILL)
            kills.append(victim)
        except (ProcessLookupError, ValueError, FileNotFoundError):
            continue


@pytest.mark.parametrize(
    "victims", [("agent.pid",), ("agent.pid", "agent.pid", "keeper.pid")], ids=["agent", "agent-or-keeper"]
)
@pytest.mark.parametrize(
    "kind", [("none", "off"), ("none", "auto"), ("bubblewrap", "auto")], ids=["bare", "groups", "sandbox"]
)
async def test_nothing_is_lost_and_nothing_runs_twice(kind: tuple[str, str], victims: tuple[str, ...]) -> None:
    world = LocalWorld(*kind)
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        done = asyncio.Event()
        kills: list[str] = []
        killer = asyncio.create_task(_kill_until(world, engine, done, victims, kills, both=kind[0] == "bubblewrap"))
        gangs: list[Gang] = []
        while len(gangs) < 40 or len(kills) < 5:
            built = story("$TRAINMASTER_MODEL_DIR", len(gangs)).build()
            gangs.append(built)
            if len(gangs) % 3:
                engine.announce(built)
                await asyncio.sleep(random.uniform(0, 0.005))
            await engine.launch(built)
            await asyncio.sleep(random.uniform(0, 0.05))
        for built in gangs:
            await watcher.end_of(key(built), 2)
        done.set()
        await killer
        for number, built in enumerate(gangs):
            ends = await watcher.end_of(key(built), 2)
            assert [(end.kind, end.exit_code) for end in ends] == [("exited", number % 7)] * 2, (number, ends)
            ran = sorted(world.read(world.layout.model_out(built.job), "ran").split())
            assert ran == [f"{key(built)}/task0-0", f"{key(built)}/task0-1"]
        for built in gangs:
            await asyncio.wait_for(engine.reap(key(built), 0), 60)
    finally:
        await world.close()


async def test_an_agent_whose_keeper_died_before_it_looked_is_guarded_all_the_same() -> None:
    """It used to watch over whoever was its parent by then: for ever, and for nothing."""
    world = LocalWorld("none", "off")
    dead = subprocess.Popen(["true"])
    dead.wait()
    command = [sys.executable, "-m", "trainmaster.agent", "--home", world.home, "--kept", str(dead.pid)]
    agent = subprocess.Popen(command)
    try:
        async with asyncio.timeout(60):
            while not _guarded(world):
                await asyncio.sleep(0.01)
        assert int(world.read("run", "keeper.pid")) == agent.pid  # it is the keeper now
    finally:
        await world.close()
        agent.wait()


async def test_a_start_that_failed_leaves_nobody_who_would_start_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another server loses the same agent and comes back twice: whoever else would come back has tried by then."""
    world, came_back = LocalWorld("none", "off"), list[str]()
    try:
        engine, built = await world.engine(), gang().shell("w", 1, "sleep 60").build()
        await engine.launch(built)
        elsewhere = LocalEngine(Layout(world.home, f"{world.home}/data"), engine.config)
        with pytest.raises(Unavailable, match="keeps the files of jobs in"):
            await elsewhere.start(lambda fact: None)
        await engine.reap(key(built), 0)
        other, keeper = await world.engine(), int(world.read("run", "keeper.pid"))
        with monkeypatch.context() as patch:
            patch.setattr(Guard, "ensure_keeper", lambda guard: came_back.append(guard.layout.bulk))
            await engine.shut_down_agent()
            async with asyncio.timeout(PATIENCE_S):
                while (left := procs.stat(keeper)) is not None and left.alive:
                    await asyncio.sleep(0.01)
                before = len(came_back)
                while came_back[before:].count(world.home) < 2:
                    await asyncio.sleep(0.01)
            await other.close()
        assert set(came_back) == {world.home}
    finally:
        await world.close()


async def test_a_malformed_record_is_set_aside_and_the_rest_goes_on() -> None:
    """What bad input gets: quarantined and reported."""
    world = LocalWorld("none", "off")
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        built = gang().shell("w", 1, 'until [ -e "$TRAINMASTER_MODEL_DIR/go" ]; do sleep 0.05; done; exit 5').build()
        await engine.launch(built)
        with open(world.layout.path("run", "live", "bad-1"), "w", encoding="ascii") as file:
            file.write('{"gang": 1}\n')
        os.kill(world.agent_pid(), signal.SIGKILL)
        Path(world.layout.model_out(built.job), "go").touch()  # the next agent tells of its end
        (end,) = await watcher.end_of(key(built))
        assert end.exit_code == 5
        assert os.listdir(world.layout.path("run", "malformed")) == ["bad-1"]
    finally:
        await world.close()


@pytest.mark.parametrize("groups", ["off", "auto"], ids=["bare", "groups"])
async def test_a_start_that_was_not_noted_and_cannot_be_known_yet_is_looked_for(groups: str) -> None:
    """The agent died between the start and its note, and the task is between two steps: it has no marker and no log
    yet.
    """
    world = LocalWorld("none", groups)
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        go = "$TRAINMASTER_MODEL_DIR/go"
        waits = f"exec >{go}es 2>&1; until [ -e {go} ]; do /bin/sleep 0.02; done; exit 5"
        built = gang().shell("w", 1, f'exec env -i /bin/sh -c "{waits}"').build()
        await engine.launch(built)
        folder = Path(world.layout.model_out(built.job))
        async with asyncio.timeout(PATIENCE_S):
            while not (folder / "goes").exists():
                await asyncio.sleep(0.01)
        keeper, agent = int(world.read("run", "keeper.pid")), world.agent_pid()
        os.kill(keeper, signal.SIGSTOP)
        os.kill(agent, signal.SIGKILL)
        record = Path(world.layout.path("run", "live", key(built)))
        told, lines = record.stat(), record.read_text().splitlines(keepends=True)
        record.write_text("".join(line for line in lines if not line.startswith('{"s"')))
        os.utime(record, ns=(told.st_atime_ns, told.st_mtime_ns))  # by its age the task is recognised
        os.kill(keeper, signal.SIGCONT)
        assert (await engine.observe([key(built)]))[0].known
        (folder / "go").touch()
        (end,) = await watcher.end_of(key(built))
        assert (end.kind, end.exit_code) == ("exited", 5)
    finally:
        await world.close()


async def test_stopping_works_after_the_agent_was_killed() -> None:
    """B2 holds across agents: what a former agent started is ended as well."""
    world = LocalWorld("bubblewrap")
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        built = gang().shell("w", 2, "trap '' TERM; sleep 600").build()
        await engine.launch(built)
        os.kill(world.agent_pid(), signal.SIGKILL)
        await asyncio.wait_for(engine.reap(key(built), 0.3), 60)
        (report,) = await engine.observe([key(built)])
        assert not report.known
    finally:
        await world.close()
