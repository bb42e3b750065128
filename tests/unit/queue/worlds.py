"""Random small clusters in the middle of their work: what runs, what waits, quotas and shares. For properties of the
plan.

In `worlds` and `crowded` all gangs are of one role, without ports and of whole cards, for which the fit is complete:
what can start is then a fact, not a heuristic. `mixed` has all that a request may ask for.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.unit.queue.clusters import PORTS, ports
from trainmaster.core.records import Assignment, Node, Resources, Role
from trainmaster.queue.ordering.fairness import Fairness
from trainmaster.queue.ordering.quota import Account, Charges, Quota, charges
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.placing.capacity import Capacity, Room
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.need import ALL
from trainmaster.queue.placing.packing import Mix, mix_of
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Request, RequestClass, Snapshot, Tenant, Usage

NOW = 1000.0
POOLS = ("default", "default", "other")
LIMITS = (10.0, 50.0, 200.0, math.inf)
BUSY = 103
"""A port that something beside the platform uses."""


@dataclass
class World:
    """One cluster at one time. `asked`: what those that run asked for, by job."""

    nodes: tuple[Node, ...]
    waiting: dict[str, Pending]
    running: dict[str, Usage] = field(default_factory=dict)
    asked: dict[str, Request] = field(default_factory=dict)
    quotas: dict[tuple[Account, str], Quota] = field(default_factory=dict)
    fair: Fairness | None = None
    now: float = NOW

    @property
    def mix(self) -> Mix:
        """What is asked for by those who wait."""
        return mix_of((role, role.replicas) for _, one in sorted(self.waiting.items()) for role in one.roles)

    def snapshot(self, *, backwards: bool = False) -> Snapshot:
        """Return it for `plan`; `backwards`: with everything that has no order in the opposite one."""
        classes: dict[ClassKey, list[Pending]] = {}
        step = -1 if backwards else 1
        for job in list(self.waiting.values())[::step]:
            classes.setdefault(ClassKey.of(job), []).append(job)
        pending = tuple(RequestClass(key, sorted(jobs, key=lambda p: p.order)) for key, jobs in classes.items())
        running = list(self.running.values())[::step]
        quotas = dict(list(self.quotas.items())[::step])
        return Snapshot(
            self.nodes,
            Running(running),
            pending,
            *PORTS,
            frozenset({BUSY}),
            quotas=quotas,
            fair=self.fair,
            mix=self.mix,
        )

    def room(self, ended: Iterable[str] = ()) -> Room:
        """Return what is free when these attempts have ended, added up from nothing."""
        room, gone = Capacity(self.nodes, *PORTS, frozenset({BUSY})), set(ended)
        for usage in self.running.values():
            if usage.attempt not in gone:
                room.take(usage.roles, usage.placement)
        return room

    def start(self, made: Plan) -> None:
        """Let everything start that `made` starts."""
        for start in made.starts:
            job = self.waiting.pop(start.job)
            self.asked[job.job] = job.request
            self.running[job.job] = Usage(
                job.job,
                job.job,
                start.roles,
                start.placement,
                job.pool,
                self.now,
                self.now + job.limit_s,
                job.priority,
                job.tenant,
                self.charged(start.roles, start.placement),
                preemptible=job.limit_s < math.inf,
            )

    def charged(self, roles: Sequence[Role], placement: Sequence[Assignment]) -> Charges:
        return charges(roles, placement, {node.name: node for node in self.nodes})


roles = st.builds(
    lambda replicas, gpu, cpu, memory, model, least: (
        Role(
            "w",
            replicas,
            Resources(cpu, memory, gpu, model if gpu else None, 0),
            min_replicas=min(least, replicas) if least else None,
        ),
    ),
    st.sampled_from((1, 1, 2, 4)),
    st.sampled_from((0, 1, 1, 2)),
    st.sampled_from((0.5, 1.0, 3.0)),
    st.sampled_from((512, 4096)),
    st.sampled_from((None, None, "A", "B")),
    st.sampled_from((0, 0, 0, 1, 2)),
)
requests = st.builds(
    lambda pool, shapes: Request(pool, tuple(shapes)), st.sampled_from(POOLS), st.lists(roles, min_size=1, max_size=2)
)
tenants = st.builds(Tenant, st.just(""), st.sampled_from(("red", "blue")), st.sampled_from(("ann", "bob")))
amounts = st.dictionaries(st.sampled_from(("gpu", "gpu:A", "cpu")), st.sampled_from((0, 1000, 2000, 4000)), max_size=2)
quotas = st.dictionaries(
    st.tuples(
        st.sampled_from((Account("workspace", "red"), Account("workspace", "blue"), Account("user", "ann"))),
        st.sampled_from(("default", "other")),
    ),
    st.builds(
        lambda nominal, more: Quota(
            nominal, {name: most + more for name, most in nominal.items()} if more >= 0 else {}
        ),
        amounts,
        st.sampled_from((-1, 0, 1000)),
    ),
    max_size=3,
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Node, ...]:
    """Two to four nodes in two pools, some out of service, with cards of up to two models."""
    return tuple(
        Node(
            f"n{i}",
            f"10.0.0.{i}",
            draw(st.sampled_from((8.0, 4.0))),
            8192,
            tuple(draw(st.sampled_from(("AA", "AAAA", "AAB", "BB", "")))),
            draw(st.sampled_from(POOLS)),
            schedulable=draw(st.sampled_from((True,) * 9 + (False,))),
        )
        for i in range(draw(st.integers(2, 4)))
    )


def carried(kinds: Sequence[Request], nodes: Iterable[Node]) -> list[Request]:
    """Return those that idle nodes could carry: the others would not have been accepted. One of them, if there is
    none.
    """
    idle = Capacity([replace(node, schedulable=True) for node in nodes], *PORTS)
    able = (
        kind for kind in kinds for shape in kind.shapes[:1] if fit(idle, shape, kind.pool, ALL, kind.nodes, kind.driver)
    )
    return list(able) or list(kinds[:1])


def settle(world: World, job: Pending, began: float, preemptible: bool) -> None:
    """Let `job` run since `began`, at its smallest where the whole of it does not fit, if it fits at all."""
    room, request = world.room(), job.request
    for roles in (job.roles, fewest(job.roles)):
        placed = fit(room, roles, job.pool, ALL, request.nodes, request.driver)
        if placed is not None:
            world.running[job.job] = Usage(
                job.job,
                job.job,
                roles,
                placed,
                job.pool,
                began,
                began + job.limit_s,
                job.priority,
                job.tenant,
                world.charged(roles, placed),
                preemptible,
            )
            world.asked[job.job] = request
            return


@st.composite
def worlds(draw: st.DrawFn, *, quota: bool = True, priorities: Sequence[int] = (0, 0, 1)) -> World:
    """A cluster on which some jobs run for some time, and up to ten wait."""
    nodes = draw(clusters())
    kinds = carried(draw(st.lists(requests, min_size=1, max_size=6)), nodes)

    def job(number: int, came: float = NOW) -> Pending:
        return Pending(
            f"j{number}",
            draw(st.sampled_from(kinds)),
            (came, number),
            draw(st.sampled_from(priorities)),
            draw(tenants),
            draw(st.sampled_from(LIMITS)),
        )

    world = World(nodes, {}, fair=draw(st.sampled_from((None, Fairness(3600.0)))))
    for number in range(draw(st.integers(0, 9))):
        settle(world, job(100 + number), NOW - draw(st.sampled_from((0.0, 5.0, 700.0, 5000.0))), draw(st.booleans()))
    if world.fair is not None:
        world.fair = Fairness(3600.0)
        for usage in world.running.values():
            world.fair.change(usage.tenant, usage.held, 1, usage.started_at)
    came = sorted(NOW - draw(st.sampled_from((0.0, 5.0, 900.0))) for _ in range(draw(st.integers(1, 10))))
    world.waiting = {f"j{number}": job(number, at) for number, at in enumerate(came)}
    world.quotas = draw(quotas) if quota else {}
    return world


@st.composite
def crowded(draw: st.DrawFn) -> World:
    """Room enough for most, but the jobs of two people in one workspace, of several sizes, want more than its quota."""
    nodes = tuple(Node(f"n{i}", f"10.0.0.{i}", 16.0, 65536, tuple("AABB"), "default") for i in range(2))
    world = World(nodes, {})
    name = st.sampled_from(("gpu", "gpu", "gpu:A", "gpu:B"))
    most = st.dictionaries(name, st.sampled_from((1000, 2000, 3000, 4000)), min_size=1, max_size=2)
    quota = st.builds(
        lambda amounts, loose: Quota({} if loose else amounts, amounts if loose else {}), most, st.booleans()
    )
    accounts = (Account("workspace", "red"), Account("user", "ann"), Account("workspace", "blue"))
    world.quotas = {
        (account, "default"): draw(quota)
        for account in draw(st.sets(st.sampled_from(accounts), min_size=1, max_size=3))
    }

    def job(number: int, came: float) -> Pending:
        shapes = tuple(
            (Role("w", draw(st.sampled_from((1, 1, 2, 3, 4))), Resources(0.5, 512, 1, model, 0)),)
            for model in draw(st.lists(st.sampled_from((None, None, "A", "B")), min_size=1, max_size=2))
        )
        tenant = Tenant("", draw(st.sampled_from(("red", "red", "blue"))), draw(st.sampled_from(("ann", "ann", "bob"))))
        return Pending(
            f"j{number}", Request("default", shapes), (came, number), 0, tenant, draw(st.sampled_from(LIMITS))
        )

    for number in range(draw(st.integers(0, 4))):
        one = job(100 + number, NOW)
        placed = fit(world.room(), one.roles, one.pool)
        if placed is not None:
            held = world.charged(one.roles, placed)
            world.asked[one.job] = one.request
            world.running[one.job] = Usage(
                one.job, one.job, one.roles, placed, one.pool, NOW, NOW + one.limit_s, 0, one.tenant, held
            )
    world.waiting = {f"j{number}": job(number, NOW) for number in range(draw(st.integers(2, 7)))}
    return world


parts = st.builds(
    lambda replicas, shared, milli, ask, wanted, least: Role(
        "w",
        replicas,
        replace(ask, gpu=1, gpu_milli=milli) if shared else ask,
        tuple(wanted),
        min_replicas=min(least, replicas) if least else None,
    ),
    st.sampled_from((1, 1, 2, 3)),
    st.sampled_from((True, False, False)),
    st.sampled_from((300, 500, 600)),
    st.builds(
        Resources,
        st.sampled_from((0.1, 0.5, 3.0)),
        st.sampled_from((512, 4096)),
        st.sampled_from((0, 1, 1, 2)),
        st.sampled_from((None, None, "A", "B")),
    ),
    st.just([]) | ports,
    st.sampled_from((0, 0, 0, 1)),
)
gangs = st.lists(parts, min_size=1, max_size=2).map(
    lambda members: tuple(replace(role, name=f"r{i}") for i, role in enumerate(members))
)
names = st.sampled_from((frozenset[str](), frozenset[str](), frozenset({"n0", "n2"}), frozenset({"n1"})))
flavored = st.builds(
    lambda first, card: dict.fromkeys(
        (first, (replace(first[0], resources=replace(first[0].resources, gpu=1, gpu_type=card)), *first[1:]))
    ),
    gangs,
    st.sampled_from("AB"),
)
choosy = st.builds(
    lambda pool, shapes, nodes, driver: Request(pool, tuple(shapes), nodes, driver),
    st.sampled_from(POOLS),
    gangs.map(lambda gang: [gang]) | flavored,
    names,
    st.sampled_from((None, None, None, "535")),
)
limits = st.dictionaries(
    st.sampled_from(("gpu", "gpu:A", "gpu:B", "memory_mib")),
    st.sampled_from((0, 500, 2000, 4000, 9000)),
    min_size=1,
    max_size=2,
)


@st.composite
def mixed(draw: st.DrawFn) -> World:
    """Gangs of up to two roles, with shares of cards and ports, for chosen nodes and drivers, of virtual clusters,
    too.
    """
    members = tuple(replace(node, driver=draw(st.sampled_from(("535", "470")))) for node in draw(clusters()))
    world = World(tuple(replace(node, schedulable=True) for node in members), {})
    kinds = carried(draw(st.lists(choosy, min_size=1, max_size=6)), members)
    tenant = st.builds(Tenant, st.sampled_from(("", "vc")), st.sampled_from(("red", "blue")), st.just("ann"))

    def job(number: int) -> Pending:
        limit_s, priority = draw(st.sampled_from(LIMITS)), draw(st.sampled_from((0, 0, 1)))
        return Pending(f"j{number}", draw(st.sampled_from(kinds)), (NOW, number), priority, draw(tenant), limit_s)

    for number in range(draw(st.integers(0, 9))):
        settle(world, job(100 + number), NOW - draw(st.sampled_from((0.0, 5.0, 700.0))), draw(st.booleans()))
    world.nodes = members
    world.waiting = {f"j{number}": job(number) for number in range(draw(st.integers(1, 8)))}
    accounts = [Account("workspace", "red"), Account("cluster", ""), Account("cluster", "vc"), Account("user", "ann")]
    for account in draw(st.sets(st.sampled_from(accounts), max_size=3)):
        nominal, cap = draw(st.just({}) | limits), draw(st.just({}) | limits)
        cap = {name: max(most, nominal.get(name, 0)) for name, most in cap.items()}
        world.quotas[account, draw(st.sampled_from(POOLS))] = Quota(nominal, cap)
    return world


def later(world: World, by: float) -> World:
    """Return the same world `by` seconds later, without those whose limit has come."""
    now = world.now + by
    running = {name: usage for name, usage in world.running.items() if usage.ends_at > now}
    return replace(world, now=now, running=running, waiting=dict(world.waiting))
