"""Usage samples and thinning (R211; issue 2, item 9): rates from totals, peaks kept, torn lines passed over."""

import json
import math
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.storage import usage
from trainmaster.storage.downsample import keep


def sample(t: float, **values) -> list:
    names = ("cpu", "memory", "read", "written", "rx", "tx", "gpu", "gpu_memory", "processes")
    defaults = {"cpu": 0.0, "memory": 10, "read": 0, "written": 0, "processes": 1}
    return [t, *({**defaults, **values}.get(name) for name in names)]


def write(folder: Path, samples: list, tail: str = "") -> str:
    path = folder / "usage.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in samples) + tail)
    return str(path)


def test_totals_become_rates_and_absent_values_null(tmp_path: Path) -> None:
    path = write(
        tmp_path, [sample(10, cpu=1.0, read=5), sample(12, cpu=4.0, read=5.5, gpu=0.7), sample(14, cpu=5.0, read=5.5)]
    )
    read = usage.read(path)
    assert read["t"] == [10, 12, 14]
    assert read["cpu"] == [None, 1.5, 0.5]
    assert read["disk_read"] == [None, 0.25, 0.0]
    assert read["gpu"] == [None, 0.7, None]
    assert read["net_rx"] == [None, None, None]
    assert set(read) == {"t", *usage.COLUMNS}
    assert usage.last(path) == {name: values[-1] for name, values in read.items()}


def test_torn_malformed_and_repeated_samples_are_passed_over(tmp_path: Path) -> None:
    rows = [sample(1, cpu=1.0), sample(2, cpu=2.0), sample(2, cpu=2.0), sample(3, cpu=1.0)]
    path = write(tmp_path, rows, 'nonsense\n[1,2]\n{"a":1}\n[null,1,1,1,1,1,1,1,1,1]\n[4, 9.0, 10')
    assert usage.read(path)["t"] == [1, 2, 3]
    assert usage.read(path)["cpu"] == [None, 1.0, 0.0], "a total that falls (its process is gone) is no negative rate"
    assert usage.read(str(tmp_path / "none")) == {"t": [], **{name: [] for name in usage.COLUMNS}}
    assert usage.last(str(tmp_path / "none")) is None


def test_a_week_of_samples_is_thinned_quickly_and_keeps_its_peaks(tmp_path: Path) -> None:
    rows = [sample(2.0 * n, cpu=n * 2.0, memory=100, gpu=0.5) for n in range(302_400)]
    rows[123_456][2] = 9999
    rows[200_000][7] = 0.0
    path = write(tmp_path, rows)
    started = time.monotonic()
    read = usage.read(path, points=300)
    assert time.monotonic() - started < 30
    assert len(read["t"]) <= 300
    assert len({len(values) for values in read.values()}) == 1
    assert max(read["memory_mib"]) == 9999
    assert min(read["gpu"]) == 0.0
    assert read["t"] == sorted(read["t"])


@settings(max_examples=examples(200))
@given(values=st.lists(st.one_of(st.floats(allow_nan=True), st.none()), max_size=300), points=st.integers(4, 60))
def test_thinning_keeps_extremes_and_ends(values: list[float | None], points: int) -> None:
    kept = keep(range(len(values)), values, points)
    assert len(kept) <= max(points, 4)
    assert kept == sorted(set(kept))
    real = [value for value in values if value is not None and not math.isnan(value)]
    if values:
        assert {0, len(values) - 1} <= set(kept)
    if real:
        shown = [values[position] for position in kept]
        assert min(real) in shown
        assert max(real) in shown


@settings(max_examples=examples(60))
@given(memory=st.lists(st.integers(0, 10**6), min_size=1, max_size=200), points=st.integers(4, 40))
def test_thinned_usage_keeps_extremes(tmp_path_factory, memory: list[int], points: int) -> None:
    path = write(tmp_path_factory.mktemp("u"), [sample(float(n), memory=value) for n, value in enumerate(memory)])
    shown = usage.read(path, points)["memory_mib"]
    assert len(shown) <= points
    assert (min(shown), max(shown)) == (min(memory), max(memory))
