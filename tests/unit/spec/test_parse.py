"""Reading documents: JSON and YAML 1.2, line numbers, doubled keys, aliases, bombs; and `--set`."""

from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.spec.parse import MAX_BYTES, apply_set, parse_document


def refused(text: str | bytes, name: str = "") -> Problem:
    with pytest.raises(InvalidSpec) as error:
        parse_document(text, name)
    return error.value.problems[0]


def test_scalars_mean_what_yaml_1_2_says() -> None:
    text = (
        "{i: 12, n: -3, f: 0.5, e: 1e-3, t: true, z: ~, s: 'no', y: yes, o: on, c: 12:30, d: 2024-01-01, "
        "v: 007, h: 0x1}"
    )
    assert parse_document(text) == {
        "i": 12,
        "n": -3,
        "f": 0.5,
        "e": 0.001,
        "t": True,
        "z": None,
        "s": "no",
        "y": "yes",
        "o": "on",
        "c": "12:30",
        "d": "2024-01-01",
        "v": "007",
        "h": "0x1",
    }


def test_json_and_yaml_give_the_same() -> None:
    assert parse_document('{"a": [1, {"b": null}], "c": "x"}') == parse_document("a: [1, {b: ~}]\nc: x\n")
    assert parse_document('\ufeff{"a": 1}'.encode()) == {"a": 1}
    assert parse_document("# a comment\nname: a # why\ntext: |\n  two\n  lines\n") == {
        "name": "a",
        "text": "two\nlines\n",
    }


def test_keys_are_always_texts() -> None:
    assert parse_document("1: a\ntrue: b\n") == {"1": "a", "true": "b"}


def test_aliases_and_merged_defaults() -> None:
    text = "base: &b {cpu: 1, gpu: 2}\nrole:\n  <<: *b\n  gpu: 4\nsame: *b\n"
    assert parse_document(text) == {
        "base": {"cpu": 1, "gpu": 2},
        "role": {"cpu": 1, "gpu": 4},
        "same": {"cpu": 1, "gpu": 2},
    }


def test_a_doubled_key_is_refused_where_it_is() -> None:
    assert refused("roles:\n- name: a\n  name: b\n").path == "roles.0.name"
    assert refused("roles:\n- name: a\n  name: b\n").code == "duplicate_key"
    assert refused('{"a": 1, "a": 2}').code == "duplicate_key"


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("a: 1\nb: [1,\n", "", "3"),
        ("a: 1\n b: 2\n", "", "2"),
        ("a: *x\n", "", "1"),
        ('{"a": 1,\n "b": tru}', "", "2"),
        ("{a: 1}", "job.json", "1"),
        ("a: 1\n---\nb: 1\n", "", "1"),
        ("? [a]\n: 1\n", "", "1"),
        ("a: NaN\nb: @x\n", "", "2"),
        ('{"a": NaN}', "", "1"),
    ],
)
def test_broken_texts_name_the_line(text: str, name: str, line: str) -> None:
    problem = refused(text, name)
    assert problem.code == "syntax"
    assert f"line {line}" in problem.remedy


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('{\n  // the name\n  "jobName": "a"\n}', "", 2),
        ('{\n  "jobName": "a", // the name\n  "image": "x"\n}', "", 2),
        ('{"jobName": "a",\n /* later */ "image": "x"}', "job.json", 2),
        ('# a job\n{"jobName": "a"}', "job.json", 1),
    ],
)
def test_a_comment_in_json_is_called_one(text: str, name: str, line: int) -> None:
    problem = refused(text, name)
    assert (problem.code, problem.args) == ("json_comment", {"line": line})
    assert f"line {line}" in problem.rule


def test_a_comment_in_yaml_with_braces_is_none_of_json() -> None:
    assert parse_document("{ # a job\n a: 1}") == {"a": 1}


def test_what_could_exhaust_the_server_is_refused_quickly() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert refused(bomb).code == "too_many_values"
    assert refused("x" * (MAX_BYTES + 1)).code == "too_large"
    assert refused("[" * 100_000).code == "too_deep"
    assert refused('{"a":' * 100_000).code == "too_deep"
    assert refused("a: &a [*a]").code == "syntax"
    assert refused("a: !!python/object/apply:os.system [x]").code == "yaml_tag"
    assert refused("a: !!timestamp 2024-01-01").code == "yaml_tag"
    assert refused(b"\xff\xfe\x00").code == "encoding"
    assert refused("- a").code == "not_object"
    assert refused("").code == "not_object"


def test_numbers_too_long_for_numbers_stay_texts_or_are_refused() -> None:
    assert parse_document("a: " + "1" * 30) == {"a": "1" * 30}
    assert refused('{"a": ' + "1" * 5000 + "}").code == "syntax"


def test_set_changes_a_copy_with_values_read_as_yaml() -> None:
    document = {"roles": [{"name": "a", "parameters": {"lr": 1}}]}
    changes = {
        "roles.0.parameters.lr": "0.1",
        "roles.0.name": "'5'",
        "roles.1.name": "b",
        "env.A": "x: y",
        "labels.a\\.b": "true",
        "inputs": "[{name: d, path: /d}]",
        "retries": 3,
    }
    assert apply_set(document, changes) == {
        "roles": [{"name": "5", "parameters": {"lr": 0.1}}, {"name": "b"}],
        "env": {"A": "x: y"},
        "labels": {"a.b": True},
        "inputs": [{"name": "d", "path": "/d"}],
        "retries": 3,
    }
    assert document == {"roles": [{"name": "a", "parameters": {"lr": 1}}]}


def test_set_does_not_change_what_an_alias_shared() -> None:
    document = parse_document("a: &a {x: 1}\nb: *a\n")
    assert apply_set(document, {"b.x": "2"}) == {"a": {"x": 1}, "b": {"x": 2}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("roles.5.x", "1"),
        ("roles.x", "1"),
        ("roles.0.name.y", "1"),
        ("", "1"),
        ("a..b", "1"),
        ("a", "[1"),
        ("roles.-1", "1"),
    ],
)
def test_set_refuses_places_that_are_not_there(path: str, value: Any) -> None:
    with pytest.raises(InvalidSpec) as error:
        apply_set({"roles": [{"name": "a"}]}, {path: value})
    assert error.value.problems[0].path == path
