"""PyTorch: variables of R112, the launcher of R128-R130, D5, D6, D8."""

from dataclasses import replace
from typing import Any

import pytest

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks import registry
from trainmaster.frameworks.pytorch import rewrite
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft

OWN = {"SLOTS": "4", "WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "2222"}
RUN = [
    "-m",
    "torch.distributed.run",
    "--nproc_per_node=4",
    "--nnodes=2",
    "--node_rank=1",
    "--master_addr=10.0.0.1",
    "--master_port=2222",
]


def job(**fields: Any) -> Gang:
    role = {"name": "worker", "replicas": 2, "command": "python train.py", "resources": {"cpu": 4, "gpu": 2}}
    return draft(check({"name": "a", "framework": "pytorch", "roles": [role], **fields}))


def launches(gang: Gang) -> list[TaskLaunch]:
    return registry.preview(gang, {})


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["python", "train.py", "--lr=1"], ["python", *RUN, "train.py", "--lr=1"]),
        (["python3", "/workspace/algorithm/train.py"], ["python3", *RUN, "/workspace/algorithm/train.py"]),
        (["/opt/bin/python3.11", "t.py"], ["/opt/bin/python3.11", *RUN, "t.py"]),
        (["python", "-u", "t.py"], ["python", "-u", *RUN, "t.py"]),
        (["python", "-m", "pkg.train", "-x"], ["python", *RUN, "-m", "pkg.train", "-x"]),
        (["python", "-c", "print(1)"], ["python", *RUN, "--no_python", "python", "-c", "print(1)"]),
        (
            ["python", "-O", "-W", "ignore", "t.py"],
            ["python", *RUN, "--no_python", "python", "-O", "-W", "ignore", "t.py"],
        ),
    ],
)
def test_a_plain_python_command_gets_the_launcher(argv: list[str], expected: list[str]) -> None:
    """R128, D8: torch.distributed.run, not the deprecated launch."""
    assert rewrite(argv, OWN) == expected


@pytest.mark.parametrize(
    "argv",
    [
        ["torchrun", "--nnodes", "2", "t.py"],
        ["/env/bin/torchrun", "t.py"],
        ["python", "-m", "torch.distributed.launch", "t.py"],
        ["python3", "-m", "torch.distributed.run", "t.py"],
        ["python", "/env/torch/distributed/run.py", "t.py"],
        ["python", "/env/bin/torchrun", "t.py"],
        ["bash", "run.sh"],
        ["bash", "-c", "python train.py"],
        ["accelerate", "launch", "t.py"],
        ["pythonic", "t.py"],
        ["python"],
        ["python", "--version"],
        ["python", "-V"],
        ["python", "-"],
        [],
    ],
)
def test_any_other_command_runs_untouched(argv: list[str]) -> None:
    """R129, D8: both spellings of a launcher count."""
    assert rewrite(argv, OWN) == argv


def test_the_variables_of_every_node() -> None:
    """R112, R130, D5: WORLD_SIZE and RANK count nodes; the master meets at localhost, the others at its address."""
    first, second = (launch.env for launch in launches(job()))
    assert [first[name] for name in ("MASTER_ADDR", "WORLD_SIZE", "RANK", "SLOTS")] == ["localhost", "2", "0", "2"]
    assert [second[name] for name in ("MASTER_ADDR", "WORLD_SIZE", "RANK", "SLOTS")] == ["127.0.0.2", "2", "1", "2"]
    assert first["MASTER_PORT"] == second["MASTER_PORT"] == first["PAI_PORT_LIST_worker_0_master"], (
        "the one allocated (D6)"
    )


def test_without_an_allocated_port_the_manuals_2222() -> None:
    """D6: a private network needs no allocation."""
    gang = job()
    bare = replace(gang, placement=tuple(replace(task, ports=()) for task in gang.placement))
    assert {launch.env["MASTER_PORT"] for launch in launches(bare)} == {"2222"}


def test_slots_are_cards_or_one_or_what_the_job_says() -> None:
    cpu = [{"name": "w", "command": "python t.py"}]
    assert launches(job(roles=cpu))[0].env["SLOTS"] == "1"
    asked = job(roles=cpu, framework={"kind": "pytorch", "processes_per_node": 3})
    assert launches(asked)[0].env["SLOTS"] == "3"
    assert "--nproc_per_node=3" in launches(asked)[0].argv


def test_ranks_go_on_through_the_roles_in_order() -> None:
    roles = [
        {"name": "chief", "command": "python a.py", "resources": {"gpu": 1}},
        {"name": "worker", "replicas": 2, "command": "python b.py", "resources": {"gpu": 2}},
    ]
    gang = job(roles=roles)
    shuffled = replace(gang, placement=tuple(reversed(gang.placement)))
    seen = {
        launch.env["TRAINMASTER_TASK"].partition("/")[2]: (launch.env["RANK"], launch.env["SLOTS"])
        for launch in launches(shuffled)
    }
    assert seen == {"task0-0": ("0", "1"), "task1-0": ("1", "2"), "task1-1": ("2", "2")}
    assert {launch.env["MASTER_PORT"] for launch in launches(shuffled)} == {"21000"}


def test_threads_are_the_cores_shared_by_the_processes_of_a_node() -> None:
    assert launches(job())[0].env["OMP_NUM_THREADS"] == "2"
    assert launches(job(env={"OMP_NUM_THREADS": 1}))[0].env["OMP_NUM_THREADS"] == "1"


def test_gloo_is_told_its_interface_only_between_loopback_addresses() -> None:
    gang = job()
    assert launches(gang)[0].env["GLOO_SOCKET_IFNAME"] == "lo"
    far = replace(gang, placement=(gang.placement[0], replace(gang.placement[1], host="10.0.0.2")))
    assert "GLOO_SOCKET_IFNAME" not in launches(far)[0].env
    assert launches(job(env={"GLOO_SOCKET_IFNAME": "eth0"}))[0].env["GLOO_SOCKET_IFNAME"] == "eth0"


def test_the_command_of_the_manual_written_with_variables() -> None:
    """The torchrun example of the Cambricon manual."""
    command = "torchrun \\\n --nnodes ${WORLD_SIZE} \\\n --nproc_per_node ${SLOTS} \\\n --node_rank ${RANK} train.py"
    roles = [{"name": "w", "replicas": 2, "command": command, "resources": {"gpu": 4}}]
    assert launches(job(roles=roles))[1].argv == (
        "torchrun",
        "--nnodes",
        "2",
        "--nproc_per_node",
        "4",
        "--node_rank",
        "1",
        "train.py",
    )
