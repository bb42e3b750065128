"""What a job may see of the machine is decided again when it starts (R138-R145)."""

from pathlib import Path

from tests.scenario.stage import ADMIN, Stage, spec


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
        assert (await stage.view(waits))["state"] == "queued"
        (root / "set").rmdir()
        (root / "set").symlink_to(tmp_path / "home" / "secrets")
        await stage.platform.stop(blocks, ADMIN)
        ended = await stage.ended(waits)
        assert ended["state"] == "failed"
        assert ended["verdict"]["code"] == "launch_failed"
        assert "cannot be mounted" in ended["verdict"]["message"]["en"]
