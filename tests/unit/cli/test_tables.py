"""Tables fit the terminal, and in a pipe nothing is cut; states have the console's tones."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from trainmaster.cli.showing import tables
from trainmaster.cli.showing.jobs import TONE_OF, job_columns
from trainmaster.cli.showing.tables import Cell, column, drawn, fitted

CONSOLE = Path(__file__).parents[3] / "console/src/shared/state.tsx"
ROW = (
    "tbec8b4726de",
    "speech-ddp-baseline-中文名称",
    Cell("Running", "blue"),
    "ada.lovelace",
    "12/16",
    "128",
    "12h 5m",
    "62%",
    "Waiting for GPUs: 128 needed (A100, 8 per replica), 8 free, at most 4 on one node",
)


@pytest.mark.parametrize("room", [60, 80, 100, 140, 300])
def test_a_list_of_jobs_fits(room: int) -> None:
    lines = [line.plain for line in drawn(job_columns(), [ROW, ROW], room)]
    assert max(map(cell_len, lines)) <= room
    assert "tbec8b4726de" in lines[1]
    assert "Running" in lines[1]
    if room >= 80:
        assert "Waiting for" in lines[1]
    if room == 300:
        assert "ada.lovelace" in lines[1]
        assert lines[1].endswith("on one node")


def test_the_least_needed_columns_go_first_and_empty_ones_always() -> None:
    columns = (column("a"), column("b", leaves=1), column("c", leaves=2), column("d"))
    assert fitted(columns, [["x" * 10] * 4], 46) == [10, 10, 10, 10]
    assert fitted(columns, [["x" * 10] * 4], 45) == [10, 10, None, 10]
    assert fitted(columns, [["x" * 10] * 4], 30) == [10, None, None, 10]
    assert fitted(columns, [["x", "x", "x", ""]], 80) == [1, 1, 1, None]


def test_a_text_that_wraps_is_whole() -> None:
    columns = (column("name"), column("meaning", least=8, wraps=True))
    lines = [line.plain for line in drawn(columns, [("one", "every word of this is there")], 18)]
    assert " ".join(line[6:].strip() for line in lines[1:]) == "every word of this is there"
    assert max(map(cell_len, lines)) <= 18


@given(
    st.lists(st.text(max_size=30), min_size=4, max_size=4),
    st.integers(20, 120),
)
def test_whatever_stands_in_it_a_table_fits_where_it_can(row: list[str], room: int) -> None:
    columns = (column("a", least=4), column("b", least=4), column("c", least=2, leaves=1), column("d", least=4))
    lines = drawn(columns, [tuple(row)], room)
    assert all(line.cell_len <= room for line in lines)


def test_in_a_pipe_cells_are_separated_by_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    os.environ.pop("FORCE_COLOR", None)
    tables.show((column("a", least=2), column("b", leaves=1)), [("x" * 300, "y\tz\nw"), ("", 3)], title="not shown")
    assert capsys.readouterr().out == f"a\tb\n{'x' * 300}\ty z w\n\t3\n"


def test_colours_are_those_of_a_meaning_and_can_be_forbidden(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    tables.show((column("state"),), [(Cell("Failed", "red"),)])
    assert "\x1b[31mFailed" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    tables.show((column("state"),), [(Cell("Failed", "red"),)])
    assert not re.search(r"\x1b\[(3|9)\d", capsys.readouterr().out)


def test_the_console_shows_the_same_tones() -> None:
    looks = re.search(r"const LOOKS.*?= \{(.*?)\n\};", CONSOLE.read_text(encoding="utf-8"), re.DOTALL)
    assert looks is not None
    assert dict(re.findall(r"(\w+): \[\"(\w+)\"", looks[1])) == TONE_OF
