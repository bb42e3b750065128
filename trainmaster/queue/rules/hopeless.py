"""Stops a pass early: when the least that any of many requests asks of everything is not to be had, none of them is.
Pure.

Invariant: a request is only given up when `fit` would refuse it, and all that asks for at least as much.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainmaster.core.records import Resources, Role
from trainmaster.queue.ordering.lanes import Cursor, Kind, Row, least_of
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.failures import Demand
from trainmaster.queue.placing.fit import place
from trainmaster.queue.placing.packing import Packing
from trainmaster.queue.rules.backfill import Line


@dataclass(slots=True)
class _Kind:
    """The lanes of one card model and the least that is asked in them. `late`: also those who run on when the head
    starts.
    """

    least: Demand
    cursors: list[Cursor]
    late: bool = True


class LanesByModel:
    """What is left of the lanes of one pool behind the head of its line, by card model."""

    def __init__(self, cursors: Sequence[Cursor], now: float, line: Line) -> None:
        self._line, self._in_time = line, _in_time(now, line)
        by_kind: dict[Kind, list[Cursor]] = {}
        for cursor in cursors:
            by_kind.setdefault(cursor.lane.key.kind, []).append(cursor)
        self._kinds = [
            _Kind(_least(line.pool, kind[0], alike), alike) for kind, alike in by_kind.items() if kind is not None
        ]

    def close_hopeless(self, room: Room, packing: Packing) -> None:
        """Leave out those of which nobody can start any more."""
        line, left = self._line, list[_Kind]()
        for kind in self._kinds:
            if place(room, kind.least, line.unfit, packing) is None:
                for cursor in kind.cursors:
                    cursor.rows = iter(())
                continue
            left.append(kind)
            if kind.late and place(line.behind(room), kind.least, line.unfit_behind, packing) is None:
                kind.late = False
                for cursor in kind.cursors:
                    cursor.rows = filter(self._in_time, cursor.rows)
        self._kinds = left


def _in_time(now: float, line: Line) -> Callable[[Row], bool]:
    """Return whether a class would be gone when the head of the line starts."""
    spare_s = line.promise.at - now if line.promise is not None else math.inf
    return lambda row: row[2].key.limit_s <= spare_s and row[2].key.limit_s < math.inf


def _least(pool: str, model: str | None, cursors: Sequence[Cursor]) -> Demand:
    """Return one replica of the least of each amount."""
    _, gpu, cpu, memory_mib, milli = least_of([cursor.lane.least for cursor in cursors])
    ask = Resources(cpu / 1000, memory_mib, gpu, model, 0, milli or 1000)
    return Demand.of((Role("least", 1, ask),), pool)
