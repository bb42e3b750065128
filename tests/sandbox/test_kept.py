"""Who enters what is kept of an ended task may do no more, and take no more, than the task (R137, R90, B2)."""

import asyncio
import sys
from typing import Any

import pytest

from tests.contract.engine.test_entering import said
from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from tests.sandbox.conftest import LIMITS
from tests.sandbox.test_filter import expected, got, program
from trainmaster.core.errors import Conflict
from trainmaster.core.launch import Gang, Mount

pytestmark = pytest.mark.sandbox
PATIENCE_S = 120.0
HOG = "x = bytearray(300 << 20); print('has it')"
FORKS = """
import os, time
made = []
try:
    while len(made) < 200:
        made.append(os.fork())
        if not made[-1]:
            time.sleep(300)
except BlockingIOError:
    print(len(made), flush=True)
for one in made:
    os.kill(one, 9)
"""


async def ended(world: LocalWorld, story: GangBuilder) -> tuple[Any, Gang]:
    """Run a gang of one to its end; nobody reaps it."""
    watcher = Watcher()
    engine, built = await world.engine(watcher), story.build()
    await engine.launch(built)
    await watcher.end_of(key(built))
    return engine, built


async def inside(engine: Any, of: Gang, *argv: str) -> tuple[bytes, bytes, int]:
    return await said(await engine.attach(key(of), 0, 0, argv, None, kept=True))


async def test_the_same_calls_are_refused(sandboxed: LocalWorld) -> None:
    engine, story = await ended(sandboxed, gang().shell("w", 1, "exit 7"))
    out, err, _ = await inside(engine, story, sys.executable, "-c", program())
    assert got(out.decode()) == expected(), err
    out, _, _ = await inside(
        engine, story, "sh", "-c", "grep -h Seccomp: /proc/[0-9]*/status; grep CapEff /proc/self/status"
    )
    *filters, rights = [line.split()[1] for line in out.decode().splitlines()]
    assert (set(filters), int(rights, 16)) == ({"2"}, 0)


async def test_it_sees_what_the_task_saw_and_nothing_else(sandboxed: LocalWorld) -> None:
    look = "hostname; pwd; ls / /dev /tmp /workspace; cut -d' ' -f2-3 /proc/mounts | grep -v /dev/pts"
    engine, story = await ended(
        sandboxed, gang().shell("w", 1, f"echo 1 > /tmp/a; echo 2 > /workspace/b; {look}; exit 7")
    )
    before = sandboxed.log(story.job)
    out, err, _ = await inside(engine, story, "sh", "-c", look)
    assert out.decode() == before, err
    assert "a\n" in before
    _, err, code = await inside(engine, story, "ls", sandboxed.home)
    assert code != 0


async def test_memory_is_limited_as_before(sandboxed: LocalWorld) -> None:
    engine, story = await ended(sandboxed, gang().role("w", 1, "sh", "-c", "exit 7", memory_mib=64))
    out, _, code = await inside(engine, story, "python3", "-c", HOG)
    assert (out, code) == (b"", 137)
    assert await inside(engine, story, "echo", "others may go on") == (b"others may go on\n", b"", 0)


async def test_without_control_groups_samples_end_what_takes_too_much() -> None:
    world = LocalWorld("bubblewrap", "off", limits=LIMITS)
    try:
        engine, story = await ended(world, gang().role("w", 1, "sh", "-c", "exit 7", memory_mib=64))
        terminal = await engine.attach(
            key(story), 0, 0, ("python3", "-c", f"import time; {HOG}; time.sleep(600)"), None, kept=True
        )
        _, _, code = await said(terminal)
        assert code != 0
    finally:
        await world.close()


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
async def test_processes_are_limited_as_before_also_where_the_end_had_taken_all_forks(sandbox: str) -> None:
    world = LocalWorld(sandbox, limits=LIMITS)
    try:
        engine, story = await ended(world, gang().shell("w", 1, "setsid sleep 300 & sleep 0.2; exit 7"))
        assert (await inside(engine, story, "sh", "-c", "sleep 0 & wait; echo forked"))[0] == b"forked\n"
        out, _, _ = await inside(engine, story, "python3", "-c", FORKS)
        assert 0 < int(out) < LIMITS.processes
    finally:
        await world.close()


async def test_a_folder_that_is_gone_is_named(sandboxed: LocalWorld, tmp_path: Any) -> None:
    """bubblewrap's own words reach who wanted to enter."""
    data = tmp_path / "data"
    data.mkdir()
    engine, story = await ended(sandboxed, gang(mounts=(Mount(str(data), "/dataset", True),)).shell("w", 1, "exit 7"))
    data.rmdir()
    _, err, code = await inside(engine, story, "true")
    assert code == 125
    assert str(data).encode() in err


async def test_an_entered_hold_is_given_back_whole(sandboxed: LocalWorld) -> None:
    """The next task in the same control group meets nobody, and can fork."""
    engine, story = await ended(sandboxed, gang().shell("w", 1, "exit 7"))
    terminal = await engine.attach(key(story), 0, 0, ("sleep", "300"), None, kept=True)
    await asyncio.wait_for(engine.reap(key(story), 0), PATIENCE_S)
    assert await asyncio.wait_for(terminal.wait(), PATIENCE_S) != 0
    await terminal.close()
    with pytest.raises(Conflict):
        await inside(engine, story, "true")
    _, second = await ended(sandboxed, gang().shell("w", 1, "sleep 0 & wait; echo fine"))
    assert sandboxed.log(second.job) == "fine\n"
