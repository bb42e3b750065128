"""A crowd of waiting jobs before 2,000 busy nodes, drawn from a seed, and the CPU that one full pass over it takes.

Favourable: gangs of 1 to 64 cards in some hundred classes, on nodes of one kind whose cores and memory rarely bind.
Unfavourable: no two jobs ask for the same, cards of four models, and cores and memory bind as often as cards do.
"""

import gc
import random
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from trainmaster.core.config import LocalConfig
from trainmaster.core.records import Assignment, Job, Node, Policy, Resources, Role
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT
from trainmaster.queue.snapshot import Snapshot, Tenant, Usage
from trainmaster.service.scheduling.scheduling import Scheduling

NODES: Final = 2000
CARDS: Final = 8
CORES: Final = 128
MEMORY_MIB: Final = 1 << 20
NOW: Final = 1e6
IDLE: Final = 1000
"""Passes asked for though nothing changed."""

FREE: Final = 0.03
"""Share of the running jobs that have just ended."""

MODELS: Final = ("A100", "H100", "L40", "T4")


class Cpu(NamedTuple):
    """Milliseconds of CPU a round: a pass that knows nothing from before, the same once more, one that the service asks
    for though nothing changed, and the reason of everybody who waits.
    """

    first: list[float]
    again: list[float]
    idle: list[float]
    reasons: list[float]


def cpu_ms(waiting: int, unlike: bool, rounds: int) -> Cpu:
    """Return the CPU of `rounds` passes over `waiting` jobs, each in a world of its own. `unlike`: the unfavourable
    mix.
    """
    out = Cpu([], [], [], [])
    for seed in range(rounds):
        _round(out, random.Random(seed), waiting, unlike)
    return out


def _round(out: Cpu, chance: random.Random, waiting: int, unlike: bool) -> None:
    """One round: nothing of it is left, and to be cleared away, when the next one is measured."""
    world = _world(chance, waiting, unlike)
    snapshot = Snapshot(
        tuple(world.nodes.values()),
        world.running,
        world.queue.snapshot_classes(),
        capacity=world.capacity,
        fair=world.fair,
    )
    gc.collect()
    began = time.process_time()
    made = plan(snapshot, NOW, DEFAULT)
    out.first.append(_ms_since(began))
    began = time.process_time()
    plan(snapshot, NOW, DEFAULT)
    out.again.append(_ms_since(began))
    began = time.process_time()
    for cls in snapshot.pending:
        for job in cls.jobs:
            explain(snapshot, job, made)
    out.reasons.append(_ms_since(began))
    world.schedule(NOW)
    began = time.process_time()
    for _ in range(IDLE):
        world.schedule(NOW)
    out.idle.append(_ms_since(began) / IDLE)


def _ms_since(began: float) -> float:
    return (time.process_time() - began) * 1000


def _world(chance: random.Random, waiting: int, unlike: bool) -> Scheduling:
    nodes = tuple(
        Node(
            f"node-{at}",
            f"10.0.{at >> 8}.{at & 255}",
            CORES,
            MEMORY_MIB,
            (MODELS[at % 4] if unlike else MODELS[0],) * CARDS,
        )
        for at in range(NODES)
    )
    world = Scheduling(LocalConfig(), "crowd", lambda job: 1)
    world.set_nodes(nodes)
    for usage in _busy(chance, nodes, unlike):
        world.capacity.hold(usage.attempt, usage.roles, usage.placement)
        world.running.add(usage)
        world.fair.change(usage.tenant, (("gpu", 1000 * usage.roles[0].resources.gpu),), 1, usage.started_at)
    for seq in range(waiting):
        world.moved(None, _job(chance, seq, unlike))
    return world


def _busy(chance: random.Random, nodes: tuple[Node, ...], unlike: bool) -> Iterator[Usage]:
    """Yield running jobs that fill the nodes, but for those that have just ended."""
    for node in nodes:
        first = 0
        while first < CARDS:
            cards = min(chance.choice((1, 1, 2, 4, 8)), CARDS - first)
            share = cards / CARDS * (chance.uniform(0.7, 1.0) if unlike else 0.5)
            role = Role("worker", 1, Resources(int(CORES * share), int(MEMORY_MIB * share), cards))
            gone = chance.random() < FREE
            if not gone:
                name, at = f"{node.name}-{first}", chance.uniform(0, NOW)
                place = Assignment(0, 0, node.name, node.host, tuple(range(first, first + cards)))
                yield Usage(
                    name,
                    name,
                    (role,),
                    (place,),
                    started_at=at,
                    ends_at=NOW + chance.uniform(60, 500_000),
                    tenant=_tenant(chance),
                )
            first += cards


def _tenant(chance: random.Random) -> Tenant:
    space = chance.randrange(5)
    return Tenant("default", f"space-{space}", f"user-{space}-{chance.randrange(4)}")


def _job(chance: random.Random, seq: int, unlike: bool) -> Job:
    cards = chance.choice((1, 1, 1, 2, 4, 8, 16, 32, 64))
    each = min(cards, CARDS)
    if unlike:
        share = each / CARDS * chance.uniform(0.1, 1.0)
        ask = Resources(
            round(CORES * share, 3),
            int(MEMORY_MIB * each / CARDS * chance.uniform(0.1, 1.0)),
            each,
            chance.choice((None, *MODELS)),
        )
        limit = float(chance.randrange(600, 300_000))
    else:
        ask = Resources(each * chance.choice((4, 8)), each * 65_536, each)
        limit = chance.choice((3600.0, 14_400.0, 86_400.0, 259_200.0))
    tenant, at = _tenant(chance), NOW - 10 * (200_000 - seq)
    return Job(
        id=f"job-{seq}",
        name="",
        owner=tenant.owner,
        roles=(Role("worker", cards // each, ask),),
        spec_digest="",
        submitted_at=at,
        queued_at=at,
        seq=seq,
        workspace=tenant.workspace,
        policy=Policy(duration_s=limit),
    )
