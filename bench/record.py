"""What a benchmark says: one record per number, and whether it meets its bar. Pure; prints nothing.

The bars are one literal table, so that what is promised can be read in one place. A record whose peer is missing on
this machine has `against` null and no verdict: it can neither meet nor miss its bar.
"""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Bar:
    """`on` "ratio": value / the peer's value; "value": the number itself. `most`: it must not be above, else not
    below.
    """

    limit: float
    on: str
    most: bool

    def __str__(self) -> str:
        return f"{self.on} {'<=' if self.most else '>='} {self.limit:g}"

    def met(self, value: float, ratio: float | None) -> bool | None:
        """Return whether the bar is met, None when it cannot be told because there was nothing to compare with."""
        found = value if self.on == "value" else ratio
        if found is None:
            return None
        return found <= self.limit if self.most else found >= self.limit


def _at_most(limit: float, on: str = "ratio") -> Bar:
    return Bar(limit, on, most=True)


def _at_least(limit: float, on: str = "ratio") -> Bar:
    return Bar(limit, on, most=False)


BARS: Final[dict[tuple[str, str], Bar]] = {
    ("throughput", "CPU per completed job, against single jobs"): _at_most(1.0),
    ("throughput", "CPU per completed job, against one array"): _at_most(1.0),
    ("throughput", "completed, against single jobs"): _at_least(1.0),
    ("throughput", "completed, against Slurm"): _at_least(30.0),
    ("submit", "durable submits, 32 connections"): _at_least(2000.0, "value"),
    ("submit", "durable submits, against validating only"): _at_least(0.5),
    ("submit", "batch of 10,000 accepted"): _at_least(1.0),
    ("latency", "first line, 1 task, against HyperQueue"): _at_most(1.0),
    ("latency", "first line, 1 task, against posix_spawn"): _at_most(5.0),
    ("latency", "first line, 1 task in a sandbox, against bubblewrap"): _at_most(1.3),
    ("latency", "last first line, gang of 8, against HyperQueue"): _at_most(1.0),
    ("logs", "1M lines of 100 B"): _at_least(0.9),
    ("logs", "follower sees a line, p95"): _at_most(50.0, "value"),
    ("idle", "memory (PSS), server and agent, 10,000 jobs stored"): _at_most(100.0, "value"),
    ("idle", "CPU, server and agent, 10,000 jobs stored"): _at_most(0.5, "value"),
    ("idle", "ready after start, 10,000 jobs stored"): _at_most(2.0, "value"),
    ("client", "from trainmaster import Client, above bare Python"): _at_most(150.0, "value"),
    ("training", "steps/s, 2-rank DDP, sandboxed and sampled"): _at_least(0.98),
    ("console", "sign-in page, bytes until it stands"): _at_most(250.0, "value"),
    ("console", "sign-in page, layout shift"): _at_most(0.05, "value"),
    ("console", "list, layout shift"): _at_most(0.05, "value"),
    **{("console", f"list of {rows} jobs, idle"): _at_most(1.0, "value") for rows in (50, 500)},
    ("console", "list of 500 jobs, a frame while scrolled"): _at_most(17.0, "value"),
    ("console", "list of 500 jobs, a frame while scrolled, p95"): _at_most(34.0, "value"),
    ("catalogue", "upload of one large file"): _at_least(0.7),
    ("catalogue", "download of one large file"): _at_least(0.7),
    ("catalogue", "upload of small files"): _at_least(0.5),
    ("catalogue", "download of small files"): _at_least(0.5),
    ("catalogue", "sent of what is there already"): _at_most(1.0, "value"),
    **{("catalogue", f"list of {what}, p95"): _at_most(15.0, "value") for what in ("data sets", "templates", "models")},
    ("catalogue", "submit of 1,000 entries"): _at_most(1.0, "value"),
    ("catalogue", "page of 1,000 entries, until it can be used"): _at_most(1000.0, "value"),
    ("catalogue", "20 curves of 100,000 points, drawn"): _at_most(500.0, "value"),
    ("live", "jobs started beside 10,000 waiting"): _at_least(0.9),
    ("live", "jobs started beside 100,000 waiting"): _at_least(0.9),
    ("live", "live: jobs that never ran"): _at_most(0.0, "value"),
    ("live", "live: urgent jobs let in of 50 at once"): _at_most(5.0, "value"),
    ("crash", "jobs lost"): _at_most(0.0, "value"),
    ("crash", "jobs run twice"): _at_most(0.0, "value"),
    ("crash", "running jobs harmed"): _at_most(0.0, "value"),
    ("crash", "logs not whole"): _at_most(0.0, "value"),
    ("crash", "full disks: jobs lost"): _at_most(0.0, "value"),
    ("crash", "full disks: jobs run twice"): _at_most(0.0, "value"),
    ("crash", "full disks: jobs failed"): _at_most(0.0, "value"),
    **{
        ("abuse", f"p95 of {door} beside hostile ones"): _at_most(2.0)
        for door in ("list", "job", "explain", "queue", "log", "submit", "preview", "log line", "event")
    },
    ("abuse", "the server's memory at most"): _at_most(300.0, "value"),
    **{
        ("team", f"{what}, p95"): _at_most(15.0, "value")
        for what in (
            "home",
            "list",
            "list of mine",
            "list of one state",
            "list by name",
            "list by run time",
            "list of a workspace",
            "list of a framework",
            "list of a label",
            "list of an owner",
            "favorites",
            "models",
            "algorithms",
            "data sets",
            "images",
            "volumes",
            "templates",
            "sweeps",
            "notifications",
            "queue",
            "cluster",
        )
    },
    **{("team", f"search, {what}, p95"): _at_most(40.0, "value") for what in ("most", "some", "none", "Chinese")},
    **{("team", f"search, {what}"): _at_most(1.5) for what in ("most", "some", "none", "Chinese")},
    ("team", "search of everything, p95"): _at_most(40.0, "value"),
    ("team", "search of everything"): _at_most(1.5),
    ("team", "questions of rights"): _at_most(5.0, "value"),
    ("team", "submit of a member"): _at_most(1.1),
    ("team", "home page interactive"): _at_most(500.0, "value"),
    ("queue", "waits unlike the reference, philly-vc-992, fifo-strict"): _at_most(0.0, "value"),
    ("queue", "waits unlike the reference, philly-vc-992, sjf-strict"): _at_most(0.0, "value"),
    ("queue", "waits unlike the reference, philly-68k, fifo-strict"): _at_most(0.0, "value"),
    ("queue", "waits unlike the reference, philly-68k, sjf-strict"): _at_most(0.0, "value"),
    ("queue", "mean wait off EASY's, kth-sp2, fifo-easy"): _at_most(0.5, "value"),
    ("queue", "slowdown off EASY's, kth-sp2, fifo-easy"): _at_most(1.0, "value"),
    ("queue", "bounded slowdown, kth-sp2, default"): _at_most(70.0, "value"),
    ("queue", "longest wait, kth-sp2, default"): _at_most(1.2),
    ("queue", "mean wait, philly-68k, default, loose limits"): _at_most(12_500.0, "value"),
    ("queue", "longest wait, philly-68k, default, loose limits"): _at_most(850_000.0, "value"),
    ("queue", "cards allocated, openb, best-fit"): _at_least(93.0, "value"),
    ("queue", "cards allocated, openb, fgd"): _at_least(93.0, "value"),
    ("queue", "CPU of a pass, 10,000 waiting, favourable"): _at_most(50.0, "value"),
    ("queue", "CPU of a pass, 10,000 waiting, unfavourable"): _at_most(50.0, "value"),
    ("queue", "CPU of the same pass again, nothing changed, 10,000 waiting"): _at_most(0.1, "value"),
    ("queue", "CPU of a pass, 100,000 waiting, favourable"): _at_most(10.0),
    ("queue", "CPU of a pass, 100,000 waiting, unfavourable"): _at_most(10.0),
    ("queue", "starts-at-once foreseen right, kth-sp2, fifo-easy"): _at_least(99.9, "value"),
    ("queue", "error of the forecast / mean wait, kth-sp2, fifo-easy"): _at_most(0.5, "value"),
    ("queue", "upper end's cover off 90 %, kth-sp2, fifo-easy, all"): _at_most(5.0, "value"),
    ("queue", "upper end's cover off 90 %, kth-sp2, fifo-easy, those who wait"): _at_most(5.0, "value"),
    ("crash", "listing again after a kill of the server, longest"): _at_most(2.0, "value"),
    ("slurm", "submit until Slurm has the job"): _at_most(1.3),
    ("slurm", "jobs into Slurm's queue, four clients"): _at_least(0.8),
    ("slurm", "CPU of following, finished jobs stored"): _at_most(1.2),
    ("slurm", "start told after Slurm's own, longest"): _at_most(2.0, "value"),
    ("slurm", "end told after Slurm's own, longest"): _at_most(2.0, "value"),
    ("slurm", "steps/s, DDP on 2 nodes x 2 processes"): _at_least(0.98),
}
"""(name, metric) -> what the issue asks for. Metrics without a bar are told for their own sake."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of `bench/run`. `value` in `unit`; `ratio` = value / the value of `against`; `n` samples; `load`
    1-minute.
    """

    name: str
    metric: str
    value: float
    unit: str
    against: str | None
    ratio: float | None
    bar: str | None
    ok: bool | None
    n: int
    load: float

    def to_json(self) -> dict[str, object]:
        """Return the record as it is printed."""
        return asdict(self)


def rounded(value: float) -> float:
    """Return `value` with four significant digits."""
    return float(f"{value:.4g}")


def record(
    name: str,
    metric: str,
    values: Sequence[float],
    unit: str,
    load: float,
    *,
    against: str | None = None,
    peer: Sequence[float] = (),
    ratio: float | None = None,
) -> Record:
    """Return the record of the median of `values` beside the median of `peer`. Raises ValueError without values.

    `ratio` overrides the ratio of medians where rounds were compared one by one.
    """
    if not values:
        raise ValueError(f"{name}: {metric} has no values")
    value = statistics.median(values)
    if ratio is None and peer and statistics.median(peer) > 0:
        ratio = value / statistics.median(peer)
    bar = BARS.get((name, metric))
    met = bar.met(value, ratio) if bar else None
    return Record(
        name,
        metric,
        rounded(value),
        unit,
        against if ratio is not None or bar is None or bar.on == "value" else None,
        None if ratio is None else rounded(ratio),
        str(bar) if bar else None,
        met,
        len(values),
        round(load, 2),
    )


def missed(records: Sequence[Record]) -> bool:
    """Return whether any bar was missed."""
    return any(found.ok is False for found in records)
