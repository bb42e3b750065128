"""What the platform promises of every job holds for those on a cluster: the clock that is set (B10), files with nothing
in them.
"""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fixtures.pythons import OLD
from tests.scenario.stage import ADMIN, Stage, spec
from tests.slurm.bed import Bed
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.service.upkeep import dates

HOUR_S = 3600.0


@pytest.fixture
async def stage(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """A server whose jobs run on the cluster, and which looks at the machine's clock all the time."""
    monkeypatch.setattr(dates, "LOOK_S", 0.05)
    home = tmp_path / "home"
    own = SlurmEngineConfig(
        conf=bed.conf, python=OLD or "/usr/bin/python3", sandbox="none", partitions={"default": "batch"}
    )
    async with Stage(home, engine=lambda: SlurmEngine("slurm", own, Layout(str(home)), Config())) as made:
        yield made


@pytest.mark.parametrize("by_s", [2 * HOUR_S, -2 * HOUR_S])
async def test_a_job_on_the_cluster_keeps_its_time_when_the_clock_is_set(stage: Stage, by_s: float) -> None:
    waits = "while [ ! -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.1; done"
    job = await stage.submit(spec("runs", waits, duration=HOUR_S, model={"save": False}))
    await stage.running(job)
    stage.set_by = by_s
    await stage.until(job, lambda _: "clock_set" in stage.kinds(job), "the clock to be noticed")
    view = await stage.view(job)
    assert view.state == "running"
    assert 0 <= view.run_s < HOUR_S / 6
    assert abs(view.expires_at - (time.time() + by_s) - HOUR_S) < HOUR_S / 6
    stage.output(job, "go").touch()
    ended = await stage.ended(job)
    assert ended.state == "succeeded", ended.verdict
    assert 0 <= ended.run_s < HOUR_S / 6


async def test_terabytes_that_take_no_room_are_a_model_like_any_other(stage: Stage) -> None:
    text = "for n in 1 2 3 4; do truncate -s 8T $TRAINMASTER_MODEL_DIR/$n; done"
    view = await stage.ended(await stage.submit(spec("huge", text)))
    assert view.state == "succeeded", view.verdict
    version = (await stage.platform.model("huge", ADMIN)).versions[0]
    assert (version.files, version.size_bytes) == (4, 4 << 43)
