"""Several jobs save at once; one model's versions still count up one by one, and each is found where it lies. Saves end
when told.
"""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.api_contract import signed_in
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import Conflict, Unavailable
from trainmaster.service.control.saving import AT_ONCE
from trainmaster.storage import outputs

SAVES = "echo $TRAINMASTER_JOB > /model/w"


class Slow:
    """Saves that go no further before they are let; they ask whether to go on, as real ones do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.begun: list[str] = []
        self.go = threading.Event()
        self._names, self._real = names, outputs.write
        monkeypatch.setattr(outputs, "write", self._write)

    def _write(self, *args: Any, **given: Any) -> outputs.Saved:
        name = str(given["provenance"]["name"])
        self.begun.append(name)
        while name in self._names and not self.go.wait(0.01):
            given["go_on"]()
        return self._real(*args, **given)


async def test_models_are_saved_at_once_and_their_versions_in_turn(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R149: the version numbers of a model stay without gaps and doubles."""
    slow = Slow(monkeypatch, "a", "b")
    jobs = [await stage.submit(spec(name, SAVES)) for name in ("a", "b", "a", "b")]
    await stage.until(jobs[0], lambda _: len(slow.begun) == AT_ONCE, "two saves of one person")
    slow.go.set()
    views = await asyncio.gather(*(stage.ended(job) for job in jobs))
    assert [view.state for view in views] == ["succeeded"] * 4
    for name in ("a", "b"):
        versions = (await stage.platform.model(name, ADMIN)).versions
        assert [version.version for version in versions] == [2, 1]
        assert len({version.path for version in versions}) == 2


async def test_terabytes_that_take_no_room_hold_nobody_up(stage: Stage) -> None:
    """Four files of 8 TiB with nothing in them are a model like any other."""
    text = "for n in 1 2 3 4; do truncate -s 8T /model/$n; done; mkfifo /model/pipe"
    view = await stage.ended(await stage.submit(spec("huge", text)))
    assert view.state == "succeeded"
    version = (await stage.platform.model("huge", ADMIN)).versions[0]
    assert (version.files, version.size_bytes) == (4, 4 << 43)
    (note,) = [note.message for note in view.warnings if note.code == "not_saved"]
    assert note.en == "model/pipe was not saved: a device, pipe or socket"
    assert note.zh == "model/pipe 未保存：设备、管道或套接字"


async def test_slow_saves_of_one_person_hold_nobody_else_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where both save the same model. They wait for their own turn only."""
    slow = Slow(monkeypatch, "mine")
    mine = [await stage.submit(spec("mine", SAVES)) for _ in range(AT_ONCE + 2)]
    await stage.until(mine[0], lambda _: len(slow.begun) == AT_ONCE, "my saves")
    body = {"spec": spec("yours", SAVES, model={"name": "mine"})}
    yours, _ = await stage.platform.submit(body, person("you"), None)
    assert (await stage.ended(yours.id)).state == "succeeded"
    assert [(await stage.view(job)).state for job in mine] == ["saving"] * len(mine)
    slow.go.set()
    assert [(await stage.ended(job)).state for job in mine] == ["succeeded"] * len(mine)


async def test_what_is_being_saved_can_be_stopped_and_deleted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while it waits for its turn. No version is left of it, and no file."""
    slow = Slow(monkeypatch, "mine")
    jobs = [await stage.submit(spec("mine", SAVES)) for _ in range(AT_ONCE + 1)]
    for job in jobs:
        await stage.state(job, "saving")
    await stage.until(jobs[0], lambda _: len(slow.begun) == AT_ONCE, "the saves")
    for job in jobs:
        await stage.platform.stop(job, ADMIN)
        view = await stage.ended(job)
        assert (view.state, view.model, view.verdict.code) == ("stopped", None, "stopped")
        await stage.platform.delete(job, ADMIN)
        assert not os.path.exists(stage.platform.layout.job(job))
    slow.go.set()
    assert (await stage.platform.models(ADMIN)).items == []
    other = await stage.submit(spec("other", SAVES))
    assert (await stage.ended(other)).state == "succeeded"
    await stage.until(other, lambda _: not stage.platform._life._shell._tasks, "all orders to come to their end")
    assert stage.platform.context.waits._told == {}
    assert os.listdir(stage.home / "models" / ".saving") == []


async def test_a_stop_before_the_save_has_begun_leaves_no_version(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What still runs of the job is ended first, which takes a moment; whoever stops it then is not answered with a
    model.
    """
    engine = stage.platform.context.engines.of("default")
    reap, asked, go = engine.reap, asyncio.Event(), asyncio.Event()

    async def slow(attempt: str, grace_s: float) -> None:
        if not asked.is_set():
            asked.set()
            await go.wait()
        await reap(attempt, grace_s)

    monkeypatch.setattr(engine, "reap", slow)
    job = await stage.submit(spec("early", SAVES))
    await asked.wait()
    assert (await stage.view(job)).state == "saving"
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    go.set()
    await stage.until(job, lambda _: not stage.platform._life._shell._tasks, "the order to save to come to its end")
    assert (await stage.platform.models(ADMIN)).items == []


async def test_a_stop_before_the_version_has_its_turn_leaves_no_files(stage: Stage) -> None:
    """All files are brought together, and another save has the turn."""
    made = stage.home / "models" / ".saving"
    with stage.platform.context.saving._turn:
        job = await stage.submit(spec("whole", SAVES))
        await stage.until(job, lambda _: (made / f"{job}-1" / outputs.MANIFEST).exists(), "its files")
        await stage.platform.stop(job, ADMIN)
        assert (await stage.ended(job)).state == "stopped"
    await stage.until(job, lambda _: os.listdir(made) == [], "its files to be removed")
    assert (await stage.platform.models(ADMIN)).items == []


async def test_a_stop_that_comes_when_it_is_saved_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either there is a version and the job has succeeded, or there is none and it was stopped."""
    settled, go, real = threading.Event(), threading.Event(), outputs.publish

    def publish(*args: str) -> None:
        settled.set()
        assert go.wait(60)
        real(*args)

    monkeypatch.setattr(outputs, "publish", publish)
    job = await stage.submit(spec("late", SAVES))
    await stage.until(job, lambda _: settled.is_set(), "the last moment")
    with pytest.raises(Conflict, match="were just saved"):
        await stage.platform.stop(job, ADMIN)
    go.set()
    assert (await stage.ended(job)).state == "succeeded"


async def test_a_version_that_nobody_knew_of_is_found_when_others_have_counted_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save that ends between its files and its row begins again; another one of the same model was faster."""
    real, looked, ended, others = outputs.publish, outputs.published, [], threading.Event()

    def publish(folder: str, target: str) -> None:
        real(folder, target)
        if not ended:
            ended.append(folder)
            raise Unavailable("the ledger does not answer", remedy="Wait.")

    def published(folder: str, provenance: dict[str, Any]) -> Any:
        assert folder not in ended or others.wait(60)
        return looked(folder, provenance)

    monkeypatch.setattr(outputs, "publish", publish)
    monkeypatch.setattr(outputs, "published", published)
    one = await stage.submit(spec("same", SAVES))
    await stage.until(one, lambda _: bool(ended), "its files")
    two = await stage.submit(spec("same", SAVES))
    assert (await stage.ended(two)).state == "succeeded"
    others.set()
    view = await stage.ended(one)
    assert view.state == "succeeded", view.verdict
    versions = (await stage.platform.model("same", ADMIN)).versions
    assert [(version.version, version.job) for version in versions] == [(2, one), (1, two)]
    for version in versions:
        assert (Path(version.path) / "files" / "model" / "w").read_text().strip() == version.job
    assert os.listdir(stage.home / "models" / ".saving") == []
    assert len(list((stage.home / "models").glob("m*/*"))) == 2, "no files that belong to nobody"


async def test_saving_that_takes_too_long_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage(tmp_path / "home", {"limits": {"save_s": 0.2}}) as stage:
        Slow(monkeypatch, "long")
        view = await stage.ended(await stage.submit(spec("long", SAVES)))
        assert (view.state, view.verdict.code) == ("failed", "save_failed")
        assert view.verdict.message.en == "the outputs could not be saved within 0.2 s"


def test_both_are_limited_unless_an_administrator_says_otherwise() -> None:
    usual = LimitsConfig()
    assert (usual.save_s, usual.model_mib) == (6 * 3600, 1 << 20)


async def test_a_model_that_takes_too_much_is_not_saved(tmp_path: Path) -> None:
    """What counts is the room on the disk, not the length of its files."""
    async with Stage(tmp_path / "home", {"limits": {"model_mib": 1}}) as stage:
        view = await stage.ended(
            await stage.submit(spec("big", "head -c 3M /dev/urandom > /model/w; truncate -s 1T /model/x"))
        )
        assert (view.state, view.verdict.code) == ("failed", "save_failed")
        assert "larger than the 1 MiB" in view.verdict.message.en
        view = await stage.ended(await stage.submit(spec("sparse", "truncate -s 1T /model/x")))
        assert view.state == "succeeded"


async def test_a_server_ends_in_the_middle_of_a_save_and_the_next_one_saves(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a disk that answers nothing any more is waited for."""
    hangs, real = threading.Event(), outputs.write

    def write(*args: Any, **given: Any) -> outputs.Saved:
        hangs.set()
        threading.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write", write)
        job = await stage.submit(spec("m", SAVES))
        await stage.until(job, lambda _: hangs.is_set(), "a save that hangs")
        await stage.platform.close()
    assert outputs.write is real
    await stage.restart()
    assert (await stage.ended(job)).model.endswith("@1")


async def test_a_version_is_found_where_it_lies(stage: Stage) -> None:
    """A save that a crash left unregistered keeps its folder; the next version lies beside it under another number."""
    await stage.ended(await stage.submit(spec("m", SAVES)))
    first = (await stage.platform.model("m", ADMIN)).versions[0]
    left = Path(first.path).parent / "2"
    os.makedirs(left / "files" / "model")
    (left / "manifest.json").write_text('{"provenance": {"job": "another", "attempt": 1}}')
    job = await stage.submit(spec("m", SAVES))
    assert (await stage.ended(job)).model.endswith("@2")
    assert (await stage.platform.model("m", ADMIN)).versions[0].path.endswith("/3")
    app = create_app(stage.platform)
    async with signed_in(app, stage.platform) as http:
        found = await http.get("/api/v1/models/m/versions/2/files/content", params={"path": "model/w"})
        assert found.text == f"{job}\n"
