"""What is known not to fit: one failed gang rules out every gang that needs at least as much of everything.

Exact for gangs of one role, whose fit is complete: whether they fit is a sum over the nodes that grows with no demand.
Gangs of several roles are ruled out when one of their roles cannot be had even alone, or when the very same gang failed.
Invariant: `fails` is never true of what `fit` would place in the room, or in less room, that the failures were noted for.
"""

from collections.abc import Sequence
from typing import Final

from trainmaster.core.records import Role
from trainmaster.queue.buckets import View
from trainmaster.queue.need import Need

Amounts = tuple[int, int, int, int, int]
"""Replicas, and per replica: cards, thousandths of each, thousandths of a core, MiB."""

Ports = tuple[tuple[int, int], ...]
"""Length and fixed beginning of each block of ports."""

Family = tuple[View, str | None, Ports]
"""What must be alike, or absent in the failed one, for amounts to be comparable: nodes, card model, ports."""

Gang = tuple[View, tuple[tuple[int, Need], ...]]

_MOST: Final = 64
"""Failed amounts that are remembered per family: the latest, and those that ruled something out last."""


class Failures:
    """Failures noted for one room. `within`: failures of a room that has at least as much; they count here too."""

    __slots__ = ("_gangs", "_minimal", "_within")

    def __init__(self, within: "Failures | None" = None) -> None:
        self._within = within
        self._minimal: dict[Family, list[Amounts]] = {}
        self._gangs: set[Gang] = set()

    def clear(self) -> None:
        """Forget everything: something was given back."""
        self._minimal.clear()
        self._gangs.clear()

    def fails(self, roles: Sequence[Role], view: View) -> bool:
        """Return whether the gang is known not to fit."""
        needs = tuple((role.replicas, Need.of(role)) for role in roles)
        return self._knows(needs, view)

    def _knows(self, needs: tuple[tuple[int, Need], ...], view: View) -> bool:
        if self._minimal and any(self._dominated(replicas, need, view) for replicas, need in needs):
            return True
        if (view, needs) in self._gangs:
            return True
        return self._within is not None and self._within._knows(needs, view)

    def note(self, roles: Sequence[Role], view: View) -> None:
        """Remember that `fit` did not place the gang."""
        needs = tuple((role.replicas, Need.of(role)) for role in roles)
        if len(needs) > 1:
            self._gangs.add((view, needs))
            return
        replicas, need = needs[0]
        failed = _amounts(replicas, need)
        known = self._minimal.setdefault((view, need.model, _ports(need)), [])
        known[:] = [failed, *(other for other in known if not _at_least(other, failed))][:_MOST]

    def _dominated(self, replicas: int, need: Need, view: View) -> bool:
        asked = _amounts(replicas, need)
        for family in _families(need, view):
            known = self._minimal.get(family, ())
            for at, failed in enumerate(known):
                if _at_least(asked, failed):
                    if at:  # what rules out one is likely to rule out the next
                        assert isinstance(known, list)
                        known.insert(0, known.pop(at))
                    return True
        return False


def _amounts(replicas: int, need: Need) -> Amounts:
    return replicas, need.gpu, need.milli if need.gpu else 0, need.cpu, need.memory_mib


def _ports(need: Need) -> Ports:
    return tuple((port.count, port.begin_at) for port in need.ports)


def _at_least(more: Amounts, less: Amounts) -> bool:
    return (
        more[0] >= less[0] and more[1] >= less[1] and more[3] >= less[3] and more[4] >= less[4] and more[2] >= less[2]
    )


def _families(need: Need, view: View) -> list[Family]:
    """Return the families whose failures speak for `need`: as choosy as it or less."""
    pool, names, driver = view
    views = [view]
    if names or driver is not None:
        views = list(dict.fromkeys([view, (pool, names, None), (pool, frozenset(), driver), (pool, frozenset(), None)]))
    models = (None,) if need.model is None else (need.model, None)
    ports: tuple[Ports, ...] = (_ports(need), ()) if need.ports else ((),)
    return [(v, m, p) for v in views for m in models for p in ports]
