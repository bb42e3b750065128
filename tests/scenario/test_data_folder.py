"""What is bulky lies in a data folder of its own; the ledger, sockets and secrets stay in the home."""

import os
from pathlib import Path

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.core.errors import Unavailable


async def test_a_job_runs_and_is_saved_in_the_data_folder(tmp_path: Path) -> None:
    data = tmp_path / "shared" / "data"
    async with Stage(tmp_path / "home", config={"server": {"data": str(data)}}) as stage:
        job = await stage.submit(spec("a", "echo result > /workspace/outputs/r; ls /workspace", model={"save": True}))
        assert (await stage.ended(job)).state == "succeeded"
        assert stage.output(job, "r").read_text() == "result\n"
        assert stage.output(job, "r").is_relative_to(data / "jobs")
        assert "outputs" in stage.log(job)
        (model,) = (await stage.platform.models(ADMIN)).items
        (version,) = (await stage.platform.model(model.id, ADMIN)).versions
        assert Path(version.path).is_relative_to(data / "models")
        assert Path(version.path).is_dir()
        await stage.restart()
        assert (await stage.view(job)).state == "succeeded"
        assert stage.log(job)
        home = set(os.listdir(tmp_path / "home"))
        assert {"run", "secrets", "trainmaster.db"} <= home
        assert not {"jobs", "models", "uploads"} & home


async def test_the_agent_of_running_jobs_does_not_change_its_data_folder(tmp_path: Path) -> None:
    """Their files are where they began; the server says so instead of looking elsewhere."""
    async with Stage(tmp_path / "home") as stage:
        job = await stage.submit(spec("a", "sleep 300"))
        await stage.running(job)
        await stage.platform.close()
        settings = tmp_path / "home" / "config.toml"
        before = settings.read_text()
        settings.write_text(f'[server]\ndata = "{tmp_path}/data"\n' + before)
        moved = stage._build()
        with pytest.raises(Unavailable, match="keeps the files of jobs in"):
            await moved.start()
        await moved.close()
        settings.write_text(before)
        stage.platform = stage._build()
        await stage.platform.start()
        await stage.running(job)
