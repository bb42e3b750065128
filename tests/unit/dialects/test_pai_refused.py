"""What is refused of an OpenPAI v1 document, at its own paths: R67-R91, D7."""

from typing import Any

import pytest

from tests.unit.dialects.pai_jobs import PORT, ROLE, job, one, problems
from trainmaster.dialects.registry import translate

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("R67 absent", job(jobName=...), "jobName", "required"),
    ("R67 space", job(jobName="a b"), "jobName", "bad_slug"),
    ("R67 Chinese", job(jobName="训练"), "jobName", "bad_slug"),
    ("R67 empty", job(jobName=""), "jobName", "bad_slug"),
    ("R67 like an id", job(jobName="t" + "0" * 32), "jobName", "slug_like_id"),
    ("R68 absent", job(image=...), "image", "required"),
    ("R68 empty", job(image=""), "image", "bad_image"),
    ("R69", job(authFile=5), "authFile", "not_text"),
    ("R71", job(outputDir=["x"]), "outputDir", "not_text"),
    ("R72", job(codeDir="sha256:12"), "codeDir", "bad_digest"),
    ("R73 absent", job(taskRoles=...), "taskRoles", "required"),
    ("R73 none", job(taskRoles=[]), "taskRoles", "empty"),
    ("R73 kind", job(taskRoles={}), "taskRoles", "not_list"),
    ("R74 absent", one(name=...), "taskRoles.0.name", "required"),
    ("R74 dash", one(name="a-b"), "taskRoles.0.name", "bad_pai_name"),
    ("R74 unique", job(taskRoles=[ROLE, ROLE]), "taskRoles.1.name", "duplicate_name"),
    ("R75", one(taskNumber=0), "taskRoles.0.taskNumber", "too_small"),
    ("R75 fraction", one(taskNumber=1.5), "taskRoles.0.taskNumber", "not_integer"),
    ("R75 null", one(taskNumber=None), "taskRoles.0.taskNumber", "null_not_allowed"),
    (
        "R75 in all",
        job(taskRoles=[{**ROLE, "name": f"r{i}", "taskNumber": 4000} for i in range(2)]),
        "taskRoles",
        "too_many_tasks",
    ),
    ("R76", one(cpuNumber=0), "taskRoles.0.cpuNumber", "too_small"),
    ("R77", one(memoryMB=99), "taskRoles.0.memoryMB", "too_small"),
    ("R77 text", one(memoryMB="1GiB"), "taskRoles.0.memoryMB", "not_integer"),
    ("R78", one(shmMB=-1), "taskRoles.0.shmMB", "too_small"),
    ("R79", one(gpuNumber=-1), "taskRoles.0.gpuNumber", "too_small"),
    ("R80", one(portList={}), "taskRoles.0.portList", "not_list"),
    ("R81", one(portList=[{**PORT, "label": "a b"}]), "taskRoles.0.portList.0.label", "bad_pai_name"),
    ("R81 twice", one(portList=[PORT, PORT]), "taskRoles.0.portList.1.label", "duplicate_name"),
    ("R82", one(portList=[{**PORT, "beginAt": -1}]), "taskRoles.0.portList.0.beginAt", "too_small"),
    (
        "R82 end",
        one(portList=[{**PORT, "beginAt": 65535, "portNumber": 2}]),
        "taskRoles.0.portList.0.beginAt",
        "port_range",
    ),
    ("R83", one(portList=[{**PORT, "portNumber": 0}]), "taskRoles.0.portList.0.portNumber", "too_small"),
    ("R84 absent", one(command=...), "taskRoles.0.command", "required"),
    ("R84", one(command=""), "taskRoles.0.command", "empty"),
    ("R84 blank", one(command=" \n"), "taskRoles.0.command", "command_empty"),
    ("R84 control", one(command="a\x00"), "taskRoles.0.command", "control_characters"),
    ("R85", one(minFailedTaskCount=0), "taskRoles.0.minFailedTaskCount", "too_small"),
    ("R85 -2", one(minFailedTaskCount=-2), "taskRoles.0.minFailedTaskCount", "too_small"),
    ("R85 above", one(minFailedTaskCount=2), "taskRoles.0.minFailedTaskCount", "over_replicas"),
    ("R86", one(minSucceededTaskCount=0), "taskRoles.0.minSucceededTaskCount", "too_small"),
    ("R86 above", one(minSucceededTaskCount=2), "taskRoles.0.minSucceededTaskCount", "over_replicas"),
    ("R87", job(gpuType=5), "gpuType", "not_text"),
    ("R88", job(retryCount=-3), "retryCount", "too_small"),
    ("R88 text", job(retryCount="often"), "retryCount", "not_integer"),
    ("R75 text", one(taskNumber="2.5"), "taskRoles.0.taskNumber", "number_as_text"),
    ("R89 value", job(jobEnvs={"A": [float("nan")]}), "jobEnvs.A", "not_scalar"),
    ("version 2", {"protocolVersion": 2, "type": "job", "taskRoles": {}}, "protocolVersion", "pai_version_2"),
    ("R89", job(jobEnvs={"PAI_JOB_NAME": "x"}), "jobEnvs.PAI_JOB_NAME", "reserved_env"),
    ("R89 name", job(jobEnvs={"a b": "x"}), "jobEnvs.a b", "bad_env_name"),
    ("R90", job(jobEnvs={"isDebug": "maybe"}), "jobEnvs.isDebug", "not_boolean"),
    ("R91", job(extras=[1]), "extras", "not_object"),
    ("R91 kind", job(extras={"name": {1}}), "extras.name", "not_json"),
    ("R6", job(virtualCluster="a b"), "virtualCluster", "bad_word"),
    ("unknown", job(zzz=1), "zzz", "unknown_key"),
    ("near", job(jobname="x"), "jobname", "unknown_key_near"),
    ("near in a role", one(memoryMb=5), "taskRoles.0.memoryMb", "unknown_key_near"),
    ("near in a port", one(portList=[{**PORT, "port": 1}]), "taskRoles.0.portList.0.port", "unknown_key"),
]


@pytest.mark.parametrize(
    ("document", "path", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_every_rule_is_refused_at_its_field(document: dict[str, Any], path: str, code: str) -> None:
    refused = problems(document)
    assert [(p.path, p.code) for p in refused] == [(path, code)]
    assert refused[0].rule
    assert refused[0].remedy


def test_all_problems_at_once() -> None:
    """Structure, rules between fields and rules of the translated job, in one answer."""
    document = job(
        jobName="a b",
        retryCount=-3,
        jobEnvs={"PAI_X": "1", "isDebug": "x"},
        taskRoles=[{**ROLE, "taskNumber": 0}, {**ROLE, "minFailedTaskCount": 9}, {**ROLE, "gpuNumber": "all"}],
        zzz=1,
    )
    assert {(p.path, p.code) for p in problems(document)} == {
        ("jobName", "bad_slug"),
        ("retryCount", "too_small"),
        ("jobEnvs.PAI_X", "reserved_env"),
        ("jobEnvs.isDebug", "not_boolean"),
        ("taskRoles.0.taskNumber", "too_small"),
        ("taskRoles.1.name", "duplicate_name"),
        ("taskRoles.1.minFailedTaskCount", "over_replicas"),
        ("taskRoles.2.name", "duplicate_name"),
        ("taskRoles.2.gpuNumber", "not_integer"),
        ("zzz", "unknown_key"),
    }


def test_a_fixed_port_for_more_tasks_than_hosts() -> None:
    """D7."""
    document = one(taskNumber=2, portList=[{**PORT, "beginAt": 8000}])
    assert [(p.path, p.code) for p in problems(document, hosts=1)] == [("taskRoles.0.portList.0.beginAt", "port_fixed")]
    assert translate(document, hosts=2)
