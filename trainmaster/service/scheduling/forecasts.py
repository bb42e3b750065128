"""When waiting jobs start, for people: made anew in the background when something moved, shown with the time it was
made.

A refresh takes in one moment and then works in short steps between which the loop does everything else; the next one
comes no sooner than EVERY_S later, nor before 1 / SHARE times what the last one cost. The first forecast of each job is
compared with its start, which calibrates the range. Invariant: what is shown is never before now, and no call here
waits.
"""

import asyncio
import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from trainmaster.answers import ForecastView
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.messages.cluster import queue
from trainmaster.messages.said import Said
from trainmaster.queue.explaining.explain import Judged
from trainmaster.queue.explaining.sooner import typical
from trainmaster.queue.forecasting.calibration import Calibration
from trainmaster.queue.forecasting.forecast import MOST, Prospect, Result, Steps, foresee, scene_of
from trainmaster.queue.forecasting.future import Scene
from trainmaster.queue.forecasting.history import ALL, History
from trainmaster.queue.snapshot import Pending
from trainmaster.service.folders.privacy import private
from trainmaster.service.language import both
from trainmaster.service.scheduling.scheduling import Scheduling

log = logging.getLogger("trainmaster.forecasts")

EVERY_S, SHARE, STALE_S, SAVE_S, PAUSE_S = 2.0, 0.05, 60.0, 60.0, 0.002
"""Shortest time between refreshes, share of the loop they may take, age at which one comes though nothing moved, time
between two savings of what was learnt, and how long everything else has its turn between two steps."""

_SOON: Final = queue.forecast_being_made()
_FAR: Final = queue.too_far_behind(MOST)

Past = Callable[[int], list[tuple[str, float, float | None]]]
"""How many -> (owner, seconds it ran, limit or None) of the jobs that ended last, oldest first. May block."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A forecast of a pool, made `at`. `last`: the last job in line that was foreseen."""

    at: float
    prospect: Prospect
    last: str


class Forecasts:
    """One object per server; all methods in the loop's thread. `path`: the file that keeps the calibration; `ours`:
    whether it is ours to write, and not another server's that leads.
    """

    def __init__(
        self,
        scheduling: Scheduling,
        past: Past,
        path: str,
        clock: Callable[[], float],
        ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._scheduling, self._past, self._path, self._clock, self._ours = scheduling, past, path, clock, ours
        self.history, self.calibration = History(), Calibration()
        self.on_told: Callable[[str, float | None], None] = lambda job, until: None
        """Is told by when each job was first expected to start at the latest, again and again."""
        self._made: dict[str, _Made] = {}
        self._moved: set[str] = set()  # pools in which something changed since their forecast
        self._timer: asyncio.Handle | None = None
        self._at = math.inf  # when `_timer` goes off, in the loop's time
        self._task: asyncio.Task[None] | None = None
        self._next = 0.0  # no refresh before this, in the loop's time
        self._save_at = -math.inf  # no saving before this, in the loop's time
        self._loaded = False  # the file was read: before that, saving would overwrite it
        self._writing = threading.Lock()  # a refresh that was stopped may still write

    # -- life --------------------------------------------------------------------------------------------------

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs the ledger holds; the first time also from those that ended last."""
        self._made.clear()
        self.calibration.only(self._scheduling.queue.__contains__)
        self._moved = {job.pool for job in jobs if job.state is JobState.QUEUED}
        self._arm()

    def clock_set(self, by_s: float) -> None:
        """Go on `by_s` seconds later: the clock was set. `restore` follows."""
        self.calibration.clock_set(by_s)

    async def close(self) -> None:
        """Stop, and keep what was learnt."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._loaded:
            await self._save()

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job. O(log n)."""
        was = before.state if before is not None else None
        if (
            before is not None
            and was is after.state
            and before.policy is after.policy
            and before.priority is after.priority
        ):
            return
        if was is JobState.QUEUED and after.state is not was:
            self.calibration.left(after.id, self._clock(), after.state is JobState.ACTIVE)
        attempt = after.attempt
        if after.terminal and was is JobState.ACTIVE and attempt is not None and after.ended_at is not None:
            limit = math.inf if after.policy.duration_s is None else after.policy.duration_s
            self.history.add(after.owner, after.ended_at - attempt.created_at, limit)
        if len(self._scheduling.queue):
            self._moved.add(after.pool)
            self._arm()

    def changed(self) -> None:
        """See that machines, quotas or the policy changed, of whichever pool. O(nodes)."""
        if len(self._scheduling.queue):
            self._moved |= self._made.keys() | {node.pool for node in self._scheduling.nodes.values()}
            self._arm()

    # -- answers -----------------------------------------------------------------------------------------------

    def view(self, job: Job, now: float) -> ForecastView | None:
        """Return when `job` is expected to start as the API shows it, None when it does not wait."""
        if job.id not in self._scheduling.queue:
            return None
        if not self._scheduling.places(job.pool):
            return _unknown(queue.cluster_decides_start())
        made = self._made.get(job.pool)
        if made is None:
            return _unknown(_SOON)
        if job.id not in made.prospect.starts:
            return self._after(made, now) if len(made.prospect.starts) >= MOST else _unknown(_SOON)
        return self._view(job.id, made, now)

    async def would(self, judged: Judged, now: float, gone: Collection[str] = ()) -> ForecastView:
        """Return the same for one that is not submitted, as if others `gone` did not wait."""
        job = judged.job
        if not self._scheduling.places(job.pool):
            return _unknown(queue.cluster_decides_start())
        line = list(islice(self._scheduling.line(job.pool, job, gone, judged.made), MOST))
        if job not in line:
            made = self._made.get(job.pool)
            return _unknown(_SOON) if made is None else self._after(made, now)
        return await self.foreseen(await self.scene(job.pool, now, line), job.job)

    async def scene(self, pool: str, now: float, line: Iterable[Pending]) -> Scene:
        """Return the scene of `pool` in which `line`, of which the first MOST count, waits."""
        scene, _ = await _paced(self._scene(pool, now, line))
        return scene

    async def foreseen(self, scene: Scene, job: str) -> ForecastView:
        """Return when a job of a scene is expected to start, as the API shows it."""
        prospect, _ = await _paced(foresee(scene, job))
        return self._view(job, _Made(scene.now, prospect, job), scene.now)

    def bars(self, now: float) -> Iterator[tuple[str, tuple[str, ...], float, float | None, float | None]]:
        """Yield (job, its nodes if things go as is typical, start, low, high) of waiting jobs."""
        for pool in sorted(self._made):
            made = self._made[pool]
            for job, nodes in made.prospect.nodes.items():
                if job in self._scheduling.queue:
                    shown = self._view(job, made, now)
                    if shown.at is not None:
                        yield job, nodes, shown.at, shown.low, shown.high

    def _view(self, job: str, made: _Made, now: float) -> ForecastView:
        foreseen = made.prospect.starts[job]
        if foreseen.at == math.inf:
            return _unknown(queue.jobs_ahead_without_limit() if made.prospect.endless else queue.ends_do_not_help())
        at, high = max(foreseen.at, now), self.calibration.high(made.at, foreseen)
        return ForecastView(
            when="about",
            at=at,
            low=max(foreseen.low, now),
            high=max(high, at) if high < math.inf else None,
            why=None,
            made_at=made.at,
        )

    def _after(self, made: _Made, now: float) -> ForecastView:
        """Return when who stands behind all that are foreseen may start at the earliest: as the last of them."""
        low = made.prospect.starts[made.last].low
        if low == math.inf:
            return _unknown(_FAR)
        return ForecastView(when="after", at=None, low=max(low, now), high=None, why=both(_FAR), made_at=made.at)

    async def typical(self, scene: Scene, job: str) -> float:
        """Return when a job of a scene starts if everybody runs as long as is typical, infinite when that is not known.

        A twentieth of the work of `foreseen`.
        """
        at, _ = await _paced(typical(scene, job))
        return at

    # -- in the background -------------------------------------------------------------------------------------

    def _arm(self) -> None:
        """See to it that a refresh comes, as soon as one may."""
        if self._moved and self._task is None:
            loop = asyncio.get_running_loop()
            at = max(self._next, loop.time())
            if self._at > at:
                self._wait_until(at)

    def _wait_until(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at = at
        self._timer = asyncio.get_running_loop().call_at(at, self._due)

    def _due(self) -> None:
        self._timer, self._at = None, math.inf
        self._task = asyncio.get_running_loop().create_task(self._refresh())

    async def _refresh(self) -> None:
        spent, loop = 0.0, asyncio.get_running_loop()
        try:
            if not self._loaded:
                await self._load()
            self.calibration.learn(self._clock())
            pools, self._moved = sorted(filter(self._scheduling.places, self._moved | self._stale())), set()
            for pool in pools:
                spent += await self._refresh_pool(pool)
        except Exception:  # a broken forecast must not stop jobs
            log.exception("the forecasts could not be made anew")
        self._task, self._next = None, loop.time() + max(EVERY_S, spent / SHARE)
        if self._made:
            self._wait_until(loop.time() + max(STALE_S, spent / SHARE))
        self._arm()
        if loop.time() >= self._save_at:
            self._save_at = loop.time() + SAVE_S
            await self._save()

    def _stale(self) -> set[str]:
        """Return the pools whose forecasts are as old as one may get, though nothing moved there."""
        oldest = self._clock() - STALE_S
        return {pool for pool, made in self._made.items() if made.at <= oldest}

    async def _refresh_pool(self, pool: str) -> float:
        now, line = self._clock(), list(islice(self._scheduling.line(pool), MOST))
        if not line:
            self._made.pop(pool, None)
            return 0.0
        prospect, spent = await _paced(self._steps(pool, now, line))
        self._made[pool] = _Made(now, prospect, line[-1].job)
        for job, foreseen in prospect.starts.items():
            if job in self._scheduling.queue:
                self.calibration.remember(job, now, foreseen)
                self.on_told(job, self.calibration.until(job))
        return spent

    def _steps(self, pool: str, now: float, line: Iterable[Pending]) -> Steps[Prospect]:
        scene = yield from self._scene(pool, now, line)
        return (yield from foresee(scene))

    def _scene(self, pool: str, now: float, line: Iterable[Pending]) -> Steps[Scene]:
        at = self._scheduling
        running = at.running.releases(pool)
        return scene_of(pool, now, at.capacity, running, line, at.policy, self.history, at.quotas, at.running.held)

    async def _load(self) -> None:
        """Read what was learnt, and the past; what ended meanwhile is noted already."""
        with suppress(OSError, ValueError, TypeError, OverflowError):  # no file, or a damaged one: learn anew
            self.calibration.restore(await asyncio.to_thread(self._read))
            self.calibration.only(self._scheduling.queue.__contains__)
        self._loaded = True
        ended = await asyncio.to_thread(self._past, ALL)
        history = History()
        for owner, run_s, limit_s in ended:
            history.add(owner, run_s, math.inf if limit_s is None else limit_s)
        self.history = history

    def _read(self) -> Any:
        with open(self._path, encoding="utf-8") as file:
            return json.load(file)

    async def _save(self) -> None:
        if self._ours():
            await asyncio.to_thread(self._write, self.calibration.to_json())

    def _write(self, document: list[Any]) -> None:
        with self._writing:
            try:
                with open(f"{self._path}.new", "w", encoding="utf-8", opener=private) as file:
                    json.dump(document, file)
                os.replace(f"{self._path}.new", self._path)
            except OSError as error:
                log.warning("what was learnt of forecasts could not be kept: %s", error)


def _unknown(why: Said) -> ForecastView:
    return ForecastView(when="unknown", at=None, low=None, high=None, why=both(why), made_at=None)


async def _paced(steps: Steps[Result]) -> tuple[Result, float]:
    """Return the result of `steps` and the seconds they took, others having their turn in between."""
    spent = 0.0
    while True:
        before = time.perf_counter()
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result, spent + time.perf_counter() - before
        spent += time.perf_counter() - before
        await asyncio.sleep(PAUSE_S)
