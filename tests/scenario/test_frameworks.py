"""What frameworks tell tasks, tried by small programs that do what the framework's own would: they meet at the
addresses that they were told, on real sockets, in sandboxes.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from tests.scenario.stage import Stage, spec

MEET: Final = """
import json, os, signal, socket, time

config = json.loads(os.environ["TF_CONFIG"])
cluster, task = config["cluster"], config["task"]
host, port = cluster[task["type"]][task["index"]].rsplit(":", 1)
server = socket.create_server((host, int(port)), backlog=16)
others = [address for addresses in cluster.values() for address in addresses if address != f"{host}:{port}"]
for address in others:
    peer, at = address.rsplit(":", 1)
    while True:
        try:
            connection = socket.create_connection((peer, int(at)))
        except ConnectionRefusedError:
            time.sleep(0.02)
            continue
        connection.sendall(f"{task['type']}-{task['index']}".encode())
        connection.close()
        break
came = []
for _ in others:
    connection, _ = server.accept()
    came.append(connection.makefile().read())
print(f"{task['type']}-{task['index']} met", *sorted(came), flush=True)
if "ps" in cluster and task["type"] != "chief":
    signal.pause()
"""

CLUSTER: Final = """
import os, socket, time

here = os.environ
place = (here["MS_SCHED_HOST"], int(here["MS_SCHED_PORT"]))
if here["MS_ROLE"] == "MS_SCHED":
    server = socket.create_server(place, backlog=16)
    workers = [server.accept()[0] for _ in range(int(here["MS_WORKER_NUM"]))]
    came = sorted(one.recv(1).decode() for one in workers)
    for one in workers:
        one.sendall("".join(came).encode())
        one.close()
else:
    while True:
        try:
            scheduler = socket.create_connection(place)
        except ConnectionRefusedError:
            time.sleep(0.02)
            continue
        break
    scheduler.sendall(here["MS_NODE_ID"].encode())
    os.write(1, f"{here['MS_NODE_ID']} of {scheduler.makefile().read()}\\n".encode())  # in one piece
"""


def met(document: dict[str, Any], **roles: int) -> dict[str, Any]:
    """Return the document with these sub-tasks and their replicas, each of which runs MEET."""
    command = [sys.executable, "-c", MEET]
    resources = {"cpu": 0.5, "memory": 256}
    made = [
        {"name": name, "replicas": count, "command": command, "resources": resources} for name, count in roles.items()
    ]
    return {**document, "roles": made}


async def test_workers_of_tensorflow_meet_at_the_addresses_of_tf_config(stage: Stage) -> None:
    """R43, R113, R125: each has a port of its own, on which it may listen, and is where the others were told."""
    job = await stage.submit(met({"name": "all-reduce", "framework": "tensorflow"}, trainer=3))
    view = await stage.ended(job)
    assert view.state == "succeeded", (view.verdict, stage.log(job))
    assert [stage.log(job, 1, 0, index) for index in range(3)] == [
        "worker-0 met worker-1 worker-2\n",
        "worker-1 met worker-0 worker-2\n",
        "worker-2 met worker-0 worker-1\n",
    ]


async def test_a_job_with_parameter_servers_is_done_when_its_chief_is(stage: Stage) -> None:
    """R43, R126, R136: servers and workers never end; they are ended, and the job has succeeded."""
    document = met({"name": "ps", "framework": "tensorflow", "grace": 1}, ps=1, worker=2, chief=1)
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert (view.state, view.verdict.code) == ("succeeded", "ok"), (view.verdict, stage.log(job))
    assert stage.log(job, 1, 2) == "chief-0 met ps-0 worker-0 worker-1\n"
    assert [(role.name, role.main) for role in view.roles] == [("ps", False), ("worker", False), ("chief", True)]
    assert stage.processes(job) == {}
    cluster = {
        role: [f"{task.host}:{task.ports['tf'][0]}" for task in view.task_list if task.role == role]
        for role in ("ps", "worker", "chief")
    }
    assert len({address for addresses in cluster.values() for address in addresses}) == 4, json.dumps(cluster)


async def test_processes_of_mindspore_meet_at_the_scheduler_beside_the_first_replica(stage: Stage) -> None:
    """R43: on two virtual nodes, where MindSpore's own launcher would start no scheduler at all."""
    role = {
        "name": "worker",
        "replicas": 2,
        "command": ["python", "-c", CLUSTER],
        "resources": {"cpu": 0.5, "memory": 256},
    }
    document = {"name": "ms", "framework": {"kind": "mindspore", "processes_per_node": 2}, "roles": [role]}
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert view.state == "succeeded", (view.verdict, stage.log(job))
    said = [sorted(stage.log(job, 1, 0, index).splitlines()) for index in (0, 1)]
    assert said == [["0 of 0123", "1 of 0123"], ["2 of 0123", "3 of 0123"]]


async def test_the_hostfile_of_deepspeed_is_where_its_launcher_looks(stage: Stage) -> None:
    """R131: read-only at /job/hostfile of every replica, with where each is and the cards that it got."""
    text = "cat /job/hostfile; echo > /job/hostfile || echo cannot be changed"
    job = await stage.submit(spec("ds", text, replicas=2, resources={"gpu": 2}, framework="deepspeed"))
    view = await stage.ended(job)
    assert view.state == "succeeded", (view.verdict, stage.log(job))
    hostfile = "".join(f"{task.host} slots=2\n" for task in view.task_list)
    for index in (0, 1):
        said = stage.log(job, 1, 0, index)
        assert said.startswith(hostfile)
        assert said.endswith("cannot be changed\n")


async def test_without_a_sandbox_a_program_of_a_framework_is_found_all_the_same(tmp_path: Path) -> None:
    role = {
        "name": "worker",
        "replicas": 2,
        "command": ["python", "-c", CLUSTER],
        "resources": {"cpu": 0.5, "memory": 256},
    }
    async with Stage(tmp_path / "bare", config={"local": {"sandbox": "none"}}) as bare:
        job = await bare.submit({"name": "ms", "framework": "mindspore", "roles": [role]})
        view = await bare.ended(job)
        assert view.state == "succeeded", (view.verdict, bare.log(job))
        assert [bare.log(job, 1, 0, index) for index in (0, 1)] == ["0 of 01\n", "1 of 01\n"]
