"""A small cluster for stories of the queue: what runs, what waits, and the pass over it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trainmaster.core.records import Node, Resources, Role
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.ordering.quota import Account, Quota, charges
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Request, RequestClass, Snapshot, Tenant, Usage

NOW = 1000.0
NODES = (Node("n1", "10.0.0.1", 64.0, 65536, tuple("AAAA")), Node("n2", "10.0.0.2", 64.0, 65536, tuple("BBBB")))
PLAIN = replace(DEFAULT, age_weight=0.0, fair_weight_s=0.0)
ANN, BOB = Tenant("", "red", "ann"), Tenant("", "red", "bob")


def gang(cards: int, model: str | None = None) -> tuple[Role, ...]:
    return (Role("w", 1, Resources(1.0, 512, cards, model, 0)),)


class Lab:
    """Two nodes, of four cards each, if no others are named; what runs and waits there."""

    def __init__(self, nodes: Sequence[Node] = NODES, **caps: dict[str, int]) -> None:
        self.nodes = tuple(nodes)
        self.quotas = {
            (Account("user", name), "default"): Quota(cap={what: 1000 * most for what, most in cap.items()})
            for name, cap in caps.items()
        }
        self.running: list[Usage] = []
        self.waiting: list[Pending] = []

    def runs(
        self, cards: int, ends_in: float = math.inf, tenant: Tenant = ANN, model: str | None = None, **more: Any
    ) -> Usage:
        return self.holds(gang(cards, model), ends_in, tenant, **more)

    def holds(
        self, roles: tuple[Role, ...], ends_in: float, tenant: Tenant, pool: str = "default", **more: Any
    ) -> Usage:
        """Let a gang run, for ten seconds by now; `more`: fields of its Usage."""
        room = Capacity(self.nodes)
        for usage in self.running:
            room.take(usage.roles, usage.placement)
        placed = fit(room, roles, pool)
        assert placed is not None
        held = charges(roles, placed, {node.name: node for node in self.nodes})
        name = f"r{len(self.running)}"
        made = Usage(name, name, roles, placed, pool, NOW - 10, NOW + ends_in, tenant=tenant, held=held)
        self.running.append(replace(made, **more))
        return self.running[-1]

    def waits(
        self,
        *shapes: tuple[Role, ...],
        limit_s: float = math.inf,
        tenant: Tenant = ANN,
        priority: int = 0,
        pool: str = "default",
    ) -> Pending:
        number = len(self.waiting)
        job = Pending(f"j{number}", Request(pool, shapes), (NOW - 5 + number / 10, number), priority, tenant, limit_s)
        self.waiting.append(job)
        return job

    def seen(self) -> Snapshot:
        classes: dict[ClassKey, list[Pending]] = {}
        for job in self.waiting:
            classes.setdefault(ClassKey.of(job), []).append(job)
        pending = tuple(RequestClass(key, jobs) for key, jobs in classes.items())
        return Snapshot(self.nodes, Running(self.running), pending, quotas=self.quotas)

    def plan(self, **changes: Any) -> Plan:
        return plan(self.seen(), NOW, replace(PLAIN, **changes))

    def why(self, job: Pending, made: Plan) -> str:
        return explain(self.seen(), job, made).code


def started(made: Plan) -> list[str]:
    return [start.job for start in made.starts]
