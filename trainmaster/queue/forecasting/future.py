"""One way in which things may go on in a pool: jobs end after run times that are drawn, others start by the rules of
`plan`.

Reservations are made by limits, as the scheduler makes them; only the ends are drawn. Pure. Invariant: nobody starts
before the scene's `now`, and nobody on what another one holds.
"""

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from zlib import crc32

from trainmaster.queue.forecasting.yard import FreeSums, Gang, Move, Yard
from trainmaster.queue.ordering.quota import Books, Charges, Excess
from trainmaster.queue.snapshot import Tenant

SAMPLES: Final = 21
"""Futures whose ends are drawn; one more, number SAMPLES, in which everybody runs as long as is typical."""

GRAIN: Final = 0.05
"""Ends that lie this close together, as a share of how far ahead they are, are followed by one pass."""

STEP, MANY = 400, 200
"""Waiting jobs considered, and running attempts taken in, between two pauses in which others get their turn."""

_STRIDES: Final = tuple(n for n in range(1, SAMPLES) if math.gcd(n, SAMPLES) == 1)


Draws = tuple[float, ...]
"""A number of [0, 1) for every future, one of each SAMPLES-th part of it; 0.5 for the typical one."""


def luck(job: str, seed: int) -> Draws:
    """Return what a job draws, in an order of its own and the same whenever it is asked for."""
    number = crc32(job.encode(), seed)
    stride, first, inside = _STRIDES[number % len(_STRIDES)], number >> 8, (number >> 13 & 1023) / 1024
    return (*[((first + stride * nth) % SAMPLES + inside) / SAMPLES for nth in range(SAMPLES)], 0.5)


class WaitingJob(NamedTuple):
    """A waiting job in the words of the yard, with what each shape is charged for wherever it runs. `runs_s`: how long,
    by future.
    """

    job: str
    shapes: tuple[tuple[Gang, Charges], ...]
    gangs: frozenset[int]  # the identities of those in `shapes`
    limit_s: float
    tenant: Tenant
    runs_s: Sequence[float]


class Runs(NamedTuple):
    """A running attempt in the words of the yard. `limit_at`: when its limit ends it; `ends_at`: when it ends, by
    future.
    """

    moves: Sequence[Move]
    limit_at: float
    ends_at: Sequence[float]
    tenant: Tenant
    held: Charges


@dataclass(frozen=True, slots=True)
class Scene:
    """One pool at `now`, after a pass: what cannot start yet. Made by `scene_of`; forked by every future."""

    now: float
    yard: Yard
    running: tuple[Runs, ...]
    line: tuple[WaitingJob, ...]
    books: Callable[[], Books]
    backfill: bool


@dataclass(slots=True)
class _Head:
    """The first of the line that does not fit: it starts at `at` by limits; `beside` is what then is left by it."""

    at: float
    beside: FreeSums


@dataclass(slots=True)
class Future:
    """One way in which things may go on."""

    scene: Scene
    nth: int
    yard: Yard = field(init=False)
    books: Books = field(init=False)
    line: list[WaitingJob] = field(init=False)
    starts: dict[str, float] = field(default_factory=dict)
    """When who started."""
    where: dict[str, Sequence[Move]] = field(default_factory=dict)
    """On what."""
    endless: bool = False
    """Whether something runs of which nobody knows when it ends."""
    _ends: list[tuple[float, int]] = field(default_factory=list)  # a heap, by the time drawn
    _limits: list[tuple[float, int]] = field(default_factory=list)  # sorted, by limit
    _runs: dict[int, Runs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scene, nth = self.scene, self.nth
        self.yard, self.books, self.line = scene.yard.fork(), scene.books(), list(scene.line)
        self._runs = dict(enumerate(scene.running))
        self._limits = [(runs.limit_at, number) for number, runs in enumerate(scene.running)]
        ends = ((max(runs.ends_at[nth], scene.now), number) for number, runs in enumerate(scene.running))
        self._ends = [end for end in ends if end[0] < math.inf]
        self.endless = len(self._ends) < len(self._runs)
        self._limits.sort()
        heapq.heapify(self._ends)

    def play(self, wanted: Iterable[str]) -> Generator[None, None, None]:
        """Let one after the other end and see who starts, until all of `wanted` have or nothing more ends."""
        left, considered = set(wanted), 0
        while self._ends and left:
            first = self._ends[0][0]
            together = first + GRAIN * (first - self.scene.now)
            while self._ends and self._ends[0][0] <= together:
                now, number = heapq.heappop(self._ends)
                self._end(number)
            considered += len(self.line)
            left.difference_update(self._pass(now))
            if considered > STEP:
                considered = 0
                yield

    def promised(self) -> tuple[str, float]:
        """Return who is the head of the line before anything has ended, and when it starts by limits; "" and infinite
        where nobody is.
        """
        for waits in self.line:
            if (head := self._head(waits, self.scene.now)) is not None:
                return waits.job, head.at
        return "", math.inf

    def _end(self, number: int) -> None:
        runs = self._runs.pop(number)
        del self._limits[bisect_left(self._limits, (runs.limit_at, number))]
        self.yard.take(runs.moves, 1)
        if not self.books.empty:
            self.books.charge(runs.tenant, runs.held, -1)

    def _pass(self, now: float) -> list[str]:
        """Start what can start, in the manner of `plan`; return who did."""
        head: _Head | None = None
        failed, started = set[int](), []
        for waits in self.line:
            if failed and waits.gangs <= failed:
                continue
            if self._starts(waits, now, head, failed):
                started.append(waits.job)
            elif head is None and (head := self._head(waits, now)) is not None and not self.scene.backfill:
                break
        if started:
            gone = set(started)
            self.line = [waits for waits in self.line if waits.job not in gone]
        return started

    def _starts(self, waits: WaitingJob, now: float, head: _Head | None, failed: set[int]) -> bool:
        late = head is not None and (now + waits.limit_s > head.at or waits.limit_s == math.inf)
        for gang, asked in waits.shapes:
            if id(gang) in failed or self._too_much(waits, asked):
                continue
            if late and head is not None and not head.beside.has(gang):
                continue
            moves = None if self.yard.lacks(gang) else self.yard.place(gang)
            if moves is None:
                failed.add(id(gang))
                continue
            held = () if self.books.empty else self.yard.charges(moves)
            if self._too_much(waits, held):
                self.yard.take(moves, 1)
                continue
            if late and head is not None:
                head.beside.takes(gang)
            self._start(waits, held, moves, now)
            return True
        return False

    def _too_much(self, waits: WaitingJob, charges: Charges) -> bool:
        return not self.books.empty and isinstance(self.books.judge(waits.tenant, charges), Excess)

    def _start(self, waits: WaitingJob, held: Charges, moves: Sequence[Move], now: float) -> None:
        number = len(self.scene.running) + len(self.starts)
        self.starts[waits.job], self.where[waits.job] = now, moves
        self._runs[number] = Runs(moves, now + waits.limit_s, (), waits.tenant, held)
        run_s = waits.runs_s[self.nth]
        if run_s < math.inf:
            heapq.heappush(self._ends, (now + run_s, number))
        else:
            self.endless = True
        insort(self._limits, (now + waits.limit_s, number))
        if not self.books.empty:
            self.books.charge(waits.tenant, held)

    def _head(self, waits: WaitingJob, now: float) -> _Head | None:
        """Return when `waits` starts if nothing but limits ends what runs; None when that would not help it."""
        for gang, asked in waits.shapes:
            if self._too_much(waits, asked):
                continue
            found = self.yard.releases_needed(gang, (self._runs[number].moves for _, number in self._limits))
            if found is not None:
                count, beside, held = found
                if self._too_much(waits, held):
                    continue
                return _Head(max(self._limits[count - 1][0], now) if count else now, beside)
        return None
