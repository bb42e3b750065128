"""What a job may see of the machine is decided again when it starts (R138-R145)."""

import os
import sys
from pathlib import Path

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.core.errors import InvalidSpec


async def test_a_folder_that_became_a_link_while_its_job_waited_is_not_mounted(tmp_path: Path) -> None:
    """Whoever may write beneath a root could otherwise wait with one job and lay the link with another."""
    root = tmp_path / "data"
    (root / "set").mkdir(parents=True)
    async with Stage(tmp_path / "home", {"local": {"mount_roots": [str(root)]}}) as stage:
        inputs = [{"name": "set", "path": str(root / "set"), "mount": "/workspace/dataset"}]
        cpu = {"resources": {"cpu": 4.0}, "replicas": 2}
        blocks = await stage.submit(spec("blocks", "sleep 600", **cpu))
        await stage.running(blocks)
        waits = await stage.submit(spec("waits", "ls /workspace/dataset", inputs=inputs, **cpu))
        assert (await stage.view(waits)).state == "queued"
        (root / "set").rmdir()
        (root / "set").symlink_to(tmp_path / "home" / "secrets")
        await stage.platform.stop(blocks, ADMIN)
        ended = await stage.ended(waits)
        assert ended.state == "failed"
        assert ended.verdict.code == "launch_failed"
        assert "cannot be mounted" in ended.verdict.message.en


async def test_a_mount_that_would_hide_what_tasks_need_is_refused_at_every_door(tmp_path: Path) -> None:
    """R138: what is so everywhere, and where the Python environment of this machine lies; each with its field."""
    (root := tmp_path / "data").mkdir()
    async with Stage(tmp_path / "home", {"local": {"mount_roots": [str(root)], "sandbox": "bubblewrap"}}) as stage:
        for target, code in (
            ("/workspace", "mount_hides"),
            (os.path.dirname(sys.prefix), "mount_hides"),
            (f"{sys.prefix}/data", "mount_reserved"),
        ):
            document = spec("hides", "true", inputs=[{"name": "set", "path": str(root), "mount": target}])
            with pytest.raises(InvalidSpec) as refused:
                await stage.submit(document)
            shown = await stage.platform.preview({"spec": document}, ADMIN)
            assert [(p.path, p.code) for p in refused.value.problems] == [("inputs.0.mount", code)]
            assert [(p.path, p.code) for p in shown.problems] == [("inputs.0.mount", code)]
