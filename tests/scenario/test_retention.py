"""A server whose jobs are kept for a while removes them by itself, as if somebody had deleted them, and what they saved
stays.
"""

import asyncio
from pathlib import Path

import pytest

from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import ADMIN, PATIENCE_S, Stage
from trainmaster.core.errors import NotFound
from trainmaster.service.upkeep import sweeping
from trainmaster.service.use_cases.auditing import AuditFilters


async def test_jobs_go_by_themselves(tmp_path: Path, machines: FakeMachines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "EVERY_S", 0.05)
    config = {"retention": {"jobs_days": 1e-5}}  # less than a second
    async with Stage(tmp_path / "home", config, engine=lambda: FakeEngine(machines)) as stage:
        spec = {"name": "short", "roles": [{"name": "main", "command": "true"}]}
        waits = {"name": "long", "roles": [{"name": "main", "command": "sleep infinity"}]}
        platform = stage.platform
        live, _ = await platform.submit({"spec": waits}, ADMIN, None)
        gone, _ = await platform.submit({"spec": spec}, ADMIN, None)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await platform.job(gone.id, ADMIN)
                except NotFound:
                    break
                await asyncio.sleep(0.05)
        told, submitted = (await platform.auditing.page(ADMIN, AuditFilters(f"job:{gone.id}"))).items
        assert submitted.kind == "submitted"
        assert (told.kind, told.by) == ("job_outlived", "system")
        assert not Path(platform.layout.job(gone.id)).exists()
        assert (await platform.job(live.id, ADMIN)).state != "succeeded"
        assert {one.rule: one.count for one in (await platform.retention.ask(ADMIN)).items}["jobs"] == 0
