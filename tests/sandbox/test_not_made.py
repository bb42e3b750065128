"""A program that never ran is not told to have failed: its sandbox did, which is the platform's trouble (B12)."""

import os
from dataclasses import replace
from pathlib import Path

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.messages import render


async def test_a_sandbox_that_is_not_made_is_no_exit_code(sandboxed: LocalWorld, tmp_path: Path) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    engine.settings = replace(engine.settings, bwrap=str(broken))
    before = sandboxed.agent_pid()
    os.kill(before, 9)  # the next agent is told the settings anew
    await watcher.until(lambda: engine._client._greeted and engine._client._peer() != before, "another agent")
    story = gang().shell("w", 1, "exit 1").build()
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert end.verdict is not None
    assert (end.verdict.code, render.text(end.verdict.said)) == (
        "sandbox_failed",
        "w-0 did not run: its sandbox could not be created",
    )
    await engine.reap(key(story), 0)


async def test_a_program_that_ends_with_one_has_ended_with_one(sandboxed: LocalWorld) -> None:
    watcher = Watcher()
    engine = await sandboxed.engine(watcher)
    story = gang().shell("w", 1, "exit 1").build()
    await engine.launch(story)
    (end,) = await watcher.end_of(key(story))
    assert end.verdict is not None
    assert end.verdict.code == "exit_code"
    await engine.reap(key(story), 0)
