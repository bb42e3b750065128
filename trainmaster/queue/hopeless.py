"""Stops a pass early: when the least that any of many requests asks of everything is not to be had, none of them is. Pure.

Invariant: a request is only given up when `fit` would refuse it, and all that asks for at least as much.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from trainmaster.core.records import Resources, Role
from trainmaster.queue.backfill import Line
from trainmaster.queue.capacity import Room
from trainmaster.queue.failures import Amounts, Demand
from trainmaster.queue.fit import place
from trainmaster.queue.order import Turn
from trainmaster.queue.packing import Packing
from trainmaster.queue.snapshot import ClassKey


@dataclass(slots=True)
class _Kind:
    """What requests of one card model ask for. `late`: they would still run when the head of the line starts."""

    model: str | None
    late: bool
    asked: list[Amounts] = field(default_factory=list)
    gone: bool = False

    def least(self, pool: str) -> Demand:
        """Return one replica of the least of each amount."""
        _, gpu, cpu, memory_mib, milli = map(min, zip(*self.asked, strict=True))
        ask = Resources(cpu / 1000, memory_mib, gpu, self.model, 0, milli or 1000)
        return Demand.of((Role("least", 1, ask),), pool)


class Kinds:
    """The classes of one line that are left, by kind; those of several shapes or roles, with ports or chosen nodes are of none."""

    def __init__(self, keys: Sequence[ClassKey], heap: Sequence[Turn], now: float, line: Line) -> None:
        none = _Kind(None, late=False)
        self._line, self._kind_of = line, [none] * len(keys)
        early, later = dict[str | None, _Kind](), dict[str | None, _Kind]()
        spare_s = line.promise.at - now if line.promise is not None else math.inf
        for turn in heap:
            request, _, _, limit_s = keys[turn[4]]
            plain = request.plain
            if plain is None:
                continue
            model, asked = plain
            late = limit_s > spare_s or limit_s == math.inf
            kinds = later if late else early
            kind = kinds.get(model)
            if kind is None:
                kind = kinds[model] = _Kind(model, late)
            kind.asked.append(asked)
            self._kind_of[turn[4]] = kind
        self._least = [(kind, kind.least(line.pool)) for kinds in (early, later) for kind in kinds.values()]

    def without_hopeless(self, heap: list[Turn], room: Room, packing: Packing) -> list[Turn]:
        """Return the turns of `heap`, in no order, without the kinds of which nobody can start any more."""
        line, left = self._line, list[tuple[_Kind, Demand]]()
        for kind, least in self._least:
            free, unfit = (line.behind(room), line.unfit_behind) if kind.late else (room, line.unfit)
            kind.gone = place(free, least, unfit, packing) is None
            if not kind.gone:
                left.append((kind, least))
        if len(left) == len(self._least):
            return heap
        self._least = left
        kind_of = self._kind_of
        return [turn for turn in heap if not kind_of[turn[4]].gone]
