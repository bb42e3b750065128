"""What is known not to fit: one failed gang rules out every gang that needs at least as much of everything.

Exact for gangs of one role, whose fit is complete: whether they fit is a sum over the nodes that grows with no demand.
Gangs of several roles are ruled out when one of their roles cannot be had even alone, or when the very same gang
failed. Invariant: nothing is ruled out that `fit` would place in the room that the failures were noted for, or in less
room.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainmaster.core.records import Role
from trainmaster.queue.placing.buckets import View
from trainmaster.queue.placing.need import Need

Amounts = tuple[int, int, int, int, int]
"""Replicas, and per replica: cards, thousandths of a core, MiB, thousandths of each card."""

Ports = tuple[tuple[int, int], ...]
"""Length and fixed beginning of each block of ports."""

Family = tuple[View, str | None, Ports]
"""What must be alike, or absent in the failed one, for amounts to be comparable: nodes, card model, ports."""

Cards = tuple[str, int, int, int, str | None]
"""Of a role its name, replicas, and per replica cards, thousandths of each, model."""

_MOST: Final = 64
"""Failed amounts that are remembered per family: the latest, and those that ruled something out last."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A gang and where it may go, prepared for asking often: make one per request class and keep it.

    `parts`: per role its amounts; its own family first, then less choosy ones. `cards`: what it asks for if cores,
    memory and ports are left out of it, which many have in common.
    """

    roles: tuple[Role, ...]
    view: View
    parts: tuple[tuple[Amounts, tuple[Family, ...]], ...]
    cards: tuple[Cards, ...]

    @classmethod
    def of(
        cls, roles: Sequence[Role], pool: str, nodes: frozenset[str] = frozenset(), driver: str | None = None
    ) -> "Demand":
        """Return the demand of a gang that may use these nodes (empty: all of the pool) with this driver (None:
        any).
        """
        view = (pool, nodes, driver)
        asked = [(role, role.resources) for role in roles]
        cards = tuple((role.name, role.replicas, ask.gpu, ask.gpu_milli, ask.gpu_type) for role, ask in asked)
        return cls(tuple(roles), view, tuple(_part(role, view) for role in roles), cards)


class Failures:
    """Failures noted for one room. `within`: failures of a room that has at least as much; they count here too."""

    __slots__ = ("_gangs", "_minimal", "_within")

    def __init__(self, within: "Failures | None" = None) -> None:
        self._within = within
        self._minimal: dict[Family, list[Amounts]] = {}
        self._gangs: set[tuple[object, ...]] = set()

    def clear(self) -> None:
        """Forget everything: something was given back."""
        self._minimal.clear()
        self._gangs.clear()

    def rules_out(self, demand: Demand) -> bool:
        """Return whether the gang is known not to fit."""
        for amounts, families in demand.parts if self._minimal else ():
            for family in families:
                known = self._minimal.get(family)
                if known and _dominated(amounts, known):
                    return True
        if len(demand.parts) > 1 and demand.parts in self._gangs:
            return True
        return self._within is not None and self._within.rules_out(demand)

    def note(self, demand: Demand) -> None:
        """Remember that `fit` did not place the gang."""
        if len(demand.parts) > 1:
            self._gangs.add(demand.parts)
            return
        failed, families = demand.parts[0]
        known = self._minimal.setdefault(families[0], [])
        known[:] = [failed, *(other for other in known if not at_least(other, failed))][:_MOST]


def _part(role: Role, view: View) -> tuple[Amounts, tuple[Family, ...]]:
    need = Need.of(role)
    ports: Ports = tuple((port.count, port.begin_at) for port in need.ports)
    families = [(n, m, p) for n in _nodes(view) for m in {need.model: 0, None: 0} for p in {ports: 0, (): 0}]
    return (role.replicas, need.gpu, need.cpu, need.memory_mib, need.milli if need.gpu else 0), tuple(families)


def _nodes(view: View) -> tuple[View, ...]:
    """Return the view and those that are less choosy."""
    pool, names, driver = view
    everywhere: View = (pool, frozenset(), None)
    if view == everywhere:
        return (view,)
    return tuple(dict.fromkeys([view, (pool, names, None), (pool, frozenset[str](), driver), everywhere]))


def _dominated(asked: Amounts, known: list[Amounts]) -> bool:
    for at, failed in enumerate(known):
        if at_least(asked, failed):
            if at:  # move to front: it will likely rule out the next, too
                known.insert(0, known.pop(at))
            return True
    return False


def at_least(more: Amounts, less: Amounts) -> bool:
    """Return whether `more` asks for no less than `less` of everything."""
    return (
        more[0] >= less[0] and more[1] >= less[1] and more[2] >= less[2] and more[3] >= less[3] and more[4] >= less[4]
    )
