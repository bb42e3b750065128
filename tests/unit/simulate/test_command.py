"""`tm simulate` as a person uses it, without a server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from trainmaster.cli.main import commands

JOBS = "row,submit_s,run_s,gpus,vc\n0,0,600,8,a\n1,10,60,8,a\n2,20,60,4,b\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


def tm(*words: object) -> Result:
    return CliRunner().invoke(commands(), ["simulate", *map(str, words)], env={"COLUMNS": "300"})


def test_policies_and_machines_are_compared(trace: Path, tmp_path: Path) -> None:
    report, rows = tmp_path / "report.html", tmp_path / "rows.csv"
    done = tm(trace, "--cluster", "1x8", "--add-nodes", 1, "--policy", "default", "-o", report, "-o", rows)
    assert done.exit_code == 0, done.output
    assert "3 jobs of jobs.csv on 1 node, 8 GPUs; 2 nodes, 16 GPUs" in done.output
    assert "default + 1 node" in done.output
    assert report.read_text().startswith("<!doctype html>")
    assert len(rows.read_text().splitlines()) == 7


def test_json_for_programs(trace: Path) -> None:
    done = tm(trace, "--cluster", "1x8", "--policy", "fifo-strict", "--json")
    found = json.loads(done.stdout)
    assert found["workload"]["jobs"] == 3
    assert found["policies"][0]["waits"]["max_s"] == 640


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--cluster", "1x8"),
        ("TRACE",),
        ("TRACE", "--cluster", "1x8", "--policy", "nobody"),
        ("TRACE", "--cluster", "1x8", "--limits", "maybe"),
        ("TRACE", "--cluster", "1x8", "--fault", "node-7@1d+1h"),
        ("TRACE", "--cluster", "1x8", "-o", "report.pdf"),
        ("TRACE", "--cluster", "1x8", "-o", "no/such/folder.csv"),
        ("TRACE", "--cluster", "1x8", "--start-cost", "soon"),
    ],
)
def test_what_is_wrong_is_said_and_has_a_remedy(trace: Path, words: tuple[str, ...]) -> None:
    from trainmaster.core.errors import InvalidSpec

    done = tm(*(trace if word == "TRACE" else word for word in words))
    assert isinstance(done.exception, InvalidSpec)
    assert done.exception.remedy
