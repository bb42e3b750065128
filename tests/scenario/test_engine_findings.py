"""What an engine does not carry out is said before the submit, and kept with the job: as a warning, or as a refusal
with a remedy.
"""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.fakes.cluster import FakeCluster, FakeClusterEngine
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import ADMIN, Stage, spec
from tests.scenario.test_recovery import fake_spec
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.launch import Gang
from trainmaster.core.records import Node
from trainmaster.engines.findings import GangFindings
from trainmaster.engines.registry import Engines

IMAGE = "registry.example/team/train:1"


class Containers(FakeClusterEngine):
    """A cluster that runs containers. `without`: credentials that it does not have."""

    without: frozenset[str] = frozenset()

    def check_gang(self, gang: Gang) -> GangFindings:
        """Return that credentials are not there."""
        if gang.pull_secret not in self.without:
            return GangFindings()
        return GangFindings((Problem("pull_secret", "There are none of that name", "Make them.", "no_pull_secret"),))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A machine with one card that runs no containers, and a cluster with four that does."""

    def engines() -> Engines:
        here = FakeMachines([Node("n1", "127.0.0.2", 4.0, 4096, ("T4",))], WallClock())
        there = FakeCluster([Node("c1", "10.1.0.1", 4.0, 4096, ("A100",) * 4, "alps")], WallClock())
        return Engines([FakeEngine(here, "local"), Containers(there, "alps")], {"alps": "alps"})

    async with Stage(tmp_path / "home", engine=engines) as stage:
        yield stage


async def warned(stage: Stage, document: dict[str, Any]) -> list[str]:
    """Return the codes of the warnings, of which preview and submit say the same; the job runs all the same."""
    shown = await stage.platform.preview({"spec": document}, ADMIN)
    assert shown.ok, shown.problems
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert view.state == "succeeded", view.verdict
    assert [one.code for one in shown.warnings] == [note.code for note in view.warnings]
    return [one.code for one in shown.warnings]


async def test_an_image_that_is_not_pulled_is_a_warning_of_the_engine_it_runs_on(stage: Stage) -> None:
    assert await warned(stage, fake_spec("a", "true", image=IMAGE)) == ["image_not_used"]
    assert await warned(stage, fake_spec("b", "true", image=IMAGE, pool="alps")) == []
    assert await warned(stage, fake_spec("c", "true", pull_secret="team")) == ["pull_secret_not_used"]
    assert await warned(stage, fake_spec("d", "true")) == []


async def test_jobs_of_a_batch_are_warned_each_as_alone(stage: Stage) -> None:
    bodies = [{"spec": fake_spec("a", "true", image=IMAGE, pool=pool)} for pool in ("default", "alps", "default")]
    made = await stage.platform.submit_batch(bodies, ADMIN, None)
    said = [[note.code for note in (await stage.ended(item.id)).warnings] for item in made.items]
    assert said == [["image_not_used"], [], ["image_not_used"]]


async def test_what_cannot_be_done_is_refused_at_every_door_with_what_to_do(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Containers, "without", frozenset({"theirs"}))
    document = fake_spec("a", "true", image=IMAGE, pull_secret="theirs", pool="alps")
    shown = await stage.platform.preview({"spec": document}, ADMIN)
    assert [(one.path, one.code, one.remedy) for one in shown.problems] == [
        ("pull_secret", "no_pull_secret", "Make them.")
    ]
    for refusing in (
        stage.submit(document),
        stage.platform.queueing.would_start({"spec": document}, ADMIN),
    ):
        with pytest.raises(InvalidSpec) as refused:
            await refusing
        assert [one.code for one in refused.value.problems] == ["no_pull_secret"]
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.submit_batch([{"spec": fake_spec("b", "true")}, {"spec": document}], ADMIN, None)
    assert [one.path for one in refused.value.problems] == ["items.1.pull_secret"]
    assert await warned(stage, {**document, "pull_secret": "ours"}) == []


async def test_of_several_pools_that_of_the_chosen_engine_counts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """`any`: where it could not run as it was meant it does not go, and only the engine where it goes has a say."""
    anywhere = {"image": IMAGE, "pull_secret": "theirs", "pool": "any"}
    here = fake_spec("a", "true", **anywhere)
    assert await warned(stage, here) == ["pool_now", "image_not_used", "pull_secret_not_used"]
    there = fake_spec("b", "true", **anywhere, resources={"gpu": 4})
    assert await warned(stage, there) == ["pool_now"]
    monkeypatch.setattr(Containers, "without", frozenset({"theirs"}))
    with pytest.raises(InvalidSpec) as refused:
        await stage.submit(there)
    assert "no_pull_secret" in [one.code for one in refused.value.problems]


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder with a file "set", where a job may mount: tasks have a /tmp of their own."""
    folder = Path(tempfile.mkdtemp(prefix="tm-test-", dir="/var/tmp"))
    (folder / "set").write_text("here")
    yield folder
    shutil.rmtree(folder)


async def test_without_a_sandbox_an_input_is_where_it_lies_or_the_job_is_refused(tmp_path: Path, data: Path) -> None:
    own = {"local": {"mount_roots": [str(data)], "sandbox": "none"}}

    def reads(where: str, mount: str) -> dict[str, Any]:
        inputs = [{"name": "set", "path": str(data), "mount": mount}]
        return spec("reads", f"cat {where}/set", inputs=inputs, image=IMAGE)

    async with Stage(tmp_path / "home", own) as stage:
        with pytest.raises(InvalidSpec) as refused:
            await stage.submit(reads("/data", "/data"))
        (found,) = refused.value.problems
        assert (found.path, found.code) == ("inputs.0.mount", "mount_needs_sandbox")
        assert str(data) in found.remedy
        shown = await stage.platform.preview({"spec": reads("/data", "/data")}, ADMIN)
        assert [one.code for one in shown.problems] == ["mount_needs_sandbox"]
        for where, mount, said in (
            (str(data), str(data), ["image_not_used"]),
            ("$TRAINMASTER_DATASET_DIR", "/dataset", ["image_not_used", "dataset_at_its_path"]),
        ):
            job = await stage.submit(reads(where, mount))
            view = await stage.ended(job)
            assert (view.state, stage.log(job)) == ("succeeded", "here")
            assert [note.code for note in view.warnings if not note.code.endswith("_degraded")] == said


async def test_what_is_said_of_an_openpai_document_is_at_its_own_fields(tmp_path: Path, data: Path) -> None:
    role = {"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256, "gpuNumber": 0, "command": "true"}
    document = {"jobName": "a", "image": IMAGE, "dataDir": str(data), "taskRoles": [role]}
    async with Stage(tmp_path / "home", {"local": {"mount_roots": [str(data)], "sandbox": "none"}}) as stage:
        shown = await stage.platform.preview({"spec": document}, ADMIN)
        assert (shown.ok, [(one.path, one.code) for one in shown.warnings]) == (
            True,
            [("image", "image_not_used"), ("dataDir", "dataset_at_its_path")],
        )
        job = await stage.submit(document)
        assert {"image_not_used", "dataset_at_its_path"} <= {note.code for note in (await stage.ended(job)).warnings}
