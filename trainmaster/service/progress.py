"""How far a job is, from what its curves and its parameters say. Pure.

In this order: what `trainmaster.progress(step, of)` said; the metric the spec names against its `of`; the newest step
against a parameter whose name says that it is the number of epochs or steps. Invariant: a fraction lies in 0..1 and
never comes from a guess about the total.
"""

import math
from typing import Any, Final

from trainmaster.core.records import Job
from trainmaster.service.curves import JobCurves, Key
from trainmaster.spec.job import JobSpec
from trainmaster.storage.points import Curve

TOTALS: Final = (
    "epochs", "num_epochs", "num_train_epochs", "max_epochs", "n_epochs",
    "steps", "max_steps", "num_steps", "total_steps", "train_steps", "iterations", "max_iters",
)  # fmt: skip
"""Parameters that name the total, when the spec does not say which."""


def progress_of(job: Job, spec: JobSpec | None, curves: JobCurves, now: float) -> dict[str, Any] | None:
    """Return ``{fraction, step, of, eta_s}`` of the job's last attempt, None when nobody can know."""
    attempt = job.attempts_used
    told = curves.told.get(attempt)
    if told is not None and told.of:
        return _progress(job, told.step, told.of, 0.0, told.at, now)
    total = _total(spec)
    metric = spec.progress.metric if spec is not None and spec.progress is not None else "step"
    curve = _newest(curves, attempt, metric)
    if total is None or curve is None:
        return None
    counts = curve.steps if metric == "step" else curve.values
    first, newest = curve.first_step if metric == "step" else counts[0], counts[-1]
    from_zero = metric == "step" and any(other.first_step == 0 for other in curves.curves.values())
    done = newest + from_zero
    if not math.isfinite(done) or done > total:
        return None  # it counts something else than the total does
    return _progress(job, done, total, first + from_zero - 1, curve.times[-1], now)


def _newest(curves: JobCurves, attempt: int, metric: str) -> Curve | None:
    """Return the curve of `attempt` that was written to last; for "step" of any metric, else of that one."""
    found: list[tuple[float, Key]] = [
        (curve.times[-1], key)
        for key, curve in curves.curves.items()
        if key.attempt == attempt and metric in ("step", key.name)
    ]
    return curves.curves[max(found, key=lambda item: item[0])[1]] if found else None


def _total(spec: JobSpec | None) -> float | None:
    if spec is None:
        return None
    wanted = spec.progress.of if spec.progress is not None else None
    if isinstance(wanted, int | float):
        return float(wanted)
    names = (wanted,) if wanted else TOTALS
    for name in names:
        for role in spec.roles:
            total = _positive(role.parameters.get(name))
            if total is not None:
                return total
    return None


def _positive(value: Any) -> float | None:
    try:
        total = float(value)
    except (TypeError, ValueError):
        return None
    return total if 0 < total < math.inf else None


def _progress(job: Job, done: float, of: float, start: float, at: float, now: float) -> dict[str, Any]:
    fraction = min(max(done / of, 0.0), 1.0)
    return {"fraction": fraction, "step": done, "of": of, "eta_s": _eta_s(job, done - start, of - done, at, now)}


def _eta_s(job: Job, gained: float, missing: float, at: float, now: float) -> float | None:
    """Return the seconds left at this attempt's own pace, None when it has ended or has no pace yet."""
    started = job.attempt.started_at if job.attempt is not None else None
    if job.terminal or started is None or gained <= 0 or at <= started:
        return None
    return max(0.0, max(missing, 0.0) * (at - started) / gained - (now - at))
