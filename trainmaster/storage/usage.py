"""What a task used over time: the agent's samples, read in place and thinned for a chart (R211).

A sample is a JSON array a line: ``[t, cpu_s_total, mem_mib, disk_read_mib_total, disk_write_mib_total,
net_rx_mib_total|null, net_tx_mib_total|null, gpu_util_0_1|null, gpu_mem_mib|null, processes]``. Totals become rates
here. Torn and malformed lines are passed over. Invariant: peaks survive the thinning; memory is O(points), not O(file).
"""

import math
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from trainmaster.storage.logs.logfile import LogFile

COLUMNS: Final = (
    "cpu", "memory_mib", "gpu", "gpu_memory_mib", "disk_read", "disk_write", "net_rx", "net_tx", "processes",
)  # fmt: skip
_GAUGES: Final = {"memory_mib": 2, "gpu": 7, "gpu_memory_mib": 8, "processes": 9}
_TOTALS: Final = {"cpu": 1, "disk_read": 3, "disk_write": 4, "net_rx": 5, "net_tx": 6}
_WIDTH: Final = 10

Value = float | None
Row = tuple[float, dict[str, Value]]


def read(path: str, points: int = 300) -> dict[str, list[Value]]:
    """Return ``{t, cpu, memory_mib, ...}`` with at most `points` values each; cpu in cores, rates in MiB/s.

    Where there are more samples than `points`, every pair of points stands for one span of time and holds the lowest
    and the highest value of each column in it, in the order they came. A missing file gives empty lists.
    """
    ends = _span(path)
    if ends is None:
        return {"t": [], **{name: [] for name in COLUMNS}}
    thin = _Thin(ends, max(4, points))
    for row in _rates(_samples(path)):
        thin.add(row)
    return thin.result()


def last(path: str) -> dict[str, Value] | None:
    """Return the newest values of every column and ``t``, None while there is no sample. O(1)."""
    rows = list(_rates(_samples(path, tail=8192)))
    return {"t": rows[-1][0], **rows[-1][1]} if rows else None


def busiest(path: str) -> tuple[float, float] | None:
    """Return (time of the newest sample, the greatest use of its GPUs in the last minutes), None where that is not
    known. O(1).
    """
    found = [row for row in _samples(path, tail=8192) if _is_number(row[_GAUGES["gpu"]])]
    return (float(found[-1][0]), max(float(row[_GAUGES["gpu"]]) for row in found)) if found else None


def _samples(path: str, tail: int | None = None) -> Iterator[list[Any]]:
    rest = b""
    with LogFile(path) as file:
        start = 0 if tail is None else max(0, file.size - tail)
        for _, data in file.blocks(start):
            lines = (rest + data).split(b"\n")
            rest = lines.pop()[-65536:]
            if start:
                lines, start = lines[1:], 0
            yield from _decode(lines)


def _decode(lines: list[bytes]) -> Iterator[list[Any]]:
    for line in lines:
        try:
            sample = msgspec.json.decode(line)
        except ValueError:
            continue
        if isinstance(sample, list) and len(sample) >= _WIDTH and _is_number(sample[0]):
            yield sample


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _rates(samples: Iterator[list[Any]]) -> Iterator[Row]:
    before: list[Any] | None = None
    for sample in samples:
        elapsed = sample[0] - before[0] if before else 0.0
        if before and elapsed <= 0:
            continue  # the clock was set back, or the sample is a repeat: no rate
        values: dict[str, Value] = {}
        for name in COLUMNS:
            column = _GAUGES.get(name) or _TOTALS[name]
            value = sample[column]
            if not _is_number(value):
                values[name] = None
            elif name in _GAUGES:
                values[name] = value
            elif before and _is_number(before[column]):
                values[name] = max(0.0, value - before[column]) / elapsed
            else:
                values[name] = None
        before = sample
        yield sample[0], values


def _span(path: str) -> tuple[float, float] | None:
    """Return (first time, last time), None without samples."""
    first = next(_samples(path), None)
    newest = last(path)
    if first is None or newest is None or newest["t"] is None:
        return None
    return float(first[0]), newest["t"]


class _Thin:
    """Keeps rows as they are while they are few; else the lowest and highest of every column per span of time."""

    def __init__(self, ends: tuple[float, float], points: int) -> None:
        self._first, last_t = ends
        self._points = points
        self._spans = points // 2
        self._width = max((last_t - self._first) / self._spans, 1e-9)
        self._rows: list[Row] | None = []
        self._low: dict[tuple[int, str], tuple[float, float]] = {}
        self._high: dict[tuple[int, str], tuple[float, float]] = {}
        self._times: dict[int, tuple[float, float]] = {}

    def add(self, row: Row) -> None:
        if self._rows is not None:
            self._rows.append(row)
            if len(self._rows) <= self._points:
                return
            rows, self._rows = self._rows, None
            for early in rows:
                self._put(early)
            return
        self._put(row)

    def _put(self, row: Row) -> None:
        t, values = row
        span = min(max(int((t - self._first) / self._width), 0), self._spans - 1)
        self._times[span] = (self._times.get(span, (t, t))[0], t)
        for name, value in values.items():
            if value is None:
                continue
            key = (span, name)
            if key not in self._low or value < self._low[key][0]:
                self._low[key] = (value, t)
            if key not in self._high or value > self._high[key][0]:
                self._high[key] = (value, t)

    def result(self) -> dict[str, list[Value]]:
        if self._rows is not None:
            columns: dict[str, list[Value]] = {"t": [t for t, _ in self._rows]}
            columns.update({name: [values[name] for _, values in self._rows] for name in COLUMNS})
            return columns
        columns = {"t": []}
        columns.update({name: [] for name in COLUMNS})
        for span, (start, end) in sorted(self._times.items()):
            columns["t"].extend((start, end) if end > start else (start,))
            for name in COLUMNS:
                columns[name].extend(self._pair((span, name), single=end <= start))
        return columns

    def _pair(self, key: tuple[int, str], *, single: bool) -> tuple[Value, ...]:
        low, high = self._low.get(key), self._high.get(key)
        if low is None or high is None:
            return (None,) if single else (None, None)
        if single:
            return (high[0],)
        return (low[0], high[0]) if low[1] <= high[1] else (high[0], low[0])
