"""Curves, point files and patterns over logs (R209): nothing twice, nothing lost, bounded."""

import json
import math
import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.storage.logs.logpoints import LogPoints
from trainmaster.storage.points import MAX_POINTS, Curve, Growing, PointLog

FOREVER = math.inf
DIGITS = r"epoch=(?P<step>\d+) loss=(?P<loss>[\d.eE+-]+|nan) accuracy=(?P<accuracy>[\d.]+)"


class Task:
    """A log with patterns over it, reopened at will as a restarted server would."""

    def __init__(self, folder: Path, *patterns: str, began: float = 0.0) -> None:
        self.folder, self.patterns, self.began = folder, patterns, began
        self.log = folder / "log"
        self.log.touch()
        self.open()

    def open(self, *patterns: str) -> None:
        self.patterns = patterns or self.patterns
        self.points: list[dict] = []
        self._source = LogPoints(str(self.log), PointLog(str(self.folder / "points.jsonl")), self.patterns, self.began)
        self._source.load(self.points.append)

    def write(self, text: str | bytes) -> None:
        with open(self.log, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def collect(self, *, ended: bool = False, deadline: float = FOREVER) -> list[tuple]:
        self._source.collect(self.points.append, time.time(), deadline, ended=ended)
        return [(point["step"], *point["values"].values()) for point in self.points]


def test_named_groups_become_metrics_with_their_step(tmp_path: Path) -> None:
    task = Task(tmp_path, DIGITS)
    task.write("hello\nepoch=0 loss=2.3 accuracy=0.1\nepoch=1 loss=1e-3 accuracy=0.97\nepoch=2 loss=nan accuracy=0.9\n")
    assert task.collect() == [(0, 2.3, 0.1), (1, 1e-3, 0.97), (2, "nan", 0.9)]


def test_lines_that_are_found_together_have_times_of_their_own(tmp_path: Path) -> None:
    """Between two looks, the first of which is the start, lines came evenly until the log's last change."""
    task = Task(tmp_path, r"epoch=(?P<step>\d+) loss=(?P<loss>\S+)", began=1000.0)
    task.write("".join(f"epoch={epoch} loss=0.5\n" for epoch in range(4)))
    os.utime(task.log, (1040.0, 1040.0))
    task.collect()
    assert [point["t"] for point in task.points] == pytest.approx([1010, 1020, 1030, 1040], abs=1)
    task.open()
    task.write("epoch=4 loss=0.5\nepoch=5 loss=0.5\n")
    os.utime(task.log, (1100.0, 1100.0))
    task.collect()
    times = [point["t"] for point in task.points]
    assert times[4:] == pytest.approx([1070, 1100], abs=1), "after the last look"
    assert times == sorted(set(times))


def test_a_clock_that_was_set_back_gives_no_time_before_another(tmp_path: Path) -> None:
    task = Task(tmp_path, r"loss=(?P<loss>\S+)", began=1000.0)
    task.write("loss=1\n")
    os.utime(task.log, (400.0, 400.0))
    task.collect()
    assert [point["t"] for point in task.points] == [1000.0]


def test_lines_are_matched_once_across_pieces_and_restarts(tmp_path: Path) -> None:
    task = Task(tmp_path, r"loss (?P<loss>\S+)")
    task.write("loss 3\nloss 2\nlos")
    assert task.collect() == [(0, 3), (1, 2)]
    task.open()
    task.write("s 1")
    assert task.collect() == [(0, 3), (1, 2)], "the line is not ended"
    task.open()
    assert task.collect(ended=True) == [(0, 3), (1, 2), (2, 1)]
    task.open()
    assert task.collect(ended=True) == [(0, 3), (1, 2), (2, 1)]


def test_carriage_returns_of_a_progress_bar_end_lines(tmp_path: Path) -> None:
    task = Task(tmp_path, r"(?P<step>\d+)/100 .*loss=(?P<loss>[\d.]+)")
    task.write("\r 1/100 [>   ] loss=5\r 2/100 [=>  ] loss=4\r 3/100")
    assert task.collect() == [(1, 5), (2, 4)]


def test_a_crash_between_points_and_cursor_counts_nothing_twice(tmp_path: Path) -> None:
    task = Task(tmp_path, r"loss (?P<loss>\S+)")
    task.write("loss 3\n")
    task.collect()
    with open(tmp_path / "points.jsonl", "a") as file:
        file.write('{"t":1,"step":1,"values":{"loss":2}}\n{"t":1,"st')  # written, but its cursor was not
    task.write("loss 2\n")
    task.open()
    assert task.collect() == [(0, 3), (1, 2)]


def test_other_patterns_start_from_the_beginning(tmp_path: Path) -> None:
    task = Task(tmp_path, r"loss (?P<loss>\S+)")
    task.write("loss 3 acc 0.5\n")
    task.collect()
    task.open(r"acc (?P<acc>\S+)")
    assert task.collect() == [(0, 0.5)]


def test_a_step_alone_binary_rubbish_and_unusable_patterns(tmp_path: Path) -> None:
    task = Task(tmp_path, r"^step (?P<step>\d+)$", r"(?=never)(?P<x>.)")
    task.write(b"\xff\xfe\x00step 1\nstep 2\n" + bytes(range(256)) * 10 + b"\nstep 3\n")
    assert task.collect() == [(2, 2), (3, 3)]


def test_a_large_log_is_collected_in_bounded_looks(tmp_path: Path) -> None:
    task = Task(tmp_path, r"value (?P<v>\d+)")
    task.write("".join(f"{'x' * 90} value {n}\n" for n in range(100_000)))
    assert task.collect(deadline=0.0) == []
    assert len(task.collect()) == 100_000


@settings(max_examples=examples(40))
@given(
    pieces=st.lists(st.sampled_from(["loss 1\n", "lo", "ss 2\n", "\n", "x\r", "loss 3", "é"]), max_size=20),
    reopen=st.booleans(),
)
def test_any_pieces_give_the_points_of_the_whole(tmp_path_factory, pieces: list[str], reopen: bool) -> None:
    task = Task(tmp_path_factory.mktemp("p"), r"^loss (?P<loss>\d)$")
    for piece in pieces:
        task.write(piece)
        task.collect()
        if reopen:
            task.open()
    expected = [
        float(line[5:])
        for line in "".join(pieces).replace("\r", "\n").split("\n")
        if line in ("loss 1", "loss 2", "loss 3")
    ]
    assert [point[1] for point in task.collect(ended=True)] == expected


def test_a_curve_is_bounded_and_keeps_its_extremes() -> None:
    curve = Curve()
    for step in range(100_000):
        curve.add(step, step, 1e9 if step == 777 else -1e9 if step == 50_001 else math.sin(step))
    assert len(curve.steps) <= MAX_POINTS
    steps, times, values = curve.downsampled(500)
    assert len(steps) == len(times) == len(values) <= 500
    assert (max(values), min(values)) == (1e9, -1e9)  # type: ignore[type-var]
    assert (steps[0], steps[-1]) == (0, 99_999)
    assert steps == sorted(steps)


def test_a_long_curve_keeps_its_beginning_as_closely_as_its_end() -> None:
    """Also where steps begin again, as they do with every epoch."""
    long, again = Curve(), Curve()
    for step in range(100_000):
        long.add(step, step, math.sin(step / 1000))
        again.add(step % 100, step, math.sin(step / 1000))
    for curve in (long, again):
        assert max(later - before for before, later in pairwise(curve.times)) <= 2 * 100_000 / (MAX_POINTS / 4)
    steps = [step for step in long.downsampled(500)[0] if step is not None]
    assert max(later - before for before, later in pairwise(steps)) <= 2 * 100_000 / (500 / 2)


def test_gaps_are_shown_as_null() -> None:
    curve = Curve()
    for step, value in enumerate([1.0, math.nan, math.inf, 2.0]):
        curve.add(step, 0.0, value)
    assert curve.downsampled(10)[2] == [1.0, None, None, 2.0]


def test_a_growing_file_is_read_once_and_again_when_replaced(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    growing = Growing(str(path))
    assert list(growing.news()[1]) == []
    path.write_text('{"a":1}\nrubbish\n[1]\n{"a":2}\n{"a"')
    assert list(growing.news()[1]) == [{"a": 1}, {"a": 2}]
    with open(path, "a") as file:
        file.write(":3}\n" + "x" * 3_000_000 + '\n{"a":4}\n')
    found = list(growing.news()[1])
    while growing.more:
        found += growing.news()[1]
    assert found == [{"a": 3}, {"a": 4}]
    path.unlink()
    path.write_text('{"a":9}\n')
    again, records = growing.news()
    assert again
    assert list(records) == [{"a": 9}]


def test_a_hole_of_terabytes_is_passed_over_in_a_few_looks(tmp_path: Path) -> None:
    """A task's file is the task's own: reading it may not cost more than what was written."""
    path = tmp_path / "metrics.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"n": 1}\n')
        file.seek(8 << 40)
        file.write(b'\n{"n": 2}\n')
    growing = Growing(str(path))

    def looks() -> list[dict[str, object]]:
        return [record for _ in range(4) for record in growing.news()[1]]

    assert looks() == [{"n": 1}, {"n": 2}]
    os.truncate(path, 9 << 40)
    assert looks() == []
    with open(path, "ab") as file:
        file.write(b'{"n": 3}\n')
    assert looks() == [{"n": 3}]


def test_a_point_log_that_never_had_a_cursor_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text(json.dumps({"t": 1}) + "\n")
    log, seen = PointLog(str(path)), []
    log.load(seen.append)
    assert (seen, log.cursor, path.read_text()) == ([], {}, "")
