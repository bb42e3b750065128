"""The figures of `bench/run slurm` on the smallest scale: every part runs and every bar has its number. No clock is
judged.
"""

import pytest

from bench import record, slurm, slurm_training
from bench.stage import Stage

TINY = slurm.Sizes(turns=1, jobs=4, rounds=1, window_s=0.2, stored=10, changes=1)
TRAINING = "steps/s, DDP on 2 nodes x 2 processes"


def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_training, "possible", lambda: False)
    with Stage("slurm") as stage:
        found = {one.metric: one for one in slurm.measure(slurm.Site(stage), TINY)}
    bars = {metric for name, metric in record.BARS if name == "slurm"}
    assert bars - set(found) == {TRAINING}
    assert all(one.against is None or one.ratio for one in found.values())
