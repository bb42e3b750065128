"""The nodes and partitions of one cluster, as our nodes and pools. Read no more often than every few seconds."""

import time
from collections.abc import Mapping
from typing import Final

from trainmaster.core.records import Node
from trainmaster.engines.slurm import parse
from trainmaster.engines.slurm.commands import Commands
from trainmaster.engines.slurm.parse import NodeLine, Partition

FRESH_S: Final = 10.0
"""How old an answer may be."""
UNTYPED: Final = "gpu"
"""What cards are called whose type the cluster does not tell."""


class Machines:
    """The machines of one cluster. `pools`: those of ours that live here; none: every partition is one, or what `partitions` makes
    of it, which is by pool the name of its partition.
    """

    def __init__(self, commands: Commands, pools: tuple[str, ...], partitions: Mapping[str, str]) -> None:
        self._commands, self._pools, self._named = commands, pools, dict(partitions)
        self._nodes: list[NodeLine] = []
        self._partitions: list[Partition] = []
        self._read_at = -FRESH_S

    @property
    def addresses(self) -> Mapping[str, str]:
        """How the nodes reach each other, by name: names need not resolve."""
        return {node.name: node.address for node in self._nodes}

    def partition(self, pool: str) -> str:
        """Return the name of the partition that `pool` is."""
        return self._named.get(pool, pool)

    def others(self, pool: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the nodes of a pool that are not among `names`; none when no names are given."""
        there = [node.name for node in self._nodes if self.partition(pool) in node.partitions]
        return tuple(name for name in there if name not in names) if names else ()

    async def read(self) -> None:
        """Ask the cluster. Raises ClusterDown, ClusterRefused, ValueError."""
        nodes = parse.nodes(await self._commands.run("scontrol", "show", "node", "-o"))
        partitions = parse.partitions(await self._commands.run("scontrol", "show", "partition", "-o"))
        self._nodes, self._partitions, self._read_at = nodes, partitions, time.monotonic()

    async def nodes(self, isolation: Mapping[str, str]) -> tuple[Node, ...]:
        """Return those of our pools; one in several of them counts in the first. Raises ClusterDown."""
        if time.monotonic() - self._read_at >= FRESH_S:
            await self.read()
        up = {partition.name: partition.up for partition in self._partitions}
        found = []
        for line in self._nodes:
            mine = [pool for name in line.partitions for pool in self._pools_of(name)]
            if mine:
                found.append(_node(line, mine[0], up.get(self.partition(mine[0]), False), isolation))
        return tuple(found)

    def _pools_of(self, partition: str) -> list[str]:
        """Return which pools of ours a partition is."""
        pools = self._pools or (*self._named, partition)
        return [pool for pool in pools if self.partition(pool) == partition]


def _node(line: NodeLine, pool: str, up: bool, isolation: Mapping[str, str]) -> Node:
    facts = [("slurm", line.version), ("state", ", ".join(line.states).lower()), ("sandbox", isolation["kind"])]
    facts += [("features", ", ".join(line.features))] if line.features else []
    facts += [("partitions", ", ".join(line.partitions))] if len(line.partitions) > 1 else []
    cards = tuple(card.type or UNTYPED for card in line.cards for _ in range(card.count))
    usable = line.usable and up
    reason = "" if usable else line.reason or ("" if up else f"partition {pool} is down") or ", ".join(line.states)
    return Node(
        line.name, line.address, float(line.cpus), line.memory_mib, cards, pool, schedulable=usable, reason=reason,
        facts=tuple(facts), kernel=line.kernel,
    )  # fmt: skip
