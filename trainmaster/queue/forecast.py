"""When a waiting job starts: the same rules rehearsed on a small copy of the machines with run times drawn from history.

SAMPLES futures are played. In each every job runs for as long as some job of its owner did (`history`), while reservations
are made by limits as in `plan`. The middle of the starts is the expectation, the tenth from either end the range, whose
upper end `Calibration` stretches until it holds for nine of ten. Pure; chance comes from a seed and the names of the jobs,
so that a job keeps its luck from one forecast to the next. Jobs that are yet to come are not foreseen, nor preemption and
growth. Invariant: nothing is foreseen before `now`.
"""

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

from trainmaster.queue.capacity import Room
from trainmaster.queue.fairness import Offsets
from trainmaster.queue.history import History
from trainmaster.queue.order import Ranking
from trainmaster.queue.plan import capacity_of
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.quota import Account, Books, Charges, Excess, Quota, asks
from trainmaster.queue.running import running_of
from trainmaster.queue.snapshot import Pending, Plan, Request, Snapshot, Tenant, Usage
from trainmaster.queue.yard import Gang, Move, Sums, Yard

SAMPLES: Final = 21
MOST: Final = 200
"""So many jobs of a pool are foreseen: the first in line."""

STEP: Final = 40
"""Passes of a rehearsal between two pauses, in which others get their turn."""

MISSED: Final = 0.1
"""Share of the jobs that may start after the upper end of their range."""

RATE, LEAST, GREATEST = 0.05, 0.5, 8.0
"""Of the calibration: the length of its steps, and its bounds."""

_STRIDES: Final = tuple(n for n in range(1, SAMPLES) if math.gcd(n, SAMPLES) == 1)
_LOW, _MIDDLE, _HIGH = 2, 10, 18  # of SAMPLES sorted starts

Result = TypeVar("Result")


class Foreseen(NamedTuple):
    """Start of a waiting job: the middle, a tenth and nine tenths of what may happen. Infinite: it cannot be known."""

    at: float
    low: float
    high: float


class _Waits(NamedTuple):
    """A waiting job in the words of the yard, with what each shape is charged for. `luck`: its share in each future."""

    job: str
    shapes: tuple[tuple[Gang, Charges], ...]
    limit_s: float
    tenant: Tenant
    luck: tuple[float, ...]


class _Runs(NamedTuple):
    moves: Sequence[Move]
    ends_at: float  # by its limit
    started_at: float
    tenant: Tenant
    held: Charges
    luck: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """One pool at `now`, after a pass: what cannot start yet. Made by `scene_of`; forked by every future."""

    now: float
    yard: Yard
    running: tuple[_Runs, ...]
    line: tuple[_Waits, ...]
    books: Callable[[], Books]
    backfill: bool


def scene_of(
    pool: str,
    now: float,
    room: Room,
    running: Iterable[Usage],
    line: Iterable[Pending],
    policy: QueuePolicy,
    quotas: Mapping[tuple[Account, str], Quota] | None = None,
    held: Mapping[tuple[Account, str, str], int] | None = None,
    seed: int = 0,
) -> Scene:
    """Return the scene of `pool`. `room`: what is free; `running`: who holds the rest; `line`: who waits there, in order.

    Only the first MOST of `line` are looked at. O(nodes + running replicas + MOST).
    """
    yard = Yard(room, pool)
    models = {node.name: node.gpus for node in room.nodes}
    shapes: dict[Request, tuple[tuple[Gang, Charges], ...]] = {}
    waiting = []
    for job in islice(line, MOST):
        request = job.request
        if request not in shapes:
            shapes[request] = tuple((yard.gang(request, d.roles, room), asks(d.roles)) for d in request.smallest)
        waiting.append(_Waits(job.job, shapes[request], job.limit_s, job.tenant, _luck(job.job, seed)))
    runs = tuple(
        _Runs(yard.moves(usage.roles, usage.placement, models), usage.ends_at, usage.started_at, usage.tenant,
              usage.held or asks(usage.roles), _luck(usage.job, seed))
        for usage in running
    )  # fmt: skip
    return Scene(
        now, yard, runs, tuple(waiting), lambda: Books(pool, quotas or {}, held or {}), policy.backfill != "none"
    )


def scene_after(snapshot: Snapshot, made: Plan, pool: str, policy: QueuePolicy = DEFAULT, seed: int = 0) -> Scene:
    """Return the scene of `pool` as the pass `made` leaves it, its starts carried out."""
    starts = {start.job: start for start in made.starts}
    classes = [cls for cls in snapshot.pending if cls.key.request.pool == pool]
    ranking = made.ranking or Ranking(policy, Offsets({}))
    line, running = [], [usage for usage in snapshot.running if usage.pool == pool]
    for job in ranking.jobs(classes):
        start = starts.get(job.job)
        if start is not None:
            ends_at = made.at + job.limit_s
            running.append(
                Usage(job.job, job.job, start.roles, start.placement, pool, made.at, ends_at, tenant=job.tenant)
            )
        else:
            line.append(job)
    room = made.room or snapshot.capacity or capacity_of(snapshot)
    held = running_of(running).held
    return scene_of(pool, made.at, room, running, line, policy, snapshot.quotas, held, seed)


def _luck(job: str, seed: int) -> tuple[float, ...]:
    """Return a number of [0, 1) for each future, one of every SAMPLES-th part of it, in an order of the job's own."""
    number = crc32(job.encode(), seed)
    stride, first = _STRIDES[number % len(_STRIDES)], number >> 8
    inside = (number >> 13 & 1023) / 1024
    return tuple(((first + stride * nth) % SAMPLES + inside) / SAMPLES for nth in range(SAMPLES))


def foresee(scene: Scene, history: History, only: str | None = None) -> Generator[None, None, dict[str, Foreseen]]:
    """Return when each job of the line starts, pausing (yielding) now and then. `only`: the one job that is asked about."""
    wanted = {waits.job for waits in scene.line} if only is None else {only}
    starts: dict[str, list[float]] = {job: [] for job in wanted}
    for nth in range(SAMPLES):
        future = _Future(scene, history, nth)
        yield from future.play(wanted)
        for job in wanted:
            starts[job].append(future.starts.get(job, math.inf))
    found = {}
    for job, times in starts.items():
        times.sort()
        found[job] = Foreseen(times[_MIDDLE], times[_LOW], times[_HIGH])
    return found


def at_once(steps: Generator[None, None, Result]) -> Result:
    """Return the result of what pauses now and then, without any pause."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result


@dataclass(slots=True)
class _Head:
    """The first of the line that does not fit: it starts at `at` by limits; `beside` is what then is left by it."""

    at: float
    beside: Sums


@dataclass(slots=True)
class _Future:
    """One way in which things may go on."""

    scene: Scene
    history: History
    nth: int
    yard: Yard = field(init=False)
    books: Books = field(init=False)
    line: list[_Waits] = field(init=False)
    starts: dict[str, float] = field(default_factory=dict)
    _ends: list[tuple[float, int]] = field(default_factory=list)  # a heap, by the time drawn
    _limits: list[tuple[float, int]] = field(default_factory=list)  # sorted, by limit
    _runs: dict[int, _Runs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.yard, self.books, self.line = self.scene.yard.fork(), self.scene.books(), list(self.scene.line)
        for number, runs in enumerate(self.scene.running):
            self._add(number, runs)
        heapq.heapify(self._ends)
        self._limits.sort()

    def _add(self, number: int, runs: _Runs) -> None:
        limit_s, elapsed_s = runs.ends_at - runs.started_at, self.scene.now - runs.started_at
        run_s = self.history.run_s(runs.tenant.owner, limit_s, elapsed_s, runs.luck[self.nth])
        self._runs[number] = runs
        self._limits.append((runs.ends_at, number))
        if run_s < math.inf:
            self._ends.append((max(runs.started_at + run_s, self.scene.now), number))

    def play(self, wanted: Iterable[str]) -> Generator[None, None, None]:
        """Let one after the other end and see who starts, until all of `wanted` have or nothing more ends."""
        left, passes = set(wanted), 0
        while self._ends and left:
            now = self._ends[0][0]
            while self._ends and self._ends[0][0] == now:
                self._end(heapq.heappop(self._ends)[1])
            left.difference_update(self._pass(now))
            passes += 1
            if not passes % STEP:
                yield

    def _end(self, number: int) -> None:
        runs = self._runs.pop(number)
        del self._limits[bisect_left(self._limits, (runs.ends_at, number))]
        self.yard.take(runs.moves, 1)
        if not self.books.empty:
            self.books.charge(runs.tenant, runs.held, -1)

    def _pass(self, now: float) -> list[str]:
        """Start what can start, in the manner of `plan`; return who did."""
        head: _Head | None = None
        failed, started = set[int](), []
        for waits in self.line:
            if self._starts(waits, now, head, failed):
                started.append(waits.job)
            elif head is None and (head := self._head(waits, now)) is not None and not self.scene.backfill:
                break
        if started:
            gone = set(started)
            self.line = [waits for waits in self.line if waits.job not in gone]
        return started

    def _starts(self, waits: _Waits, now: float, head: _Head | None, failed: set[int]) -> bool:
        late = head is not None and (now + waits.limit_s > head.at or waits.limit_s == math.inf)
        for gang, charges in waits.shapes:
            if id(gang) in failed:
                continue
            if not self.books.empty and isinstance(self.books.judge(waits.tenant, charges), Excess):
                continue
            if late and head is not None and not head.beside.has(gang):
                continue
            moves = None if self.yard.lacks(gang) else self.yard.place(gang)
            if moves is None:
                failed.add(id(gang))
                continue
            if late and head is not None:
                head.beside.takes(gang)
            self._start(waits, charges, moves, now)
            return True
        return False

    def _start(self, waits: _Waits, charges: Charges, moves: Sequence[Move], now: float) -> None:
        number = len(self.scene.running) + len(self.starts)
        self.starts[waits.job] = now
        runs = _Runs(moves, now + waits.limit_s, now, waits.tenant, charges, ())
        self._runs[number] = runs
        insort(self._limits, (runs.ends_at, number))
        run_s = self.history.run_s(waits.tenant.owner, waits.limit_s, 0.0, waits.luck[self.nth])
        if run_s < math.inf:
            heapq.heappush(self._ends, (now + max(run_s, 0.0), number))
        if not self.books.empty:
            self.books.charge(waits.tenant, charges)

    def _head(self, waits: _Waits, now: float) -> _Head | None:
        """Return when `waits` starts if nothing but limits ends what runs; None when that would not help it."""
        for gang, charges in waits.shapes:
            if not self.books.empty and isinstance(self.books.judge(waits.tenant, charges), Excess):
                continue
            found = self.yard.releases_needed(gang, (self._runs[number].moves for _, number in self._limits))
            if found is not None:
                count, beside = found
                return _Head(max(self._limits[count - 1][0], now) if count else now, beside)
        return None


@dataclass(slots=True)
class Calibration:
    """How far the upper end of a forecast is stretched, so that nine of ten jobs start before it.

    A stochastic search for a quantile (Robbins and Monro 1951): every job that started later moves the end out by nine
    steps, every other one in by one. `scale` multiplies the time from the forecast to its upper end, within [LEAST, GREATEST].
    """

    scale: float = 1.0

    def seen(self, made_at: float, foreseen: Foreseen, started_at: float) -> None:
        """Learn from one job whose start was foreseen at `made_at`."""
        if foreseen.high == math.inf:
            return
        late = started_at > self.high(made_at, foreseen)
        self.scale = min(max(self.scale * math.exp(RATE * (late - MISSED)), LEAST), GREATEST)

    def high(self, made_at: float, foreseen: Foreseen) -> float:
        """Return the upper end of the range, not before its middle."""
        return max(made_at + self.scale * (foreseen.high - made_at), foreseen.at)
