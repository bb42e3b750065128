"""Random small clusters in the middle of their work: what runs, what waits, quotas and shares. For properties of the plan.

All gangs are of one role and without ports, for which the fit is complete: what can start is then a fact, not a heuristic.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from trainmaster.core.records import Assignment, Node, Resources, Role
from trainmaster.queue.capacity import Capacity, Room
from trainmaster.queue.fairness import Fairness
from trainmaster.queue.fit import fit
from trainmaster.queue.quota import Account, Charges, Quota, charges
from trainmaster.queue.running import Running
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Request, RequestClass, Snapshot, Tenant, Usage

NOW = 1000.0
POOLS = ("default", "default", "other")
LIMITS = (10.0, 50.0, 200.0, math.inf)


@dataclass
class World:
    """One cluster at one time."""

    nodes: tuple[Node, ...]
    waiting: dict[str, Pending]
    running: dict[str, Usage] = field(default_factory=dict)
    quotas: dict[tuple[Account, str], Quota] = field(default_factory=dict)
    fair: Fairness | None = None
    now: float = NOW

    def snapshot(self, *, backwards: bool = False) -> Snapshot:
        """Return it for `plan`; `backwards`: with everything that has no order in the opposite one."""
        classes: dict[ClassKey, list[Pending]] = {}
        step = -1 if backwards else 1
        for job in list(self.waiting.values())[::step]:
            classes.setdefault(ClassKey.of(job), []).append(job)
        pending = tuple(RequestClass(key, sorted(jobs, key=lambda p: p.order)) for key, jobs in classes.items())
        running = list(self.running.values())[::step]
        quotas = dict(list(self.quotas.items())[::step])
        return Snapshot(self.nodes, Running(running), pending, quotas=quotas, fair=self.fair)

    def room(self, ended: Iterable[str] = ()) -> Room:
        """Return what is free when these attempts have ended, added up from nothing."""
        room, gone = Capacity(self.nodes), set(ended)
        for usage in self.running.values():
            if usage.attempt not in gone:
                room.take(usage.roles, usage.placement)
        return room

    def start(self, made: Plan) -> None:
        """Let everything start that `made` starts."""
        for start in made.starts:
            job = self.waiting.pop(start.job)
            self.running[job.job] = Usage(
                job.job, job.job, start.roles, start.placement, job.pool, self.now, self.now + job.limit_s,
                job.priority, job.tenant, self.charged(start.roles, start.placement), preemptible=job.limit_s < math.inf,
                request=job.request, shape=start.shape,
            )  # fmt: skip

    def charged(self, roles: Sequence[Role], placement: Sequence[Assignment]) -> Charges:
        return charges(roles, placement, {node.name: node for node in self.nodes})


roles = st.builds(
    lambda replicas, gpu, cpu, memory, model, least: (
        Role("w", replicas, Resources(cpu, memory, gpu, model if gpu else None, 0),
             min_replicas=min(least, replicas) if least else None),
    ),
    st.sampled_from((1, 1, 2, 4)),
    st.sampled_from((0, 1, 1, 2)),
    st.sampled_from((0.5, 1.0, 3.0)),
    st.sampled_from((512, 4096)),
    st.sampled_from((None, None, "A", "B")),
    st.sampled_from((0, 0, 0, 1, 2)),
)  # fmt: skip
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
    """Up to four nodes in two pools, some out of service, with cards of up to two models."""
    return tuple(
        Node(
            f"n{i}", f"10.0.0.{i}", draw(st.sampled_from((4.0, 8.0))), 8192,
            tuple(draw(st.lists(st.sampled_from("AAAB"), max_size=4))), draw(st.sampled_from(POOLS)),
            schedulable=draw(st.sampled_from((True, True, True, True, False))),
        )
        for i in range(draw(st.integers(1, 4)))
    )  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn, *, quota: bool = True, priorities: Sequence[int] = (0, 0, 1)) -> World:
    """A cluster on which some jobs run for some time, and up to ten wait."""
    kinds = draw(st.lists(requests, min_size=1, max_size=4))

    def job(number: int, came: float = NOW) -> Pending:
        return Pending(
            f"j{number}", draw(st.sampled_from(kinds)), (came, number),
            draw(st.sampled_from(priorities)), draw(tenants), draw(st.sampled_from(LIMITS)),
        )  # fmt: skip

    world = World(draw(clusters()), {}, fair=draw(st.sampled_from((None, Fairness(3600.0)))))
    for number in range(draw(st.integers(0, 6))):
        one = job(100 + number)
        room = world.room()
        placed = fit(room, one.roles, one.pool)
        if placed is None:
            continue
        began = NOW - draw(st.sampled_from((0.0, 5.0, 700.0, 5000.0)))
        world.running[one.job] = Usage(
            one.job, one.job, one.roles, placed, one.pool, began, began + one.limit_s, one.priority, one.tenant,
            world.charged(one.roles, placed), draw(st.booleans()), one.request,
        )  # fmt: skip
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
            world.running[one.job] = Usage(
                one.job, one.job, one.roles, placed, one.pool, NOW, NOW + one.limit_s, 0, one.tenant, held, False, one.request
            )  # fmt: skip
    world.waiting = {f"j{number}": job(number, NOW) for number in range(draw(st.integers(2, 7)))}
    return world


def later(world: World, by: float) -> World:
    """Return the same world `by` seconds later, without those whose limit has come."""
    now = world.now + by
    running = {name: usage for name, usage in world.running.items() if usage.ends_at > now}
    return replace(world, now=now, running=running, waiting=dict(world.waiting))
