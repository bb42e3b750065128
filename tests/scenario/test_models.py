"""What a successful job left becomes an immutable model version with digest and provenance (R138, R149)."""

import asyncio
import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.fixtures.api_contract import signed_in
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.tree import TreeEntry, tree_digest
from trainmaster.core.records import Job

SAVES = (
    "echo weights-$TRAINMASTER_JOB > /model/w.bin; mkdir -p /workspace/outputs/logs; "
    "echo 0.9 > /workspace/outputs/logs/acc"
)


async def test_outputs_become_a_version_that_nobody_can_change(stage: Stage) -> None:
    """R138, R149: files, digest, provenance; read-only; the model outlives its job."""
    job = await stage.submit(spec("digits", SAVES))
    view = await stage.ended(job)
    model, _, number = view.model.partition("@")
    detail = await stage.platform.model(model, ADMIN)
    version = detail.versions[0]
    assert (detail.name, number, version.version, version.job) == ("digits", "1", 1, job)
    folder = Path(version.path)
    weights = folder / "files" / "model" / "w.bin"
    assert weights.read_text() == f"weights-{job}\n"
    assert (folder / "files/outputs/logs/acc").read_text() == "0.9\n"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["digest"] == version.digest == _digest(folder)
    assert manifest["provenance"]["job"] == job
    assert manifest["provenance"]["spec"] == (await stage.platform.resolve(job, ADMIN)).spec_digest
    assert all(os.stat(path).st_mode & 0o222 == 0 for path in (folder / "files").rglob("*"))
    await stage.platform.delete(job, ADMIN)
    assert weights.exists()
    assert (await stage.platform.model(model, ADMIN)).versions[0].digest == version.digest


def _digest(folder: Path) -> str:
    files = [path for path in (folder / "files").rglob("*") if path.is_file()]
    return tree_digest(
        [
            TreeEntry(str(path.relative_to(folder / "files")), "f", hashlib.sha256(path.read_bytes()).hexdigest())
            for path in files
        ]
    )


async def test_a_job_has_exactly_one_place_for_its_model(stage: Stage) -> None:
    """R49: one model, one version of it, whatever its replicas wrote where; two are refused where they are written."""
    text = "echo $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX > /model/rank-$PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"
    job = await stage.submit(
        spec("many", f"{text}; echo 1 > /workspace/outputs/log", replicas=2, model={"name": "one"})
    )
    view = await stage.ended(job)
    (model,) = (await stage.platform.models(ADMIN)).items
    detail = await stage.platform.model("one", ADMIN)
    assert (model.name, view.model) == ("one", f"{detail.id}@1")
    (version,) = detail.versions
    files = Path(version.path) / "files"
    found = sorted(str(path.relative_to(files)) for path in files.rglob("*") if path.is_file())
    assert found == ["model/rank-0", "model/rank-1", "outputs/log"]
    for wrong, code in (
        ([{"name": "a"}, {"name": "b"}], "not_object"),
        ({"name": "a", "names": ["b"]}, "unknown_key_near"),
    ):
        with pytest.raises(InvalidSpec) as refused:
            await stage.submit(spec("two", SAVES, model=wrong))
        (problem,) = refused.value.problems
        assert problem.path.startswith("model")
        assert problem.code == code


async def test_the_next_job_of_the_same_name_makes_the_next_version(stage: Stage) -> None:
    """R159: versions count up, also for jobs that end at the same time; earlier ones do not change."""
    jobs = [await stage.submit(spec("digits", SAVES)) for _ in range(3)]
    views = [await stage.ended(job) for job in jobs]
    detail = await stage.platform.model("digits", ADMIN)
    assert sorted(view.model for view in views) == [f"{detail.id}@{n}" for n in (1, 2, 3)]
    assert len({version.digest for version in detail.versions}) == 3
    assert {version.job for version in detail.versions} == set(jobs)
    assert all(version.path.endswith(f"/{version.version}") for version in detail.versions)


async def test_a_job_that_failed_or_was_stopped_saves_nothing(stage: Stage) -> None:
    """Only success makes a model; the files of a failed job stay with the job."""
    failed = await stage.submit(spec("fails", f"{SAVES}; exit 1"))
    stopped = await stage.submit(spec("stops", f"{SAVES}; echo saved; sleep 300", grace=1))
    await stage.running(stopped, "saved")
    await stage.platform.stop(stopped, ADMIN)
    for job in (failed, stopped):
        assert (await stage.ended(job)).model is None
    assert stage.output(failed, "logs/acc").exists()
    assert (await stage.platform.models(ADMIN)).items == []


async def test_a_job_without_outputs_or_that_does_not_want_it_makes_no_model(stage: Stage) -> None:
    """Nothing written, or saving switched off."""
    empty = await stage.submit(spec("empty", "true"))
    off = await stage.submit(spec("off", SAVES, model={"save": False}))
    for job in (empty, off):
        view = await stage.ended(job)
        assert (view.state, view.model) == ("succeeded", None)


async def test_a_link_out_of_the_tree_is_left_out(stage: Stage) -> None:
    """A model never holds what the task could not own: links to elsewhere are named, not followed."""
    job = await stage.submit(spec("links", "ln -s /etc/passwd /model/stolen; echo 1 > /model/w; ln -s w /model/also"))
    view = await stage.ended(job)
    model, _, number = view.model.partition("@")
    folder = Path(stage.platform.layout.model(model, int(number)))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [skipped["path"] for skipped in manifest["skipped"]] == ["model/stolen"]
    assert (folder / "files/model/also").read_text() == "1\n"


async def test_a_restart_in_the_middle_of_saving_saves_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Idempotent by (job, attempt): saved, but not yet recorded, when the server dies; the next one finds it."""
    saving = stage.platform._life._shell._saving
    inner, saved = saving.save, asyncio.Event()

    async def never_told(job: Job) -> object:
        await inner(job)
        saved.set()
        return await asyncio.Event().wait()

    monkeypatch.setattr(saving, "save", never_told)
    job = await stage.submit(spec("half", SAVES))
    await saved.wait()
    await stage.restart()
    view = await stage.ended(job)
    detail = await stage.platform.model("half", ADMIN)
    assert (view.state, view.model, detail.latest) == ("succeeded", f"{detail.id}@1", 1)
    assert os.listdir(os.path.dirname(detail.versions[0].path)) == ["1"]


async def test_a_moved_home_has_its_models(tmp_path: Path) -> None:
    """Where a version lies is shown, and it is downloaded from, below the present home."""
    async with Stage(tmp_path / "old") as stage:
        await stage.ended(await stage.submit(spec("digits", SAVES)))
    (tmp_path / "old").rename(tmp_path / "new")
    async with Stage(tmp_path / "new") as stage:
        detail = await stage.platform.model("digits", ADMIN)
        assert detail.versions[0].path == str(tmp_path / "new" / "models" / detail.id / "1")
        async with signed_in(create_app(stage.platform), stage.platform) as http:
            file = f"/api/v1/models/{detail.id}/versions/1/files/content"
            assert (await http.get(file, params={"path": "outputs/logs/acc"})).text == "0.9\n"
