"""One real cluster for all tests of a file, and one server on it for those that ask for it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.bed import Bed, started
from tests.slurm.served import Served
from tests.slurm.site import Site
from tests.slurm.world import new_home
from trainmaster.engines.slurm.client.commands import Access, Commands


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    """Start a cluster of four nodes."""
    with started(Bed) as made:
        yield made


@pytest.fixture
def commands(bed: Bed) -> Commands:
    """Reach the cluster as the engine does."""
    return Commands(Access(conf=bed.conf))


@pytest.fixture
def site(bed: Bed, commands: Commands) -> Site:
    """Give the cluster a data folder that all of its nodes share."""
    data = bed.folder / "data"
    data.mkdir(exist_ok=True)
    return Site(bed, commands, str(data), new_home(str(bed.folder)))


@pytest.fixture(scope="module")
def served(bed: Bed) -> Iterator[Served]:
    """Start a server that has the cluster for one of its engines."""
    made = Served(bed, Path(tempfile.mkdtemp(prefix="served-", dir=bed.folder)))
    yield made.whole()
    made.end()
