"""A document costs no more to judge than it can be worth: what is too large is refused before it is looked at (R64,
B7).
"""

import copy
import json
from typing import Any

import msgspec
import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.formats import units
from trainmaster.dialects.registry import translate
from trainmaster.service.language import document_of
from trainmaster.spec import bounds, check, job
from trainmaster.spec.parse import apply_set

MANY = 20_000
JOB: dict[str, Any] = {"name": "a", "command": "true"}
KEYS = {f"key{at}": 1 for at in range(MANY)}
ROLE = {"name": "r", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0, "command": "true"}


def refused(document: dict[str, Any]) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as error:
        check.check(translate(document).document)
    return error.value


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({**JOB, **KEYS}, ""),
        ({**JOB, "framework": {"kind": "pytorch", **KEYS}}, "framework"),
        ({**JOB, "env": KEYS}, "env"),
        ({**JOB, "labels": KEYS}, "labels"),
        ({**JOB, "parameters": KEYS}, "parameters"),
        ({**JOB, "nodes": [1] * MANY}, "nodes"),
        ({**JOB, "inputs": [{}] * MANY}, "inputs"),
        ({**JOB, "ports": [{}] * MANY}, "ports"),
        ({**JOB, "metrics": [{}] * MANY}, "metrics"),
        ({"name": "a", "roles": [{}] * MANY}, "roles"),
        ({"jobName": "a", "image": "x", "taskRoles": [{}] * MANY}, "taskRoles"),
        ({"jobName": "a", "image": "x", "taskRoles": [ROLE], **KEYS}, ""),
        ({"jobName": "a", "image": "x", "taskRoles": [ROLE], "jobEnvs": KEYS}, "jobEnvs"),
    ],
)
def test_too_many_of_anything_is_one_problem_at_its_place(
    document: dict[str, Any], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the models nor the search for similar names ever see it."""
    monkeypatch.setattr(check, "structure_problems", None)
    monkeypatch.setattr(check.difflib, "get_close_matches", None)
    (problem,) = refused(document).problems
    assert (problem.path, problem.code) == (path, "too_many")


def test_many_values_in_bounded_parts_are_too_many_together() -> None:
    env = {f"E{at}": "1" for at in range(1000)}
    roles = [{"name": f"r{at}", "command": "true", "env": env, "parameters": env} for at in range(64)]
    assert [(one.path, one.code) for one in refused({"name": "a", "roles": roles}).problems] == [
        ("", "too_many_values")
    ]
    extras = {"a": [1] * (bounds.MOST_EXTRAS + 1)}
    assert [(one.path, one.code) for one in refused({**JOB, "extras": extras}).problems] == [
        ("extras", "too_many_values")
    ]


def test_what_the_models_accept_is_never_too_large() -> None:
    env = {f"E{at}": "1" for at in range(512)}
    roles = [{"name": f"r{at}", "command": ["true"], "env": env if at < 32 else {}} for at in range(job.MAX_ROLES)]
    document = {
        "name": "a",
        "roles": roles,
        "nodes": [f"n{at}" for at in range(4096)],
        "labels": {f"l{at}": "" for at in range(64)},
        "extras": {"a": [1] * 60_000},
        "inputs": [{"name": f"i{at}", "path": "/x", "mount": f"/m{at}"} for at in range(64)],
    }
    assert bounds.oversized(document) == []
    assert len(check.check(document).roles) == job.MAX_ROLES
    words = {"name": "a", "command": ["x"] * 32_768}
    assert len(check.check(words).roles[0].command) == 32_768


def test_similar_names_are_looked_for_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    close = check.difflib.get_close_matches
    monkeypatch.setattr(check.difflib, "get_close_matches", lambda *a: asked.append(a) or close(*a))
    error = refused({**JOB, **{f"replicas{at}": 1 for at in range(1000)}})
    assert len(asked) <= 50
    assert len(error.problems) == 200
    assert error.message == "The job is not valid: 200 problems are listed, and there are more"
    assert {one.code for one in error.problems[:50]} == {"unknown_key_near"}
    assert {one.code for one in error.problems[60:]} == {"unknown_key"}


def test_ports_of_all_tasks_together() -> None:
    """Each is told to every task: 64 labels of 64 x 64 tasks would be 262,144 variables of each."""
    ports = [{"label": f"p{at}"} for at in range(64)]
    roles = [{"name": f"r{at}", "command": "true", "replicas": 64, "ports": ports} for at in range(64)]
    (problem,) = refused({"name": "a", "roles": roles}).problems
    assert (problem.path, problem.code, problem.args) == (
        "roles",
        "too_many_ports",
        {"count": 262144, "maximum": job.MAX_PORTS},
    )
    fewer = copy.deepcopy(roles)
    for role in fewer:
        role["ports"] = ports[:4]
    assert check.check({"name": "a", "roles": fewer}) is not None


def test_commands_of_all_roles_together() -> None:
    roles = [{"name": f"r{at}", "command": "echo 'a' \"b\" " * 4000} for at in range(3)]
    (problem,) = refused({"name": "a", "roles": roles}).problems
    assert (problem.path, problem.code) == ("roles", "commands_too_long")
    assert check.check({"name": "a", "roles": roles[:2]}) is not None


def test_changes_are_bounded_before_any_is_made() -> None:
    for changes in ({f"labels.l{at}": "[a]" for at in range(2000)}, {"labels": "[" + "a," * 100_000 + "]"}):
        with pytest.raises(InvalidSpec) as error:
            apply_set(JOB, changes)
        assert [(one.path, one.code) for one in error.value.problems] in ([("set", "too_many")], [("set", "too_long")])


@pytest.mark.parametrize("text", ["1" + " " * 200_000 + "!", "1h" * 200_000, "1" * 400_000])
def test_a_size_or_duration_of_any_length_is_refused_at_a_glance(text: str) -> None:
    """Its expression would go over the blanks once for each blank."""
    for parse in (units.parse_memory_mib, units.parse_duration_s):
        with pytest.raises(ValueError, match="is not a") as error:
            parse(text)
        assert len(str(error.value)) < 300


def test_all_of_it_is_json() -> None:
    assert json.loads(msgspec.json.encode(document_of("en", refused({**JOB, **KEYS}))))["problems"]
