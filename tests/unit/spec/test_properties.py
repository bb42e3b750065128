"""Whatever is sent: one answer, all problems, nothing but InvalidSpec; the published schema agrees with the check."""

import copy
import json
from typing import Any, get_args

import jsonschema_rs
import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.core.errors import InvalidSpec
from trainmaster.dialects.pai import json_schema as pai_schema
from trainmaster.dialects.registry import translate
from trainmaster.frameworks import registry
from trainmaster.service.language import Language
from trainmaster.service.language import document_of as document_in
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import document_of, draft, read
from trainmaster.spec.parse import parse_document
from trainmaster.spec.schema import json_schema

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
GOOD: dict[str, Any] = {
    "name": "a",
    "slug": None,
    "description": "d",
    "framework": {"kind": "pytorch", "processes_per_node": 2},
    "image": "default",
    "pull_secret": None,
    "code": {"path": "."},
    "inputs": [{"name": "d", "path": "/d", "mount": "/dataset", "read_only": True}],
    "roles": [
        {
            "name": "w",
            "replicas": 2,
            "command": "python x.py",
            "parameters": {"epochs": 3, "lr": 0.1, "flag": True},
            "resources": {"cpu": 1, "memory": "1GiB", "gpu": 1, "gpu_type": None, "shm": 64},
            "ports": [{"label": "h", "count": 1, "begin_at": 0}],
            "env": {"A": "1"},
            "min_succeeded": None,
            "min_failed": 1,
            "main": True,
            "ends_job": False,
        }
    ],
    "env": {"B": "x"},
    "pool": "default",
    "workspace": "default",
    "priority": "normal",
    "duration": "2h",
    "retries": 1,
    "fault_restarts": 0,
    "grace": "10s",
    "debug_hold": 0,
    "metrics": [{"pattern": "loss=(?P<loss>[0-9.]+)"}],
    "progress": {"metric": "step", "of": "epochs"},
    "model": {"save": True, "name": "m"},
    "labels": {"a": "b"},
    "extras": {"x": [1, None]},
}
PAI: dict[str, Any] = {
    "jobName": "a.b",
    "image": "local",
    "authFile": "x",
    "dataDir": "/d",
    "outputDir": "",
    "codeDir": ".",
    "virtualCluster": "default",
    "gpuType": None,
    "retryCount": 1,
    "jobEnvs": {"isDebug": True, "A": 1},
    "extras": {"x": 1},
    "taskRoles": [
        {
            "name": "w",
            "taskNumber": 2,
            "cpuNumber": 1,
            "memoryMB": 100,
            "shmMB": 64,
            "gpuNumber": 1,
            "command": "sleep 1",
            "portList": [{"label": "h", "beginAt": 0, "portNumber": 1}],
            "minFailedTaskCount": None,
            "minSucceededTaskCount": 1,
        }
    ],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document, from the root down."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


@st.composite
def damaged(draw: st.DrawFn, good: dict[str, Any]) -> Any:
    """A good document with one to three places replaced, removed or added to."""
    document: Any = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(document)[1:] or [()]))
        if not place:
            return draw(JSON)
        holder = document
        for key in place[:-1]:
            holder = holder[key]
        action = draw(st.sampled_from(("replace", "remove", "add")))
        if action == "remove":
            holder.pop(place[-1])
        elif action == "add" and isinstance(holder, dict):
            holder[draw(st.text(max_size=6))] = draw(JSON)
        else:
            holder[place[-1]] = draw(JSON)
    return document


def judge(document: Any) -> JobSpec | None:
    """Check; every problem must be complete and JSON-able."""
    try:
        return check(translate(document).document)
    except InvalidSpec as refused:
        complete(refused)
        return None


def complete(refused: InvalidSpec) -> None:
    """A refusal has problems, each with place, rule and remedy, and can be sent."""
    assert refused.problems
    for problem in refused.problems:
        assert problem.rule
        assert problem.remedy
        assert isinstance(problem.path, str)
    for wanted in get_args(Language):
        document = msgspec.to_builtins(document_in(wanted, refused))
        json.dumps(document, allow_nan=False, ensure_ascii=False).encode()


@settings(max_examples=examples(300))
@given(JSON)
@example({"roles": [{}]})
@example({"name": "a", "roles": [{"name": "a", "command": []}], "metrics": [{"pattern": "(?P<a>x{4294967296})"}]})
@example({"name": "a", "command": "x", "duration": float("nan"), "extras": {"": float("inf")}})
def test_check_raises_nothing_but_invalid_spec(document: Any) -> None:
    judge(document)


@settings(max_examples=examples(300))
@given(damaged(GOOD) | damaged(PAI))
def test_damaged_documents_are_refused_in_words_or_accepted_whole(document: Any) -> None:
    spec = judge(document)
    if spec is not None:
        assert read(document_of(spec)) == spec
        assert check(spec.model_dump(mode="json")) == spec
        for launch in registry.preview(draft(spec), {"PATH": "/bin"}, most=4):
            assert launch.argv
            assert all("\x00" not in text for text in (*launch.argv, *launch.env, *launch.env.values()))


@settings(max_examples=examples(200))
@given(st.text(max_size=60) | st.binary(max_size=60))
@example("a: &a\n  <<: *a\n")
@example("{a: 1e999}")
def test_parse_raises_nothing_but_invalid_spec(text: str | bytes) -> None:
    try:
        assert isinstance(parse_document(text), dict)
    except InvalidSpec as refused:
        complete(refused)


NATIVE_SCHEMA = jsonschema_rs.validator_for(json_schema())
PAI_SCHEMA = jsonschema_rs.validator_for(pai_schema())


@settings(max_examples=examples(200))
@given(damaged(GOOD))
@example(GOOD)
@example({"name": "a", "command": "x", "framework": "single", "code": "."})
def test_what_check_accepts_the_published_schema_accepts(document: Any) -> None:
    if not isinstance(document, dict) or "jobName" in document or "taskRoles" in document or judge(document) is None:
        return
    assert NATIVE_SCHEMA.is_valid(document), list(NATIVE_SCHEMA.iter_errors(document))


@settings(max_examples=examples(200))
@given(damaged(PAI))
@example(PAI)
@example({**PAI, "virtualCluster": "", "gpuType": ""})
@example({**PAI, "taskRoles": [{**PAI["taskRoles"][0], "minFailedTaskCount": -1}]})
def test_what_pai_accepts_its_published_schema_accepts(document: Any) -> None:
    if not isinstance(document, dict) or "jobName" not in document or judge(document) is None:
        return
    assert PAI_SCHEMA.is_valid(document), list(PAI_SCHEMA.iter_errors(document))


def test_the_schema_refuses_what_it_can_see() -> None:
    for bad in (
        {"name": "a"},
        {"name": "a b", "command": "x"},
        {"name": "a", "command": "x", "zz": 1},
        {"command": "x"},
    ):
        assert not NATIVE_SCHEMA.is_valid(bad)
