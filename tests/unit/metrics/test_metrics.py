"""The three sources together (R209; issue 2, item 9), with event files written by TensorBoard's own writer."""

import json
import os
import signal
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from trainmaster.answers import MetricsView
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Attempt, Job, Role
from trainmaster.core.states import JobState, Phase
from trainmaster.service.curves import metrics
from trainmaster.service.curves.metrics import MetricsReader, Summary
from trainmaster.service.curves.tensorboard import TensorBoardChild, event_files
from trainmaster.spec.job import JobSpec

ID = "t" + "c" * 32
PATTERN = r"epoch=(?P<step>\d+) loss=(?P<loss>[\d.]+)"


class World:
    """A job's folder and records, and a reader over it."""

    def __init__(self, home: Path) -> None:
        self.layout = Layout(str(home))
        self.folder = Path(self.layout.job(ID))
        self.now = time.time()
        self.reader = MetricsReader(self.layout, clock=lambda: self.now)
        self.attempt(1)
        (self.folder / "outputs").mkdir()
        (self.folder / "model").mkdir()

    def attempt(self, number: int) -> None:
        for index in range(2):
            paths = self.layout.task(ID, number, 0, index)
            os.makedirs(paths.metrics)
            Path(paths.log).touch()
        (Path(self.layout.attempt(ID, number)) / "gang.json").write_text("{}")

    def job(self, attempts: int = 1, **changes) -> Job:
        attempt = Attempt(attempts, "first", Phase.RUNNING, (), (), self.now - 10, started_at=self.now - 10)
        job = Job(
            ID,
            "j",
            "me",
            (Role("w", 2),),
            "d",
            self.now,
            state=JobState.ACTIVE,
            attempts_used=attempts,
            attempt=attempt,
        )
        return replace(job, **changes)

    def spec(self, **changes) -> JobSpec:
        role = {"name": "w", "command": "python t.py", "replicas": 2, "parameters": {"epochs": 10}}
        return JobSpec.model_validate({"name": "j", "roles": [role], "metrics": [{"pattern": PATTERN}], **changes})

    def log(self, text: str, attempt: int = 1, index: int = 0) -> None:
        with open(self.layout.task(ID, attempt, 0, index).log, "a") as file:
            file.write(text)

    def sdk(self, *records: dict, attempt: int = 1, index: int = 0) -> None:
        with open(os.path.join(self.layout.task(ID, attempt, 0, index).metrics, "metrics.jsonl"), "a") as file:
            file.writelines(json.dumps({"t": self.now, **record}) + "\n" for record in records)

    def restart(self) -> None:
        self.reader.close()
        self.reader = MetricsReader(self.layout, clock=lambda: self.now)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.reader.close()


def board(folder: Path, name: str = "loss", count: int = 5, start: int = 0) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for step in range(start, start + count):
            writer.add_scalar(name, step / 10, step)
        writer.add_text("note", "not a number", 0)


def shape(answer: MetricsView) -> dict[tuple, list]:
    return {(s.name, s.source, s.attempt, s.task): s.values for s in answer.series}


@pytest.mark.torch
def test_all_three_sources_in_one_answer(world: World) -> None:
    world.sdk({"step": 0, "values": {"accuracy": 0.5}}, {"step": 1, "values": {"accuracy": "nan"}})
    world.log("epoch=0 loss=2.5\nepoch=1 loss=1.5\n")
    board(world.folder / "outputs" / "runs", "lr", 3)
    answer = world.reader.series(world.job(), world.spec())
    assert shape(answer) == {
        ("accuracy", "sdk", 1, "task0-0"): [0.5, None],
        ("loss", "log", 1, "task0-0"): [2.5, 1.5],
        ("lr", "tensorboard", 1, None): [0.0, pytest.approx(0.1), pytest.approx(0.2)],
    }
    assert answer.last == {"accuracy": None, "loss": 1.5, "lr": pytest.approx(0.2)}
    json.dumps(msgspec.to_builtins(answer), allow_nan=False)


def test_only_the_lowest_rank_of_a_task_is_shown(world: World) -> None:
    world.sdk({"step": 0, "rank": 1, "values": {"loss": 9}}, {"step": 0, "rank": 0, "values": {"loss": 1}})
    world.sdk({"step": 1, "rank": 0, "values": {"loss": 2}}, {"step": 1, "rank": 1, "values": {"loss": 8}})
    assert shape(world.reader.series(world.job(), None)) == {("loss", "sdk", 1, "task0-0"): [1, 2]}


@pytest.mark.torch
def test_attempts_are_kept_apart_and_the_newest_gives_the_last_value(world: World) -> None:
    """A retried job shows the curves of every try; resumed TensorBoard runs count to the attempt that wrote them."""
    world.sdk({"step": 0, "values": {"loss": 5}})
    past = time.time() - 100
    os.utime(Path(world.layout.attempt(ID, 1)) / "gang.json", (past, past))
    world.attempt(2)
    world.sdk({"step": 0, "values": {"loss": 3}}, attempt=2)
    board(world.folder / "model")
    everything = world.reader.series(world.job(2), None)
    assert {key[1:3] for key in shape(everything)} == {("sdk", 1), ("sdk", 2), ("tensorboard", 2)}
    assert everything.last["loss"] == 3
    only = world.reader.series(world.job(2), None, attempt=1)
    assert set(shape(only)) == {("loss", "sdk", 1, "task0-0")}


@pytest.mark.torch
def test_everything_survives_a_restart_and_nothing_counts_twice(world: World) -> None:
    world.sdk({"step": 0, "values": {"a": 1}})
    world.log("epoch=0 loss=2.5\n")
    board(world.folder / "outputs" / "one")
    before = world.reader.series(world.job(), world.spec())
    for spec in (None, world.spec()):  # after a restart the spec may not be in memory yet
        world.restart()
        assert world.reader.series(world.job(), spec) == before
    board(world.folder / "outputs" / "two", "loss", 2, start=5)
    world.now += 5
    one, two = ((f"{name}/loss", "tensorboard", 1, None) for name in ("one", "two"))
    until = time.monotonic() + 60
    while two not in (after := shape(world.reader.series(world.job(), world.spec()))):  # at most one look a second
        assert time.monotonic() < until
        time.sleep(0.05)
    assert (len(after[one]), len(after[two])) == (5, 2)


@pytest.mark.torch
def test_a_hostile_metrics_folder_shows_nothing_and_hurts_nothing(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"step":1,"values":{"stolen":1}}\n')
    metrics = Path(world.layout.task(ID, 1, 0, 0).metrics)
    (metrics / "metrics.jsonl").symlink_to(secret)
    board(tmp_path / "elsewhere")
    (world.folder / "outputs" / "runs").symlink_to(tmp_path / "elsewhere")
    (world.folder / "model" / "events.out.tfevents.1.bad").write_bytes(os.urandom(5000))
    (world.folder / "model" / "events.out.tfevents.2.bad").write_bytes(struct.pack("<Q", 1 << 60) + b"x" * 50)
    os.mkfifo(world.folder / "model" / "events.out.tfevents.3.pipe")
    world.sdk(
        {"step": 1, "values": {"good": 1}},
        {"step": "x"},
        {"step": 1, "values": [1]},
        {"step": 1, "values": {"b": "x"}},
        index=1,
    )
    assert set(shape(world.reader.series(world.job(), world.spec()))) == {("good", "sdk", 1, "task0-1")}


class TestProgress:
    def test_told_by_the_script(self, world: World) -> None:
        for done in (23, 24, 25):
            world.sdk({"progress": [done, 100], "t": world.now - 0.4 * (25 - done)})
        progress = world.reader.progress(world.job(), None)
        assert progress is not None
        assert (progress.fraction, progress.step, progress.of) == (0.25, 25, 100)
        assert progress.eta_s == pytest.approx(30, rel=0.01)

    def test_from_steps_and_the_parameter_epochs(self, world: World) -> None:
        world.log("".join(f"epoch={n} loss=1\n" for n in range(4)))
        progress = world.reader.progress(world.job(), world.spec())
        assert progress is not None
        assert (progress.step, progress.of, progress.fraction) == (4, 10, 0.4), "epochs counted from zero"

    def test_counted_from_one_or_named_by_the_spec(self, world: World) -> None:
        world.log("".join(f"epoch={n} loss={n}\n" for n in range(1, 5)))
        progress = world.reader.progress(world.job(), world.spec(progress={"metric": "loss", "of": 8}))
        assert progress is not None
        assert (progress.step, progress.fraction) == (4, 0.5)

    def test_a_total_that_counts_something_else_is_not_believed(self, world: World) -> None:
        world.sdk({"step": 5000, "values": {"loss": 1}})
        assert world.reader.progress(world.job(), world.spec()) is None

    def test_unknown_stays_unknown(self, world: World) -> None:
        assert world.reader.progress(world.job(), world.spec()) is None
        assert world.reader.summary(world.job(0), None) == Summary()


class TestSummary:
    def test_it_follows_a_running_job_and_rests_for_an_ended_one(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics, "BOARD_EVERY_S", 0.1)
        world.log("epoch=0 loss=2.5\n")
        assert world.reader.summary(world.job(), world.spec()).metrics == {"loss": 2.5}
        world.log("epoch=1 loss=1.5\n")
        assert world.reader.summary(world.job(), world.spec()).metrics == {"loss": 2.5}, "at most one look a second"
        world.now += 2
        assert world.reader.summary(world.job(), world.spec()).metrics == {"loss": 1.5}
        ended = world.job(state=JobState.SUCCEEDED, version=9)
        until = time.monotonic() + 60
        while not (world.folder / "summary.json").exists() and time.monotonic() < until:
            world.now += 2
            world.reader.summary(ended, world.spec())
            time.sleep(0.05)
        world.restart()
        monkeypatch.setattr(world.reader, "_look", None)  # no look is needed any more
        assert world.reader.summary(ended, None).metrics == {"loss": 1.5}

    @pytest.mark.torch
    def test_last_values_are_complete_and_finite(self, world: World) -> None:
        """What the saved model's record says: the unended last line and the event files included."""
        world.log("epoch=0 loss=2.5\nepoch=1 loss=0.5")
        world.sdk({"step": 1, "values": {"bad": "nan"}})
        board(world.folder / "outputs", "lr", 2)
        assert world.reader.last_values(world.job(), world.spec(), lambda: None) == {
            "loss": 0.5,
            "lr": pytest.approx(0.1),
        }


class TestChild:
    @pytest.mark.torch
    def test_it_reads_on_where_it_was(self, tmp_path: Path) -> None:
        board(tmp_path / "outputs" / "a", count=3)
        child = TensorBoardChild()
        files = event_files(str(tmp_path), ["outputs"])
        (path,) = files
        first = child.ask(str(tmp_path), {path: 0}).files[0]
        assert (first.done, len(first.points)) == (3, 3)
        again = child.ask(str(tmp_path), {path: 3}).files[0]
        assert (again.done, again.points) == (3, [])
        skipped = child.ask(str(tmp_path), {path: 1}).files[0]
        assert [point[1] for point in skipped.points] == [1, 2]
        child.close()

    @pytest.mark.torch
    def test_a_file_still_written_is_read_on(self, tmp_path: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        child = TensorBoardChild()
        with SummaryWriter(str(tmp_path / "outputs")) as writer:
            for round_ in range(3):
                for step in range(10):
                    writer.add_scalar("loss", step, round_ * 10 + step)
                writer.flush()
                (path,) = event_files(str(tmp_path), ["outputs"])
                file = child.ask(str(tmp_path), {path: round_ * 10}).files[0]
                assert [point[1] for point in file.points] == list(range(round_ * 10, round_ * 10 + 10))
        child.close()

    @pytest.mark.torch
    def test_it_is_started_again_when_it_died_and_given_up_when_it_hangs(self, tmp_path: Path) -> None:
        board(tmp_path / "outputs", count=1)
        (path,) = event_files(str(tmp_path), ["outputs"])
        child = TensorBoardChild()
        child.ask(str(tmp_path), {path: 0})
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        assert child.ask(str(tmp_path), {path: 0}).files[0].done == 1
        child.close()
        assert child.pid is None
        hanging = TensorBoardChild(("sleep", "100"))
        with pytest.raises(Unavailable):
            hanging.ask(str(tmp_path), {path: 0}, timeout_s=0.3)
        assert hanging.pid is None

    def test_the_server_never_imports_tensorboard(self) -> None:
        import subprocess
        import sys

        script = (
            "import sys, trainmaster.service.curves.metrics; "
            "print('tensorboard' in sys.modules, 'numpy' in sys.modules)"
        )
        out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        assert out.strip() == "False False"


@pytest.mark.torch
def test_beside_another_server_that_leads_nothing_is_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is shown; the files beside the job are the leader's, also one to which it is just adding a line."""
    monkeypatch.setattr(metrics, "BOARD_EVERY_S", 0.1)
    world.log("epoch=0 loss=2.5\nepoch=1 loss=1.5\n")
    board(world.folder / "outputs", "lr", 3)
    ended = world.job(state=JobState.SUCCEEDED)
    world.reader.series(ended, world.spec())
    points = Path(world.layout.task(ID, 1, 0, 0).root) / "log-points.jsonl"
    points.write_text(points.read_text() + '{"t": 1.0, "step": 2')
    world.log("epoch=2 loss=0.5\n")
    board(world.folder / "model", "late", 2)
    before = {path: path.read_bytes() for path in world.folder.rglob("*") if path.is_file()}

    reader = MetricsReader(world.layout, clock=lambda: world.now, ours=lambda: False)
    answer = reader.series(ended, world.spec())
    assert answer.last == {"late": pytest.approx(0.1), "loss": 0.5, "lr": pytest.approx(0.2)}
    assert shape(answer)["loss", "log", 1, "task0-0"] == [2.5, 1.5, 0.5]
    until = time.monotonic() + 60
    while not (ID in reader._glances and reader._glances[ID].final):  # all was looked at: it would be kept
        assert time.monotonic() < until
        reader.summary(ended, world.spec())
        world.now += 2
        time.sleep(0.05)
    reader.close()
    assert {path: path.read_bytes() for path in world.folder.rglob("*") if path.is_file()} == before
