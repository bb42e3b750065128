"""How far a job is, from what its curves and its parameters say. Pure.

In this order: what `trainmaster.progress(step, of)` said; the metric the spec names against its `of`; a count of epochs
or steps against a parameter whose name says that it is their number. Invariants: a fraction lies in 0..1 and never
comes from a guess about the total; which curve counts depends on what the curves hold and not on which was written to
last, so that progress goes back only where the job did.
"""

import math
from typing import Any, Final

from trainmaster.answers import ProgressView
from trainmaster.core.records import Job
from trainmaster.service.curves.curves import JobCurves, Key
from trainmaster.service.curves.pace import pace_of
from trainmaster.spec.job import JobSpec
from trainmaster.storage.points import Curve

TOTALS: Final = (
    "epochs", "num_epochs", "num_train_epochs", "max_epochs", "n_epochs",
    "steps", "max_steps", "num_steps", "total_steps", "train_steps", "iterations", "max_iters",
)  # fmt: skip
"""Parameters that name the total, when the spec does not say which."""

COUNTERS: Final[dict[bool, tuple[str, ...]]] = {
    True: ("epoch", "epochs", "train/epoch"),
    False: ("global_step", "train/global_step", "iteration"),
}
"""By whether the total is one of epochs: metrics that are such a count themselves, the first that a job has."""

BELIEVED: Final = ("log", "sdk", "tensorboard")
STEP: Final = "step"
ASLEEP: Final = 2.0
"""A curve that was written to for a time and not any more for this many times as long is no count."""
MOST_FALLS: Final = 3
"""A count that began again more often counts something smaller, such as the batches of each epoch."""


def progress_of(job: Job, spec: JobSpec | None, curves: JobCurves, now: float) -> ProgressView | None:
    """Return how far the job's last attempt is, None when nobody can know."""
    attempt = job.attempts_used
    for told in (curves.told[key] for key in sorted(curves.told) if key[0] == attempt):
        if told.of and math.isfinite(told.counts.steps[-1]):
            return _progress(job, told.counts, told.counts.steps[-1], told.of, now)
    total, epochs = _total(spec)
    if total is None:
        return None
    metric = spec.progress.metric if spec is not None and spec.progress is not None else STEP
    found = (
        _named(curves, attempt, metric, total) if metric != STEP else _counting(curves, attempt, total, epochs=epochs)
    )
    return None if found is None else _progress(job, *found, total, now)


def _named(curves: JobCurves, attempt: int, name: str, total: float) -> tuple[Curve, float] | None:
    """Return the curve of the metric called `name`, as a count of its values, and how many it counted."""
    keys = [key for key in curves.curves if key.attempt == attempt and key.name == name]
    for key in sorted(keys, key=_preference):
        counts = curves.curves[key].of_values()
        if counts.steps and _counts(counts, counts.steps[-1], total):
            return counts, counts.steps[-1]
    return None


def _counting(curves: JobCurves, attempt: int, total: float, *, epochs: bool) -> tuple[Curve, float] | None:
    """Return what counts towards `total`: a metric that is a count, else the steps of a curve that is still written to.

    Where curves count different things, one with few steps counts epochs, and one with many counts steps.
    """
    mine = {key: curve for key, curve in curves.curves.items() if key.attempt == attempt}
    if not mine:
        return None
    began, newest = min(curve.times[0] for curve in mine.values()), max(curve.times[-1] for curve in mine.values())
    for name in COUNTERS[epochs]:
        if (found := _named(curves, attempt, name, total)) is not None:
            return found
    best: tuple[tuple[object, ...], Curve, float] | None = None
    zeros = {(key.source, key.name, key.run) for key, curve in curves.curves.items() if curve.first_step == 0}
    for key, curve in mine.items():
        done = curve.steps[-1] + ((key.source, key.name, key.run) in zeros)
        asleep = newest - curve.times[-1] > ASLEEP * (curve.times[-1] - began)
        if asleep or not _counts(curve, done, total):
            continue
        rank = (*_preference(key)[:2], done if epochs else -done, *_preference(key)[2:])
        if best is None or rank < best[0]:
            best = rank, curve, done
    return None if best is None else (best[1], best[2])


def _counts(curve: Curve, done: float, total: float) -> bool:
    return math.isfinite(done) and done <= total and curve.falls <= MOST_FALLS


def _preference(key: Key) -> tuple[object, ...]:
    """The order in which curves are believed: what the job file declares, what the script says, what its libraries
    write.
    """
    return BELIEVED.index(key.source), key.task, key.run, key.name


def _total(spec: JobSpec | None) -> tuple[float | None, bool]:
    """Return the total, and whether it is one of epochs."""
    if spec is None:
        return None, False
    wanted = spec.progress.of if spec.progress is not None else None
    if isinstance(wanted, int | float):
        return float(wanted), False
    names = (wanted,) if wanted else TOTALS
    for name in names:
        for role in spec.roles:
            total = _positive(role.parameters.get(name))
            if total is not None:
                return total, "epoch" in name
    return None, False


def _positive(value: Any) -> float | None:
    try:
        total = float(value)
    except (TypeError, ValueError):
        return None
    return total if 0 < total < math.inf else None


def _progress(job: Job, counts: Curve, done: float, of: float, now: float) -> ProgressView:
    pace = None if job.terminal else pace_of(counts, max(of - done, 0.0), now)
    left, each = pace or (None, None)
    return ProgressView(fraction=min(max(done / of, 0.0), 1.0), step=done, of=of, eta_s=left, step_s=each)
