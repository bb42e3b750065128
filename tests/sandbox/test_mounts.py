"""Whatever a job mounts, and whatever it does where it may write, what the platform places in its sandbox stays where
it is.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang
from tests.fixtures.local_worlds import LocalWorld
from tests.sandbox.conftest import Run, runner
from tests.sandbox.test_kept import ended, inside
from trainmaster.core.launch import Mount
from trainmaster.core.verdicts import VERDICTS
from trainmaster.engines.base import LaunchRefused
from trainmaster.messages import render

pytestmark = pytest.mark.sandbox


async def test_no_task_can_put_a_link_where_its_working_folder_is_taken_from(
    sandboxed: LocalWorld, tmp_path: Path
) -> None:
    """Who enters it after its end would be shown where the link leads, as the server's user."""
    (tmp_path / "secret").write_text("x")
    moves = f"mv /tmp/workspace /tmp/moved; ln -s {tmp_path} /tmp/workspace; exit 7"
    engine, story = await ended(sandboxed, gang().shell("w", 1, moves))
    out, err, code = await inside(engine, story, "sh", "-c", "ls /workspace")
    assert "secret" not in out.decode(), err
    assert code == 0


async def test_no_task_can_put_a_link_on_the_way_to_a_mount(sandboxed: LocalWorld, tmp_path: Path) -> None:
    """Whoever makes the sandbox anew would make the folder of the mount where the link leads, on the host."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "here").write_text("data")
    moves = f"mv /workspace/a /workspace/b; ln -s ../../../../oldroot{tmp_path} /workspace/a; exit 7"
    story = gang(mounts=(Mount(str(data), "/workspace/a/made/deep"),)).shell("w", 1, moves)
    engine, built = await ended(sandboxed, story)
    out, err, _ = await inside(engine, built, "cat", "/workspace/a/made/deep/here")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
    assert out == b"data", err


async def test_outputs_beside_a_mount_are_kept(sandboxed: LocalWorld, run: Run, tmp_path: Path) -> None:
    """R138: a mount within /workspace hides nothing; what the job writes beside it is there afterwards."""
    (tmp_path / "here").write_text("data")
    story = gang(mounts=(Mount(str(tmp_path), "/workspace/data"),)).shell(
        "w", 1, "cp /workspace/data/here /workspace/outputs/kept; echo 1 > /workspace/own; ls /workspace"
    )
    end, log = await run(story)
    assert (end.exit_code, log) == (0, "data\noutputs\nown\n")
    assert sandboxed.read(sandboxed.layout.outputs(story.job), "kept") == "data"
    assert not os.path.exists(os.path.join(sandboxed.layout.task(story.job, 1, 0, 0).work, "own"))


@pytest.mark.parametrize("target", ["/workspace", "/usr", os.path.dirname(sys.prefix)])
async def test_what_would_hide_what_the_task_needs_is_not_started(
    sandboxed: LocalWorld, tmp_path: Path, target: str
) -> None:
    """R138: the outputs, the system's programs, the Python environment. As the user's mistake, with what would be
    hidden.
    """
    engine = await sandboxed.engine()
    story = gang(mounts=(Mount(str(tmp_path), target),)).shell("w", 1, "echo x > /workspace/outputs/lost").build()
    with pytest.raises(LaunchRefused) as refused:
        await engine.launch(story)
    assert (refused.value.code, VERDICTS[refused.value.code].fault) == ("mount_hides", "user")
    assert f": {target} would " in render.text(refused.value.said)


async def test_without_a_sandbox_nothing_is_hidden(bare: LocalWorld, tmp_path: Path) -> None:
    end, _ = await runner(bare)(
        gang(mounts=(Mount(str(tmp_path), sys.prefix),)).role("w", 1, "python3", "-c", "print(1)")
    )
    assert end.exit_code == 0
