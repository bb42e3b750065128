"""When a gang that does not fit now will: the releases that are to come, played on a copy of the room. Pure.

A role fits from the release on after which the nodes together take all its replicas: a sum that is kept up with one
addition per release, without looking at any node twice. Only then the gang is really placed. Invariant: what `earliest`
names is the first release after which `fit` places the gang, and the room it is asked about is left untouched.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from trainmaster.core.records import Assignment
from trainmaster.queue.placing.buckets import ANY, View
from trainmaster.queue.placing.capacity import Held, Room, within
from trainmaster.queue.placing.failures import Demand
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.need import ALL, NOTHING, WHOLE, Need
from trainmaster.queue.placing.packing import BEST_FIT, Packing

Release = tuple[Held, ...]
"""What one running attempt gives back when it ends (`Capacity.holding_of`, `holding`)."""


class Shadow(NamedTuple):
    """The gang fits after this many releases, placed so. `room` is true of the nodes of the placement at that time."""

    releases: int
    room: Room
    placement: tuple[Assignment, ...]


def earliest(room: Room, demand: Demand, releases: Sequence[Release], packing: Packing = BEST_FIT) -> Shadow | None:
    """Return after how many of `releases`, in the order given, the gang fits; None: not even after all.

    O(replicas released) additions and one fit; when ports or several roles get into each other's way, O(log releases)
    more fits, each with the releases before it.
    """
    sums = [_RoleSum(room, Need.of(role), role.replicas, demand.view) for role in demand.roles]
    first = 0
    for one in sums:
        after = one.first(releases)
        if after is None:
            return None
        first = max(first, after)

    able = set[str]().union(*(one.able() for one in sums))
    found = _after(room, demand, releases, first, packing, able) or _after(room, demand, releases, first, packing)
    low, step = first, 1
    while found is None and low < len(releases):  # double the step, then bisect between the last two
        high = min(low + step, len(releases))
        found = _after(room, demand, releases, high, packing)
        low, step = (low, step) if found else (high, 2 * step)
    while found is not None and found.releases - low > 1:
        middle = (low + found.releases) // 2
        between = _after(room, demand, releases, middle, packing)
        found, low = (between, low) if between else (found, middle)
    return found


def _after(
    room: Room, demand: Demand, releases: Sequence[Release], count: int, packing: Packing, only: set[str] | None = None
) -> Shadow | None:
    """Return the gang placed after `count` releases, if it can be. `only`: with what is given back on these nodes."""
    later, given = room.fork(), list(chain.from_iterable(releases[:count]))
    later.give_held(held for held in given if only is None or held.node in only or held.ports)
    pool, nodes, driver = demand.view
    placement = fit(later, demand.roles, pool, ALL, nodes, driver, packing)
    if placement is None:
        return None
    if only is not None:
        used = {a.node for a in placement} - only
        later.give_held(held for held in given if held.node in used and not held.ports)
    return Shadow(count, later, placement)


class _RoleSum:
    """How many replicas of one role the nodes take together; never too few, too many only where cards are shared or
    mixed.
    """

    def __init__(self, room: Room, need: Need, replicas: int, view: View) -> None:
        self._room, self._need, self._replicas, self._view = room, need, replicas, view
        self._unit = need.gpu * need.milli
        self._nodes: dict[
            str, list[int] | None
        ] = {}  # cores, memory, thousandths of cards, replicas; None: not its node
        self._sum = 0
        cards = need.gpu if need.milli == WHOLE else 0
        models = (need.model,) if need.model is not None and cards else (ANY,)
        for model in models:
            for _, place in room.view(*view).find(model, cards, need.cpu or NOTHING, need.memory_mib or NOTHING):
                node = self._load(room.node(place).node.name)
                self._sum += node[3] if node else 0
                if self._sum >= replicas:
                    return

    def first(self, releases: Sequence[Release]) -> int | None:
        """Return after how many releases the sum is enough, or None. Every release must be given once only."""
        total, replicas, nodes = self._sum, self._replicas, self._nodes
        cpu, memory, unit, model = self._need.cpu, self._need.memory_mib, self._unit, self._need.model
        if total >= replicas:
            return 0
        for count, release in enumerate(releases, 1):
            for name, held_cpu, held_memory, gpus, milli, _, _ in release:
                if name not in nodes:
                    node = self._load(name)
                    total += node[3] if node else 0  # may count a whole card that is still shared by two
                node = nodes[name]
                if node is None:
                    continue
                node[0] += held_cpu
                node[1] += held_memory
                if gpus and unit:
                    node[2] += milli * (len(gpus) if model is None else self._matching(name, gpus))
                if node[0] >= cpu and node[1] >= memory and node[2] >= unit:
                    most = self._most(node)
                    total += most - node[3]
                    node[3] = most
            if total >= replicas:
                return count
        return None

    def able(self) -> set[str]:
        """Return the nodes that take at least one replica by now, as far as it was needed to know them."""
        return {name for name, node in self._nodes.items() if node is not None and node[3] > 0}

    def _load(self, name: str) -> list[int] | None:
        free = self._room.on(name)
        node = None
        if free is not None and within(free.node, self._view):
            model = self._need.model
            whole = sum(len(cards) for of, cards in free.cards.items() if model in (None, of))
            shared = sum(left for card, left in free.parts if model in (None, free.node.gpus[card]))
            node = [free.cpu, free.memory_mib, whole * WHOLE + shared, 0]
            node[3] = self._most(node)
        self._nodes[name] = node
        return node

    def _matching(self, name: str, gpus: tuple[int, ...]) -> int:
        free = self._room.on(name)
        models = free.node.gpus if free is not None else ()
        return sum(1 for card in gpus if card < len(models) and models[card] == self._need.model)

    def _most(self, node: list[int]) -> int:
        need = self._need
        most = 1 if need.fixed else self._replicas
        if self._unit:
            most = min(most, node[2] // self._unit)
        if need.cpu:
            most = min(most, node[0] // need.cpu)
        if need.memory_mib:
            most = min(most, node[1] // need.memory_mib)
        return max(most, 0)
