"""What mirrors are tested with."""

from pathlib import Path

import pytest

from tests.unit.engines.slurm.pretended import PYTHONS, Site


@pytest.fixture(params=PYTHONS)
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return Site(tmp_path, request.param)


@pytest.fixture
def honest(tmp_path: Path) -> Site:
    (tmp_path / "outside").write_text("mine")
    return Site(tmp_path)
