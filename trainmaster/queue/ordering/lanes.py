"""The waiting classes as a pass goes through them: sorted once, kept between passes. Pure data, owned by one thread.

What moves between passes are the shares of tenants, and those move all classes of a tenant alike. So the classes of one
tenant, priority and kind form a lane that stays sorted, and a pass merges lanes: it looks at no class that it does not
come to. Invariant: a lane's rows are sorted by (rank without shares, number of the first job).
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from operator import eq
from typing import Final, NamedTuple

from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.ordering.order import Place, Ranking, Rule, Turn
from trainmaster.queue.placing.failures import Amounts
from trainmaster.queue.policy import DEFAULT
from trainmaster.queue.snapshot import Pending, RequestClass, Tenant

Kind = tuple[str | None, bool] | None
"""The card model, and whether cards are asked for at all; None for requests of several shapes or roles, with ports or
chosen nodes.
"""

USUAL: Final = Ranking(DEFAULT, Offsets({})).rule
"""What lanes are sorted by until a pass asks for something else."""


class LaneKey(NamedTuple):
    """What the classes of a lane have in common."""

    pool: str
    priority: int
    tenant: Tenant
    kind: Kind


Row = tuple[float, int, RequestClass]
"""Rank of the first job, shares aside; its number; the class."""


class Lane:
    """Classes of one tenant, priority and kind."""

    __slots__ = ("_least", "key", "rows")

    def __init__(self, key: LaneKey) -> None:
        self.key = key
        self.rows: list[Row] = []
        self._least: Amounts | None = None

    @property
    def least(self) -> Amounts:
        """The least that any of them, which must be of a kind, asks of each amount. O(1) unless one who asked for it
        left.
        """
        if self._least is None:
            asked = [cls.key.request.plain[1] for _, _, cls in self.rows if cls.key.request.plain is not None]
            self._least = least_of(asked)
        return self._least

    def add(self, row: Row) -> None:
        """Put a class at its place."""
        plain = row[2].key.request.plain
        if plain is not None and (self._least is not None or not self.rows):
            self._least = least_of((self._least or plain[1], plain[1]))
        insort(self.rows, row)

    def remove(self, row: Row) -> None:
        """Take a class out."""
        del self.rows[bisect_left(self.rows, row[:2])]
        plain = row[2].key.request.plain
        if plain is not None and self._least is not None and any(map(eq, self._least, plain[1])):
            self._least = None


class Lanes:
    """All lanes. `add` and `remove` are O(log classes) and one move of references."""

    def __init__(self, classes: Iterable[RequestClass] = ()) -> None:
        self._lanes: dict[LaneKey, Lane] = {}
        self._rule = USUAL
        for cls in classes:
            self.add(cls)

    def add(self, cls: RequestClass) -> None:
        """Put a class at the place of its first job."""
        key = _lane_of(cls)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(key)
        lane.add(self._row(cls))

    def remove(self, cls: RequestClass) -> None:
        """Take a class out, whose first job is the one that it had when it was added."""
        key = _lane_of(cls)
        lane = self._lanes[key]
        lane.remove(self._row(cls))
        if not lane.rows:
            del self._lanes[key]

    def sorted_by(self, rule: Rule) -> Iterable[Lane]:
        """Return the lanes, sorted by `rule`; all are sorted anew when it is not the one of the last time."""
        if rule != self._rule:
            self._rule = rule
            for lane in self._lanes.values():
                lane.rows = sorted(self._row(cls) for _, _, cls in lane.rows)
        return self._lanes.values()

    @property
    def tenants(self) -> set[Tenant]:
        """Who waits."""
        return {key.tenant for key in self._lanes}

    def _row(self, cls: RequestClass) -> Row:
        came, weight, cap = self._rule
        first, limit_s = cls.jobs[0], cls.key.limit_s
        return came * first.order[0] + weight * (limit_s if limit_s < cap else cap), first.order[1], cls


class Sorted(tuple[RequestClass, ...]):
    """Classes whose lanes are kept as well."""

    lanes: Lanes

    def __new__(cls, classes: Iterable[RequestClass], lanes: Lanes) -> "Sorted":
        made = super().__new__(cls, classes)
        made.lanes = lanes
        return made


def lanes_of(classes: Iterable[RequestClass]) -> Lanes:
    """Return the lanes of `classes` where they are kept, else made of them. O(classes log classes) then."""
    return classes.lanes if isinstance(classes, Sorted) else Lanes(classes)


def _lane_of(cls: RequestClass) -> LaneKey:
    request, priority, tenant, _ = cls.key
    _ = request.smallest  # `plain` is known from then on
    kind = None if request.plain is None else (request.plain[0], request.plain[1][1] > 0)
    return LaneKey(request.pool, priority, tenant, kind)


def least_of(asked: Iterable[Amounts]) -> Amounts:
    """Return the least of each amount."""
    replicas, gpu, cpu, memory_mib, milli = map(min, zip(*asked, strict=True))
    return replicas, gpu, cpu, memory_mib, milli


class Cursor:
    """How far a pass got in a lane. `rows`: what is left of it."""

    __slots__ = ("lane", "offset", "rows")

    def __init__(self, lane: Lane, offset: float) -> None:
        self.lane, self.offset = lane, offset
        self.rows = iter(lane.rows)


class _Stand(NamedTuple):
    """One class with the first of its jobs that is left. `cursor`: its lane, whose next class is yet to come."""

    cls: RequestClass
    job: Pending
    cursor: Cursor | None
    behind: Iterator[Pending] | None


class LineUp:
    """The classes of one pool, first in line first, during a pass."""

    def __init__(self, ranking: Ranking, lanes: Iterable[Lane]) -> None:
        self._ranking = ranking
        self.cursors = [Cursor(lane, ranking.offset(lane.key.tenant)) for lane in lanes]
        self._stands: list[_Stand] = []
        self._heap: list[Turn] = []
        for cursor in self.cursors:
            self._next_of(cursor)

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def first(self) -> tuple[Place, RequestClass, Pending]:
        """Whose turn it is: its place, its class, the job."""
        priority, borrows, rank, seq, at = self._heap[0]
        stand = self._stands[at]
        return (priority, borrows, rank, seq), stand.cls, stand.job

    def settled(self) -> None:
        """Nobody of the class whose turn it is can start any more."""
        self._pop()

    def started(self) -> None:
        """The job whose turn it is starts: the next of its class comes at its own place."""
        turn, stand = self._pop()
        behind = stand.behind or islice(stand.cls.jobs, 1, None)
        job = next(behind, None)
        if job is not None:
            self._push(_Stand(stand.cls, job, None, behind), turn[1])

    def borrows(self) -> None:
        """The class whose turn it is has its turn after those that do not borrow."""
        _, stand = self._pop()
        self._push(stand._replace(cursor=None), True)

    def rank_by(self, ranking: Ranking) -> None:
        """Let all who are left come in another order. O(classes)."""
        self._ranking = ranking
        left = [(turn[1], self._stands[turn[4]]) for turn in self._heap]
        left += [(False, _Stand(cls, cls.jobs[0], None, None)) for each in self.cursors for _, _, cls in each.rows]
        self._heap, self._stands = [], []
        for late, stand in left:
            self._push(stand._replace(cursor=None), late)

    def _pop(self) -> tuple[Turn, _Stand]:
        turn = heappop(self._heap)
        stand = self._stands[turn[4]]
        if stand.cursor is not None:
            self._next_of(stand.cursor)
        return turn, stand

    def _next_of(self, cursor: Cursor) -> None:
        row = next(cursor.rows, None)
        if row is not None:
            rank, seq, cls = row
            heappush(self._heap, (-cls.key.priority, False, rank + cursor.offset, seq, len(self._stands)))
            self._stands.append(_Stand(cls, cls.jobs[0], cursor, None))

    def _push(self, stand: _Stand, borrows: bool) -> None:
        heappush(self._heap, (*self._ranking.place(stand.job, borrows), len(self._stands)))
        self._stands.append(stand)
