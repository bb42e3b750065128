"""The nodes and partitions of one cluster, as our nodes and pools. Read no more often than every few seconds."""

import time
from collections.abc import Mapping
from typing import Final

from trainmaster.core.records import Node
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.parse import NodeLine, Partition
from trainmaster.engines.slurm.client.reading import Reading
from trainmaster.engines.slurm.messages import slurm_states as say
from trainmaster.engines.slurm.script import CardRequest
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said

FRESH_S: Final = 10.0
"""How old an answer may be."""
UNTYPED: Final = "gpu"
"""What cards are called whose model the cluster does not tell."""


class Machines:
    """The machines of one cluster. `pools`: those of ours that live here; none: every partition is one, or what
    `own.partitions` makes of it, which is by pool the name of its partition.
    """

    def __init__(self, reading: Reading, pools: tuple[str, ...], own: SlurmEngineConfig) -> None:
        self._reading, self._pools, self._own = reading, pools, own
        self._nodes: list[NodeLine] = []
        self._partitions: dict[str, Partition] = {}
        self._reserved: dict[str, str] = {}  # by node: the reservation that it is in now
        self._read_at = -FRESH_S

    @property
    def addresses(self) -> Mapping[str, str]:
        """How the nodes reach each other, by name: names need not resolve."""
        return {node.name: node.address for node in self._nodes}

    def partition(self, pool: str) -> str:
        """Return the name of the partition that `pool` is."""
        return self._own.partitions.get(pool, pool)

    def limits(self, pool: str) -> Partition | None:
        """Return the partition that `pool` is, as it was read last; None where there is none."""
        return self._partitions.get(self.partition(pool))

    @property
    def known(self) -> bool:
        """Whether the cluster has ever answered."""
        return bool(self._partitions)

    def others(self, pool: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the nodes of a pool that are not among `names`; none when no names are given."""
        return tuple(node.name for node in self.of(pool) if node.name not in names) if names else ()

    def of(self, pool: str) -> list[NodeLine]:
        """Return the nodes of a pool."""
        return [node for node in self._nodes if self.partition(pool) in node.partitions]

    def out_of_service(self, node: NodeLine) -> Said | None:
        """Return why a node starts none of our jobs now, None when it may."""
        if told := states.out_of_service(node.states, node.reason):
            return told
        mine, kept = self._own.reservation, self._reserved.get(node.name, "")
        if mine == kept:
            return None
        return say.slurm_node_outside_reservation(mine) if mine else say.slurm_node_kept_for_reservation(kept)

    def cards(self, pool: str) -> dict[str, CardRequest]:
        """Return by model how cards are asked for in a pool where it is not simply by their type."""
        typed = {card.type for node in self.of(pool) for card in node.cards}
        bare = {model: CardRequest("", model) for model in self._own.card_features if model not in typed}
        return {UNTYPED: CardRequest(""), **bare}

    async def read(self) -> None:
        """Ask the cluster. Raises ClusterDown, ClusterRefused, ValueError."""
        nodes = await self._reading.nodes()
        await self.read_partitions()
        now = time.time()
        active = [one for one in await self._reading.reservations() if one.start <= now < one.end]
        self._nodes = nodes
        active.sort(key=lambda one: one.name == self._own.reservation)  # of two that overlap ours counts
        self._reserved = {name: one.name for one in active for name in one.nodes}
        self._read_at = time.monotonic()

    async def read_partitions(self) -> None:
        """Ask the cluster for its partitions alone. Raises ClusterDown, ClusterRefused, ValueError."""
        self._partitions = {one.name: one for one in await self._reading.partitions()}

    async def nodes(self, isolation: Mapping[str, str], containers: str) -> tuple[Node, ...]:
        """Return those of our pools; one in several of them counts in the first. `containers`: what each says of
        container images. Raises ClusterDown.
        """
        own = (("sandbox", isolation["kind"]), ("containers", containers))
        if time.monotonic() - self._read_at >= FRESH_S:
            await self.read()
        found = []
        for line in self._nodes:
            mine = [pool for name in line.partitions for pool in self._pools_of(name)]
            if mine:
                found.append(self._node(line, mine[0], own))
        return tuple(found)

    def _pools_of(self, partition: str) -> list[str]:
        """Return which pools of ours a partition is."""
        pools = self._pools or (*self._own.partitions, partition)
        return [pool for pool in pools if self.partition(pool) == partition]

    def _node(self, line: NodeLine, pool: str, own: tuple[tuple[str, str], ...]) -> Node:
        facts = [("slurm", line.version), ("state", ", ".join(line.states).lower()), *own]
        facts += [("features", ", ".join(line.features))] if line.features else []
        facts += [("partitions", ", ".join(line.partitions))] if len(line.partitions) > 1 else []
        facts += [("reservation", self._reserved[line.name])] if line.name in self._reserved else []
        model = next((name for name in line.features if name in self._own.card_features), UNTYPED)
        reason = self.out_of_service(line)
        partition = self.limits(pool)
        if reason is None and (partition is None or not partition.up):
            reason = say.slurm_says_partition_down(self.partition(pool))
        return Node(
            line.name,
            line.address,
            float(line.cpus),
            line.memory_mib,
            tuple(card.type or model for card in line.cards for _ in range(card.count)),
            pool,
            schedulable=reason is None,
            reason=reason,
            facts=tuple(facts),
            driver=self._driver(line),
            kernel=line.kernel,
        )

    def _driver(self, line: NodeLine) -> str:
        """Return the version that a feature of the node names, "" where none does."""
        named = (feature for feature in line.features if feature.startswith(self._own.driver_feature))
        return next((feature.removeprefix(self._own.driver_feature) for feature in named), "")
