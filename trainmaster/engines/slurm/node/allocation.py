"""Who runs where on a cluster that chose the nodes itself. Pure: every node of an attempt works out the same answer
alone.

A job's tasks of one kind are a component; the cluster says on which nodes it lies and how many of its tasks each of
them takes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.core.formats.hostlist import expand
from trainmaster.core.records import Assignment, PortRequest, Role

FIRST_PORT: Final = 10_240
LAST_PORT: Final = 32_767
"""Ports are taken from below those that Linux gives to outgoing connections."""

Tasks = Sequence[tuple[int, int]]
"""Tasks as (role, index)."""


@dataclass(frozen=True, slots=True)
class Component:
    """The tasks that ask for the same, the nodes they got, and how many of them each node takes."""

    tasks: tuple[tuple[int, int], ...]
    nodes: tuple[str, ...]
    counts: tuple[int, ...]

    def on(self, node: str) -> tuple[tuple[int, int], ...]:
        """Return the tasks that `node` takes."""
        before = 0
        for name, count in zip(self.nodes, self.counts):
            if name == node:
                return self.tasks[before : before + count]
            before += count
        return ()


def component(tasks: Tasks, nodes: str, counts: str) -> Component:
    """Return a component by what Slurm says of it: ``n[1-2]`` and ``2,1``. Raises ValueError when that does not fit
    `tasks`.
    """
    found = Component(tuple(tasks), tuple(expand(nodes)), tasks_per_node(counts))
    if len(found.nodes) != len(found.counts) or sum(found.counts) != len(found.tasks):
        raise ValueError(f"{len(found.tasks)} tasks were asked for, the cluster gave {nodes!r} with {counts!r}")
    return found


def tasks_per_node(text: str) -> tuple[int, ...]:
    """Return the counts of ``2(x3),1``: 2, 2, 2, 1. Raises ValueError."""
    counts: list[int] = []
    for item in text.split(","):
        count, _, times = item.partition("(x")
        counts += [int(count)] * (int(times.removesuffix(")")) if times else 1)
    return tuple(counts)


def placement(
    attempt: str, roles: Sequence[Role], components: Sequence[Component], addresses: Mapping[str, str]
) -> tuple[Assignment, ...]:
    """Return where every task runs, in the order of the roles.

    `addresses` by node; a node that is not in it is reached by its name. Cards are counted from the first that the
    component has on the node. Ports are the attempt's own: from a start that its id gives on, and different for all of
    its tasks, so that two nodes may be one machine. Whether one is taken by somebody else is known on the node only.
    O(tasks log tasks).
    """
    found: list[Assignment] = []
    for part in components:
        for node in part.nodes:
            used = 0
            for role, index in part.on(node):
                cards = tuple(range(used, used + roles[role].resources.gpu))
                used += len(cards)
                found.append(Assignment(role, index, node, addresses.get(node, node), cards))
    found.sort(key=lambda place: (place.role, place.index))
    free = zlib.crc32(attempt.encode()) % (LAST_PORT - FIRST_PORT)
    placed = []
    for place in found:
        ports = []
        for request in roles[place.role].ports:
            numbers, free = _ports(request, free)
            ports.append((request.label, numbers))
        placed.append(Assignment(place.role, place.index, place.node, place.host, place.gpus, tuple(ports)))
    return tuple(placed)


def _ports(request: PortRequest, free: int) -> tuple[tuple[int, ...], int]:
    """Return the ports of one request, and where the next free one is, counted from FIRST_PORT."""
    if request.begin_at:
        return tuple(range(request.begin_at, request.begin_at + request.count)), free
    if FIRST_PORT + free + request.count > LAST_PORT:
        free = 0
    first = FIRST_PORT + free
    return tuple(range(first, first + request.count)), free + request.count
