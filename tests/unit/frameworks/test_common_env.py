"""The variables of R94-R111 and R115, one by one, and whose value wins (R89, D4)."""

from typing import Any

import pytest

from trainmaster.core.launch import TaskLaunch
from trainmaster.frameworks import registry
from trainmaster.frameworks.common_env import platform_env, safe
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft

ROLES = [
    {"name": "ps", "command": "x", "resources": {"cpu": 1, "memory": 256}, "ports": [{"label": "grpc", "count": 2}]},
    {
        "name": "my-worker",
        "replicas": 2,
        "command": "x",
        "resources": {"cpu": 0.5, "memory": 512, "gpu": 2, "shm": 128},
        "min_failed": None,
        "min_succeeded": 2,
    },
]
JOB: dict[str, Any] = {"name": "two", "roles": ROLES}


def env(
    role: int, index: int, document: dict[str, Any] = JOB, base: dict[str, str] | None = None, **more: Any
) -> dict[str, str]:
    gang = draft(check(document), user="ann", job_id="t" + "a" * 32, **more)
    return registry.launch(gang, role, index, base or {}).env


EXPECTED = {
    "R94": ("PAI_JOB_NAME", "two"),
    "R95": ("PAI_USER_NAME", "ann"),
    "R96": ("PAI_DEFAULT_FS_URI", "file:///workspace/outputs"),
    "R97": ("PAI_TASK_ROLE_COUNT", "2"),
    "R98": ("PAI_TASK_ROLE_LIST", "ps,my-worker"),
    "R99": ("PAI_TASK_ROLE_TASK_COUNT_my-worker", "2"),
    "R99 alias": ("PAI_TASK_ROLE_TASK_COUNT_my_worker", "2"),
    "R100": ("PAI_HOST_IP_ps_0", "127.0.0.2"),
    "R100 second": ("PAI_HOST_IP_my-worker_1", "127.0.0.4"),
    "R100 alias": ("PAI_HOST_IP_my_worker_1", "127.0.0.4"),
    "R101": ("PAI_PORT_LIST_ps_0_grpc", "21000,21001"),
    "R102": ("PAI_RESOURCE_my-worker", "2,0.5,512,128"),
    "R102 whole cores": ("PAI_RESOURCE_ps", "0,1,256,64"),
    "R103": ("PAI_MIN_FAILED_TASK_COUNT_ps", "1"),
    "R103 off": ("PAI_MIN_FAILED_TASK_COUNT_my_worker", ""),
    "R104": ("PAI_MIN_SUCCEEDED_TASK_COUNT_my_worker", "2"),
    "R104 off": ("PAI_MIN_SUCCEEDED_TASK_COUNT_ps", ""),
    "R105": ("PAI_CURRENT_TASK_ROLE_NAME", "my-worker"),
    "R106": ("PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "1"),
    "R108": ("TASKROLE_NAME", "task1"),
    "R109": ("VC_TASK1_HOSTS", "127.0.0.3,127.0.0.4"),
    "R109 other": ("VC_TASK0_HOSTS", "127.0.0.2"),
    "R110": ("VC_TASK_INDEX", "1"),
    "R115": ("VK_TASK_INDEX", "1"),
    "D4": ("VC_MY_WORKER_HOSTS", "127.0.0.3,127.0.0.4"),
    "D4 number": ("VC_MY_WORKER_NUM", "2"),
    "R111": ("TRAINMASTER_TASK", "t" + "a" * 32 + "-1/task1-1"),
    "job": ("TRAINMASTER_JOB_ID", "t" + "a" * 32),
    "cards": ("CUDA_VISIBLE_DEVICES", "0,1"),
    "cards nvidia": ("NVIDIA_VISIBLE_DEVICES", "0,1"),
    "R138": ("TRAINMASTER_MODEL_DIR", "/model"),
    "R144": ("TRAINMASTER_OUTPUT_DIR", "/workspace/outputs"),
}


@pytest.mark.parametrize(("name", "value"), EXPECTED.values(), ids=list(EXPECTED))
def test_every_variable(name: str, value: str) -> None:
    assert env(1, 1)[name] == value


def test_the_way_of_the_manual_to_find_ones_peers() -> None:
    """R108-R110: TASKROLE_NAME, in capitals inside VC_.._HOSTS, at VC_TASK_INDEX, is one's own address."""
    for role, index in ((0, 0), (1, 0), (1, 1)):
        here = env(role, index)
        hosts = here[f"VC_{here['TASKROLE_NAME'].upper()}_HOSTS"].split(",")
        assert hosts[int(here["VC_TASK_INDEX"])] == here["TRAINMASTER_HOST"]


def test_a_task_without_cards_sees_none() -> None:
    """An absent variable would show all of them."""
    assert env(0, 0)["CUDA_VISIBLE_DEVICES"] == ""
    assert env(0, 0)["NVIDIA_VISIBLE_DEVICES"] == ""


def test_layers_the_role_wins_over_the_job_and_the_platform_over_all() -> None:
    """R89: variables of the job are there and cannot be replaced from below, nor replace the platform's."""
    document = {
        "name": "a",
        "env": {"X": "job", "Y": "job", "OMP_NUM_THREADS": "7"},
        "roles": [{"name": "w", "command": "x", "env": {"Y": "role"}}],
    }
    here = env(
        0, 0, document, {"PATH": "/bin", "X": "image", "TASKROLE_NAME": "fake", "TRAINMASTER_MODEL_DIR": "/real/model"}
    )
    assert (here["X"], here["Y"], here["PATH"]) == ("job", "role", "/bin")
    assert here["OMP_NUM_THREADS"] == "7"
    assert here["TASKROLE_NAME"] == "task0"
    assert here["TRAINMASTER_MODEL_DIR"] == "/real/model", "without a sandbox the agent says where it really is"


def test_variables_may_use_the_platforms() -> None:
    """R107; only the platform's: a password that happens to hold $HOME stays what it is."""
    document = {
        "name": "a",
        "command": "run $PAI_JOB_NAME",
        "parameters": {"out": "$TRAINMASTER_MODEL_DIR/m", "p": "a$HOME"},
        "env": {"W": "$PAI_HOST_IP_main_0:1", "P": "a$HOME$5"},
    }
    gang = draft(check(document))
    made = registry.launch(gang, 0, 0, {"HOME": "/h"})
    assert made.argv == ("run", "a", "--out=/model/m", "--p=a$HOME")
    assert (made.env["W"], made.env["P"]) == ("127.0.0.2:1", "a$HOME$5")


def test_an_alias_never_takes_the_place_of_another_variable() -> None:
    """D4: roles a_b and a.b; the exact name keeps its own value. A role called task1 does not become the system's
    task1.
    """
    document = {
        "name": "a",
        "roles": [
            {"name": "a.b", "replicas": 2, "command": "x"},
            {"name": "a_b", "command": "x"},
            {"name": "task1", "command": "x"},
        ],
    }
    here = env(0, 0, document)
    assert here["PAI_TASK_ROLE_TASK_COUNT_a.b"] == "2"
    assert here["PAI_TASK_ROLE_TASK_COUNT_a_b"] == "1"
    assert here["VC_TASK1_HOSTS"] == here["PAI_HOST_IP_a_b_0"]
    assert here["VC_TASK2_HOSTS"] == here["PAI_HOST_IP_task1_0"]


def test_parameters_need_no_quoting() -> None:
    """R40: each pair is one word, whatever is in it."""
    document = {
        "name": "a",
        "command": "python x.py",
        "parameters": {"a": "b c", "q": 'it\'s "so"', "s": "; rm -rf /", "n": None, "t": True, "f": False, "x": 1e-3},
    }
    argv = registry.launch(draft(check(document)), 0, 0, {}).argv
    assert argv == (
        "python",
        "x.py",
        "--a=b c",
        '--q=it\'s "so"',
        "--s=; rm -rf /",
        "--t=true",
        "--f=false",
        "--x=0.001",
    )


def test_parameters_of_a_list_command_are_appended_and_nothing_is_read_in_it() -> None:
    document = {
        "name": "a",
        "command": ["sh", "-c", "echo $PAI_JOB_NAME", "$HOME"],
        "parameters": {"k": "$PAI_JOB_NAME"},
    }
    made: TaskLaunch = registry.launch(draft(check(document)), 0, 0, {"HOME": "/h"})
    assert made.argv == ("sh", "-c", "echo $PAI_JOB_NAME", "$HOME", "--k=$PAI_JOB_NAME")


def test_a_task_that_is_not_placed_is_an_error() -> None:
    gang = draft(check(JOB))
    with pytest.raises(KeyError):
        platform_env(gang, 1, 2, {})
    with pytest.raises(KeyError):
        registry.get("horovod2")


def test_safe_names() -> None:
    assert safe("a.b~c-d_e") == "a_b_c_d_e"


def test_two_gangs_in_turn_do_not_mix() -> None:
    """The shared part is remembered for the last gang only."""
    one, two = draft(check({"name": "one", "command": "x"})), draft(check({"name": "two", "command": "x"}))
    names = [platform_env(gang, 0, 0, {})["PAI_JOB_NAME"] for gang in (one, two, one, two)]
    assert names == ["one", "two", "one", "two"]
    platform_env(one, 0, 0, {})["PAI_JOB_NAME"] = "changed"
    assert platform_env(one, 0, 0, {})["PAI_JOB_NAME"] == "one"
