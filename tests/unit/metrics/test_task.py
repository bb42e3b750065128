"""`trainmaster.log` and `trainmaster.progress` inside a task (R209): never in the way of a training."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainmaster.sdk import task


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(task, "_files", {})
    monkeypatch.setattr(task, "_said", set())
    monkeypatch.setattr(task, "_steps", {"next": 0})
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv(task.VARIABLE, str(tmp_path))


def written(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / task.FILE).read_text().splitlines()]


@pytest.mark.torch
def test_numbers_are_recorded_with_step_time_and_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy
    import torch

    monkeypatch.setenv("RANK", "3")
    task.log(
        {"loss": torch.tensor(0.5, requires_grad=True), "accuracy": numpy.float32(0.25), "ok": True, "n": 7}, step=12
    )
    task.log({"bad": float("nan"), "worse": float("-inf"), "huge": 10**40})
    first, second = written(tmp_path)
    assert first["values"] == {"loss": 0.5, "accuracy": 0.25, "ok": 1, "n": 7}
    assert (first["step"], first["rank"], second["step"]) == (12, 3, 13)
    assert second["values"] == {"bad": "nan", "worse": "-inf", "huge": 1e40}
    assert second["t"] >= first["t"] > 1e9


def test_what_is_no_number_is_left_out_and_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy

    for _ in range(3):
        task.log({"loss": 1.0, "text": "high", "list": numpy.zeros(3), "none": None})
    assert [record["values"] for record in written(tmp_path)] == [{"loss": 1.0}] * 3
    assert capsys.readouterr().err.count("'text'") == 1


def test_progress(tmp_path: Path) -> None:
    task.progress(3, 10)
    task.progress(4)
    assert [record["progress"] for record in written(tmp_path)] == [[3, 10], [4, None]]


def test_outside_a_job_it_says_so_once_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(task.VARIABLE)
    for _ in range(5):
        task.log({"loss": 1.0})
    assert capsys.readouterr().err.count("not inside") == 1


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null"])
def test_a_training_never_fails_because_of_its_metrics(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv(task.VARIABLE, folder)
    task.log({"loss": 1.0})
    task.log(None)  # type: ignore[arg-type]
    task.log({"loss": 1.0}, step="x")  # type: ignore[arg-type]
    task.progress("x", object())  # type: ignore[arg-type]


def test_processes_of_a_task_never_tear_each_others_lines(tmp_path: Path) -> None:
    script = "from trainmaster.sdk.task import log\nfor n in range(500): log({'a' * 50: n, 'b' * 50: n}, step=n)"
    processes = [
        subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "RANK": str(rank)}) for rank in range(4)
    ]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert len(written(tmp_path)) == 2000


def test_it_needs_only_the_standard_library() -> None:
    script = (
        "import sys; import trainmaster.sdk.task; "
        "print([m for m in ('httpx','pydantic','msgspec','re2') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
        == "[]"
    )
