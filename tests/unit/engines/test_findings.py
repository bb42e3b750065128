"""What each kind of engine says that it does not carry out of a gang."""

import pytest

from tests.fixtures.fakes.engine import FakeEngine
from tests.fixtures.gangs import gang
from trainmaster.agent.settings import Settings
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang, Mount
from trainmaster.engines.abilities import Abilities, ChecksGangs
from trainmaster.engines.findings import GangFindings
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig

Told = tuple[list[tuple[str, str]], list[tuple[str, str]]]

EVERYTHING = gang(
    node="",
    env=(("A", "1"),),
    mounts=(
        Mount("/home/u/code", "/code"),
        Mount("/data/a", "/dataset"),
        Mount("/data/b/", "/data/b"),
        Mount("/c", "/x"),
    ),
    image="registry/x:1",
    pull_secret="team",
    nodes=("n1",),
).build()
IMAGE = [("image", "image_not_used"), ("pull_secret", "pull_secret_not_used")]
NO_SANDBOX = (
    [("inputs.2.mount", "mount_needs_sandbox")],
    [*IMAGE, ("inputs.0.mount", "dataset_at_its_path")],
)


def told(engine: ChecksGangs, of: Gang = EVERYTHING) -> Told:
    """Return the problems and the warnings, each as (path, code)."""
    found = engine.check_gang(of)
    problems, warnings = ([(one.path, one.code) for one in some] for some in (found.problems, found.warnings))
    return problems, warnings


def slurm(sandbox: str) -> SlurmEngine:
    engine = object.__new__(SlurmEngine)
    engine.own = SlurmEngineConfig(sandbox=sandbox)  # type: ignore[arg-type]  # one of its literals
    return engine


def local(bwrap: str, package: str = "/site") -> LocalEngine:
    engine = LocalEngine(Layout("/nowhere"), Config())
    engine.settings = Settings(bwrap=bwrap, package=package)
    return engine


def test_this_machine_pulls_no_image_and_mounts_what_its_sandboxes_can_show() -> None:
    assert told(local("/usr/bin/bwrap")) == ([], IMAGE)
    assert told(local("")) == NO_SANDBOX


def test_this_machine_says_nothing_of_sandboxes_before_it_looked() -> None:
    """A server whose agent is down takes jobs in; whether there is a sandbox is not known."""
    assert told(local("", package="")) == ([], IMAGE)


@pytest.mark.parametrize(
    ("sandbox", "wanted"), [("none", NO_SANDBOX), ("auto", ([], IMAGE)), ("bubblewrap", ([], IMAGE))]
)
def test_a_cluster_pulls_no_image_and_with_sandboxes_off_mounts_nothing(sandbox: str, wanted: Told) -> None:
    assert told(slurm(sandbox)) == wanted


def test_of_what_was_not_asked_for_nothing_is_said() -> None:
    for engine in (local(""), slurm("none")):
        assert engine.check_gang(gang(node="", mounts=(Mount("/home/u/code", "/code"),)).build()) == GangFindings()


class Containers(FakeEngine):
    """An engine that runs tasks in containers, and carries out all that a gang asks for."""

    def check_gang(self, gang: Gang) -> GangFindings:
        return GangFindings()


def test_only_an_engine_that_says_nothing_of_images_runs_them() -> None:
    """D16: the form shows the image where it has an effect."""
    found = [Abilities.of(engine).images for engine in (local("/usr/bin/bwrap"), slurm("auto"), Containers(()))]
    assert found == [False, False, True]
