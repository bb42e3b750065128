"""Training metrics of a job from three sources, without asking anything of the user's code (R209).

`trainmaster.log` lines, declared patterns over the logs, and TensorBoard event files. Nothing is collected before
somebody looks; then only what is new is read, a bounded piece per look, and what was derived is kept in files beside
the job, so that a look at an old job costs no second reading. Invariants: blocking functions, to be called in threads;
memory is bounded by the jobs looked at last; a failing source never hides the others.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from trainmaster.core.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.curves import JobCurves
from trainmaster.service.progress import progress_of
from trainmaster.service.tensorboard import TensorBoardChild
from trainmaster.spec.job import JobSpec

KEPT_JOBS: Final = 32
KEPT_SUMMARIES: Final = 4096
FRESH_S: Final = 1.0
BOARD_EVERY_S: Final = 10.0
LOOK_S: Final = 2.0
GLANCE_S: Final = 0.05
"""A chart may wait `LOOK_S` for collecting, a line of a list `GLANCE_S`; what is left is collected at the next look."""
SUMMARY: Final = "summary.json"


@dataclass(frozen=True, slots=True)
class _Glance:
    """A summary, when it was made, at which version of the job, and whether it can still change."""

    at: float
    version: int
    final: bool
    summary: dict[str, Any]


class MetricsReader:
    """One per server; every method may be called from any thread and may block."""

    def __init__(self, layout: Layout, clock: Callable[[], float] = time.time) -> None:
        self._layout, self._clock = layout, clock
        self.child = TensorBoardChild()
        self._background = ThreadPoolExecutor(1, "tensorboard")
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, JobCurves] = OrderedDict()
        self._glances: OrderedDict[str, _Glance] = OrderedDict()

    def close(self) -> None:
        """End the TensorBoard reader."""
        self._background.shutdown(wait=False, cancel_futures=True)
        self.child.close()

    def forget(self, job: str) -> None:
        """Drop what is kept in memory of a deleted job."""
        with self._lock:
            self._jobs.pop(job, None)
            self._glances.pop(job, None)

    def series(self, job: Job, spec: JobSpec | None, attempt: int | None = None, points: int = 500) -> dict[str, Any]:
        """Return ``{series: [...], last: {name: value}}`` of `attempt` (None: of all), as the API shows it."""
        curves = self._curves(job, spec)
        with curves.lock:
            deadline = time.monotonic() + LOOK_S
            curves.collect(self._clock(), deadline, _ended(job))
            if time.monotonic() - curves.board_looked_at >= FRESH_S:
                curves.collect_board(self.child, deadline)
            return {"series": curves.series(attempt, points), "last": curves.last()}

    def last_values(self, job: Job, spec: JobSpec | None) -> dict[str, float]:
        """Return the newest finite value of every metric, everything collected first (for a saved model's record)."""
        curves = self._curves(job, spec)
        with curves.lock:
            more = True
            while more:
                more = curves.collect(self._clock(), time.monotonic() + LOOK_S, lambda _: True)
            while curves.collect_board(self.child, time.monotonic() + LOOK_S):
                continue
            return {name: value for name, value in curves.last().items() if value is not None}

    def progress(self, job: Job, spec: JobSpec | None) -> dict[str, Any] | None:
        """Return ``{fraction, step, of, eta_s}`` of the last attempt, None when nobody can know."""
        progress: dict[str, Any] | None = self.summary(job, spec)["progress"]
        return progress

    def summary(self, job: Job, spec: JobSpec | None) -> dict[str, Any]:
        """Return ``{progress, metrics}`` for a list, at most a second old. Free for a job that has ended."""
        now = self._clock()
        with self._lock:
            known = self._glances.get(job.id)
        if known is not None and known.version == job.version and (known.final or 0 <= now - known.at < FRESH_S):
            return known.summary
        if job.attempts_used == 0:
            return {"progress": None, "metrics": {}}
        glance = (self._stored(job) if job.terminal else None) or self._look(job, spec, now, known)
        with self._lock:
            self._glances[job.id] = glance
            if len(self._glances) > KEPT_SUMMARIES:
                self._glances.popitem(last=False)
        return glance.summary

    def _look(self, job: Job, spec: JobSpec | None, now: float, known: _Glance | None) -> _Glance:
        curves = self._curves(job, spec)
        if not curves.lock.acquire(timeout=GLANCE_S):  # somebody is collecting: what is known will do
            return known or _Glance(now, job.version, False, {"progress": None, "metrics": {}})
        try:
            more = curves.collect(now, time.monotonic() + GLANCE_S, _ended(job))
            curves.load_board()
            summary = {"progress": progress_of(job, spec, curves, now), "metrics": curves.last()}
            waited = time.monotonic() - curves.board_looked_at
            board_done = curves.board_ended
        finally:
            curves.lock.release()
        if not board_done and waited >= BOARD_EVERY_S:
            self._background.submit(self._look_at_board, curves, job.terminal)
        glance = _Glance(now, job.version, job.terminal and board_done and not more, summary)
        if glance.final:
            self._store(job, glance)
        return glance

    def _look_at_board(self, curves: JobCurves, ended: bool) -> None:
        with curves.lock:
            more = curves.collect_board(self.child, time.monotonic() + LOOK_S)
            curves.board_ended = ended and not more

    def _stored(self, job: Job) -> _Glance | None:
        try:
            with open(os.path.join(self._layout.job(job.id), SUMMARY), "rb") as file:
                stored = msgspec.json.decode(file.read())
            if stored["version"] == job.version:
                return _Glance(0.0, job.version, True, {"progress": stored["progress"], "metrics": stored["metrics"]})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None

    def _store(self, job: Job, glance: _Glance) -> None:
        path = os.path.join(self._layout.job(job.id), SUMMARY)
        with suppress(OSError):  # only a short cut for the next start of the server
            with open(path + ".new", "wb") as file:
                file.write(msgspec.json.encode({"version": job.version, **glance.summary}))
            os.replace(path + ".new", path)

    def _curves(self, job: Job, spec: JobSpec | None) -> JobCurves:
        patterns = tuple(metric.pattern for metric in spec.metrics) if spec is not None else ()
        with self._lock:
            curves = self._jobs.get(job.id)
            if curves is None or (curves.patterns != patterns and spec is not None):
                curves = self._jobs[job.id] = JobCurves(self._layout.job(job.id), patterns)
            self._jobs.move_to_end(job.id)
            if len(self._jobs) > KEPT_JOBS:
                self._jobs.popitem(last=False)
            return curves


def _ended(job: Job) -> Callable[[int], bool]:
    """Return whether the tasks of an attempt can still write: only those of a live job's last attempt can."""
    return lambda attempt: job.terminal or attempt < job.attempts_used
