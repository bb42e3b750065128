"""OpenPAI v1 documents, field by field: R67-R91, D1, D2, D11; written back whole. Refused ones: `test_pai_refused`."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.dialects.pai_jobs import ROLE, job, one, spec_of
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.dialects.pai import display_name, pai_path, to_pai
from trainmaster.dialects.registry import DIALECTS, Translation, as_written, dialect_of, translate
from trainmaster.spec.check import check
from trainmaster.spec.lower import lower_roles

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "pai").glob("*.json"))


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
        jobName="team.run~1",
        image="registry/x:1",
        virtualCluster="vc1",
        gpuType="k80",
        retryCount=3,
        extras={"a": [1]},
        jobEnvs={"A": 1, "B": True, "isDebug": True},
        codeDir="/home/ann/code",
        dataDir="file:///data/mnist/",
        outputDir="",
        taskRoles=[
            {
                **ROLE,
                "taskNumber": 3,
                "cpuNumber": 2,
                "memoryMB": 2048,
                "shmMB": 128,
                "gpuNumber": 4,
                "minFailedTaskCount": 2,
                "minSucceededTaskCount": 1,
                "portList": [{"label": "p", "beginAt": 8000, "portNumber": 2}],
            }
        ],
    )
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
    same = job(
        retryCount=3,
        taskRoles=[
            {
                **ROLE,
                **numbers,
                "minSucceededTaskCount": 1,
                "portList": [{"label": "p", "beginAt": 8000, "portNumber": 2}],
            }
        ],
    )
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


def warnings(document: dict[str, Any]) -> set[tuple[str, str]]:
    return {(w.path, w.code) for w in translate(document).warnings}


def test_what_is_kept_but_not_used_is_said() -> None:
    assert warnings(job()) == set()
    remote = job(image="a/b:1", authFile="hdfs://a", codeDir="hdfs://c", dataDir="hdfs://d", outputDir="hdfs://o")
    assert warnings(remote) == {
        ("authFile", "auth_not_used"),
        ("codeDir", "storage_not_reached"),
        ("dataDir", "storage_not_reached"),
        ("outputDir", "outputs_elsewhere"),
    }
    spec = spec_of(remote)
    assert spec.code is None
    assert spec.inputs == ()
    assert {key: to_pai(spec)[key] for key in ("authFile", "codeDir", "dataDir", "outputDir")} == {
        "authFile": "hdfs://a",
        "codeDir": "hdfs://c",
        "dataDir": "hdfs://d",
        "outputDir": "hdfs://o",
    }


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
    assert translated.warnings == (), "what becomes of an image is its engine's to say"


@pytest.mark.parametrize(("document", "dialect", "code"), [([], "auto", "not_object"), ({}, "yaml", "unknown_dialect")])
def test_what_cannot_be_translated_at_all(document: Any, dialect: str, code: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        translate(document, dialect)
    assert [p.code for p in refused.value.problems] == [code]


@pytest.mark.parametrize(
    ("path", "there"), [("inputs.0.mount", "dataDir"), ("image", "image"), ("pull_secret", "pull_secret")]
)
def test_what_is_found_later_is_at_the_field_that_was_written(path: str, there: str) -> None:
    found = Problem(path, "a", "b", "c")
    assert as_written(found, "pai").path == there
    assert as_written(found, "native") == found


def test_the_document_given_is_not_changed() -> None:
    document = job(jobEnvs={"isDebug": True}, extras={"a": {"b": 1}})
    before = copy.deepcopy(document)
    translate(document)
    assert document == before


def test_any_native_job_can_be_shown_as_openpai() -> None:
    spec = check(
        {
            "name": "训练",
            "framework": "pytorch",
            "env": {"A": "1"},
            "debug_hold": 60,
            "inputs": [{"name": "d", "path": "/d"}],
            "roles": [
                {
                    "name": "my-role",
                    "replicas": 2,
                    "command": "python x.py",
                    "parameters": {"a": "b c", "n": None},
                    "main": True,
                    "resources": {"cpu": 0.5, "memory": 64, "gpu": 1, "gpu_type": "a100"},
                    "env": {"B": "it's"},
                },
                {"name": "other", "command": ["echo", "a b"], "min_failed": None},
            ],
        }
    )
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
        ("name", "jobName"),
        ("slug", "jobName"),
        ("roles", "taskRoles"),
        ("roles.3", "taskRoles.3"),
        ("roles.0.resources.memory", "taskRoles.0.memoryMB"),
        ("roles.0.command.2", "taskRoles.0.command"),
        ("roles.0.resources.gpu_type", "gpuType"),
        ("env.name", "jobEnvs.name"),
        ("extras.roles.0.name", "extras.roles.0.name"),
        ("inputs.0.path", "dataDir"),
        ("code.path", "codeDir"),
        ("", ""),
    ],
)
def test_paths(native: str, expected: str) -> None:
    assert pai_path(native) == expected


NAMES = st.text(alphabet="aZ0._~", min_size=1, max_size=8)
COUNTS = st.none() | st.integers(1, 3)
ROLES = st.fixed_dictionaries(
    {
        "taskNumber": st.integers(3, 9),
        "cpuNumber": st.integers(1, 64),
        "memoryMB": st.integers(100, 10**6),
        "gpuNumber": st.integers(0, 8),
        "command": st.text(alphabet="ab $'\"&|;\n文", min_size=1).filter(lambda text: text.strip()),
    },
    optional={
        "shmMB": st.integers(0, 100),
        "minFailedTaskCount": COUNTS,
        "minSucceededTaskCount": COUNTS,
        "portList": st.lists(
            st.fixed_dictionaries({"label": NAMES, "beginAt": st.just(0), "portNumber": st.integers(1, 9)}),
            max_size=3,
            unique_by=lambda port: port["label"],
        ),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A right OpenPAI document with any of its optional fields."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    optional: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "gpuType": st.sampled_from(["k80", "a100"]),
                "retryCount": st.integers(0, 9),
                "virtualCluster": st.just("vc"),
                "jobEnvs": st.dictionaries(st.sampled_from(["A", "B_1", "isDebug"]), st.booleans()),
                "codeDir": st.sampled_from(["/c", "hdfs://c"]),
                "dataDir": st.sampled_from(["/d", "hdfs://d"]),
                "extras": st.dictionaries(NAMES, st.integers(-9, 2**53) | st.lists(st.none())),
            },
        )
    )
    roles = [{"name": name, **draw(ROLES)} for name in names]
    return {"jobName": draw(NAMES), "image": "local", "taskRoles": roles, **optional}


@settings(max_examples=examples(150))
@given(documents())
def test_out_and_in_again_is_the_same_job(document: dict[str, Any]) -> None:
    """What is written back means the same job, and writing it back again gives the same text."""
    translated = translate(document)
    spec = check(translated.document)
    written = to_pai(spec)
    assert check(translate(written).document) == spec
    assert to_pai(check(translate(written).document)) == written
