"""The order in which waiting jobs are considered, and a sequence that keeps it.

Owns the order key and `Ordered`, a sorted sequence of waiting jobs with cheap insert, removal and position. Pure data:
knows nothing of nodes. Invariant: an `Ordered` is always sorted by `Pending.order`, and no two jobs share an order.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, overload

from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.snapshot import ClassKey, Pending, RequestClass, Tenant

_BLOCK: Final = 512
"""Jobs per block: an insert moves at most twice this many references, whatever the length of the queue."""


Place = tuple[int, bool, float, int]
"""Where a job stands in its pool's line, first starts first (R46): its priority class, negated; whether it borrows
beyond a quota; its rank; its number. The rank is a time: when it was submitted, moved back by its limit and by what its
tenant used, both bounded, so that whoever waits is overtaken for a bounded time only. Under "sjf" it is the limit."""


Rule = tuple[float, float, float]
"""How jobs are ranked, shares aside: what their coming counts, what their limit counts, and the longest that counts."""

Turn = tuple[int, bool, float, int, int]
"""A place, and a number that tells who stands there."""


class Ranking:
    """The order under one policy, with what was used until now."""

    def __init__(self, policy: QueuePolicy, offsets: Offsets) -> None:
        if policy.ordering == "sjf":
            self._came, self._weight, self._cap, offsets = 0.0, 1.0, math.inf, Offsets({})
        else:
            self._came, self._weight, self._cap = 1.0, policy.age_weight, policy.age_cap_s
        self._offset = _OffsetOf(offsets)

    @property
    def rule(self) -> Rule:
        """What ranks the jobs of one tenant."""
        return self._came, self._weight, self._cap

    def offset(self, tenant: Tenant) -> float:
        """Return what its shares move the jobs of a tenant back by."""
        return self._offset[tenant]

    def lift(self, key: ClassKey) -> float:
        """Return what the jobs of a class are moved back by, in seconds."""
        return self._weight * min(key.limit_s, self._cap) + self._offset[key.tenant]

    def place(self, job: Pending, borrows: bool = False) -> Place:
        """Return where `job` stands."""
        came, seq = job.order
        rank = self._came * came + self._weight * min(job.limit_s, self._cap) + self._offset[job.tenant]
        return -job.priority, borrows, rank, seq

    def ahead(self, cls: RequestClass, place: Place) -> int:
        """Return how many jobs of `cls` stand before `place`, borrowing aside. O(log jobs)."""
        mine, lift = -cls.key.priority, self.lift(cls.key)
        if mine != place[0]:
            return len(cls.jobs) if mine < place[0] else 0
        if not self._came and lift != place[2]:
            return len(cls.jobs) if lift < place[2] else 0
        limit = (place[2] - lift if self._came else math.inf, place[3])
        if isinstance(cls.jobs, Ordered):
            return cls.jobs.before(limit)
        return sum(self.place(job) < place for job in cls.jobs)


class _OffsetOf(dict[Tenant, float]):
    """The offset of every tenant that was asked for."""

    def __init__(self, offsets: Offsets) -> None:
        super().__init__()
        self._offsets = offsets

    def __missing__(self, tenant: Tenant) -> float:
        offset = self[tenant] = self._offsets.of(tenant)
        return offset


class Ordered(Sequence[Pending]):
    """Waiting jobs sorted by order, in blocks. Every operation is O(log n) up to the constant size of a block."""

    __slots__ = ("_blocks", "_lasts", "_size")

    def __init__(self) -> None:
        self._blocks: list[list[Pending]] = []
        self._lasts: list[tuple[float, float]] = []  # the order of each block's last job
        self._size = 0

    def add(self, job: Pending) -> None:
        """Insert `job` at its place. Raises ValueError when its order is taken."""
        at = bisect_left(self._lasts, job.order)
        if at == len(self._blocks):
            at -= 1  # it comes after all: append to the last block, if there is one
        if at < 0:
            self._blocks.append([job])
            self._lasts.append(job.order)
        else:
            self._insert(at, job)
        self._size += 1

    def _insert(self, at: int, job: Pending) -> None:
        block = self._blocks[at]
        place = bisect_left(block, job.order, key=_order)
        if place < len(block) and block[place].order == job.order:
            raise ValueError(f"{job.job} and {block[place].job} have the same place in the queue: {job.order}")
        block.insert(place, job)
        if len(block) > 2 * _BLOCK:
            self._blocks.insert(at + 1, block[_BLOCK:])
            self._lasts.insert(at + 1, block[-1].order)
            del block[_BLOCK:]
        self._lasts[at] = block[-1].order

    def remove(self, order: tuple[float, int]) -> Pending:
        """Take out and return the job with this order. Raises KeyError when there is none."""
        at = bisect_left(self._lasts, order)
        block = self._blocks[at] if at < len(self._blocks) else []
        place = bisect_left(block, order, key=_order)
        if place == len(block) or block[place].order != order:
            raise KeyError(order)
        job = block.pop(place)
        self._size -= 1
        if block:
            self._lasts[at] = block[-1].order
        else:
            del self._blocks[at], self._lasts[at]
        return job

    def before(self, order: tuple[float, float]) -> int:
        """Return how many jobs come before `order`. O(log n + number of blocks)."""
        at = bisect_left(self._lasts, order)
        inside = bisect_left(self._blocks[at], order, key=_order) if at < len(self._blocks) else 0
        return sum(len(block) for block in self._blocks[:at]) + inside

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Pending]:
        for block in self._blocks:
            yield from block

    @overload
    def __getitem__(self, index: int) -> Pending: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pending]: ...
    def __getitem__(self, index: int | slice) -> Pending | list[Pending]:
        if index == 0 and self._size:
            return self._blocks[0][0]
        if isinstance(index, slice):
            return list(self)[index]
        left = index if index >= 0 else index + self._size
        if 0 <= left < self._size:
            for block in self._blocks:
                if left < len(block):
                    return block[left]
                left -= len(block)
        raise IndexError(index)


def _order(job: Pending) -> tuple[float, int]:
    return job.order
