"""The nodes of one pool sorted for packing: by wholly free cards of a model, then by free cores, memory and position.

A question for one node ("`cards` free cards of `model`, so much cpu and memory") is a bisection per number of cards,
not a walk over the nodes. Copy-on-write: `fork` costs O(models), and a bucket is copied when it first changes.
Invariant: what is found here is exactly what the `Free` of the nodes says; `add` and `remove` are each other's inverse.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from trainmaster.queue.placing.capacity import Free

Entry = tuple[int, int, int]
"""Thousandths of a core, MiB, position of the node."""

Shared = tuple[int, int, int, int, int]
"""Free thousandths of a card in use, then an Entry, then the index of the card."""

View = tuple[str, frozenset[str], str | None]
"""The nodes that a gang may use: those in service of a pool, of these names (empty: all), with this driver (None:
any).
"""

ANY: Final = ""
"""In place of a model: cards of all models together, for who asks for none and for who takes any."""

_FEW: Final = 64
"""After so many entries it is worth knowing whether any of those further on has the memory."""


class Buckets:
    """One sorted list per model and number of wholly free cards, and one of shared cards per model."""

    __slots__ = ("_levels", "_own", "_shared", "_tops", "free")

    def __init__(self) -> None:
        self._levels: dict[str, list[list[Entry]]] = {ANY: [[]]}
        self._shared: dict[str, list[Shared]] = {}
        # Per list: the greatest memory from each entry on; made on demand.
        self._tops: dict[tuple[str, int], list[int]] = {}
        self._own: set[tuple[str, int]] = set()  # lists that no fork shares: safe to change; -1 for shared cards
        self.free: dict[str, int] = {}
        """Wholly free cards by model."""

    @classmethod
    def of(cls, nodes: "Iterable[tuple[int, Free]]") -> "Buckets":
        """Return these nodes, each with its position. O(nodes log nodes), a tenth of adding one after the other."""
        found = cls()
        for place, free in nodes:
            found._put(free, place, list.append)
        for levels in found._levels.values():
            for bucket in levels:
                bucket.sort()
        for shared in found._shared.values():
            shared.sort()
        return found

    def fork(self) -> "Buckets":
        """Return a copy; neither sees what the other changes from now on."""
        other = Buckets.__new__(Buckets)
        other._levels = {model: levels.copy() for model, levels in self._levels.items()}
        other._shared, other._tops, other.free = self._shared.copy(), self._tops.copy(), self.free.copy()
        other._own, self._own = set(), set()
        return other

    def add(self, free: "Free", place: int) -> None:
        """Let the node at `place` be found with what is `free` on it. O(models x log nodes)."""
        self._put(free, place, insort)

    def _put(self, free: "Free", place: int, into: Callable[[list[Any], Any], None]) -> None:
        entry, total = (free.cpu, free.memory_mib, place), 0
        for model, cards in free.cards.items():
            total += len(cards)
            self.free[model] = self.free.get(model, 0) + len(cards)
            into(self._writable(model, len(cards)), entry)
        into(self._writable(ANY, total), entry)
        for card, milli in free.parts:
            into(self._writable_shared(free.node.gpus[card]), (milli, *entry, card))

    def remove(self, free: "Free", place: int) -> None:
        """Undo `add` of exactly the same."""
        entry, total = (free.cpu, free.memory_mib, place), 0
        for model, cards in free.cards.items():
            total += len(cards)
            self.free[model] -= len(cards)
            _drop(self._writable(model, len(cards)), entry)
        _drop(self._writable(ANY, total), entry)
        for card, milli in free.parts:
            shared = self._writable_shared(free.node.gpus[card])
            del shared[bisect_left(shared, (milli, *entry, card))]

    def move(self, before: "Free", after: "Free", place: int) -> None:
        """Undo `add` of what was free before, add what is free after."""
        self.remove(before, place)
        self.add(after, place)

    def most_cards(self, model: str) -> int:
        """Return an upper bound of the free cards of `model` on one node."""
        return len(self._levels.get(model, ())) - 1

    def replicas(self, model: str, cards: int) -> int:
        """Return how many replicas of `cards` (>= 1) cards of `model` have room, cores and memory aside. O(levels)."""
        return sum(len(bucket) * (count // cards) for count, bucket in enumerate(self._levels.get(model, ())))

    def find(self, model: str, cards: int, cpu: int, memory: int, most: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield (free cards, position) of the nodes with at least this much, tightest first.

        Fewest free cards first (at most `most`), then fewest cores, memory, lowest position. Not to be changed
        meanwhile.
        """
        levels = self._levels.get(model, ())
        for count in range(cards, len(levels) if most is None else min(most + 1, len(levels))):
            bucket = levels[count]
            if not bucket or bucket[-1][0] < cpu:
                continue
            at = bisect_left(bucket, (cpu,)) if cpu > bucket[0][0] else 0
            for i in range(at, len(bucket)):
                if bucket[i][1] >= memory:
                    yield count, bucket[i][2]
                elif i == at + _FEW and self._top(model, count, i) < memory:
                    break

    def find_shared(self, model: str, milli: int, cpu: int, memory: int) -> Iterator[Shared]:
        """Yield the cards in use with `milli` thousandths free on nodes with at least this much, tightest first."""
        shared = self._shared.get(model, ())
        for i in range(bisect_left(shared, (milli,)), len(shared)):
            if shared[i][1] >= cpu and shared[i][2] >= memory:
                yield shared[i]

    def _top(self, model: str, count: int, at: int) -> int:
        tops = self._tops.get((model, count))
        if tops is None:
            memory = [entry[1] for entry in reversed(self._levels[model][count])]
            tops = self._tops[model, count] = list(accumulate(memory, max))
        return tops[len(tops) - 1 - at]

    def _writable(self, model: str, count: int) -> list[Entry]:
        key = (model, count)
        self._tops.pop(key, None)
        levels = self._levels.get(model)
        if levels is None:
            levels = self._levels[model] = []
        if key not in self._own:
            while len(levels) <= count:
                levels.append([])
                self._own.add((model, len(levels) - 1))
            if key not in self._own:
                levels[count] = levels[count].copy()
                self._own.add(key)
        return levels[count]

    def _writable_shared(self, model: str) -> list[Shared]:
        if (model, -1) not in self._own:
            self._own.add((model, -1))
            self._shared[model] = self._shared.get(model, []).copy()
        return self._shared[model]


def _drop(bucket: list[Entry], entry: Entry) -> None:
    del bucket[bisect_left(bucket, entry)]
