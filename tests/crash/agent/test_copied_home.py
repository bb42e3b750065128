"""A process belongs to one home: a copy of the home neither adopts nor ends what the first one runs (B10)."""

import asyncio
import logging
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import PATIENCE_S, Watcher
from trainmaster.messages import render

KINDS = pytest.mark.parametrize(
    "kind", [("bubblewrap", "auto"), ("none", "auto"), ("none", "off")], ids=["sandbox", "groups", "bare"]
)


@KINDS
async def test_a_copy_leaves_what_the_first_home_runs_alone(
    kind: tuple[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, copy = LocalWorld(*kind), LocalWorld(*kind, home=str(tmp_path / "copy"))
    watcher = Watcher()
    engine = await first.engine(watcher)
    story = (
        gang().shell("w", 1, 'echo here; until [ -e "$TRAINMASTER_MODEL_DIR/go" ]; do sleep 0.05; done; exit 5').build()
    )
    await engine.launch(story)
    async with asyncio.timeout(PATIENCE_S):
        while "here" not in first.log(story.job):
            await asyncio.sleep(0.02)

    subprocess.run(["cp", "-a", first.home, copy.home], check=True)
    with caplog.at_level(logging.WARNING):
        other = await copy.engine()
    assert "this home folder is a copy" in caplog.text
    (report,) = await other.observe([key(story)])
    (task,) = report.tasks
    assert task.kind == "lost"
    assert task.verdict is not None
    assert (
        render.text(task.verdict.said)
        == "w-0 does not run here: this home folder is a copy or was moved to another disk"
    )
    await other.signal(key(story), 15)
    await other.reap(key(story), 0)
    await copy.close()

    (report,) = await engine.observe([key(story)])
    assert [task.kind for task in report.tasks] == ["running"]
    Path(first.layout.model_out(story.job), "go").touch()
    (end,) = await watcher.end_of(key(story))
    assert (end.kind, end.exit_code) == ("exited", 5)
    await engine.reap(key(story), 0)
    await first.close()


async def test_a_home_that_is_renamed_keeps_what_it_runs(tmp_path: Path) -> None:
    """Moved and moved back, as by whoever makes room: the records are the same."""
    world = LocalWorld("none", "off", home=str(tmp_path / "home"))
    engine = await world.engine()
    story = gang().shell("w", 1, "sleep 600").build()
    await engine.launch(story)
    Path(world.home).rename(tmp_path / "away")
    (tmp_path / "away").rename(world.home)
    os.kill(world.agent_pid(), signal.SIGKILL)
    (report,) = await engine.observe([key(story)])
    assert [task.kind for task in report.tasks] == ["running"]
    await world.close()
