"""Homes whose tasks run in real sandboxes, and in none."""

import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.fixtures.gangs import GangBuilder, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.agent.sandbox import sandbox, seccomp
from trainmaster.core.config import LimitsConfig
from trainmaster.engines.base import TaskReport

Run = Callable[[GangBuilder], Awaitable[tuple[TaskReport, str]]]

NOBODY = 65534
LIMITS = LimitsConfig(log_mib=1, processes=64, sample_s=0.2)


def runner(world: LocalWorld) -> Run:
    """Return a function that runs a gang of one task to its end and gives its last word and its log."""

    async def run(story: GangBuilder) -> tuple[TaskReport, str]:
        watcher = Watcher()
        engine = await world.engine(watcher)
        built = story.build()
        await engine.launch(built)
        (end,) = await watcher.end_of(key(built))
        await engine.reap(key(built), 0)
        return end, world.log(built.job)

    return run


def run_as_nobody(folder: Path, text: str, *given: str, network: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the Python program `text` in a sandbox as a server makes it that is not root, with or without a network of
    its own.
    """
    assert os.geteuid() == 0
    places = {name: folder / name for name in ("etc", "tmp", "work", "metrics", "model", "outputs")}
    for place in places.values():
        place.mkdir()
        os.chown(place, NOBODY, NOBODY)
    for place in (folder, *folder.parents, *places.values()):
        if place.is_relative_to("/tmp") and place != Path("/tmp"):
            place.chmod(0o755)
    view = sandbox.View(
        name="any",
        hidden=(),
        shm_mib=1,
        environment=sandbox.Environment("/usr/bin", (), ""),
        network=network,
        **{name: str(place) for name, place in places.items()},
    )
    # What was found possible as root is not so as nobody, and the other way round.
    sandbox._namespaces.cache_clear(), sandbox._sealed.cache_clear()
    os.seteuid(NOBODY)
    try:
        options = sandbox.options(view, cwd="/", env={})
    finally:
        os.seteuid(0)
        sandbox._namespaces.cache_clear(), sandbox._sealed.cache_clear()
    assert "--unshare-user" in options
    (folder / "options").write_bytes("\0".join(options).encode() + b"\0")
    (folder / "gate").write_text("1")
    (folder / "filter").write_bytes(seccomp.program())
    shell = 'exec bwrap --args 4 -- "$@" 3>/dev/null 4<options 5<gate 6<filter'
    return subprocess.run(
        ["/bin/sh", "-c", shell, "sh", "/usr/bin/python3", "-I", "-c", text, *given],
        cwd=folder,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
async def sandboxed() -> AsyncIterator[LocalWorld]:
    """A home whose tasks run in bubblewrap."""
    world = LocalWorld("bubblewrap", limits=LIMITS)
    yield world
    await world.close()


@pytest.fixture
async def bare() -> AsyncIterator[LocalWorld]:
    """A home whose tasks run without a sandbox and without control groups: the least protection there is."""
    world = LocalWorld("none", "off", limits=LIMITS)
    yield world
    await world.close()


@pytest.fixture
def run(sandboxed: LocalWorld) -> Run:
    """Runs one task in a sandbox."""
    return runner(sandboxed)
