"""Watches the entries of sweeps: keeps how they do, and stops those that do badly (`queue.stopping.early`).

Every EVERY_S the curves of the entries that run are read, of those sweeps alone that have a rule; an entry that ended
is read once more. What is judged by is kept as rows (`store.sweeps.marks`), so that a server that starts judges as the
one before did; what that one did not come to is read at the first look at the sweep. Invariants: a stop is an event
like any other, of a job that runs and belongs to a sweep with a rule; what this costs follows from what runs, and not
from what has ended.
"""

import asyncio
import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.events import Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.states import Phase
from trainmaster.messages.jobs import sweeps as said
from trainmaster.messages.said import Said
from trainmaster.queue.stopping.early import EarlyRule, EarlyStop, Point, RungMark, best_of, marks_of, to_stop
from trainmaster.service.context import Context
from trainmaster.spec.sweeps.checking import read_sweep
from trainmaster.spec.sweeps.sweep import SweepSpec
from trainmaster.store.sweeps.marks import BEST, MarkRows, StoredMark
from trainmaster.store.sweeps.sweeps import Sweep, SweepRows

log = logging.getLogger("trainmaster.early")

EVERY_S: Final = 2.0
"""Between two looks at what runs."""
POINTS: Final = 2000
"""Of a curve, its extremes among them."""
AT_ONCE: Final = 20
"""Entries that ended, of one sweep and one look."""


@dataclass(slots=True)
class _Watched:
    """A sweep of which something runs or has just ended. `rule` None: nothing is stopped. `marks`: by number of job."""

    sweep: Sweep
    rule: EarlyRule | None
    marks: dict[int, list[RungMark]] = field(default_factory=dict)
    best: dict[int, tuple[float, float]] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)  # ended, to be read once more


class EarlyStopping:
    """One object per server; in the loop's thread. Sees the jobs as `LiveWatcher`."""

    def __init__(self, marks: MarkRows, rows: SweepRows, context: Context) -> None:
        self._marks, self._rows, self._ctx = marks, rows, context
        self._running: dict[str, set[str]] = {}  # by sweep
        self._ended: dict[str, dict[str, None]] = {}  # by sweep: that ended lately
        self._watched: dict[str, _Watched | None] = {}  # None: of no interest, it has no metric
        self._woken = asyncio.Event()

    def moved(self, before: Job | None, after: Job) -> None:
        """Know which entries run."""
        if after.sweep is None:
            return
        running = self._running.setdefault(after.sweep, set())
        if after.attempt is not None and after.attempt.phase is Phase.RUNNING:
            running.add(after.id)
            self._woken.set()
        else:
            running.discard(after.id)
            if not running:
                del self._running[after.sweep]

    def stored(self, changed: Iterable[Job]) -> None:
        """Remember the entries that ended."""
        for job in changed:
            if job.sweep is not None and job.terminal and job.attempts_used:
                self._ended.setdefault(job.sweep, {})[job.id] = None
                self._woken.set()

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs the ledger holds."""
        self._running.clear()
        self._watched.clear()
        for job in jobs:
            self.moved(None, job)

    async def follow(self) -> None:
        """Look again and again, while there is anything to look at."""
        while True:
            await self._woken.wait()
            if not (self._running or self._ended):
                self._woken.clear()
                continue
            await asyncio.sleep(EVERY_S)
            for id_ in [*dict.fromkeys([*self._running, *self._ended])]:
                try:
                    await self._look(id_)
                except (TrainmasterError, OSError) as error:  # a full disk, a database that is away: said there
                    log.debug("the entries of sweep %s could not be looked at: %s", id_, error)

    async def _look(self, id_: str) -> None:
        if id_ not in self._watched:
            self._watched[id_] = await asyncio.to_thread(self._begin, id_)
        watched, ended = self._watched[id_], self._ended.pop(id_, {})
        if watched is None:
            if id_ not in self._running:
                del self._watched[id_]
            return
        watched.read |= ended
        some = [one for one, _ in zip(watched.read, range(AT_ONCE), strict=False)]
        running = [job for one in self._running.get(id_, ()) if (job := self._ctx.master.live.get(one)) is not None]
        await asyncio.to_thread(self._keep, watched, running if watched.rule is not None else [], some)
        for one in some:
            watched.read.pop(one, None)
        if watched.rule is not None:
            self._judge(watched, watched.rule)
        if watched.read:
            self._ended.setdefault(id_, {})
        elif id_ not in self._running and id_ not in self._ended:
            del self._watched[id_]

    def _begin(self, id_: str) -> _Watched | None:
        """Return what is known of a sweep so far, and what no server came to. Blocking."""
        sweep = self._rows.get(id_)
        if sweep is None or not sweep.metric:
            return None
        watched = _Watched(sweep, rule_of(sweep))
        for mark in self._marks.of_sweep(id_):
            if mark.rung != BEST:
                watched.marks.setdefault(mark.job, []).append(RungMark(mark.best, mark.mean))
            elif mark.best is not None:
                watched.best[mark.job] = (mark.best, mark.step)
        watched.read |= dict.fromkeys(self._marks.unmarked(id_))
        return watched

    # -- how they do -------------------------------------------------------------------------------------------

    def _keep(self, watched: _Watched, running: Sequence[Job], ended: Sequence[str]) -> None:
        """Read the curves of these entries, and keep what is new. Blocking."""
        found: list[StoredMark] = []
        for job in running:
            found += self._news(watched, job, final=False)
        for id_ in ended:
            over = self._ctx.records.get_job(id_)
            if over is not None and over.terminal:
                found += self._news(watched, over, final=True)
        if found:
            self._marks.put(watched.sweep.id, found)

    def _news(self, watched: _Watched, job: Job, final: bool) -> list[StoredMark]:
        points, rule = self._points(job, watched.sweep.metric), watched.rule
        found: list[StoredMark] = []
        marks = marks_of(rule, points) if rule is not None else []
        known = watched.marks.get(job.seq, [])
        for rung in range(len(known), len(marks)):
            assert rule is not None, "without a rule there are no marks"
            found.append(StoredMark(job.seq, rung, rule.step(rung), *marks[rung]))
        if len(marks) > len(known):
            watched.marks[job.seq] = [*known, *marks[len(known) :]]
        best = best_of("max" if watched.sweep.goal == "max" else "min", points)
        value = None if best is None else (best.value, best.step)
        if final or (value is not None and watched.best.get(job.seq) != value):
            at, highest = (0.0, None) if value is None else (value[1], value[0])
            found.append(StoredMark(job.seq, BEST, at, highest, final=final))
        if value is not None:
            watched.best[job.seq] = value
        return found

    def _points(self, job: Job, metric: str) -> list[Point]:
        """Return the curve of the last attempt that has one."""
        spec = self._ctx.specs.fetch_or_none(job.spec_digest)
        series = self._ctx.metrics.overlay(job, spec, [metric], POINTS)
        if not series:
            return []
        last = max(series, key=lambda one: one.attempt)
        return [
            Point(step, math.nan if value is None else value)
            for step, value in zip(last.steps, last.values, strict=True)
            if step is not None
        ]

    # -- who is stopped ----------------------------------------------------------------------------------------

    def _judge(self, watched: _Watched, rule: EarlyRule) -> None:
        live = self._ctx.master.live
        running = [live[id_] for id_ in self._running.get(watched.sweep.id, ()) if id_ in live]
        found = to_stop(rule, watched.marks, [job.seq for job in running])
        for job in running:
            if (stop := found.get(job.seq)) is not None and job.attempt is not None:
                data = {"code": "stopped_early", "said": why(watched.sweep.metric, stop).to_json(), **_facts(stop)}
                self._ctx.master.apply(
                    Event(job.id, Kind.STOP_REQUESTED, self._ctx.clock(), "system", job.attempt.number, data)
                )


def rule_of(sweep: Sweep) -> EarlyRule | None:
    """Return the rule that stands in the document of a sweep, None where there is none, or it cannot be read."""
    try:
        document = msgspec.json.decode(sweep.document)
    except msgspec.MsgspecError:
        return None
    found, problems = read_sweep(document) if isinstance(document, dict) else (None, [])
    return None if found is None or problems else _rule(found.sweep)


def _rule(sweep: SweepSpec) -> EarlyRule | None:
    early = sweep.stop_early
    if early is None or sweep.goal is None:
        return None
    return EarlyRule(early.rule, sweep.goal, early.after, early.factor or 3, early.every or 0.0, early.least)


def why(metric: str, stop: EarlyStop) -> Said:
    """Return in words why an entry is stopped."""
    if stop.value is None:
        return said.no_number(metric, stop.step)
    if stop.median is not None:
        return said.below_median(metric, stop.step, stop.value, stop.median, stop.of - 1)
    return said.halved(metric, stop.step, stop.value, stop.rank, stop.of, stop.kept)


def _facts(stop: EarlyStop) -> dict[str, float | None]:
    return {"value": stop.value, "rank": stop.rank, "of": stop.of, "step": stop.step}
