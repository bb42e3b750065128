"""Numbers that no parameter can have, through every door of a document: refused with field, rule and remedy."""

from typing import Any

import pytest

from tests.unit.spec.test_algorithms import DIGITS, JOB, problems, read
from tests.unit.spec.test_algorithms import wrong as wrong_algorithm
from tests.unit.spec.test_sweep import wrong as wrong_sweep
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.spec.check import check
from trainmaster.spec.parse import parse_document
from trainmaster.spec.sweeps.rows_of_csv import rows_of_csv

NAN, INFINITY, LARGEST = float("nan"), float("inf"), 2**63 - 1
BAD: list[tuple[Any, str]] = [
    (NAN, "not_finite"), (INFINITY, "not_finite"), (-INFINITY, "not_finite"),
    (LARGEST + 1, "too_big"), (10**30, "too_big"), (-LARGEST - 1, "too_small"),
]  # fmt: skip
GOOD = (LARGEST, -LARGEST, 1e300, -0.0)


def refused(document: Any) -> list[Problem]:
    with pytest.raises(InvalidSpec) as why:
        check(document)
    return list(why.value.problems)


@pytest.mark.parametrize(("value", "code"), BAD)
def test_a_parameter_of_a_job(value: Any, code: str) -> None:
    (found,) = refused({"name": "a", "command": "x", "parameters": {"lr": value}})
    assert (found.path, found.code) == ("parameters.lr", code)
    assert found.rule
    assert "Write a number" in found.remedy or str(LARGEST) in found.remedy


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (".nan", "not_finite"), (".inf", "not_finite"), ("-.inf", "not_finite"), ("1e400", "not_finite"),
        (str(LARGEST + 1), "too_big"), (str(-LARGEST - 1), "too_small"),
    ],
)  # fmt: skip
def test_as_a_job_file_or_set_writes_it(written: str, code: str) -> None:
    """In YAML, and so in `--set`, which is read as YAML; words such as NaN are texts there, as in a shell."""
    (found,) = refused(parse_document(f"name: a\ncommand: x\nparameters: {{lr: {written}}}\n"))
    assert (found.path, found.code) == ("parameters.lr", code)
    for text in ("NaN", "Infinity", "nan", "-inf"):
        spec = check(parse_document(f"name: a\ncommand: x\nparameters: {{lr: {text}}}\n"))
        assert spec.roles[0].parameters == {"lr": text}


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_such_numbers(written: str) -> None:
    with pytest.raises(InvalidSpec) as why:
        parse_document(f'{{"name": "NaN", "command": "x",\n"parameters": {{"lr": {written}}}}}', "job.json")
    (found,) = why.value.problems
    assert found.code == "syntax"
    assert written in found.rule
    assert "line 2" in found.remedy


@pytest.mark.parametrize(("value", "code"), BAD)
def test_a_value_of_a_sweep(value: Any, code: str) -> None:
    """In a grid, a list in both its forms, and what is drawn from: before any entry is made."""
    assert wrong_sweep({"grid": {"lr": [0.1, value]}}) == [("sweep.grid.lr.1", code)]
    assert wrong_sweep({"list": [{"lr": 0.1}, {"lr": value}]}) == [("sweep.list.1.lr", code)]
    assert wrong_sweep({"list": [{"parameters": {"lr": value}}]}) == [("sweep.list.0.parameters.lr", code)]
    assert wrong_sweep({"random": {"lr": [value]}, "count": 2}) == [("sweep.random.lr.0", code)]
    assert wrong_sweep({"random": {"lr": {"values": [value]}}, "count": 2}) == [("sweep.random.lr.values.0", code)]
    if code == "not_finite":
        ends = {"min": 0, "max": value}
        assert ("sweep.random.lr.max", code) in wrong_sweep({"random": {"lr": ends}, "count": 2})


def test_a_table_of_a_sweep() -> None:
    rows = rows_of_csv(f"lr,n\n.nan,1\n0.1,{LARGEST + 1}\n")
    assert wrong_sweep({"list": rows}) == [("sweep.list.0.lr", "not_finite"), ("sweep.list.1.n", "too_big")]


@pytest.mark.parametrize(("value", "code"), BAD)
def test_a_hyperparameter_of_an_algorithm(value: Any, code: str) -> None:
    """R155: its default, its bounds, and what a job gives it."""
    for end in ("min", "max"):
        declared = {"parameters": [{"name": "lr", "type": "float", end: value}]}
        assert wrong_algorithm({**DIGITS, **declared}) == [(f"parameters.0.{end}", code)]
    declared = {"parameters": [{"name": "lr", "type": "float", "default": value}]}
    assert [path for path, _ in wrong_algorithm({**DIGITS, **declared})] == ["parameters.0.default"]
    with pytest.raises(InvalidSpec) as why:
        problems({**JOB, "parameters": {"epochs": value}})
    assert [(one.path, one.code) for one in why.value.problems] == [("parameters.epochs", code)]


@pytest.mark.parametrize("value", GOOD)
def test_the_last_that_can_be(value: Any) -> None:
    assert check({"name": "a", "command": "x", "parameters": {"lr": value}}).roles[0].parameters == {"lr": value}
    assert wrong_sweep({"grid": {"lr": [value]}}) == []
    parameter = {"name": "lr", "type": "float", "default": value, "min": value, "max": value}
    assert read(parameters=[parameter]).parameters[0].min == value
