"""`tm compare` and what programs make of the same: what differs, who is best, as a table, as CSV, as a diff."""

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from rich.cells import cell_len

from tests.fixtures.shell import ONE_NODE, Shell, serving, write
from trainmaster.core.errors import NotFound
from trainmaster.sdk.client import Client

LINE = "python3 -c \"print('loss=%s' % ({lr} * 10))\""


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.fixture(scope="module")
def jobs(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Five jobs that differ in a rate, the last in its code too."""
    folder, found = tmp_path_factory.mktemp("jobs"), []
    for number in range(5):
        rate = (number + 1) / 10
        code = folder / f"code{number // 4}"
        code.mkdir(exist_ok=True)
        (code / "train.py").write_text(f"VERSION = {number // 4}\n")
        more: dict[str, Any] = {
            "parameters": {"lr": rate},
            "metrics": [{"pattern": r"loss=(?P<loss>[\d.]+)"}],
            "code": str(code),
        }
        file = write(folder / f"{number}.json", LINE.format(lr=rate), name=f"rate-{number}", **more)
        found.append(tm.json("submit", file, "--wait")["id"])
    return found


def test_a_few_stand_beside_each_other_with_what_differs(tm: Shell, jobs: list[str]) -> None:
    lines = [line.split("\t") for line in tm.here("compare", *jobs[:2]).splitlines()]
    told = {line[1]: line[2:] for line in lines if len(line) == 4}
    assert lines[0][2:] == [job[:12] for job in jobs[:2]]
    assert told["name"] == ["rate-0", "rate-1"]
    assert told["lr"] == ["0.1", "0.2"]
    assert told["loss"] == ["1 *", "2"], "the least loss is the best"
    assert "cpu" not in told
    whole = tm.here("compare", *jobs[:2], "--all")
    assert "resource\tcpu\t0.1\t0.1" in whole
    assert "loss\t1\t2 *" in tm.here("compare", *jobs[:2], "--best", "max")
    assert "\nmetric\t" not in tm.here("compare", *jobs[:2], "--metric", "accuracy")


def test_many_stand_below_each_other_the_best_first(tm: Shell, jobs: list[str]) -> None:
    head, *rows = [line.split("\t") for line in tm.here("compare", *reversed(jobs), "--metric", "loss").splitlines()]
    assert [row[0] for row in rows[:5]] == [job[:12] for job in jobs]
    assert rows[0][head.index("lr")] == "0.1"


def test_it_fits_a_terminal(tm: Shell, jobs: list[str]) -> None:
    env = {**tm.env, "TTY_COMPATIBLE": "1", "FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80"}
    for count in (2, 4, 5):
        done = subprocess.run(
            [sys.executable, "-m", "trainmaster", "compare", *jobs[:count], "--all"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = re.sub(r"\x1b\[\d*m", "", done.stdout).splitlines()
        assert max(map(cell_len, lines)) <= 80, done.stdout
        assert "* the best value" in done.stdout


def test_csv_has_a_line_for_each_job(tm: Shell, jobs: list[str]) -> None:
    rows = [*csv.DictReader(io.StringIO(tm.here("compare", *jobs, "--csv")))]
    assert [(row["id"], row["parameters.lr"], row["loss"], row["loss.min"]) for row in rows] == [
        (job, str((number + 1) / 10), str(number + 1.0), str(number + 1.0)) for number, job in enumerate(jobs)
    ]
    assert "resources.cpu" in next(csv.reader(io.StringIO(tm.here("compare", *jobs, "--csv", "--all"))))


def test_the_code_of_two_is_compared(tm: Shell, jobs: list[str]) -> None:
    said = tm.here("compare", jobs[0], jobs[4], "--code")
    assert "train.py  changed" in said
    assert "-VERSION = 0\n+VERSION = 1\n" in said
    assert json.loads(tm.here("compare", jobs[0], jobs[1], "--code", "--json"))["files"] == []
    assert "two jobs" in tm.here("compare", *jobs[:3], "--code", code=2)
    assert "at least two" in tm.here("compare", jobs[0], code=2)


def test_programs_get_it_typed_and_as_a_frame(tm: Shell, jobs: list[str]) -> None:
    with Client(home=str(tm.home)) as client:
        found = client.compare(jobs[:3])
        assert [row.name for row in found.differences() if row.section == "parameters"] == ["lr"]
        best = found.best("loss")
        assert best is not None
        assert best.id == jobs[0]
        worst = found.best("loss", "max")
        assert worst is not None
        assert worst.id == jobs[2]
        assert found.best("none") is None
        frame = found.to_pandas()
        assert frame.loc[jobs[1], "parameters.lr"] == 0.2
        assert frame["loss.min"].idxmin() == jobs[0]
        assert client.get(jobs[0]).code_diff(jobs[4]).files[0].path == "train.py"
        with pytest.raises(NotFound):
            client.compare([jobs[0], "nothing-like-it"])
