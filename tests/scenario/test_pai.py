"""OpenPAI's own documents, submitted as they are on simulated cards; every PAI_* variable of R94-R106 is present and
right.

What a task should see is worked out here from the document and from where its tasks were placed, not by the platform's
code.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster import answers

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "pai"
DOCUMENTS: Final = {path.stem: path for path in sorted(FIXTURES.glob("*.json"))}
DUMP: Final = (
    'cd "$TRAINMASTER_OUTPUT_DIR"; me="${TRAINMASTER_TASK##*/}"; '
    'cat /proc/$$/environ > ".$me"; mv ".$me" "$me"; cd - > /dev/null\n'
)
"""What is there under a task's name is whole: the others wait for it."""
MEET: Final = 'until [ "$(ls "$TRAINMASTER_OUTPUT_DIR" | wc -l)" -ge {count} ]; do sleep 0.02; done\n'
"""Nobody goes on before all have written: the success of one may end the others."""
OURS: Final = ("PAI_", "VC_", "VK_", "TASKROLE_NAME", "CUDA_VISIBLE_DEVICES")


def load(name: str) -> dict[str, Any]:
    """Return a fixture as published."""
    document: dict[str, Any] = json.loads(DOCUMENTS[name].read_text())
    return document


def dumping(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document under another name, every task of which first writes down the environment it was started
    with.
    """
    document["jobName"] += "-env"
    count = sum(role["taskNumber"] for role in document["taskRoles"])
    for role in document["taskRoles"]:
        role["command"] = DUMP + MEET.format(count=count) + role["command"]
    return document


def safe(name: str) -> str:
    """Return the part of a variable's name that any shell can read (D4)."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def expected(document: dict[str, Any], tasks: list[answers.TaskView], me: answers.TaskView) -> dict[str, str]:
    """Return every variable the manuals promise to the task `me`; `tasks` is where all tasks were placed."""
    roles = document["taskRoles"]
    env = {
        "PAI_JOB_NAME": document["jobName"],
        "PAI_USER_NAME": "admin",
        "PAI_DEFAULT_FS_URI": "file:///workspace/outputs",
        "PAI_TASK_ROLE_COUNT": str(len(roles)),
        "PAI_TASK_ROLE_LIST": ",".join(role["name"] for role in roles),
        "PAI_CURRENT_TASK_ROLE_NAME": me.role,
        "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX": str(me.index),
        "TASKROLE_NAME": f"task{me.role_index}",
        "VC_TASK_INDEX": str(me.index),
        "VK_TASK_INDEX": str(me.index),
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, me.gpus)),
    }
    for number, role in enumerate(roles):
        mine = [task for task in tasks if task.role_index == number]
        env.update(_named(f"VC_TASK{number}", "", mine))
        env.update(_named(f"VC_{safe(role['name']).upper()}", "", mine))
        for name in {role["name"], safe(role["name"])}:
            env.update(_of_role(role, name, mine))
    return env


def _named(prefix: str, suffix: str, tasks: list[answers.TaskView]) -> Iterator[tuple[str, str]]:
    yield f"{prefix}_HOSTS{suffix}", ",".join(task.host for task in tasks)
    yield f"{prefix}_NUM{suffix}", str(len(tasks))


def _of_role(role: dict[str, Any], name: str, tasks: list[answers.TaskView]) -> Iterator[tuple[str, str]]:
    """R99-R104 for one role under one spelling of its name. Absent: one failure fails, no success rule; null: never
    (D2).
    """
    failed, succeeded = role.get("minFailedTaskCount", 1), role.get("minSucceededTaskCount")
    yield f"PAI_TASK_ROLE_TASK_COUNT_{name}", str(role["taskNumber"])
    yield f"PAI_RESOURCE_{name}", f"{role['gpuNumber']},{role['cpuNumber']},{role['memoryMB']},{role.get('shmMB', 64)}"
    yield f"PAI_MIN_FAILED_TASK_COUNT_{name}", "" if failed is None else str(failed)
    yield f"PAI_MIN_SUCCEEDED_TASK_COUNT_{name}", "" if succeeded is None else str(succeeded)
    exact = name == role["name"]
    for task in tasks:
        yield f"PAI_HOST_IP_{name}_{task.index}", task.host
        for label, numbers in task.ports.items():
            yield f"PAI_PORT_LIST_{name}_{task.index}_{label if exact else safe(label)}", ",".join(map(str, numbers))


def seen(stage: Stage, job: str, task: str) -> dict[str, str]:
    """Return the environment a task wrote down."""
    entries = stage.output(job, task).read_bytes().split(b"\0")
    return dict(entry.decode().split("=", 1) for entry in entries if entry)


ENDS: Final = {"is-debug": ("failed", 1), "retry": ("succeeded", 2)}
"""Where a document leads when that is not success at the first try: (state, attempts)."""


def test_there_are_at_least_eight_shapes() -> None:
    """Issue: single task, multi-task, ports, parameter server, retry, isDebug, shm, gpuType."""
    wanted = {"single-task", "multi-task", "ports", "parameter-server", "retry", "is-debug", "shm", "gpu-type"}
    assert wanted <= DOCUMENTS.keys()


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_every_variable_is_present_and_right(stage: Stage, name: str) -> None:
    """R61-R93 accepted as written, R94-R111 and R115 as promised, in the environment the task was really started
    with.
    """
    document = load(name)
    plain = await stage.submit(load(name))
    job = await stage.submit(dumping(document))
    for one in (plain, job):
        if name == "is-debug":  # R90: kept after the failure
            assert (await stage.state(one, "retained")).verdict.exit_code == 7
            await stage.platform.release(one, ADMIN)
        view = await stage.ended(one)
        assert (view.state, view.attempts) == ENDS.get(name, ("succeeded", 1)), (view.verdict, stage.log(one))
    tasks = view.task_list
    assert len(tasks) == sum(role["taskNumber"] for role in document["taskRoles"])
    for task in tasks:
        env = seen(stage, job, task.name)
        wanted = expected(document, tasks, task)
        assert {key: env.get(key) for key in wanted} == wanted
        extra = {key for key in env if key.startswith(OURS)} - wanted.keys()
        assert extra <= {"PAI_CODE_DIR", "PAI_DATA_DIR", "PAI_OUTPUT_DIR"}, "a variable nobody promised"
        for key, value in document.get("jobEnvs", {}).items():  # R89
            assert env[key] == (str(value).lower() if isinstance(value, bool) else str(value))
        _check_placement(document, task)


def _check_placement(document: dict[str, Any], task: answers.TaskView) -> None:
    role = document["taskRoles"][task.role_index]
    assert len(set(task.gpus)) == role["gpuNumber"]
    asked = {port["label"]: port["portNumber"] for port in role.get("portList", [])}
    assert {label: len(set(numbers)) for label, numbers in task.ports.items()} == asked


async def test_the_document_comes_back_as_it_was_written(stage: Stage) -> None:
    """R91, R210: the JSON of the job is the document that was submitted, extras unchanged."""
    document = load("every-field")
    job = await stage.submit(document)
    text, _ = await stage.platform.spec(job, ADMIN, "pai", "json")
    back = json.loads(text)
    for key in (
        "jobName",
        "image",
        "authFile",
        "dataDir",
        "outputDir",
        "codeDir",
        "virtualCluster",
        "gpuType",
        "retryCount",
        "extras",
    ):
        assert back[key] == document[key], key
    assert (await stage.ended(job)).pai_state == "SUCCEEDED"
    again = json.loads(text)
    again["jobName"] = "another.name"
    assert (await stage.ended(await stage.submit(again))).state == "succeeded"


async def test_a_data_folder_that_is_not_here_is_told_to_the_tasks_and_not_mounted(stage: Stage) -> None:
    """R70, R94-R106: OpenPAI hands dataDir on as a text; that it is no folder of this server is a warning, no
    mistake.
    """
    document = load("single-task") | {"jobName": "elsewhere", "dataDir": "/no/such/folder"}
    document["taskRoles"][0]["command"] = 'echo "$PAI_DATA_DIR"; ls /dataset'
    rehearsed = await stage.platform.preview({"spec": document}, ADMIN)
    assert (rehearsed.ok, [one.path for one in rehearsed.warnings if "/no/such" in one.rule]) == (
        True,
        ["dataDir"],
    )
    job = await stage.submit(document)
    await stage.ended(job)
    assert stage.log(job).splitlines()[0] == "/no/such/folder"
    assert "No such file or directory" in stage.log(job)


async def test_variables_can_be_used_in_the_configuration(stage: Stage) -> None:
    """R107: $PAI_* in the command of a native job without a shell is expanded for each task."""
    document = {
        "name": "uses",
        "env": {"WHERE": "$PAI_JOB_NAME/$VC_TASK_INDEX"},
        "roles": [
            {
                "name": "w",
                "replicas": 2,
                "command": "echo $PAI_CURRENT_TASK_ROLE_NAME $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX",
                "resources": {"cpu": 0.5, "memory": 256},
            }
        ],
    }
    job = await stage.submit(document)
    await stage.ended(job)
    assert [stage.log(job, 1, 0, index) for index in (0, 1)] == ["w 0\n", "w 1\n"]


async def test_pytorch_variables_lead_every_node_to_the_master(stage: Stage) -> None:
    """R112, R129, R130, D5, D6: one port, allocated and bindable; rank 0 says localhost; the command runs untouched."""
    document = spec("ddp", DUMP, replicas=2, resources={"gpu": 1}, framework="pytorch")
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert view.state == "succeeded", (view.verdict, stage.log(job))
    envs = [seen(stage, job, task.name) for task in view.task_list]
    ports = view.task_list[0].ports["master"]
    assert [env["MASTER_PORT"] for env in envs] == [str(ports[0])] * 2
    assert [env["MASTER_ADDR"] for env in envs] == ["localhost", view.task_list[0].host]
    assert [(env["WORLD_SIZE"], env["RANK"], env["SLOTS"]) for env in envs] == [("2", "0", "1"), ("2", "1", "1")]
    assert [env["CUDA_VISIBLE_DEVICES"] for env in envs] == [str(task.gpus[0]) for task in view.task_list]


async def test_shared_memory_has_the_size_asked_for(stage: Stage) -> None:
    """R78: measured inside the task."""
    document = load("shm")
    document["taskRoles"][0]["command"] = "df --output=size -m /dev/shm | tail -1"
    job = await stage.submit(document)
    await stage.ended(job)
    assert int(stage.log(job)) == 256
