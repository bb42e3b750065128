"""A full disk ends neither agent nor keeper, is nobody's fault but the platform's, and makes nothing run twice
(B12).
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fixtures.copies import who
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.small_disk import SmallDisk, small_disk
from tests.fixtures.watcher import PATIENCE_S, Watcher
from trainmaster.agent.host import procs
from trainmaster.agent.host.words import MOST
from trainmaster.core.errors import Unavailable
from trainmaster.core.launch import Gang, Mount

PROGRAM = "echo {name} >> {marks}/ran; until [ -e {marks}/{name} ]; do sleep 0.05; done; exit {code}"


class Full(LocalWorld):
    """A home on a small disk; what programs are told and what they say lies elsewhere."""

    marks: Path
    disk: SmallDisk

    def story(self, name: str, code: int) -> Gang:
        """Return a gang of one that runs until its mark is there."""
        sandboxed = self.sandbox == "bubblewrap"
        seen = "/marks" if sandboxed else str(self.marks)
        mounts = (Mount(str(self.marks), "/marks", read_only=False),) if sandboxed else ()
        return gang(mounts=mounts).shell("w", 1, PROGRAM.format(name=name, marks=seen, code=code)).build()

    def let(self, name: str) -> None:
        """Let a program end."""
        (self.marks / name).touch()

    @property
    def ran(self) -> list[str]:
        """The programs that have run, in order."""
        path = self.marks / "ran"
        return path.read_text().split() if path.exists() else []

    def keepers(self) -> list[int]:
        """Return the keepers of this home."""
        run, found = os.fsencode(self.layout.path("run")), []
        for pid in procs.all_pids():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if run in words and b"-c" in words:  # an agent is started by -m
                    found.append(pid)
        return found

    def agent(self) -> tuple[int, int]:
        """Return the pids of the agent and of its keeper."""
        pid = int(who(self.home)["pid"])
        found = procs.stat(pid)
        assert found is not None
        return pid, found.ppid

    async def kill(self, pid: int) -> None:
        """Kill the agent or the keeper, and wait until both serve again."""
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                with contextlib.suppress(OSError, AssertionError):
                    agent, keeper = self.agent()
                    if pid not in (agent, keeper) and self.keepers() == [keeper]:
                        return
                await asyncio.sleep(0.05)


@pytest.fixture(params=[("bubblewrap", "auto"), ("none", "off")], ids=["sandbox", "bare"])
async def full(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Full]:
    """A home with room for little."""
    with small_disk(tmp_path / "disk") as disk:
        world = Full(*request.param, home=str(disk.folder / "home"))
        world.marks, world.disk = tmp_path / "marks", disk
        world.marks.mkdir()
        yield world
        await world.close()


async def test_everything_is_told_right_and_nothing_is_run_twice(full: Full) -> None:
    watcher = Watcher()
    engine = await full.engine(watcher)
    early, late, last = full.story("early", 5), full.story("late", 6), full.story("last", 7)
    for one in (early, late, last):
        await engine.launch(one)
    async with asyncio.timeout(PATIENCE_S):
        while len(full.ran) < 3:
            await asyncio.sleep(0.02)
    full.disk.fill()
    full.let("early")
    (end,) = await watcher.end_of(key(early))
    assert (end.kind, end.exit_code) == ("exited", 5)
    refused = full.story("refused", 8)
    with pytest.raises(Unavailable, match="disk of the platform's home folder is full"):
        await engine.launch(refused)

    await full.kill(full.agent()[0])
    full.let("late")  # perhaps while a keeper is all there is
    await full.kill(full.agent()[0])
    await full.kill(full.agent()[1])
    (end,) = await watcher.end_of(key(late))
    assert (end.kind, end.exit_code) == ("exited", 6)
    await full.kill(full.agent()[0])
    told = await engine.observe([key(early), key(late), key(last)])
    assert [[(t.kind, t.exit_code) for t in one.tasks] for one in told] == [
        [("exited", 5)],
        [("exited", 6)],
        [("running", None)],
    ]
    with pytest.raises(Unavailable):
        await engine.launch(refused)

    full.disk.free()
    await engine.launch(refused)
    full.let("last")
    full.let("refused")
    assert [end.exit_code for one in (last, refused) for end in await watcher.end_of(key(one))] == [7, 8]
    assert sorted(full.ran) == ["early", "last", "late", "refused"]
    for one in (early, late, last, refused):
        await engine.reap(key(one), 0)
    assert os.listdir(full.layout.path("run", "live")) == []
    assert not [name for name in os.listdir(full.layout.path("run")) if name.startswith("agent.pid.")]


async def test_an_attempt_that_is_reaped_on_a_full_disk_is_reaped(full: Full) -> None:
    engine = await full.engine()
    story = full.story("story", 0)
    await engine.launch(story)
    full.disk.fill()
    await engine.reap(key(story), 0)
    await full.kill(full.agent()[0])
    full.disk.free()
    async with asyncio.timeout(PATIENCE_S):
        while os.listdir(full.layout.path("run", "live")):
            await asyncio.sleep(0.05)


async def test_what_the_agent_says_is_bounded(full: Full) -> None:
    engine = await full.engine()
    with open(full.layout.path("run", "agent.log"), "ab") as log:
        log.write(b"an old line\n" * (2 * MOST // 12))
    os.kill(full.agent()[0], signal.SIGKILL)
    Path(full.layout.path("run", "live", "bad-1")).write_text("{}\n")
    os.kill((await _next(full, engine))[0], signal.SIGKILL)
    async with asyncio.timeout(PATIENCE_S):
        while "bad-1" not in full.read("run", "agent.log"):
            await asyncio.sleep(0.05)
    assert os.stat(full.layout.path("run", "agent.log")).st_size < MOST
    assert full.read("run", "agent.log").startswith("an old line\n")


async def _next(full: Full, engine: object) -> tuple[int, int]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(OSError, AssertionError):
                return full.agent()
            await asyncio.sleep(0.05)
