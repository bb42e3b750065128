"""The queue on workloads that others recorded and others scheduled: the figures of the issue, one record each.

`PARTS` is the list of what is measured; a part yields records and may be added by a line. The traces are read from the
folder given by `--traces`; one that is not there is said on stderr and its part left out. Runs the simulator in this
process: these figures depend on no clock, except those of a pass, which are CPU time.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench import crowd, queue_forecast, record
from bench.stage import Stage
from trainmaster.core.records import Node, Role
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.packing import Packing, mix_of
from trainmaster.simulate.clusters import parse_cluster
from trainmaster.simulate.compare import settings
from trainmaster.simulate.metrics import SimulationSummary, summarise
from trainmaster.simulate.run import SimulationOutcome, simulate
from trainmaster.simulate.traces import read_trace
from trainmaster.simulate.workload import NodeSize, Workload

KTH: Final = ("kth-sp2.csv.gz", "1x0:cpu=100")
VC_992: Final = ("philly-vc-992.csv.gz", "8x8")
PHILLY: Final = ("philly-68k.csv.gz", "64x8")
OPENB: Final = ("openb-pods-default.csv.gz", "openb-nodes.csv.gz")
EASY_WAIT_S, EASY_SLOWDOWN, EASY_LONGEST_S = 6837.0, 92.6, 262_194.0
"""What EASY came to on kth-sp2 by the published result file."""

DEMAND: Final = 1.3
"""Cards asked for, of all there are."""

Records = Iterator[record.Record]


class Folder:
    """The traces. `quick`: the long one is left out."""

    def __init__(self, path: Path, quick: bool) -> None:
        self.path, self.quick = path, quick
        self._known: dict[str, tuple[Workload, tuple[Node, ...]]] = {}

    def there(self, *names: str) -> bool:
        """Return whether all these files are there; says what is not."""
        missing = [name for name in names if not (self.path / name).exists()]
        for name in missing:
            print(f"queue: no {name} in {self.path}: left out", file=sys.stderr)
        return not missing

    def read(self, trace: tuple[str, str]) -> tuple[Workload, tuple[Node, ...]]:
        """Return the workload and the machines of a trace."""
        name, cluster = trace
        if name not in self._known:
            nodes = parse_cluster([cluster])
            self._known[name] = read_trace(str(self.path / name), NodeSize.of(nodes)), nodes
        return self._known[name]

    def run(self, trace: tuple[str, str], policy: str) -> SimulationOutcome:
        """Return what `policy` makes of a trace."""
        return simulate(*self.read(trace), settings([policy])[0])

    def summary(self, trace: tuple[str, str], policy: str) -> SimulationSummary:
        """Return the numbers of what `policy` makes of a trace."""
        return summarise(self.run(trace, policy))


EQUAL: Final = (
    (VC_992, "fifo-strict", "wait_fifo", "waits unlike the reference, philly-vc-992, fifo-strict"),
    (VC_992, "sjf-strict", "wait_sjf", "waits unlike the reference, philly-vc-992, sjf-strict"),
    (PHILLY, "fifo-strict", "wait_fifo", "waits unlike the reference, philly-68k, fifo-strict"),
    (PHILLY, "sjf-strict", "wait_sjf", "waits unlike the reference, philly-68k, sjf-strict"),
)
"""Trace, policy, the column of the file with the waits that two other simulators found, metric."""


def _equality(stage: Stage, folder: Folder) -> Records:
    for trace, policy, column, metric in EQUAL:
        if not (folder.quick and trace is PHILLY) and folder.there(trace[0]):
            rows = folder.run(trace, policy).rows
            differ = sum(row.wait_s != row.job.reference[column] for row in rows)
            yield stage.record(metric, [differ], f"of {len(rows)} jobs")


def _easy(stage: Stage, folder: Folder) -> Records:
    """Plain EASY backfill against the published result file."""
    if folder.there(KTH[0]):
        found = folder.summary(KTH, "fifo-easy").waits
        yield stage.record("mean wait off EASY's, kth-sp2, fifo-easy", [_off(found.mean_s, EASY_WAIT_S)], "%")
        yield stage.record("slowdown off EASY's, kth-sp2, fifo-easy", [_off(found.slowdown, EASY_SLOWDOWN)], "%")
        yield _beside(stage, "mean wait, kth-sp2, fifo-easy", found.mean_s, "s", EASY_WAIT_S)
        yield _beside(stage, "bounded slowdown, kth-sp2, fifo-easy", found.slowdown, "", EASY_SLOWDOWN)


def _off(value: float, reference: float) -> float:
    return abs(value / reference - 1) * 100


def _beside(stage: Stage, metric: str, value: float, unit: str, easy: float) -> record.Record:
    return stage.record(metric, [value], unit, against="published EASY", peer=[easy])


def _default(stage: Stage, folder: Folder) -> Records:
    """The platform's own policy with its defaults, the same for every trace."""
    if folder.there(KTH[0]):
        found = folder.summary(KTH, "default").waits
        yield _beside(stage, "bounded slowdown, kth-sp2, default", found.slowdown, "", EASY_SLOWDOWN)
        yield _beside(stage, "mean wait, kth-sp2, default", found.mean_s, "s", EASY_WAIT_S)
        yield _beside(stage, "longest wait, kth-sp2, default", found.max_s, "s", EASY_LONGEST_S)
    if not folder.quick and folder.there(PHILLY[0]):
        found = folder.summary(PHILLY, "default").waits
        yield stage.record("mean wait, philly-68k, default, loose limits", [found.mean_s], "s")
        yield stage.record("longest wait, philly-68k, default, loose limits", [found.max_s], "s")


def _packing(stage: Stage, folder: Folder) -> Records:
    """Share of the cards allocated when pods that ask for 130 % of them have arrived and nothing ends."""
    if not folder.there(*OPENB):
        return
    nodes = parse_cluster([str(folder.path / OPENB[1])])
    work = read_trace(str(folder.path / OPENB[0]), NodeSize.of(nodes), sizes_only=True)
    pods = [job.roles for job in work.jobs]
    mix = mix_of((role, role.replicas) for roles in pods for role in roles)
    for metric, packing in (
        ("cards allocated, openb, best-fit", Packing()),
        ("cards allocated, openb, fgd", Packing("fgd", mix=mix)),
    ):
        shares = [allocated(nodes, pods, packing, seed) * 100 for seed in range(2 if folder.quick else 10)]
        yield stage.record(metric, shares, "%")


def allocated(nodes: Sequence[Node], pods: Sequence[tuple[Role, ...]], packing: Packing, seed: int) -> float:
    """Return the share of the cards held once pods asking for DEMAND of them came: shuffled, then drawn again."""
    chance = random.Random(seed)
    order = list(pods)
    chance.shuffle(order)
    capacity = Capacity(nodes)
    whole = sum(len(node.gpus) for node in nodes) * 1000
    asked = held = 0
    while asked < DEMAND * whole:
        roles = order.pop() if order else chance.choice(pods)
        milli = sum(role.replicas * role.resources.gpu * role.resources.gpu_milli for role in roles)
        asked += milli
        placement = fit(capacity, roles, "default", packing=packing)
        if placement is not None:
            capacity.take(roles, placement)
            held += milli
    return held / whole


def _passes(stage: Stage, folder: Folder) -> Records:
    """CPU of one full pass, order, fits and reservation, before 2,000 nodes; and of all reasons. See bench/crowd.py."""
    rounds = 2 if folder.quick else 7
    even, odd = crowd.cpu_ms(10_000, False, rounds), crowd.cpu_ms(10_000, True, rounds)
    yield stage.record("CPU of a pass, 10,000 waiting, favourable", even.first, "ms")
    yield stage.record("CPU of a pass, 10,000 waiting, unfavourable", odd.first, "ms")
    yield stage.record("CPU of another pass, 10,000 waiting, favourable", even.again, "ms")
    yield stage.record("CPU of another pass, 10,000 waiting, unfavourable", odd.again, "ms")
    yield stage.record("CPU of the same pass again, nothing changed, 10,000 waiting", even.idle + odd.idle, "ms")
    yield stage.record("CPU of everybody's reason, 10,000 waiting, favourable", even.reasons, "ms")
    yield stage.record("CPU of everybody's reason, 10,000 waiting, unfavourable", odd.reasons, "ms")
    for metric, unlike, few in (
        ("CPU of a pass, 100,000 waiting, favourable", False, even),
        ("CPU of a pass, 100,000 waiting, unfavourable", True, odd),
    ):
        many = crowd.cpu_ms(100_000, unlike, rounds)
        yield stage.record(metric, many.first, "ms", against="10,000 waiting", peer=few.first)


def _forecasts(stage: Stage, folder: Folder) -> Records:
    """Starts foreseen at submission against what happened. See bench/queue_forecast.py."""
    if folder.there(KTH[0]):
        work, nodes = folder.read(KTH)
        found = queue_forecast.study(work, nodes, "fifo-easy", 40 if folder.quick else queue_forecast.EVERY)
        told = queue_forecast.worth(found)
        yield stage.record("starts-at-once foreseen right, kth-sp2, fifo-easy", [100 * told.right], f"% of {told.jobs}")
        yield stage.record("error of the forecast / mean wait, kth-sp2, fifo-easy", [told.error], "")
        for metric, share in (
            ("upper end's cover off 90 %, kth-sp2, fifo-easy, all", told.covered),
            ("upper end's cover off 90 %, kth-sp2, fifo-easy, those who wait", told.covered_waiting),
        ):
            yield stage.record(metric, [abs(100 * share - 90)], "percentage points")
        yield stage.record("CPU of one forecast, kth-sp2", [1000 * cpu_s for cpu_s in found.cpu_s], "ms")


PARTS: Final[tuple[Callable[[Stage, Folder], Records], ...]] = (
    _equality,
    _easy,
    _default,
    _packing,
    _passes,
    _forecasts,
)
"""In this order. What needs a live server is in bench/live.py."""


def run(stage: Stage, quick: bool) -> Records:
    """Yield the records of all parts."""
    folder = Folder(stage.traces, quick)
    for part in PARTS:
        yield from part(stage, folder)
