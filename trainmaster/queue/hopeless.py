"""Stops a pass early: when the least that any of many requests asks of everything is not to be had, none of them is. Pure.

Invariant: a request is only given up when `fit` would refuse it, and all that asks for at least as much.
"""

import math
from collections.abc import Sequence

from trainmaster.core.records import Resources, Role
from trainmaster.queue.backfill import Line
from trainmaster.queue.capacity import Room
from trainmaster.queue.failures import Amounts, Demand
from trainmaster.queue.fit import place
from trainmaster.queue.order import Turn
from trainmaster.queue.packing import Packing
from trainmaster.queue.snapshot import ClassKey

Kind = tuple[str | None, bool]
"""Card model; whether they would still run when the head of the line starts."""


class Kinds:
    """The classes of one line that are left, by kind; None for those of several shapes or roles, with ports or chosen nodes."""

    def __init__(self, keys: Sequence[ClassKey], heap: Sequence[Turn], now: float, line: Line) -> None:
        self.kind_of: list[Kind | None] = [None] * len(keys)
        self._line = line
        cards: dict[Kind, list[Amounts]] = {}
        spare_s = line.promise.at - now if line.promise is not None else math.inf
        for turn in heap:
            at = turn[4]
            request, _, _, limit_s = keys[at]
            plain = request.plain
            if plain is not None:
                model, asked = plain
                kind = model, not (limit_s <= spare_s and limit_s < math.inf)
                self.kind_of[at] = kind
                if kind in cards:
                    cards[kind].append(asked)
                else:
                    cards[kind] = [asked]
        self._least = {kind: _least(line.pool, kind[0], rows) for kind, rows in cards.items()}

    def hopeless(self, room: Room, packing: Packing) -> set[Kind | None]:
        """Return the kinds of which nobody can start any more; each is told once."""
        line, gone = self._line, set[Kind | None]()
        for kind, demand in list(self._least.items()):
            _, late = kind
            free, unfit = (line.behind(room), line.unfit_behind) if late else (room, line.unfit)
            if place(free, demand, unfit, packing) is None:
                gone.add(kind)
                del self._least[kind]
        return gone


def _least(pool: str, model: str | None, rows: list[Amounts]) -> Demand:
    """Return one replica of the least of each amount."""
    _, gpu, cpu, memory_mib, milli = map(min, zip(*rows, strict=True))
    ask = Resources(cpu / 1000, memory_mib, gpu, model, 0, milli or 1000)
    return Demand.of((Role("least", 1, ask),), pool)
