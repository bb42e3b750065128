"""What is free on the machines: cores, memory, cards by index, ports by host address.

`Room` is a copy-on-write picture that a pass may take from; `Capacity` is the one the service keeps between passes,
with what every attempt holds and what is already known not to fit. Cores are counted in thousandths as integers, so
that taking and giving back any number of times is exact. Invariant: free = offered - held, per node, card and port.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from trainmaster.core.records import Assignment, Node, Role, port_space


def millicores(cpu: float) -> int:
    """Return `cpu` cores in thousandths, rounded up; the noise of binary fractions is not rounded up."""
    return math.ceil(round(cpu * 1000, 6))


class Free(NamedTuple):
    """What is free on one node: thousandths of a core, MiB, ascending card indices by model."""

    node: Node
    cpu: int
    memory_mib: int
    cards: dict[str, tuple[int, ...]]

    def minus(self, cpu: int, memory_mib: int, gpus: Sequence[int]) -> "Free":
        """Return what is left when these are taken. Cards that are not free are ignored."""
        cards = self.cards
        if gpus:
            gone = set(gpus)
            cards = {model: tuple(i for i in free if i not in gone) for model, free in cards.items()}
        return Free(self.node, self.cpu - cpu, self.memory_mib - memory_mib, cards)


def _all_free(node: Node) -> Free:
    cards: dict[str, tuple[int, ...]] = {}
    for index, model in enumerate(node.gpus):
        cards[model] = (*cards.get(model, ()), index)
    return Free(node, int(round(node.cpu * 1000, 6)), node.memory_mib, cards)


class Room:
    """Free resources that can be taken from. `fork` is O(nodes + hosts) and leaves the original untouched."""

    __slots__ = ("_free", "_own", "_pools", "_ports", "busy_ports", "port_begin", "port_first", "port_last")

    def __init__(self, nodes: Iterable[Node], port_first: int, port_last: int, busy_ports: frozenset[int]) -> None:
        self.port_first, self.port_last, self.busy_ports = port_first, port_last, busy_ports
        self.port_begin = port_first  # where the search begins; it goes round once
        self._free: dict[str, Free] = {}
        self._pools: dict[str, tuple[str, ...]] = {}
        self._ports: dict[str, set[int]] = {}
        self._own: set[str] = set()  # hosts whose port set is not shared with the room this one was forked from
        self._offer(nodes)

    def _offer(self, nodes: Iterable[Node]) -> None:
        self._free = {node.name: _all_free(node) for node in nodes}
        self._ports = {}
        self._own = set()
        self._pools = {}
        for name, free in self._free.items():
            if free.node.schedulable:
                self._pools[free.node.pool] = (*self._pools.get(free.node.pool, ()), name)

    def fork(self) -> "Room":
        """Return a copy to try things on."""
        other = Room.__new__(Room)
        other.port_first, other.port_last, other.busy_ports = self.port_first, self.port_last, self.busy_ports
        other.port_begin = self.port_begin
        other._free, other._pools = self._free.copy(), self._pools
        other._ports, other._own = self._ports.copy(), set()
        return other

    def nodes_of(self, pool: str) -> list[Free]:
        """Return the free resources of the schedulable nodes of `pool`, in the order the nodes were given."""
        free = self._free
        return [free[name] for name in self._pools.get(pool, ())]

    def ports_of(self, host: str) -> set[int]:
        """Return the ports held on `host`, not to be changed by the caller."""
        return self._ports.get(port_space(host), set())

    def take(self, roles: Sequence[Role], placement: Sequence[Assignment]) -> None:
        """Take what a placed gang holds; a node that is not known is passed over. O(tasks)."""
        for a in placement:
            free = self._free.get(a.node)
            if free is not None:
                ask = roles[a.role].resources
                self._free[a.node] = free.minus(millicores(ask.cpu), ask.memory_mib, a.gpus)
            for _, numbers in a.ports:
                self._own_ports(a.host).update(numbers)

    def _own_ports(self, host: str) -> set[int]:
        host = port_space(host)
        if host not in self._own:
            self._ports[host] = set(self._ports.get(host, ()))
            self._own.add(host)
        return self._ports[host]


class Capacity(Room):
    """The picture the service keeps: one `hold` per started attempt, one `release` when it is reaped.

    `failures` remembers, by class key, what does not fit now; `impossible` what does not fit on the nodes in service,
    `refused` what does not fit on all nodes. Whatever gives room or changes nodes forgets them: they are never wrong.
    """

    __slots__ = ("_empty", "_held", "failures", "impossible", "refused")

    def __init__(
        self,
        nodes: Iterable[Node],
        port_first: int = 21000,
        port_last: int = 28999,
        busy_ports: frozenset[int] = frozenset(),
    ) -> None:
        self._held: dict[str, tuple[tuple[Role, ...], tuple[Assignment, ...]]] = {}
        self.failures: dict[str, Any] = {}
        self.impossible: dict[str, Any] = {}
        self.refused: dict[str, Any] = {}
        self._empty: Room | None = None
        super().__init__(nodes, port_first, port_last, busy_ports)

    @property
    def holders(self) -> dict[str, tuple[tuple[Role, ...], tuple[Assignment, ...]]]:
        """Return what each attempt holds, not to be changed by the caller."""
        return self._held

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes as last set."""
        return tuple(free.node for free in self._free.values())

    def empty(self) -> Room:
        """Return the room there would be if nothing ran, here or beside the platform; not to be taken from."""
        if self._empty is None:
            self._empty = Room(self.nodes, self.port_first, self.port_last, frozenset())
        return self._empty

    def hold(self, attempt: str, roles: tuple[Role, ...], placement: tuple[Assignment, ...]) -> None:
        """Note that `attempt` holds its placement from now on; a second call changes nothing."""
        if attempt not in self._held:
            self._held[attempt] = (roles, placement)
            self.take(roles, placement)

    def release(self, attempt: str) -> None:
        """Note that nothing of `attempt` is left; nothing happens when it held nothing. O(its tasks)."""
        held = self._held.pop(attempt, None)
        if held is None:
            return
        roles, placement = held
        for a in placement:
            free = self._free.get(a.node)
            if free is not None:
                self._free[a.node] = _plus(free, roles[a.role], a)
            for _, numbers in a.ports:
                self._own_ports(a.host).difference_update(numbers)
        self.failures.clear()

    def set_nodes(self, nodes: Iterable[Node]) -> None:
        """Replace the nodes; what is held stays held, also on a node that is away for a while. No-op when equal."""
        nodes = tuple(nodes)
        if nodes == self.nodes:
            return
        self._offer(nodes)
        for roles, placement in self._held.values():
            self.take(roles, placement)
        self._forget()

    def set_busy_ports(self, busy_ports: frozenset[int]) -> None:
        """Replace the ports that something outside the platform uses."""
        if busy_ports != self.busy_ports:
            self.busy_ports = busy_ports
            self._forget()

    def _forget(self) -> None:
        self.failures.clear()
        self.impossible.clear()
        self.refused.clear()
        self._empty = None


def _plus(free: Free, role: Role, a: Assignment) -> Free:
    cards = free.cards
    if a.gpus:
        cards = dict(cards)
        for index in a.gpus:
            if index < len(free.node.gpus):
                model = free.node.gpus[index]
                cards[model] = tuple(sorted({*cards.get(model, ()), index}))
    ask = role.resources
    return Free(free.node, free.cpu + millicores(ask.cpu), free.memory_mib + ask.memory_mib, cards)
