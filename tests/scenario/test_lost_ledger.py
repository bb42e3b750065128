"""A home whose ledger was lost: the server does not begin anew beside the old folders, unless it is told to."""

from pathlib import Path

import pytest

from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import Stage, spec
from trainmaster.core.errors import Conflict
from trainmaster.engines.registry import Engines
from trainmaster.service.wiring import build


@pytest.mark.parametrize("mark", [True, False], ids=["marked", "from before there were marks"])
async def test_a_home_without_its_ledger_is_no_new_home(tmp_path: Path, machines: FakeMachines, mark: bool) -> None:
    """B7: no new, empty server with a new password beside folders of jobs; and one explicit step to have just that."""
    home = tmp_path / "home"
    document = spec("before")
    document["roles"][0]["command"] = "true"
    async with Stage(home, engine=lambda: FakeEngine(machines)) as stage:
        job = await stage.submit(document)
        await stage.ended(job)
        Path(stage.platform.layout.job(job)).mkdir(parents=True, exist_ok=True)
    for left in home.glob("trainmaster.db*"):
        left.unlink()
    if not mark:
        (home / "trainmaster.mark").unlink()
    with pytest.raises(Conflict, match="missing or empty") as refused:
        build(str(home), engines=Engines([FakeEngine(machines)]))
    assert "serve --accept-loss" in refused.value.remedy
    assert not (home / "trainmaster.db").exists()
    platform = build(str(home), engines=Engines([FakeEngine(machines)]), accept_loss=True)
    await platform.start()
    await platform.close()
    async with Stage(home, engine=lambda: FakeEngine(machines)) as again:
        assert (await again.ended(await again.submit(document))).state == "succeeded"
