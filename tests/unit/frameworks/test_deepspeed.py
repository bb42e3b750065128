"""DeepSpeed: the variables of R112, the hostfile of R131, and a launcher that needs no ssh."""

from dataclasses import replace
from typing import Any

import pytest

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks import registry
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft

TOLD = (
    "--hostfile=/job/hostfile",
    "--no_ssh",
    "--node_rank=1",
    "--master_addr=127.0.0.2",
    "--master_port=21000",
)
RUN = ("-m", "deepspeed.launcher.runner", *TOLD)


def job(command: str = "python train.py", gpu: int = 4, **fields: Any) -> Gang:
    role = {"name": "worker", "replicas": 2, "command": command, "resources": {"cpu": 4, "gpu": gpu}}
    return draft(check({"name": "a", "framework": "deepspeed", "roles": [role], **fields}))


def second(gang: Gang, **base: str) -> TaskLaunch:
    return registry.launch(gang, 0, 1, base)


def test_the_command_of_the_manual_is_told_its_node() -> None:
    """R131: `deepspeed train.py` finds the hostfile; every node starts its own processes."""
    made = second(job("deepspeed train.py --deepspeed --deepspeed_config ds_config.json"))
    assert made.argv == ("deepspeed", *TOLD, "train.py", "--deepspeed", "--deepspeed_config", "ds_config.json")
    assert made.files == {"/job/hostfile": "127.0.0.2 slots=4\n127.0.0.3 slots=4\n"}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py --lr=1", ("python", *RUN, "train.py", "--lr=1")),
        ("python3 -u train.py --deepspeed", ("python3", "-u", *RUN, "train.py", "--deepspeed")),
        ("python -m pkg.train -x", ("python", *RUN, "--module", "pkg.train", "-x")),
        ("python -O train.py", ("python", *RUN, "--no_python", "--no_local_rank", "python", "-O", "train.py")),
        ("/env/bin/deepspeed --no_local_rank train.py", ("/env/bin/deepspeed", *TOLD, "--no_local_rank", "train.py")),
    ],
)
def test_a_plain_python_command_gets_the_launcher(command: str, expected: tuple[str, ...]) -> None:
    assert second(job(command)).argv == expected


@pytest.mark.parametrize(
    "command",
    [
        "deepspeed --no_ssh --node_rank 1 --master_addr a train.py",
        "deepspeed --launcher=openmpi train.py",
        "python -m deepspeed.launcher.runner train.py",
        "python /env/bin/deepspeed train.py",
        "torchrun train.py",
        "bash run.sh",
    ],
)
def test_any_other_command_runs_untouched(command: str) -> None:
    """A command that says itself how nodes are started; the hostfile is there for it all the same."""
    made = second(job(command))
    assert made.argv == tuple(command.split())
    assert list(made.files) == ["/job/hostfile"]


def test_the_variables_of_every_node() -> None:
    """R112: as with PyTorch."""
    names = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "SLOTS")
    found = [[one.env[name] for name in names] for one in registry.preview(job(), {})]
    assert found == [["localhost", "21000", "2", "0", "4"], ["127.0.0.2", "21000", "2", "1", "4"]]


def test_slots_are_cards_or_one_or_what_the_job_says() -> None:
    """R131: 1 for a replica without cards, which computes on the CPU."""
    cpu = second(job(gpu=0))
    assert cpu.files["/job/hostfile"] == "127.0.0.2 slots=1\n127.0.0.3 slots=1\n"
    assert (cpu.env["DS_ACCELERATOR"], second(job()).env.get("DS_ACCELERATOR")) == ("cpu", None)
    asked = second(job(framework={"kind": "deepspeed", "processes_per_node": 3}))
    assert asked.files["/job/hostfile"] == "127.0.0.2 slots=3\n127.0.0.3 slots=3\n"


def test_replicas_at_one_address_stand_in_the_hostfile_by_their_names() -> None:
    """R5: the launcher refuses a name that stands there twice."""
    gang = job()
    one = replace(gang, placement=tuple(replace(task, host="10.0.0.1") for task in gang.placement))
    assert second(one).files["/job/hostfile"] == "worker-0 slots=4\nworker-1 slots=4\n"


def test_without_a_sandbox_the_launcher_is_told_where_the_hostfile_lies() -> None:
    made = second(job(), TRAINMASTER_FILES_DIR="/run/task/files")
    assert made.argv[3] == "--hostfile=/run/task/files/job/hostfile"
