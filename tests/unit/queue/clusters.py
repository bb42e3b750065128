"""Random small clusters and queues, and what must be true of any plan over them: for the property tests of the
queue.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.builders import job
from trainmaster.core.records import Assignment, Job, Node, PortRequest, Resources, Role
from trainmaster.core.states import Priority
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.placing.need import millicores

Held = tuple[tuple[Role, ...], tuple[Assignment, ...]]

PORTS = (100, 111)
"""So few that they run out."""

ports = st.lists(
    st.builds(PortRequest, label=st.just("p"), count=st.integers(1, 3), begin_at=st.sampled_from((0, 0, 0, 105))),
    max_size=1,
)
resources = st.builds(
    Resources,
    cpu=st.sampled_from((0.1, 0.5, 1.0, 2.3)),
    memory_mib=st.sampled_from((100, 512, 2048)),
    gpu=st.sampled_from((0, 0, 1, 2)),
    gpu_type=st.sampled_from((None, None, None, "A", "B")),
)
roles = st.builds(
    lambda replicas, ask, wanted: Role("r", replicas, ask, tuple(wanted)),
    st.sampled_from((1, 1, 2, 4)),
    resources,
    ports,
)
gangs = st.lists(roles, min_size=1, max_size=2).map(
    lambda members: tuple(replace(role, name=f"r{i}") for i, role in enumerate(members))
)


@st.composite
def nodes(draw: st.DrawFn) -> tuple[Node, ...]:
    """Up to four nodes in two pools, some out of service, with cards of up to two models."""
    return tuple(
        Node(
            name=f"n{i}",
            host=f"10.0.0.{i}",
            cpu=draw(st.sampled_from((2.5, 4.0, 8.0))),
            memory_mib=draw(st.sampled_from((2048, 8192))),
            gpus=tuple(draw(st.lists(st.sampled_from("AAAB"), max_size=4))),
            pool=draw(st.sampled_from(("default", "default", "other"))),
            schedulable=draw(st.sampled_from((True, True, True, False))),
        )
        for i in range(draw(st.integers(1, 4)))
    )


@st.composite
def queues(draw: st.DrawFn) -> tuple[Job, ...]:
    """Up to twelve waiting jobs over a few shapes, so that classes have several members."""
    shapes = draw(st.lists(gangs, min_size=1, max_size=4))
    return tuple(
        job(f"j{seq}")
        .fields(
            roles=draw(st.sampled_from(shapes)),
            pool=draw(st.sampled_from(("default", "default", "other"))),
            seq=seq,
            priority=draw(st.sampled_from(Priority)),
        )
        .done()
        for seq in range(1, draw(st.integers(1, 12)) + 1)
    )


def capacity(members: Iterable[Node]) -> Capacity:
    """Return the capacity of `members` with the few ports of PORTS, one of them busy."""
    return Capacity(members, *PORTS, busy_ports=frozenset({103}))


def overbooked(members: Iterable[Node], held: Iterable[Held]) -> list[str]:
    """Return a sentence for every node, card or port that is held twice, beyond what there is, or out of service."""
    cpu: Counter[str] = Counter()
    memory: Counter[str] = Counter()
    cards: Counter[tuple[str, int]] = Counter()
    ports: Counter[tuple[str, int]] = Counter()
    by_name = {node.name: node for node in members}
    out = []
    for asked, placement in held:
        for a in placement:
            node = by_name[a.node]
            cpu[a.node] += millicores(asked[a.role].resources.cpu)
            memory[a.node] += asked[a.role].resources.memory_mib
            cards.update({(a.node, index): asked[a.role].resources.gpu_milli for index in a.gpus})
            ports.update((a.host, number) for _, numbers in a.ports for number in numbers)
            out += [f"no card {index} on {a.node}" for index in a.gpus if index >= len(node.gpus)]
            out += [f"{a.node} is out of service"] if not node.schedulable else []
            out += [f"{a.host} is not the address of {a.node}"] if a.host != node.host else []
    out += [f"{n} thousandths of card {index} of {where}" for (where, index), n in cards.items() if n > 1000]
    out += [f"port {number} of {host} is held {n} times" for (host, number), n in ports.items() if n > 1]
    out += [f"cpu of {n.name}" for n in by_name.values() if cpu[n.name] > n.cpu * 1000]
    out += [f"memory of {n.name}" for n in by_name.values() if memory[n.name] > n.memory_mib]
    return out


def misplaced(asked: Sequence[Role], placement: Sequence[Assignment], pool: str, members: Iterable[Node]) -> list[str]:
    """Return a sentence for everything in `placement` that is not what the gang asked for."""
    by_name = {node.name: node for node in members}
    wanted = [(at, index) for at, role in enumerate(asked) for index in range(role.replicas)]
    out = [] if [(a.role, a.index) for a in placement] == wanted else ["not every replica exactly once, in order"]
    for a in placement:
        role, node = asked[a.role], by_name[a.node]
        ask = role.resources
        models = {node.gpus[index] for index in a.gpus}
        out += ["wrong pool"] if node.pool != pool else []
        out += ["wrong number of cards"] if len(a.gpus) != ask.gpu else []
        out += ["cards of two models"] if len(models) > 1 else []
        out += ["wrong model"] if ask.gpu and ask.gpu_type is not None and models != {ask.gpu_type} else []
        out += ["wrong port labels"] if [label for label, _ in a.ports] != [p.label for p in role.ports] else []
        for request, (_, numbers) in zip(role.ports, a.ports, strict=True):
            first = request.begin_at or numbers[0]
            out += ["ports are not one block"] if numbers != tuple(range(first, first + request.count)) else []
            inside = request.begin_at or (PORTS[0] <= numbers[0] and numbers[-1] <= PORTS[1])
            out += ["ports out of range"] if not inside else []
            out += ["a busy port"] if 103 in numbers else []
    return out
