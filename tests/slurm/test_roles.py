"""A job of unequal roles on a cluster, through the whole server: what every task is told of itself and of the
others.
"""

from pathlib import Path
from typing import Any, Final

from tests.slurm.served import POOL, Served

SAY: Final = "env -0 > $TRAINMASTER_OUTPUT_DIR/$TRAINMASTER_ROLE-$TRAINMASTER_INDEX"
OWN: Final = frozenset({
    "PAI_CURRENT_TASK_ROLE_NAME", "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "TASKROLE_NAME", "VC_TASK_INDEX",
    "VK_TASK_INDEX", "MASTER_ADDR",
})  # fmt: skip
"""Variables of the families below that are not the same for all tasks."""
FAMILIES: Final = ("PAI_", "VC_", "VK_", "MASTER_", "TASKROLE_", "WORLD_SIZE")


def role(name: str, replicas: int, label: str, **resources: Any) -> dict[str, Any]:
    ask = {"memory": 256, "shm": 32, **resources}
    ports = [{"label": label, "count": 2}]
    return {"name": name, "replicas": replicas, "command": ["/bin/sh", "-c", SAY], "resources": ask, "ports": ports}


def variables(path: Path) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in path.read_text().split("\0") if entry)


def test_a_parameter_server_and_workers_with_cards_know_each_other(served: Served) -> None:
    """docs/reference/environment.md, on every task. Each node of the cluster has an address of its own."""
    roles = [role("ps", 1, "rpc", cpu=1), role("worker", 2, "web", cpu=3, gpu=1, gpu_type="fake")]
    document = {"name": "unequal", "pool": POOL, "framework": "pytorch", "model": {"save": False}, "roles": roles}
    job = served.submit(document)
    view = served.ended(job)
    assert view["state"] == "succeeded", view["verdict"]
    tasks = {f"{task['role']}-{task['index']}": task for task in view["task_list"]}
    env = {path.name: variables(path) for path in Path(served.layout.outputs(job)).iterdir()}
    assert list(tasks) == ["ps-0", "worker-0", "worker-1"]
    assert env.keys() == tasks.keys(), "the result file of each task is there"

    common = [
        {key: value for key, value in own.items() if key.startswith(FAMILIES) and key not in OWN}
        for own in env.values()
    ]
    host = {name: task["host"] for name, task in tasks.items()}
    assert host["worker-0"] != host["worker-1"]
    workers = f"{host['worker-0']},{host['worker-1']}"
    port = {
        (name, label): ",".join(map(str, ports))
        for name, task in tasks.items()
        for label, ports in task["ports"].items()
    }
    assert (
        common
        == [
            {
                "PAI_JOB_NAME": "unequal",
                "PAI_USER_NAME": "admin",
                "PAI_DEFAULT_FS_URI": "file:///workspace/outputs",
                "PAI_TASK_ROLE_COUNT": "2",
                "PAI_TASK_ROLE_LIST": "ps,worker",
                "PAI_TASK_ROLE_TASK_COUNT_ps": "1",
                "PAI_TASK_ROLE_TASK_COUNT_worker": "2",
                "PAI_HOST_IP_ps_0": host["ps-0"],
                "PAI_HOST_IP_worker_0": host["worker-0"],
                "PAI_HOST_IP_worker_1": host["worker-1"],
                "PAI_PORT_LIST_ps_0_rpc": port["ps-0", "rpc"],
                "PAI_PORT_LIST_ps_0_master": port["ps-0", "master"],
                "PAI_PORT_LIST_worker_0_web": port["worker-0", "web"],
                "PAI_PORT_LIST_worker_1_web": port["worker-1", "web"],
                "PAI_RESOURCE_ps": "0,1,256,32",
                "PAI_RESOURCE_worker": "1,3,256,32",
                "PAI_MIN_FAILED_TASK_COUNT_ps": "1",
                "PAI_MIN_FAILED_TASK_COUNT_worker": "1",
                "PAI_MIN_SUCCEEDED_TASK_COUNT_ps": "",
                "PAI_MIN_SUCCEEDED_TASK_COUNT_worker": "",
                "VC_TASK0_HOSTS": host["ps-0"],
                "VC_TASK0_NUM": "1",
                "VC_PS_HOSTS": host["ps-0"],
                "VC_PS_NUM": "1",
                "VC_TASK1_HOSTS": workers,
                "VC_TASK1_NUM": "2",
                "VC_WORKER_HOSTS": workers,
                "VC_WORKER_NUM": "2",
                "MASTER_PORT": port["ps-0", "master"],
                "WORLD_SIZE": "3",
            }
        ]
        * 3
    )
    for rank, (name, own) in enumerate(sorted(env.items())):
        task = tasks[name]
        assert own["MASTER_ADDR"] == ("localhost" if name == "ps-0" else host["ps-0"])
        assert (own["RANK"], own["SLOTS"]) == (str(rank), "1")
        assert own["PAI_CURRENT_TASK_ROLE_NAME"] == own["TRAINMASTER_ROLE"] == task["role"]
        index = {own[key] for key in ("PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "VC_TASK_INDEX", "VK_TASK_INDEX")}
        assert index == {own["TRAINMASTER_INDEX"]} == {str(task["index"])}
        assert own["TASKROLE_NAME"] == ("task0" if name == "ps-0" else "task1")
        assert (own["TRAINMASTER_NODE"], own["TRAINMASTER_HOST"]) == (task["node"], task["host"])
        assert (own["TRAINMASTER_JOB_ID"], own["TRAINMASTER_ATTEMPT"]) == (job, "1")
        assert own["CUDA_VISIBLE_DEVICES"] == own["NVIDIA_VISIBLE_DEVICES"] == ",".join(map(str, task["gpus"]))
    assert [len(task["gpus"]) for task in tasks.values()] == [0, 1, 1]
