"""The order in which waiting jobs are considered, and a sequence that keeps it.

Owns the order key and `Ordered`, a sorted sequence of waiting jobs with cheap insert, removal and position. Pure data:
knows nothing of nodes. Invariant: an `Ordered` is always sorted by `Pending.order`, and no two jobs share an order.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, overload

from trainmaster.core.states import Priority
from trainmaster.queue.snapshot import Pending

_BLOCK: Final = 512
"""Jobs per block: an insert moves at most twice this many references, whatever the length of the queue."""


def order_key(priority: Priority, seq: int) -> tuple[float, ...]:
    """Return what jobs are sorted by, first starts first: higher priority class, then submit sequence (R46)."""
    return (-int(priority), seq)


class Ordered(Sequence[Pending]):
    """Waiting jobs sorted by order, in blocks. Every operation is O(log n) up to the constant size of a block."""

    __slots__ = ("_blocks", "_lasts", "_size")

    def __init__(self) -> None:
        self._blocks: list[list[Pending]] = []
        self._lasts: list[tuple[float, ...]] = []  # order of the last job of each block
        self._size = 0

    def add(self, job: Pending) -> None:
        """Insert `job` at its place. Raises ValueError when its order is taken."""
        at = bisect_left(self._lasts, job.order)
        if at == len(self._blocks):
            at -= 1  # after everything: into the last block, if there is one
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

    def remove(self, order: tuple[float, ...]) -> Pending:
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

    def before(self, order: tuple[float, ...]) -> int:
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
        if isinstance(index, slice):
            return list(self)[index]
        left = index if index >= 0 else index + self._size
        if 0 <= left < self._size:
            for block in self._blocks:
                if left < len(block):
                    return block[left]
                left -= len(block)
        raise IndexError(index)


def _order(job: Pending) -> tuple[float, ...]:
    return job.order
