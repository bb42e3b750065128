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
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from trainmaster.answers import MetricResult, MetricsView, ProgressView, Series
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.curves.curves import JobCurves
from trainmaster.service.curves.progress import progress_of
from trainmaster.service.curves.tensorboard import TensorBoardChild
from trainmaster.spec.job import JobSpec

KEPT_JOBS: Final = 1024
KEPT_POINTS: Final = 1_000_000
"""In memory, of all jobs together (32 bytes each); the jobs looked at longest ago go first."""
_STRIPES: Final = 64
KEPT_SUMMARIES: Final = 4096
FRESH_S: Final = 1.0
BOARD_EVERY_S: Final = 10.0
LOOK_S: Final = 2.0
GLANCE_S: Final = 0.05
"""A chart may wait `LOOK_S` for collecting, a line of a list `GLANCE_S`; what is left is collected at the next look."""
SUMMARY: Final = "summary.json"


class Summary(msgspec.Struct, frozen=True):
    """What a list shows of a job that is watched: how far it is, and the last value of each metric."""

    progress: ProgressView | None = None
    metrics: dict[str, float | None] = msgspec.field(default_factory=dict)


NOTHING: Final = Summary()


class _Stored(msgspec.Struct, frozen=True):
    """The summary of an ended job as its file holds it."""

    version: int
    progress: ProgressView | None
    metrics: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class _Glance:
    """A summary, when it was made, at which version of the job, and whether it can still change."""

    at: float
    version: int
    final: bool
    summary: Summary


class MetricsReader:
    """One per server; every method may be called from any thread and may block.

    `ours`: whether files beside jobs are ours to write, and not another server's that leads; if not, what was derived
    is kept in memory alone.
    """

    def __init__(
        self, layout: Layout, clock: Callable[[], float] = time.time, ours: Callable[[], bool] = lambda: True
    ) -> None:
        self._layout, self._clock, self._ours = layout, clock, ours
        self.child = TensorBoardChild()
        self._background = ThreadPoolExecutor(1, "tensorboard")
        self._lock = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]
        self._jobs: OrderedDict[str, tuple[JobCurves, int]] = OrderedDict()
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

    def series(self, job: Job, spec: JobSpec | None, attempt: int | None = None, points: int = 500) -> MetricsView:
        """Return the curves of `attempt` (None: of all), and the last value of each name."""
        with self._curves(job.id, spec) as curves:
            self._collect(job, curves, time.monotonic() + LOOK_S)
            return MetricsView(series=curves.series(attempt, points), last=curves.last())

    def overlay(self, job: Job, spec: JobSpec | None, names: Collection[str], points: int) -> list[Series]:
        """Return the curves of these metrics by which the job is compared with others."""
        with self._curves(job.id, spec) as curves:
            self._collect(job, curves, time.monotonic() + LOOK_S)
            return curves.overlay(names, points)

    def results(self, job: Job, spec: JobSpec | None, deadline: float) -> tuple[dict[str, MetricResult], bool]:
        """Return what became of every metric, and whether there is more to collect than was until `deadline`
        (monotonic).
        """
        if job.attempts_used == 0:
            return {}, False
        with self._curves(job.id, spec) as curves:
            # Once the time is over nothing is begun any more: even a first piece of each of many jobs takes long.
            more = time.monotonic() >= deadline or self._collect(job, curves, deadline)
            return curves.results(), more

    def _collect(self, job: Job, curves: JobCurves, deadline: float) -> bool:
        more = curves.collect(self._clock(), deadline, _ended(job))
        if time.monotonic() - curves.board_looked_at >= FRESH_S:
            more = curves.collect_board(self.child, deadline) or more
        return more

    def last_values(self, job: Job, spec: JobSpec | None, go_on: Callable[[], None]) -> dict[str, float]:
        """Return the newest finite value of every metric, everything collected first (for a saved model's record).

        `go_on` is called again and again; what it raises ends this.
        """
        with self._curves(job.id, spec) as curves:
            while curves.collect(self._clock(), time.monotonic() + LOOK_S, lambda _: True):
                go_on()
            while curves.collect_board(self.child, time.monotonic() + LOOK_S):
                go_on()
            return {name: value for name, value in curves.last().items() if value is not None}

    def progress(self, job: Job, spec: JobSpec | None) -> ProgressView | None:
        """Return how far the last attempt is, None when nobody can know."""
        return self.summary(job, spec).progress

    def summary(self, job: Job, spec: JobSpec | None) -> Summary:
        """Return what a list shows, at most a second old. Free for a job that has ended."""
        now = self._clock()
        with self._lock:
            known = self._glances.get(job.id)
        if known is not None and known.version == job.version and (known.final or 0 <= now - known.at < FRESH_S):
            return known.summary
        if job.attempts_used == 0:
            return NOTHING
        glance = (self._stored(job) if job.terminal else None) or self._look(job, spec, now, known)
        with self._lock:
            self._glances[job.id] = glance
            if len(self._glances) > KEPT_SUMMARIES:
                self._glances.popitem(last=False)
        return glance.summary

    def _look(self, job: Job, spec: JobSpec | None, now: float, known: _Glance | None) -> _Glance:
        try:
            with self._curves(job.id, spec, GLANCE_S) as curves:
                more = curves.collect(now, time.monotonic() + GLANCE_S, _ended(job))
                curves.load_board()
                summary = Summary(progress_of(job, spec, curves, now), curves.last())
                board_ended = curves.board_ended
                due = not board_ended and time.monotonic() - curves.board_asked_at >= BOARD_EVERY_S
                if due:
                    curves.board_asked_at = time.monotonic()  # set before the wait, so that only one look queues
        except TimeoutError:  # another thread is collecting: answer with what is known
            return known or _Glance(now, job.version, False, NOTHING)
        if due:
            with suppress(RuntimeError):  # the server is closing
                self._background.submit(self._look_at_board, job.id, spec, job.terminal)
        glance = _Glance(now, job.version, job.terminal and board_ended and not more and spec is not None, summary)
        if glance.final:
            self._store(job, glance)
        return glance

    def _look_at_board(self, job: str, spec: JobSpec | None, ended: bool) -> None:
        with self._curves(job, spec) as curves:
            curves.board_ended = not curves.collect_board(self.child, time.monotonic() + LOOK_S) and ended

    def _stored(self, job: Job) -> _Glance | None:
        try:
            with open(os.path.join(self._layout.job(job.id), SUMMARY), "rb") as file:
                stored = msgspec.json.decode(file.read(), type=_Stored)
        except (OSError, ValueError):
            return None
        return (
            _Glance(0.0, job.version, True, Summary(stored.progress, stored.metrics))
            if stored.version == job.version
            else None
        )

    def _store(self, job: Job, glance: _Glance) -> None:
        if not self._ours():
            return
        path = os.path.join(self._layout.job(job.id), SUMMARY)
        with suppress(OSError):  # the file only saves work after a restart
            with open(path + ".new", "wb") as file:
                file.write(msgspec.json.encode(_Stored(job.version, glance.summary.progress, glance.summary.metrics)))
            os.replace(path + ".new", path)

    @contextmanager
    def _curves(self, job: str, spec: JobSpec | None, wait_s: float = -1) -> Iterator[JobCurves]:
        """Give the curves of `job` to one thread at a time. Raises TimeoutError after `wait_s` (-1: never)."""
        stripe = self._stripes[hash(job) % _STRIPES]
        if not stripe.acquire(timeout=wait_s):
            raise TimeoutError
        try:
            patterns = tuple(metric.pattern for metric in spec.metrics) if spec is not None else None
            with self._lock:
                curves, _ = self._jobs.get(job, (None, 0))
            if curves is None or (patterns is not None and curves.patterns != patterns):
                curves = JobCurves(self._layout.job(job), patterns, self._ours)
            yield curves
            self._keep(job, curves)
        finally:
            stripe.release()

    def _keep(self, job: str, curves: JobCurves) -> None:
        with self._lock:
            self._jobs[job] = (curves, curves.size)
            self._jobs.move_to_end(job)
            held = sum(size for _, size in self._jobs.values())
            while len(self._jobs) > 1 and (held > KEPT_POINTS or len(self._jobs) > KEPT_JOBS):
                held -= self._jobs.popitem(last=False)[1][1]


def _ended(job: Job) -> Callable[[int], bool]:
    """Return whether the tasks of an attempt can still write: only those of a live job's last attempt can."""
    return lambda attempt: job.terminal or attempt < job.attempts_used
