"""The bench's judgement (issue 2, "Names", "Speed"): the form of a record, when a bar is met, and that no bar is left
unmeasured.
"""

import importlib
import inspect
import json
import re

import pytest

from bench import main, measure, record

FIELDS = ["name", "metric", "value", "unit", "against", "ratio", "bar", "ok", "n", "load"]


def test_a_record_has_exactly_the_agreed_fields() -> None:
    made = record.record(
        "logs", "1M lines of 100 B", [90.0, 100.0, 95.0], "lines/s", 1.234, against="a file", peer=[100.0]
    )
    text = json.loads(json.dumps(made.to_json()))
    assert list(text) == FIELDS
    assert text == {
        "name": "logs",
        "metric": "1M lines of 100 B",
        "value": 95.0,
        "unit": "lines/s",
        "against": "a file",
        "ratio": 0.95,
        "bar": "ratio >= 0.9",
        "ok": True,
        "n": 3,
        "load": 1.23,
    }


@pytest.mark.parametrize(
    ("metric", "values", "peer", "met"),
    [
        ("first line, 1 task, against HyperQueue", [3.5], [3.5], True),
        ("first line, 1 task, against HyperQueue", [3.6], [3.5], False),
        ("first line, 1 task, against posix_spawn", [5.1], [1.0], False),
        ("first line, 1 task, against HyperQueue", [3.6], [], None),
        ("last first line, gang of 8, against posix_spawn", [99.0], [1.0], None),
    ],
)
def test_a_bar_is_met_missed_or_not_to_be_told(
    metric: str, values: list[float], peer: list[float], met: bool | None
) -> None:
    """A peer that is missing neither meets nor misses; a number without a bar only informs."""
    assert record.record("latency", metric, values, "ms", 0.0, against="peer", peer=peer).ok is met


def test_a_bar_on_the_value_needs_no_peer() -> None:
    assert record.record("idle", "ready after start, 10,000 jobs stored", [1.9, 2.5, 1.8], "s", 0.0).ok is True
    assert record.record("submit", "durable submits, 32 connections", [1999.0], "jobs/s", 0.0).ok is False
    assert record.record("crash", "jobs lost", [1.0], "jobs", 0.0).ok is False


def test_without_a_peer_nothing_is_said_to_have_been_compared() -> None:
    made = record.record("throughput", "completed, against Slurm", [100.0], "jobs/s", 0.0, against=None, peer=[])
    assert (made.against, made.ratio, made.bar, made.ok) == (None, None, "ratio >= 30", None)


def test_one_missed_bar_fails_the_run() -> None:
    good = record.record("crash", "jobs lost", [0.0], "jobs", 0.0)
    bad = record.record("crash", "jobs run twice", [2.0], "jobs", 0.0)
    assert not record.missed([good])
    assert record.missed([good, bad])


def test_nothing_measured_is_an_error_not_a_pass() -> None:
    with pytest.raises(ValueError, match="no values"):
        record.record("crash", "jobs lost", [], "jobs", 0.0)


def test_every_bar_is_measured_by_a_module_of_its_name() -> None:
    """A bar whose metric nobody reports would never be missed."""
    for name, metric in record.BARS:
        module = importlib.import_module(f"bench.{main.MODULES.get(name, name)}")
        parts = [one for one in vars(module).values() if inspect.ismodule(one) and one.__name__.startswith("bench.")]
        source = "".join(inspect.getsource(one) for one in (module, *parts))
        words = re.split(r"first line, 1 task|last first line, gang of 8", metric)[-1]
        assert words in source, (name, metric)
        assert name in main.NAMES


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["nothing"])
    assert "unknown: nothing" in capsys.readouterr().err


def test_quantiles_are_interpolated() -> None:
    assert measure.quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert measure.quantile([7.0], 0.95) == 7.0
