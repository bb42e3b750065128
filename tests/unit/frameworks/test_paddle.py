"""PaddlePaddle (R43): the variables of every node, and the launcher in front of a plain python command."""

from typing import Any

import pytest

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks import registry
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft


def job(command: str = "python train.py", gpu: int = 2, **fields: Any) -> Gang:
    role = {"name": "worker", "replicas": 2, "command": command, "resources": {"cpu": 4, "gpu": gpu}}
    return draft(check({"name": "a", "framework": "paddle", "roles": [role], **fields}))


def launched(gang: Gang, index: int = 1, **base: str) -> TaskLaunch:
    return registry.launch(gang, 0, index, base)


def run(processes: int, logs: str = "/tmp") -> tuple[str, ...]:
    return (
        "-m",
        "paddle.distributed.launch",
        "--master=127.0.0.2:21000",
        "--nnodes=2",
        "--rank=1",
        f"--nproc_per_node={processes}",
        "--host=127.0.0.3",
        f"--log_dir={logs}/paddle-logs",
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py --lr=1", ("python", *run(2), "train.py", "--lr=1")),
        ("/env/bin/python3 -u train.py", ("/env/bin/python3", "-u", *run(2), "train.py")),
        ("python -m pkg.train -x", ("python", *run(2), "python", "-m", "pkg.train", "-x")),
        ("python -O train.py", ("python", *run(2), "python", "-O", "train.py")),
        ("python -c 'print(1)'", ("python", *run(2), "python", "-c", "print(1)")),
        ("python train", ("python", *run(2), "python", "train")),
    ],
)
def test_a_plain_python_command_gets_the_launcher(command: str, expected: tuple[str, ...]) -> None:
    """The launcher runs what ends in .py itself and starts anything else as it is written."""
    assert launched(job(command)).argv == expected


@pytest.mark.parametrize(
    "command",
    [
        "python -m paddle.distributed.launch --nnodes 2 train.py",
        "python -m paddle.distributed.fleet.launch train.py",
        "fleetrun train.py",
        "python /env/bin/fleetrun train.py",
        "bash run.sh",
        "python --version",
    ],
)
def test_any_other_command_runs_untouched(command: str) -> None:
    assert launched(job(command)).argv == tuple(command.split())


def test_every_node_is_told_where_all_meet() -> None:
    """Unlike PyTorch's, the launcher compares the address with its own, so rank 0 is told it, too."""
    for index in (0, 1):
        env = launched(job(), index).env
        assert [env[name] for name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "SLOTS")] == [
            "127.0.0.2",
            "21000",
            "2",
            str(index),
            "2",
        ]


def test_processes_are_cards_or_one_or_what_the_job_says() -> None:
    assert run(1)[5] in launched(job(gpu=0)).argv
    assert run(3)[5] in launched(job(framework={"kind": "paddle", "processes_per_node": 3})).argv


def test_a_replica_without_cards_is_none_of_one_nameless_card() -> None:
    """CUDA_VISIBLE_DEVICES is empty there, which the launcher reads as the name of a card."""
    assert launched(job(gpu=0)).env["XPULINK_VISIBLE_DEVICES"] == "all"
    assert "XPULINK_VISIBLE_DEVICES" not in launched(job()).env


def test_its_files_lie_in_the_replicas_own_temporary_folder() -> None:
    """They hold the whole environment, with the values of secrets."""
    assert run(2, "/run/task")[-1] in launched(job(), TMPDIR="/run/task").argv
