"""Inputs on a file system that hangs."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.service.admission import admission
from trainmaster.service.folders.inputs import path_problem


async def test_a_folder_that_does_not_answer_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share whose server is gone: a clear problem after a while; other jobs are taken in and run meanwhile."""
    here, gone = tmp_path / "here", tmp_path / "gone"
    here.mkdir()
    answers = threading.Event()

    def look(path: str, *rest: Any) -> Problem | None:
        if path == str(gone):
            answers.wait()
        return path_problem(path, *rest)

    monkeypatch.setattr(admission, "path_problem", look)
    async with Stage(tmp_path / "home", {"local": {"mount_roots": [str(tmp_path / "here")]}}) as stage:
        stage.platform.context.admission._looks.limit_s = 1.0
        inputs = [{"name": path.name, "path": str(path), "mount": f"/data/{path.name}"} for path in (gone, here)]
        hangs = asyncio.create_task(stage.submit(spec("hangs", inputs=inputs)))
        other = await stage.submit(spec("other", "ls /data/here", inputs=inputs[1:]))
        assert (await stage.ended(other)).state == "succeeded"
        with pytest.raises(InvalidSpec) as caught:
            await hangs
        assert [(one.path, one.code) for one in caught.value.problems] == [("inputs.0.path", "mount_silent")]
        shown = await stage.platform.preview({"spec": spec("again", inputs=inputs)}, ADMIN)
        assert [one.code for one in shown.problems] == ["mount_silent"]
        answers.set()
