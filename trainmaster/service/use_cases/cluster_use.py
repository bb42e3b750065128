"""Who uses what of the nodes: sums by person and by workspace as they are now, and how much was held over time.

Reads; changes nothing. Of jobs that the reader may not know of, owner and workspace are told as the policy says, and
sums.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import ClusterPast, ClusterUse, Used, UseRow
from trainmaster.core.cluster import amounts
from trainmaster.core.errors import NotFound
from trainmaster.core.records import Node
from trainmaster.messages.cluster import cluster
from trainmaster.queue.ordering.rights import amounts_of
from trainmaster.service.cluster.held import Span, means
from trainmaster.service.context import Context
from trainmaster.service.scheduling.tally import Sums

Window = Literal["day", "week"]
STEPS: Final[dict[Window, tuple[float, int]]] = {"day": (900.0, 96), "week": (3600.0, 168)}
"""Seconds of a step, and how many there are."""

MOST_JOBS: Final = 10_000
"""Of so many jobs that ended last the past is made: some 0.2 s in a thread."""

FRESH_S: Final = 60.0
"""So long an answer about the past is given again."""


@dataclass(frozen=True, slots=True)
class _Kept:
    at: float
    past: ClusterPast


class ClusterUses:
    """One object per server; all methods in the loop's thread."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._kept: dict[tuple[Window, str], _Kept] = {}
        self._reading = asyncio.Lock()

    def use(self, who: Principal, pool: str = "") -> ClusterUse:
        """Return who uses what of a pool, of all where none is named. Raises Forbidden, NotFound. O(people)."""
        decide(who, "cluster:read").demand()
        nodes, tally = self._nodes(pool), self._ctx.tally
        visible = decide(who, "jobs:read").visible
        people = [row_of(sums, owner=name) for name, sums in tally.each("owner", pool) if _may_know(visible, who, name)]
        total = amounts_of(nodes)
        used = [sums for _, sums in tally.each("pool") if not pool] or [tally.of("pool", pool)]

        def of_all(name: str) -> Used:
            return Used(used=sum(sums.used[name] for sums in used) / 1000, total=total.get(name, 0.0))

        return ClusterUse(
            nodes=len(nodes),
            nodes_in_service=sum(node.schedulable for node in nodes),
            gpu=of_all("gpu"),
            cpu=of_all("cpu"),
            memory_mib=of_all("memory_mib"),
            running=sum(sums.running for sums in used),
            waiting=sum(sums.waiting for sums in used),
            people=_largest(people),
            workspaces=_largest(row_of(sums, workspace=name) for name, sums in tally.each("workspace", pool)),
        )

    async def past(self, who: Principal, window: Window, pool: str = "") -> ClusterPast:
        """Return how much was held over the last day or week, a minute old at most. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        nodes = self._nodes(pool)
        async with self._reading:  # whoever asks at the same time is given the same answer
            now, kept = self._ctx.clock(), self._kept.get((window, pool))
            if kept is None or not 0 <= now - kept.at < FRESH_S:
                kept = _Kept(now, await asyncio.to_thread(self._read, window, pool, now, nodes))
                self._kept[window, pool] = kept
        return kept.past

    def _nodes(self, pool: str) -> list[Node]:
        if pool and pool not in self._ctx.pools.pools:
            raise NotFound(cluster.pool_not_found(pool, sorted(self._ctx.pools.pools)))
        return [node for node in self._ctx.pools.nodes if pool in ("", node.pool)]

    def _read(self, window: Window, pool: str, now: float, nodes: list[Node]) -> ClusterPast:
        step_s, steps = STEPS[window]
        since = now - step_s * steps
        found, known_from = self._ctx.records.held_since(since, MOST_JOBS)
        spans: dict[str, list[Span]] = {"gpu": [], "cpu": []}
        for one in found:
            if pool in ("", one.pool):
                takes = amounts(one.roles)
                for name, into in spans.items():
                    if takes[name]:
                        into.append(Span(one.start, now if one.end is None else one.end, takes[name]))
        total = amounts_of(nodes)
        return ClusterPast(
            step_s=step_s,
            at=[since + step_s * step for step in range(steps)],
            gpu=[round(held, 3) for held in means(spans["gpu"], since, step_s, steps)],
            cpu=[round(held, 3) for held in means(spans["cpu"], since, step_s, steps)],
            gpu_total=total.get("gpu", 0.0),
            cpu_total=total.get("cpu", 0.0),
            known_from=known_from,
        )


def _may_know(visible: Visible, who: Principal, owner: str) -> bool:
    """Return whether a reader may be told that `owner` has jobs."""
    return visible.everything or visible.whose or owner == who.name


def row_of(sums: Sums, owner: str | None = None, workspace: str | None = None) -> UseRow:
    """Return the sums of an account as the API shows them."""
    return UseRow(
        owner=owner,
        workspace=workspace,
        running=sums.running,
        waiting=sums.waiting,
        gpu=sums.used["gpu"] / 1000,
        cpu=sums.used["cpu"] / 1000,
        memory_mib=sums.used["memory_mib"] / 1000,
        gpu_asked=sums.asked["gpu"] / 1000,
        cpu_asked=sums.asked["cpu"] / 1000,
        memory_mib_asked=sums.asked["memory_mib"] / 1000,
    )


def _largest(found: Iterable[UseRow]) -> list[UseRow]:
    return sorted(found, key=lambda row: (-row.gpu, -row.cpu, -row.gpu_asked, row.owner or row.workspace or ""))
