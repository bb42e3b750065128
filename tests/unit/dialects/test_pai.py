"""OpenPAI v1 documents, field by field: R67-R91, D1, D2, D7, D11; refused at their own paths; written back whole."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.dialects.pai import display_name, pai_path, to_pai
from trainmaster.dialects.registry import DIALECTS, Translation, dialect_of, translate
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import lower_roles

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "pai").glob("*.json"))
ROLE: dict[str, Any] = {
    "name": "w",
    "taskNumber": 1,
    "cpuNumber": 1,
    "memoryMB": 100,
    "gpuNumber": 0,
    "command": "sleep infinity",
}
PORT: dict[str, Any] = {"label": "http", "beginAt": 0, "portNumber": 1}


def without(fields: dict[str, Any]) -> dict[str, Any]:
    """A field given as ... is left out."""
    return {key: value for key, value in fields.items() if value is not ...}


def job(**fields: Any) -> dict[str, Any]:
    return without({"jobName": "a", "image": "local", "taskRoles": [ROLE], **fields})


def one(**fields: Any) -> dict[str, Any]:
    return job(taskRoles=[without({**ROLE, **fields})])


def spec_of(document: dict[str, Any]) -> JobSpec:
    return check(translate(document).document)


def problems(document: dict[str, Any], **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidSpec) as refused:
        translate(document, "pai", **options)
    return refused.value.problems


@pytest.mark.parametrize("path", FIXTURES, ids=[path.stem for path in FIXTURES])
def test_every_example_shape_is_accepted_and_comes_back_whole(path: Path) -> None:
    document = json.loads(path.read_text())
    translated = translate(document)
    assert translated.dialect == "pai"
    spec = check(translated.document)
    again = to_pai(spec)
    assert check(translate(again).document) == spec
    for key, value in document.items():
        if key not in ("taskRoles", "jobEnvs"):
            assert again[key] == value
    for given_role, role in zip(document["taskRoles"], again["taskRoles"], strict=True):
        assert {key: role[key] for key in given_role} == given_role


def test_there_are_at_least_eight_shapes() -> None:
    names = {path.stem for path in FIXTURES}
    assert names >= {"single-task", "multi-task", "ports", "parameter-server", "retry", "is-debug", "shm", "gpu-type"}


def test_what_each_field_becomes() -> None:
    document = job(
        jobName="team.run~1", image="registry/x:1", virtualCluster="vc1", gpuType="k80", retryCount=3, extras={"a": [1]},
        jobEnvs={"A": 1, "B": True, "isDebug": True}, codeDir="/home/ann/code", dataDir="file:///data/mnist/", outputDir="",
        taskRoles=[{**ROLE, "taskNumber": 3, "cpuNumber": 2, "memoryMB": 2048, "shmMB": 128, "gpuNumber": 4, "minFailedTaskCount": 2,
                    "minSucceededTaskCount": 1, "portList": [{"label": "p", "beginAt": 8000, "portNumber": 2}]}],
    )  # fmt: skip
    spec = spec_of(document)
    assert (spec.slug, spec.name) == ("team.run~1", "team-run-1")  # D1
    assert (spec.image, spec.pool, spec.retries, spec.extras) == ("registry/x:1", "vc1", 3, {"a": [1]})
    assert spec.env == {"A": "1", "B": "true", "isDebug": "true"}  # R89
    assert spec.debug_hold == 4 * 3600  # R90
    assert spec.code is not None
    assert spec.code.path == "/home/ann/code"  # R72
    assert [(i.path, i.mount, i.read_only) for i in spec.inputs] == [("/data/mnist", "/dataset", True)]  # R70
    assert spec.storage is not None
    assert spec.storage.output_dir == "$PAI_DEFAULT_FS_URI/Output/team.run~1"  # R71
    (role,) = lower_roles(spec)
    assert (role.replicas, role.min_failed, role.min_succeeded, role.ends_job) == (3, 2, 1, True)
    asked = role.resources
    assert (asked.cpu, asked.memory_mib, asked.gpu, asked.gpu_type, asked.shm_mib) == (2, 2048, 4, "k80", 128)
    assert [(p.label, p.count, p.begin_at) for p in role.ports] == [("p", 2, 8000)]
    assert spec.roles[0].command == ("/bin/bash", "-c", "sleep infinity")


def test_defaults() -> None:
    """R6, R78, R85 (D2), R86, R87, R88."""
    spec = spec_of(job())
    role = spec.roles[0]
    assert (spec.pool, spec.retries, spec.debug_hold, role.resources.shm) == ("default", 0, 0, 64)
    assert (role.min_failed, role.min_succeeded, role.ends_job, role.resources.gpu_type) == (1, None, False, None)


@pytest.mark.parametrize(("given_value", "expected"), [(None, None), (-1, None), (1, 1), (2, 2)])
def test_min_failed(given_value: int | None, expected: int | None) -> None:
    """D2, R85: null and -1 mean that failures of tasks never fail the job."""
    assert spec_of(one(taskNumber=2, minFailedTaskCount=given_value)).roles[0].min_failed == expected


@pytest.mark.parametrize(("given_value", "expected"), [(None, (None, False)), (-1, (None, False)), (2, (2, True))])
def test_min_succeeded(given_value: int | None, expected: tuple[int | None, bool]) -> None:
    """R86, D11: an explicit count ends the job."""
    role = spec_of(one(taskNumber=2, minSucceededTaskCount=given_value)).roles[0]
    assert (role.min_succeeded, role.ends_job) == expected


def test_commands_are_shell_scripts() -> None:
    """What the native rules refuse (R119, R120) is plain shell here."""
    text = "A=1 python x.py && echo $PAI_JOB_NAME | tee log\nexit 3"
    assert spec_of(one(command=text)).roles[0].command == ("/bin/bash", "-c", text)


@pytest.mark.parametrize("name", ["a", "A-b.c_d~e", "x" * 255, "1"])
def test_job_names_r67(name: str) -> None:
    spec = spec_of(job(jobName=name))
    assert spec.slug == name
    assert spec.name == display_name(name)


def test_what_openpai_fills_in_may_be_left_out() -> None:
    """R75-R79, R82, R83 and R85 as OpenPAI's own schema reads them; only a name and a command are asked of a role."""
    spec = spec_of(job(taskRoles=[{"name": "w", "command": "true", "portList": [{"label": "http"}]}]))
    (role,) = lower_roles(spec)
    assert (role.replicas, role.min_failed, role.min_succeeded) == (1, 1, None)
    asked = role.resources
    assert (asked.cpu, asked.memory_mib, asked.gpu, asked.shm_mib) == (1, 100, 0, 64)
    assert [(port.label, port.count, port.begin_at) for port in role.ports] == [("http", 1, 0)]


def test_numbers_may_stand_in_texts() -> None:
    """OpenPAI converts them: forms and templates send texts."""
    port = {"label": "p", "beginAt": "8000", "portNumber": "2"}
    texts = {
        "taskNumber": "1",
        "cpuNumber": "2",
        "memoryMB": "2048",
        "shmMB": "128",
        "gpuNumber": "4",
        "minFailedTaskCount": "-1",
    }
    given = job(retryCount="3", taskRoles=[{**ROLE, **texts, "minSucceededTaskCount": "1", "portList": [port]}])
    numbers = {key: int(value) for key, value in texts.items()}
    same = job(retryCount=3, taskRoles=[{**ROLE, **numbers, "minSucceededTaskCount": 1,
                                         "portList": [{"label": "p", "beginAt": 8000, "portNumber": 2}]}])  # fmt: skip
    assert spec_of(given) == spec_of(same)


@pytest.mark.parametrize("count", [-1, -2, "-2"])
def test_retries_without_end_are_as_many_as_there_can_be(count: int | str) -> None:
    """R88: OpenPAI's -1 and -2."""
    assert spec_of(job(retryCount=count)).retries == 1000
    assert warnings(job(retryCount=count)) == {("retryCount", "retries_bounded")}


def test_a_field_that_openpai_gave_up_is_accepted_and_said() -> None:
    name = "killAllOnCompletedTaskNumber"
    document = {**one(**{name: 1}), name: 1}
    assert spec_of(document) == spec_of(one())
    assert warnings(document) == {(name, "field_ignored"), (f"taskRoles.0.{name}", "field_ignored")}


def test_a_variable_may_have_any_value() -> None:
    """R89: what is no scalar is passed on as JSON."""
    spec = spec_of(job(jobEnvs={"LIST": [1, "二"], "MAP": {"a": None}}))
    assert spec.env == {"LIST": '[1, "二"]', "MAP": '{"a": null}'}


@pytest.mark.parametrize("uri", ["HDFS_URI", "HDFS URI", "$PAI_DEFAULT_FS_URI/code", "hdfs://h:9000/x"])
def test_a_place_in_a_storage_is_kept_as_it_was_written(uri: str) -> None:
    """R69-R72: nothing is mounted or uploaded for it, and the tasks are told the text."""
    document = job(codeDir=uri, dataDir=uri)
    spec = spec_of(document)
    assert (spec.code, spec.inputs) == (None, ())
    assert spec.storage is not None
    assert (spec.storage.code_dir, spec.storage.data_dir) == (uri, uri)
    assert warnings(document) == {("codeDir", "storage_not_reached"), ("dataDir", "storage_not_reached")}


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
    ("R75 in all", job(taskRoles=[{**ROLE, "name": f"r{i}", "taskNumber": 4000} for i in range(2)]), "taskRoles", "too_many_tasks"),
    ("R76", one(cpuNumber=0), "taskRoles.0.cpuNumber", "too_small"),
    ("R77", one(memoryMB=99), "taskRoles.0.memoryMB", "too_small"),
    ("R77 text", one(memoryMB="1GiB"), "taskRoles.0.memoryMB", "not_integer"),
    ("R78", one(shmMB=-1), "taskRoles.0.shmMB", "too_small"),
    ("R79", one(gpuNumber=-1), "taskRoles.0.gpuNumber", "too_small"),
    ("R80", one(portList={}), "taskRoles.0.portList", "not_list"),
    ("R81", one(portList=[{**PORT, "label": "a b"}]), "taskRoles.0.portList.0.label", "bad_pai_name"),
    ("R81 twice", one(portList=[PORT, PORT]), "taskRoles.0.portList.1.label", "duplicate_name"),
    ("R82", one(portList=[{**PORT, "beginAt": -1}]), "taskRoles.0.portList.0.beginAt", "too_small"),
    ("R82 end", one(portList=[{**PORT, "beginAt": 65535, "portNumber": 2}]), "taskRoles.0.portList.0.beginAt", "port_range"),
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
]  # fmt: skip


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


def warnings(document: dict[str, Any]) -> set[tuple[str, str]]:
    return {(w.path, w.code) for w in translate(document).warnings}


def test_what_is_kept_but_not_used_is_said() -> None:
    assert warnings(job()) == set()
    remote = job(image="a/b:1", authFile="hdfs://a", codeDir="hdfs://c", dataDir="hdfs://d", outputDir="hdfs://o")
    assert warnings(remote) == {
        ("image", "image_not_used"), ("authFile", "auth_not_used"), ("codeDir", "storage_not_reached"),
        ("dataDir", "storage_not_reached"), ("outputDir", "outputs_elsewhere"),
    }  # fmt: skip
    spec = spec_of(remote)
    assert spec.code is None
    assert spec.inputs == ()
    assert {key: to_pai(spec)[key] for key in ("authFile", "codeDir", "dataDir", "outputDir")} == {
        "authFile": "hdfs://a", "codeDir": "hdfs://c", "dataDir": "hdfs://d", "outputDir": "hdfs://o",
    }  # fmt: skip


def test_code_that_was_uploaded_is_named_by_its_digest() -> None:
    spec = spec_of(job(codeDir="sha256:" + "a" * 64))
    assert spec.code is not None
    assert spec.code.digest == "a" * 64


def test_the_dialect_is_known_by_its_keys() -> None:
    assert dialect_of(job()) == "pai"
    assert dialect_of({"taskRoles": []}) == "pai"
    assert dialect_of({"name": "a"}) == "native"
    assert set(DIALECTS) == {"native", "pai"}


def test_a_native_document_passes_through() -> None:
    document = {"name": "a", "command": "x", "image": "registry/x:1"}
    translated = translate(document)
    assert isinstance(translated, Translation)
    assert (translated.document, translated.dialect) == (document, "native")
    assert [w.code for w in translated.warnings] == ["image_not_used"]


@pytest.mark.parametrize(("document", "dialect", "code"), [([], "auto", "not_object"), ({}, "yaml", "unknown_dialect")])
def test_what_cannot_be_translated_at_all(document: Any, dialect: str, code: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        translate(document, dialect)
    assert [p.code for p in refused.value.problems] == [code]


def test_the_document_given_is_not_changed() -> None:
    document = job(jobEnvs={"isDebug": True}, extras={"a": {"b": 1}})
    before = copy.deepcopy(document)
    translate(document)
    assert document == before


def test_any_native_job_can_be_shown_as_openpai() -> None:
    spec = check({
        "name": "训练", "framework": "pytorch", "env": {"A": "1"}, "debug_hold": 60, "inputs": [{"name": "d", "path": "/d"}],
        "roles": [
            {"name": "my-role", "replicas": 2, "command": "python x.py", "parameters": {"a": "b c", "n": None}, "main": True,
             "resources": {"cpu": 0.5, "memory": 64, "gpu": 1, "gpu_type": "a100"}, "env": {"B": "it's"}},
            {"name": "other", "command": ["echo", "a b"], "min_failed": None},
        ],
    })  # fmt: skip
    shown = to_pai(spec)
    first, second = shown["taskRoles"]
    assert first["command"] == "export B='it'\"'\"'s'; python x.py '--a=b c'"
    assert (first["name"], first["cpuNumber"], first["memoryMB"], first["minSucceededTaskCount"]) == (
        "my_role",
        1,
        100,
        2,
    )
    assert (second["command"], second["minFailedTaskCount"]) == ("echo 'a b'", None)
    assert (shown["jobName"], shown["gpuType"], shown["dataDir"]) == ("job", "a100", "/d")
    assert shown["jobEnvs"] == {"A": "1", "isDebug": True}
    assert translate(shown).dialect == "pai"


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("name", "jobName"), ("slug", "jobName"), ("roles", "taskRoles"), ("roles.3", "taskRoles.3"),
        ("roles.0.resources.memory", "taskRoles.0.memoryMB"), ("roles.0.command.2", "taskRoles.0.command"),
        ("roles.0.resources.gpu_type", "gpuType"), ("env.name", "jobEnvs.name"), ("extras.roles.0.name", "extras.roles.0.name"),
        ("inputs.0.path", "dataDir"), ("code.path", "codeDir"), ("", ""),
    ],
)  # fmt: skip
def test_paths(native: str, expected: str) -> None:
    assert pai_path(native) == expected


NAMES = st.text(alphabet="aZ0._~", min_size=1, max_size=8)
COUNTS = st.none() | st.integers(1, 3)
ROLES = st.fixed_dictionaries(
    {
        "taskNumber": st.integers(3, 9), "cpuNumber": st.integers(1, 64), "memoryMB": st.integers(100, 10**6),
        "gpuNumber": st.integers(0, 8), "command": st.text(alphabet="ab $'\"&|;\n文", min_size=1).filter(lambda text: text.strip()),
    },
    optional={
        "shmMB": st.integers(0, 100), "minFailedTaskCount": COUNTS, "minSucceededTaskCount": COUNTS,
        "portList": st.lists(st.fixed_dictionaries({"label": NAMES, "beginAt": st.just(0), "portNumber": st.integers(1, 9)}),
                             max_size=3, unique_by=lambda port: port["label"]),
    },
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A right OpenPAI document with any of its optional fields."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    optional: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "gpuType": st.sampled_from(["k80", "a100"]), "retryCount": st.integers(0, 9), "virtualCluster": st.just("vc"),
                "jobEnvs": st.dictionaries(st.sampled_from(["A", "B_1", "isDebug"]), st.booleans()),
                "codeDir": st.sampled_from(["/c", "hdfs://c"]),
                "dataDir": st.sampled_from(["/d", "hdfs://d"]),
                "extras": st.dictionaries(NAMES, st.integers(-9, 2**53) | st.lists(st.none())),
            },
        )
    )  # fmt: skip
    roles = [{"name": name, **draw(ROLES)} for name in names]
    return {"jobName": draw(NAMES), "image": "local", "taskRoles": roles, **optional}


@settings(max_examples=examples(150), deadline=None)
@given(documents())
def test_out_and_in_again_is_the_same_job(document: dict[str, Any]) -> None:
    """What is written back means the same job, and writing it back again gives the same text."""
    translated = translate(document)
    spec = check(translated.document)
    written = to_pai(spec)
    assert check(translate(written).document) == spec
    assert to_pai(check(translate(written).document)) == written
