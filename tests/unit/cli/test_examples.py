"""The examples that somebody really trains run as their pages say, on a server with simulated GPUs, for fewer epochs:
fine-tuning, DDP with a data set, going on from a checkpoint, a sweep from the SDK, Accelerate (R138, B10).
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.shell import Shell, serving

EXAMPLES = Path(__file__).parents[3] / "examples"
LEARNED = re.compile(r"epoch=(\d+) loss=\S+(?: accuracy=([\d.]+))?")

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data set that the example's own program makes."""
    folder = tmp_path_factory.mktemp("datasets") / "digits"
    made = [sys.executable, EXAMPLES / "ddp-dataset/make_dataset.py", folder]
    subprocess.run(made, check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def tm(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    settings = (
        "[local]\nvirtual_nodes = 2\ncpu = 4.0\nmemory_mib = 8192\nsimulated_gpus = 4\n"
        f'mount_roots = ["{data.parent}"]\n'
    )
    with serving(tmp_path_factory.mktemp("home"), settings=settings) as shell:
        yield shell


def train(tm: Shell, name: str, *more: str, epochs: int) -> tuple[Any, str]:
    """Submit an example, wait for it, and return the job and its log."""
    file, shorter = str(EXAMPLES / name / "job.yaml"), f"roles.0.parameters.epochs={epochs}"
    job = tm.json("submit", file, "--set", shorter, *more, "--wait", timeout=600, code=None)
    log = tm("logs", job["id"])
    assert job["state"] == "succeeded", (job["verdict"], log)
    return job, log


def epochs_in(log: str) -> set[int]:
    return {int(found[1]) for found in LEARNED.finditer(log)}


def test_a_network_is_tuned_to_new_classes_on_one_gpu(tm: Shell) -> None:
    job, log = train(tm, "finetune", epochs=3)
    assert epochs_in(log) == {0, 1, 2}
    assert job["roles"][0]["resources"]["gpu"] == 1
    (version,) = tm.json("models", "show", "digits-5-to-9")["versions"]
    assert set(version["metrics"]) >= {"loss", "accuracy"}


def test_ddp_reads_a_data_set_of_the_node(tm: Shell, data: Path) -> None:
    job, log = train(tm, "ddp-dataset", "--set", f"inputs.0.path={data}", epochs=2)
    assert epochs_in(log) == {0, 1}
    assert job["tasks"]["total"] == 2
    assert float(LEARNED.findall(log)[-1][1]) > 0.3, "better than a guess among ten"


def test_a_training_that_fails_goes_on_from_its_checkpoint(tm: Shell) -> None:
    job, _ = train(tm, "resume", "--set", "roles.0.parameters.fail-at=2", epochs=4)
    first, second = (tm("logs", job["id"], "--attempt", number) for number in ("1", "2"))
    assert "attempt 1 begins with epoch 0" in first
    assert "on purpose" in first
    assert epochs_in(first) == {0, 1}
    assert "attempt 2 begins with epoch 2" in second
    assert epochs_in(second) == {2, 3}


def test_a_program_submits_a_sweep_and_says_which_was_best(tm: Shell) -> None:
    program = [sys.executable, EXAMPLES / "sweep/sweep.py"]
    done = subprocess.run(program, env=tm.env, capture_output=True, text=True, timeout=600, check=True)
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["lr", "hidden", "accuracy", "job"]
    assert len(rows) == 6
    assert all(row.endswith("succeeded") for row in rows)
    accuracies = [float(row.split()[2]) for row in rows]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] > 0.8


def test_accelerate_trains_on_two_nodes(tm: Shell) -> None:
    job, log = train(tm, "accelerate", epochs=2)
    assert job["tasks"]["total"] == 2
    assert epochs_in(log) == {0, 1}
