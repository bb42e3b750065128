"""One way in which things may go on in a pool: jobs end after run times that are drawn, others start by the rules of `plan`.

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

from trainmaster.queue.history import History
from trainmaster.queue.quota import Books, Charges, Excess
from trainmaster.queue.snapshot import Tenant
from trainmaster.queue.yard import Gang, Move, Sums, Yard

SAMPLES: Final = 21
"""Futures whose ends are drawn; one more, number SAMPLES, in which everybody runs as long as is typical."""

STEP, MANY = 20, 500
"""Passes, and running attempts looked at, between two pauses in which others get their turn."""

_STRIDES: Final = tuple(n for n in range(1, SAMPLES) if math.gcd(n, SAMPLES) == 1)


class Luck(NamedTuple):
    """What a job draws: in each future a number of another SAMPLES-th part of [0, 1), in an order of its own."""

    stride: int
    first: int
    inside: float

    @classmethod
    def of(cls, job: str, seed: int) -> "Luck":
        """Return the luck of a job, the same whenever it is asked for."""
        number = crc32(job.encode(), seed)
        return cls(_STRIDES[number % len(_STRIDES)], (number >> 8) % SAMPLES, (number >> 13 & 1023) / 1024)

    def share(self, nth: int) -> float:
        """Return its number in future `nth`."""
        if nth == SAMPLES:
            return 0.5
        return ((self.first + self.stride * nth) % SAMPLES + self.inside) / SAMPLES


class Waits(NamedTuple):
    """A waiting job in the words of the yard, with what each shape is charged for. `luck`: what it draws."""

    job: str
    shapes: tuple[tuple[Gang, Charges], ...]
    limit_s: float
    tenant: Tenant
    luck: Luck


class Runs(NamedTuple):
    """A running attempt in the words of the yard. `ends_at`: by its limit."""

    moves: Sequence[Move]
    ends_at: float
    started_at: float
    tenant: Tenant
    held: Charges
    luck: Luck


@dataclass(frozen=True, slots=True)
class Scene:
    """One pool at `now`, after a pass: what cannot start yet. Made by `scene_of`; forked by every future."""

    now: float
    yard: Yard
    running: tuple[Runs, ...]
    line: tuple[Waits, ...]
    books: Callable[[], Books]
    backfill: bool


@dataclass(slots=True)
class _Head:
    """The first of the line that does not fit: it starts at `at` by limits; `beside` is what then is left by it."""

    at: float
    beside: Sums


@dataclass(slots=True)
class Future:
    """One way in which things may go on."""

    scene: Scene
    history: History
    nth: int
    yard: Yard = field(init=False)
    books: Books = field(init=False)
    line: list[Waits] = field(init=False)
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
        self.yard, self.books, self.line = self.scene.yard.fork(), self.scene.books(), list(self.scene.line)

    def _load(self) -> Generator[None, None, None]:
        for number, runs in enumerate(self.scene.running):
            self._add(number, runs, self.scene.now - runs.started_at)
            self._limits.append((runs.ends_at, number))
            if number % MANY == MANY - 1:
                yield
        heapq.heapify(self._ends)
        self._limits.sort()

    def _add(self, number: int, runs: Runs, elapsed_s: float) -> None:
        """Draw when one ends. The heap is put in order by the caller."""
        limit_s, share = runs.ends_at - runs.started_at, runs.luck.share(self.nth)
        run_s = self.history.run_s(runs.tenant.owner, limit_s, elapsed_s, share)
        self._runs[number] = runs
        if run_s < math.inf:
            self._ends.append((max(runs.started_at + run_s, self.scene.now), number))
        else:
            self.endless = True

    def play(self, wanted: Iterable[str]) -> Generator[None, None, None]:
        """Let one after the other end and see who starts, until all of `wanted` have or nothing more ends."""
        yield from self._load()
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

    def _starts(self, waits: Waits, now: float, head: _Head | None, failed: set[int]) -> bool:
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

    def _start(self, waits: Waits, charges: Charges, moves: Sequence[Move], now: float) -> None:
        number = len(self.scene.running) + len(self.starts)
        self.starts[waits.job], self.where[waits.job] = now, moves
        self._add(number, Runs(moves, now + waits.limit_s, now, waits.tenant, charges, waits.luck), 0.0)
        if self._ends and self._ends[-1][1] == number:
            heapq.heappush(self._ends, self._ends.pop())
        insort(self._limits, (now + waits.limit_s, number))
        if not self.books.empty:
            self.books.charge(waits.tenant, charges)

    def _head(self, waits: Waits, now: float) -> _Head | None:
        """Return when `waits` starts if nothing but limits ends what runs; None when that would not help it."""
        for gang, charges in waits.shapes:
            if not self.books.empty and isinstance(self.books.judge(waits.tenant, charges), Excess):
                continue
            found = self.yard.releases_needed(gang, (self._runs[number].moves for _, number in self._limits))
            if found is not None:
                count, beside = found
                return _Head(max(self._limits[count - 1][0], now) if count else now, beside)
        return None
