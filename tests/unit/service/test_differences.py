"""What differs between job files (B16), and which value of a metric is the better one."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.histories import new_job
from trainmaster.answers import MetricResult
from trainmaster.core.records import Policy
from trainmaster.service.curves import goals
from trainmaster.service.curves.curves import SOURCES
from trainmaster.service.curves.goals import goal_of
from trainmaster.service.use_cases.finding.differences import LONGEST, document_now, metrics_of, rows_of
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import effective

ROOT = Path(__file__).parents[3]


def document(**fields: Any) -> dict[str, Any]:
    role = {"name": "train", "command": "python train.py"}
    return effective(JobSpec.model_validate({"name": "a", "roles": [role], **fields}))


def differing(*documents: dict[str, Any] | None) -> dict[tuple[str, str], list[Any]]:
    return {(row.section, row.name): row.values for row in rows_of(documents) if row.differs}


def test_whatever_a_job_file_says_is_in_a_row() -> None:
    """But the name, by which jobs are told apart anyway."""
    changed: dict[str, Any] = {
        "framework": {"kind": "pytorch", "processes_per_node": 2},
        "image": "torch:2",
        "env": {"A": "1"},
        "inputs": [{"name": "cifar", "path": "/data/cifar"}],
        "labels": {"team": "vision"},
        "metrics": [{"pattern": "loss=(?P<loss>.*)"}],
        "retries": 2,
        "secrets": ["HF_TOKEN"],
        "storage": {"data_dir": "/d"},
    }
    assert differing(document(), document(**changed)) == {
        ("framework", "kind"): ["single", "pytorch"],
        ("framework", "processes_per_node"): [None, 2],
        ("environment", "image"): ["default", "torch:2"],
        ("environment", "secrets.HF_TOKEN.name"): [None, "HF_TOKEN"],
        ("environment", "A"): [None, "1"],
        ("inputs", "cifar.name"): [None, "cifar"],
        ("inputs", "cifar.path"): [None, "/data/cifar"],
        ("inputs", "cifar.mount"): [None, "/dataset"],
        ("inputs", "cifar.read_only"): [None, True],
        ("inputs", "storage.data_dir"): [None, "/d"],
        ("settings", "labels.team"): [None, "vision"],
        ("settings", "metrics.0.pattern"): [None, "loss=(?P<loss>.*)"],
        ("settings", "retries"): [0, 2],
    }
    assert differing(document(name="a"), document(name="b")) == {}


def test_roles_are_named_where_there_are_several() -> None:
    def two(first: float, second: float) -> dict[str, Any]:
        roles = [
            {"name": "ps", "command": "a", "parameters": {"lr": first, "seed": 1}},
            {"name": "worker", "command": ["b", "c d"], "parameters": {"lr": second, "seed": 1}, "replicas": 2},
        ]
        return document(roles=roles)

    found = differing(two(0.1, 0.1), two(0.1, 0.2))
    assert found == {("parameters", "worker.lr"): [0.1, 0.2]}
    names = {(row.section, row.name) for row in rows_of([two(0.1, 0.1)])}
    assert {
        ("parameters", "lr"),
        ("parameters", "seed"),
        ("command", "worker"),
        ("resources", "worker.replicas"),
    } <= names
    [row] = [row for row in rows_of([two(0.1, 0.1)]) if row.name == "worker" and row.section == "command"]
    assert row.values == ["b 'c d'"]


def test_true_is_not_one_and_what_cannot_be_read_differs_from_nothing() -> None:
    def with_value(value: Any) -> dict[str, Any]:
        return document(roles=[{"name": "train", "command": "x", "parameters": {"p": value}}])

    assert differing(with_value(1), with_value(True)) == {("parameters", "p"): [1, True]}
    assert differing(with_value(1), with_value(1.0)) == {}
    assert differing(with_value(1), None, with_value(1)) == {}
    long = with_value("x" * 5000 + "a"), with_value("x" * 5000 + "b")
    assert {len(value) for value in differing(*long)["parameters", "p"]} == {LONGEST + 1}


def result(low: float | None, high: float | None) -> MetricResult:
    return MetricResult(last=high, low=low, low_step=0.0, high=high, high_step=0.0, count=2)


def test_a_time_limit_is_spelled_as_a_job_file_spells_it() -> None:
    """Nobody reads 10800 as three hours; what was changed since counts."""
    changed, without = (new_job(policy=Policy(duration_s=limit_s)) for limit_s in (10800.0, None))
    rows = rows_of([document_now(document(duration="1h"), job) for job in (changed, without)])
    assert [row.values for row in rows if row.name == "duration"] == [["3h", None]]


def test_the_best_of_a_metric_is_known_where_its_name_says_so() -> None:
    found = {
        one.name: (one.better, one.best)
        for one in metrics_of(
            [
                {"loss": result(0.5, 3.0), "val/acc": result(0.1, 0.8), "lr": result(0.1, 0.1)},
                {"loss": result(0.5, 9.0), "val/acc": result(0.2, 0.9), "lr": result(0.1, 0.2)},
                {"loss": result(None, None)},
            ]
        )
    }
    assert found == {"loss": ("min", [0, 1]), "val/acc": ("max", [1]), "lr": (None, [])}


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("train/loss", "min"),
        ("val_loss", "min"),
        ("Top1", "max"),
        ("eval-F1", "max"),
        ("epoch", None),
        ("glossy", None),
    ],
)
def test_the_name_says_what_is_better(name: str, goal: str | None) -> None:
    assert goal_of(name) == goal


def test_console_and_server_judge_by_the_same_words() -> None:
    text = (ROOT / "console/src/pages/job/curves.ts").read_text(encoding="utf-8")
    low, high = re.findall(r"const (?:LOW|HIGH) =\s*/(.+)/;", text)
    assert (low, high) == (goals._LOW.pattern, goals._HIGH.pattern)


def test_console_and_server_take_the_values_of_the_same_source() -> None:
    text = (ROOT / "console/src/pages/job/curves.ts").read_text(encoding="utf-8")
    order = re.search(r"SOURCES: readonly string\[\] = \[(.*?)\]", text)
    assert order is not None
    assert re.findall(r'"(\w+)"', order[1]) == list(SOURCES)
