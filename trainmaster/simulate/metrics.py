"""What a simulation came to, in numbers: waits, slowdowns, use of the machines, fairness. Pure.

Quantiles are interpolated between neighbours. Bounded slowdown is max(1, (wait + run) / max(run, 10 s)), of the
Parallel Workloads Archive. Fairness is Jain's index of the mean bounded slowdown by workspace: 1 when all suffer alike,
1/n when one of n bears it all. Jobs that did not run to an end are counted and left out of the means.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

from trainmaster.simulate.clusters import PLENTY_CORES
from trainmaster.simulate.run import Row, SimulationOutcome

K = TypeVar("K", int, str)

BOUND_S: Final = 10
SIZES: Final = ((1, 1), (2, 4), (5, 8), (9, 32), (33, None))
"""Size classes, in cards (in cores where the machines have no cards); both ends belong to it, None: no upper end."""

SIZE_NAMES: Final = ("0", *(str(a) if a == b else f"{a}+" if b is None else f"{a}-{b}" for a, b in SIZES))
"""What the classes are called; the first one is of jobs that ask for none."""


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """Seconds that a group of `jobs` jobs waited, and their mean bounded slowdown and completion time."""

    jobs: int
    mean_s: float
    p50_s: float
    p90_s: float
    p99_s: float
    max_s: int
    slowdown: float
    jct_s: float


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """All numbers of one outcome. `allocated` is the share of the cards (cores) held from the first submit to the last
    end, `lost_card_h` what runs that had to be repeated cost, `others` the jobs that did not run to an end by state.
    """

    label: str
    waits: WaitTimes
    makespan_s: int
    allocated: float
    fairness: float
    attempts: int
    lost_card_h: float
    by_size: dict[str, WaitTimes]
    by_workspace: dict[str, WaitTimes]
    others: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON-able dicts."""
        return asdict(self)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which `share` of `ordered` (ascending, not empty) lie, interpolated."""
    place = (len(ordered) - 1) * share
    low = int(place)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (place - low)


def slowdown(row: Row) -> float:
    """Return the bounded slowdown of a job that ended."""
    return max(1.0, (row.wait_s + row.lost_s + row.run_s) / max(row.run_s, BOUND_S))


def waits(rows: Sequence[Row]) -> WaitTimes:
    """Return the waits of `rows`; all zero when there are none."""
    if not rows:
        return WaitTimes(0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
    ordered = sorted(row.wait_s for row in rows)
    count = len(rows)
    completion = sum((row.end_s or 0) - row.job.submit_s for row in rows) / count
    return WaitTimes(
        count,
        sum(ordered) / count,
        quantile(ordered, 0.5),
        quantile(ordered, 0.9),
        quantile(ordered, 0.99),
        ordered[-1],
        sum(map(slowdown, rows)) / count,
        completion,
    )


def jain(values: Iterable[float]) -> float:
    """Return Jain's fairness index of `values`, 1.0 when there are none."""
    found = list(values)
    squares = sum(value * value for value in found)
    return sum(found) ** 2 / (len(found) * squares) if squares else 1.0


def size_of(outcome: SimulationOutcome) -> Callable[[Row], float]:
    """Return what measures a job on these machines: its cards, or its cores where there are none."""
    cards = any(node.gpus for node in outcome.nodes)
    return lambda row: row.job.cards if cards else row.job.cores


def capacity(outcome: SimulationOutcome) -> float:
    """Return the cards of the machines, or their cores where they have no cards."""
    cards = sum(len(node.gpus) for node in outcome.nodes)
    return cards or sum(node.cpu for node in outcome.nodes if node.cpu < PLENTY_CORES)


def size_class(size: float) -> int:
    """Return the place in SIZE_NAMES of a job of `size`."""
    if size <= 0:
        return 0
    return 1 + next(at for at, (_, last) in enumerate(SIZES) if last is None or size <= last)


def summarise(outcome: SimulationOutcome) -> SimulationSummary:
    """Return the numbers of `outcome`. O(jobs log jobs)."""
    rows = [row for row in outcome.rows if row.done]
    size = size_of(outcome)
    first = min((row.job.submit_s for row in rows), default=0)
    last = max((row.end_s or 0 for row in rows), default=0)
    held = sum(size(row) * (row.run_s + row.lost_s) for row in rows)
    offered = capacity(outcome) * (last - first)
    by_workspace = _grouped(rows, lambda row: row.job.workspace)
    others: dict[str, int] = {}
    for row in outcome.rows:
        if not row.done:
            others[row.state] = others.get(row.state, 0) + 1
    return SimulationSummary(
        outcome.label,
        waits(rows),
        last - first,
        held / offered if offered else 0.0,
        jain(group.slowdown for group in by_workspace.values()),
        sum(row.attempts for row in rows),
        sum(row.lost_s * size(row) for row in rows) / 3600,
        {SIZE_NAMES[at]: found for at, found in _grouped(rows, lambda row: size_class(size(row))).items()},
        by_workspace,
        others,
    )


def _grouped(rows: Sequence[Row], key: Callable[[Row], K]) -> dict[K, WaitTimes]:
    groups: dict[K, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {name: waits(groups[name]) for name in sorted(groups)}


def over_time(outcome: SimulationOutcome, points: int = 240) -> tuple[list[int], list[float], list[float]]:
    """Return (seconds, share allocated, jobs waiting): means over `points` equal parts of the time. O(jobs log jobs).

    Only the first wait and the last run of a job with several attempts are drawn.
    """
    rows = [row for row in outcome.rows if row.done]
    if not rows:
        return [], [], []
    size, whole = size_of(outcome), capacity(outcome) or 1
    first, last = min(row.job.submit_s for row in rows), max(row.end_s or 0 for row in rows)
    step = max(1, -(-(last - first) // points))
    count = -(-(last - first) // step) or 1
    held, queued = [0.0] * count, [0.0] * count
    for row in rows:
        start, end = row.start_s or 0, row.end_s or 0
        _spread(held, start - first, end - first, step, size(row) / whole)
        _spread(queued, row.job.submit_s - first, start - first, step, 1.0)
    return [first + i * step for i in range(count)], [v / step for v in held], [v / step for v in queued]


def _spread(into: list[float], begin: int, end: int, step: int, weight: float) -> None:
    """Add `weight` x seconds of [begin, end) to the parts of `step` seconds it touches."""
    for at in range(begin // step, min(len(into), -(-end // step))):
        into[at] += weight * (min(end, (at + 1) * step) - max(begin, at * step))
