"""Somebody else's kind of engine, a package outside the tree: a server's configuration names it, and it runs jobs."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.plain import installed
from tests.fixtures.watcher import PATIENCE_S
from tests.scenario.stage import ADMIN, spec
from trainmaster.core.errors import Unavailable
from trainmaster.service.platform import Platform
from trainmaster.service.use_cases.entering import Entering
from trainmaster.service.wiring import build

CONFIG = '[[engines]]\nkind = "plain"\nname = "desk"\ncores = 2\n'


async def until(platform: Platform, job: str, state: str) -> None:
    """Wait until the job is in `state`."""
    async with asyncio.timeout(PATIENCE_S):
        while (await platform.job(job, ADMIN)).state != state:
            await asyncio.sleep(0.02)


async def test_a_server_whose_only_engine_is_a_package_of_somebody_else(tmp_path: Path) -> None:
    installed()
    (tmp_path / "config.toml").write_text(CONFIG)
    platform = build(str(tmp_path))
    await platform.start()
    try:
        (engine,) = (await platform.resources.engines(ADMIN)).items
        assert (engine.name, engine.kind, engine.label.en, engine.label.zh) == (
            "desk",
            "plain",
            "plain processes",
            "普通进程",
        )
        said = {"no_environments", "no_containers", "no_cache"}  # reasons, where others say what can be done
        assert not any(getattr(engine.can, name) for name in {*engine.can.__struct_fields__} - said)
        assert all(getattr(engine.can, name) is not None for name in said)
        assert [(node.name, node.cpu.total) for node in platform.resources.nodes(ADMIN).items] == [("desk", 2.0)]
        view, _ = await platform.submit(
            {"spec": spec("a", "echo trained; sleep infinity", model={"save": False})}, ADMIN, None
        )
        await until(platform, view.id, "running")
        log = Path(platform.context.layout.task(view.id, 1, 0, 0).log)
        async with asyncio.timeout(PATIENCE_S):
            while (await platform.job(view.id, ADMIN)).task_list[0].state != "running":
                await asyncio.sleep(0.02)
        with pytest.raises(Unavailable, match="desk"):
            async with Entering(platform.context).enter(
                platform.context.master.live[view.id], "main-0", ("true",), None, ADMIN
            ):
                pass
        await platform.stop(view.id, ADMIN)
        await until(platform, view.id, "stopped")
        assert log.read_text() == "trained\n"
        failed, _ = await platform.submit(
            {"spec": spec("b", "exit 7", model={"save": False}, image="registry/x:1")}, ADMIN, None
        )
        await until(platform, failed.id, "failed")
        await platform.context.master.durable()
        assert [note.code for note in (await platform.job(failed.id, ADMIN)).warnings] == ["image_not_used"]
    finally:
        for job in [*platform.context.master.live]:  # left by a test that failed
            await platform.context.engines.first.reap(f"{job}-1", 0)
        await platform.close()


def test_it_is_added_by_the_command_with_the_options_that_it_declares(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("# ours\n")
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), installed()])

    def tm(*words: str, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": path, "TRAINMASTER_HOME": str(tmp_path), "COLUMNS": "200"}
        done = quick.tm("engine", *words, env=env)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    assert "plain" in tm("add", "--help")
    assert "Cores that jobs may use" in tm("add", "plain", "--help")
    assert "local, plain, slurm" in tm("add", "cloud", "x", code=2)
    tm("add", "plain", "desk", "--pool", "lab", "--cores", "3")
    assert (tmp_path / "config.toml").read_text() == (
        '# ours\n\n[[engines]]\nname = "local"\n\n[[engines]]\nname = "desk"\nkind = "plain"\npools = ["lab"]\n'
        "cores = 3\n"
    )
    assert "plain processes" in tm("check", "desk")
    assert "tm doctor" in tm("check", "local")
