"""What is free on the machines: cores, memory, cards by index, ports by host address.

`Room` is a copy-on-write picture that a pass may take from and give to; `Capacity` is the one the service keeps between
passes, with what every attempt holds and what is already known not to fit. Cores are counted in thousandths as
integers, so that taking and giving back any number of times is exact. Invariant: free = offered - held, per node, card
and port.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Assignment, Node, Role, port_space
from trainmaster.queue.placing.buckets import Buckets, View
from trainmaster.queue.placing.failures import Amounts, Failures
from trainmaster.queue.placing.need import WHOLE, millicores

_VIEWS: Final = 64
"""So many sorted views of chosen nodes are kept beside those of whole pools."""


class Held(NamedTuple):
    """What one replica holds: on a node thousandths of a core, MiB, cards and thousandths of each; at an address
    ports.
    """

    node: str
    cpu: int
    memory_mib: int
    gpus: tuple[int, ...]
    milli: int
    host: str = ""
    ports: tuple[int, ...] = ()


def holding(roles: Sequence[Role], placement: Sequence[Assignment]) -> tuple[Held, ...]:
    """Return what a placed gang holds. O(tasks)."""
    out = []
    for a in placement:
        ask = roles[a.role].resources
        ports = tuple(n for _, numbers in a.ports for n in numbers) if a.ports else ()
        out.append(Held(a.node, millicores(ask.cpu), ask.memory_mib, a.gpus, ask.gpu_milli, a.host, ports))
    return tuple(out)


class Free(NamedTuple):
    """What is free on one node: thousandths of a core, MiB, ascending indices of wholly free cards by model.

    `parts`: the cards that are shared, ascending, each with the thousandths that are free of it.
    """

    node: Node
    cpu: int
    memory_mib: int
    cards: dict[str, tuple[int, ...]]
    parts: tuple[tuple[int, int], ...] = ()

    def minus(self, cpu: int, memory_mib: int, gpus: Sequence[int], milli: int = WHOLE) -> "Free":
        """Return what is left when these are taken. Cards that are not free are ignored."""
        cards, parts = self.cards, self.parts
        for card in gpus:
            model = self.node.gpus[card] if card < len(self.node.gpus) else ""
            whole = cards.get(model, ())
            if card in whole:
                cards = {**cards, model: tuple(i for i in whole if i != card)}
                parts = parts if milli == WHOLE else tuple(sorted((*parts, (card, WHOLE - milli))))
            elif milli < WHOLE:
                parts = tuple((i, free - milli if i == card else free) for i, free in parts)
        return Free(self.node, self.cpu - cpu, self.memory_mib - memory_mib, cards, parts)

    def plus(self, cpu: int, memory_mib: int, gpus: Sequence[int], milli: int = WHOLE) -> "Free":
        """Return what is free when these are given back: undoes `minus`."""
        cards, parts = self.cards, self.parts
        for card in gpus:
            if card >= len(self.node.gpus):
                continue
            whole = milli == WHOLE
            if not whole:
                whole = (card, WHOLE - milli) in parts
                parts = tuple((i, f + milli if i == card else f) for i, f in parts if not whole or i != card)
            if whole:
                model = self.node.gpus[card]
                cards = {**cards, model: tuple(sorted({*cards.get(model, ()), card}))}
        return Free(self.node, self.cpu + cpu, self.memory_mib + memory_mib, cards, parts)


def _all_free(node: Node) -> Free:
    return Free(node, int(round(node.cpu * 1000, 6)), node.memory_mib, _by_model(node.gpus))


@lru_cache(maxsize=256)
def _by_model(gpus: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the indices of the cards of each model; shared by the nodes that are alike, so never changed."""
    cards: dict[str, tuple[int, ...]] = {}
    for index, model in enumerate(gpus):
        cards[model] = (*cards.get(model, ()), index)
    return cards


class Room:
    """Free resources that can be taken from and given to. `fork` leaves each of the two untouched by the other."""

    __slots__ = ("_free", "_own", "_places", "_ports", "_views", "busy_ports", "port_begin", "port_first", "port_last")

    def __init__(self, nodes: Iterable[Node], port_first: int, port_last: int, busy_ports: frozenset[int]) -> None:
        self.port_first, self.port_last, self.busy_ports = port_first, port_last, busy_ports
        self.port_begin = port_first  # the search for a free port begins here and goes round once
        self._free: list[Free] = []
        self._places: dict[str, int] = {}
        self._views: dict[View, Buckets] = {}
        self._ports: dict[str, set[int]] = {}
        self._own: set[str | View] = set()  # hosts and views that no fork shares: safe to change
        self._offer(nodes)

    def _offer(self, nodes: Iterable[Node]) -> None:
        self._free = [_all_free(node) for node in nodes]
        self._places = {free.node.name: place for place, free in enumerate(self._free)}
        self._views, self._ports, self._own = {}, {}, set()

    def fork(self) -> "Room":
        """Return a copy to try things on. O(nodes) copying of references; the sorted views are copied when changed."""
        other = Room.__new__(Room)
        other.port_first, other.port_last, other.busy_ports = self.port_first, self.port_last, self.busy_ports
        other.port_begin = self.port_begin
        other._free, other._places = self._free.copy(), self._places
        other._views, other._ports = self._views.copy(), self._ports.copy()
        other._own, self._own = set(), set()
        return other

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes as last set."""
        return tuple(free.node for free in self._free)

    def node(self, place: int) -> Free:
        """Return what is free on the node at this position."""
        return self._free[place]

    def on(self, name: str) -> Free | None:
        """Return what is free on the node of this name, or None when it is not known."""
        place = self._places.get(name)
        return None if place is None else self._free[place]

    def nodes_of(self, pool: str, nodes: frozenset[str] = frozenset(), driver: str | None = None) -> list[Free]:
        """Return what is free on the nodes in service that such a gang may use, in the order the nodes were given."""
        view = (pool, nodes, driver)
        return [free for free in self._free if within(free.node, view)]

    def view(self, pool: str, nodes: frozenset[str] = frozenset(), driver: str | None = None) -> Buckets:
        """Return these nodes sorted for packing. O(nodes log nodes) the first time, then kept up to date."""
        key = (pool, nodes, driver)
        found = self._views.get(key)
        if found is None:
            if len(self._views) > _VIEWS:
                self._views = {view: kept for view, kept in self._views.items() if view[1:] == (frozenset(), None)}
            chosen = ((place, free) for place, free in enumerate(self._free) if within(free.node, key))
            found = self._views[key] = Buckets.of(chosen)
            self._own.add(key)
        return found

    def ports_of(self, host: str) -> set[int]:
        """Return the ports held on `host`, not to be changed by the caller."""
        return self._ports.get(port_space(host), set())

    def take(self, roles: Sequence[Role], placement: Sequence[Assignment]) -> None:
        """Take what a placed gang holds; a node that is not known is passed over. O(tasks)."""
        self.take_held(holding(roles, placement))

    def give(self, roles: Sequence[Role], placement: Sequence[Assignment]) -> None:
        """Give back what `take` took. O(tasks)."""
        self.give_held(holding(roles, placement))

    def take_held(self, holdings: Iterable[Held]) -> None:
        """Take what replicas hold. O(replicas)."""
        changed: dict[int, Free] = {}
        for held in holdings:
            place = self._places.get(held.node)
            if place is not None:
                changed[place] = (changed.get(place) or self._free[place]).minus(*held[1:5])
            if held.ports:
                self._own_ports(held.host).update(held.ports)
        self._replace(changed)

    def give_held(self, holdings: Iterable[Held]) -> None:
        """Give back what replicas held. O(replicas)."""
        changed: dict[int, Free] = {}
        for held in holdings:
            place = self._places.get(held.node)
            if place is not None:
                changed[place] = (changed.get(place) or self._free[place]).plus(*held[1:5])
            if held.ports:
                self._own_ports(held.host).difference_update(held.ports)
        self._replace(changed)

    def reduced(self, later: "Room", roles: Sequence[Role], placement: Sequence[Assignment]) -> "Room":
        """Return this room with no more on the nodes of `placement` than there will be beside that gang.

        `later`: the room at the time the gang is to start. What fits here may run beyond that time: the view of
        backfill.
        """
        beside, out = later.fork(), self.fork()
        beside.take(roles, placement)
        places = {self._places[a.node] for a in placement}
        out._replace({place: _least(out._free[place], beside._free[place]) for place in places})
        return out

    def _replace(self, changed: dict[int, Free]) -> None:
        for key in self._views:
            for place, free in changed.items():
                if within(free.node, key):
                    self._own_view(key).move(self._free[place], free, place)
        for place, free in changed.items():
            self._free[place] = free

    def _own_view(self, key: View) -> Buckets:
        if key not in self._own:
            self._own.add(key)
            self._views[key] = self._views[key].fork()
        return self._views[key]

    def _own_ports(self, host: str) -> set[int]:
        host = port_space(host)
        if host not in self._own:
            self._ports[host] = set(self._ports.get(host, ()))
            self._own.add(host)
        return self._ports[host]


def within(node: Node, view: View) -> bool:
    """Return whether `node` is one of the nodes that a gang may use."""
    pool, names, driver = view
    return (
        node.schedulable
        and node.pool == pool
        and (not names or node.name in names)
        and (driver is None or node.driver == driver)
    )


def _least(now: Free, later: Free) -> Free:
    """Return what is free both now and later; which cards does not matter, so the highest are left."""
    cards = {model: whole[max(len(whole) - len(later.cards.get(model, ())), 0) :] for model, whole in now.cards.items()}
    then = dict(later.parts)
    parts = tuple((card, min(milli, then[card])) for card, milli in now.parts if card in then)
    return Free(now.node, min(now.cpu, later.cpu), min(now.memory_mib, later.memory_mib), cards, parts)


class Capacity(Room):
    """The picture the service keeps: one `hold` per started attempt, one `release` when it is reaped.

    `unfit` remembers what was asked and did not fit now, with all that asks for more; by request, `impossible` what
    does not fit on the nodes in service, `refused` what does not fit on all nodes; by pool and card model, `possible`
    an amount that fits on those in service.
    Whatever gives room or changes nodes forgets them: they are never wrong.
    """

    __slots__ = ("_empty", "_held", "_holdings", "changes", "impossible", "possible", "refused", "unfit")

    def __init__(
        self,
        nodes: Iterable[Node],
        port_first: int = 21000,
        port_last: int = 28999,
        busy_ports: frozenset[int] = frozenset(),
    ) -> None:
        self._held: dict[str, tuple[tuple[Role, ...], tuple[Assignment, ...]]] = {}
        self.impossible: dict[Any, Any] = {}
        self.refused: dict[Any, Any] = {}
        self.possible: dict[tuple[str, str | None], Amounts] = {}
        self.unfit = Failures()
        self.changes = 0
        """How often nodes, ports or what is held changed."""
        self._holdings: dict[str, tuple[Held, ...]] = {}
        self._empty: Room | None = None
        super().__init__(nodes, port_first, port_last, busy_ports)

    @property
    def holders(self) -> dict[str, tuple[tuple[Role, ...], tuple[Assignment, ...]]]:
        """Return what each attempt holds, not to be changed by the caller."""
        return self._held

    def empty(self) -> Room:
        """Return the room there would be if nothing ran, here or beside the platform; not to be taken from."""
        if self._empty is None:
            self._empty = Room(self.nodes, self.port_first, self.port_last, frozenset())
        return self._empty

    def holding_of(self, attempt: str) -> tuple[Held, ...]:
        """Return what `attempt` gives back when it ends; nothing when it holds nothing. For `earliest`."""
        return self._holdings.get(attempt, ())

    def hold(self, attempt: str, roles: tuple[Role, ...], placement: tuple[Assignment, ...]) -> None:
        """Note that `attempt` holds its placement from now on; a second call changes nothing."""
        if attempt not in self._held:
            self.changes += 1
            self._held[attempt] = (roles, placement)
            self._holdings[attempt] = holding(roles, placement)
            self.take_held(self._holdings[attempt])

    def release(self, attempt: str) -> None:
        """Note that nothing of `attempt` is left; nothing happens when it held nothing. O(its tasks)."""
        if self._held.pop(attempt, None) is None:
            return
        self.changes += 1
        self.give_held(self._holdings.pop(attempt))
        self.unfit.clear()

    def set_nodes(self, nodes: Iterable[Node]) -> None:
        """Replace the nodes; what is held stays held, also on a node that is away for a while. No-op when equal."""
        nodes = tuple(nodes)
        if nodes == self.nodes:
            return
        self._offer(nodes)
        for held in self._holdings.values():
            self.take_held(held)
        self._forget()

    def set_busy_ports(self, busy_ports: frozenset[int]) -> None:
        """Replace the ports that something outside the platform uses."""
        if busy_ports != self.busy_ports:
            self.busy_ports = busy_ports
            self._forget()

    def _forget(self) -> None:
        self.changes += 1
        self.unfit.clear()
        self.impossible.clear()
        self.refused.clear()
        self.possible.clear()
        self._empty = None
