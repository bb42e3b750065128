"""The reason that somebody is told is true: what each code says is counted, summed and fitted anew."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.queue.clusters import PORTS
from tests.unit.queue.ledger import Ledger
from tests.unit.queue.naive import only
from tests.unit.queue.worlds import NOW, World, crowded, mixed, worlds
from trainmaster.core.records import Assignment, Node, Resources, Role
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.ordering.quota import Account, Quota, accounts_of
from trainmaster.queue.placing.capacity import Capacity, Free, Room
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.need import ALL
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.snapshot import Pending, Plan, Request, Usage

policies = st.sampled_from((*NAMED.values(), replace(DEFAULT, backfill="easy-shortest")))
Release = tuple[float, int]
"""When somebody gives back how much."""

PLENTY = 1 << 20
ORDER = ("cpu", "memory_mib", "ports")
"""What may be short where there are cards enough, in the order in which it is told."""


@st.composite
def led(draw: st.DrawFn) -> World:
    """One that wants most cards of a pool is first and little runs, so that there is something to keep from the
    others.
    """
    world: World = draw(worlds(quota=False))
    world.running = dict(list(world.running.items())[:1])
    cards = sum(len(node.gpus) for node in world.nodes if node.pool == "default" and node.schedulable)
    whole = (Role("most", cards - draw(st.sampled_from((0, 2))), Resources(0.1, 16, 1)),)
    if cards > 2:
        world.waiting["first"] = Pending("first", Request("default", (whole,)), (NOW - 10.0, -1), 2)
    return world


@settings(max_examples=examples(200))
@given(worlds() | crowded() | mixed() | led(), policies)
def test_the_reason_is_true(world: World, policy: QueuePolicy) -> None:
    made = plan(world.snapshot(), world.now, policy)
    world.start(made)
    after = world.snapshot()
    for job in world.waiting.values():
        reason = explain(after, job, made)
        event(reason.code)
        getattr(_Truth(world, policy, made, job, reason.evidence), reason.code)()


class _Truth:
    """What must be so when `job` is told something, with the evidence `told`, after the starts of `made`: a method per
    code.
    """

    def __init__(self, world: World, policy: QueuePolicy, made: Plan, job: Pending, told: dict[str, Any]) -> None:
        self.world, self.policy, self.made, self.job = world, policy, made, job
        self.told, self.shapes = told, [fewest(shape) for shape in job.request.shapes]
        self.line, self.books = made.lines[job.pool], Ledger(world).amounts

    def waiting_gpus(self) -> None:
        """However many cores and much memory there were, and without any ports, there are too few cards."""
        assert any(not self.fits_with(way, ORDER) and self.counts(way, "gpu") for way in self.ways())

    def waiting_cpu(self) -> None:
        assert any(self.lacks(way, "cpu") and self.counts(way, "cpu") for way in self.ways())

    def waiting_memory(self) -> None:
        assert any(self.lacks(way, "memory_mib") and self.counts(way, "memory_mib") for way in self.ways())

    def waiting_ports(self) -> None:
        assert any(self.lacks(way, "ports") for way in self.ways())

    def waiting_nodes(self) -> None:
        """Even idle those in service do not carry it; those that are not are named."""
        assert not any(self.fits(shape, Capacity(self.world.nodes, *PORTS)) for shape in self.shapes)
        mine = [node for node in self.world.nodes if node.pool == self.job.pool]
        away = [node.name for node in mine if not node.schedulable]
        assert self.told["schedulable"] == len(mine) - len(away)
        assert [each["node"] for each in self.told["away"]] == away

    def behind(self) -> None:
        """Nobody passes the head; this one would fit."""
        assert self.line.head is not None
        assert self.told["job"] == self.line.head.job in self.world.waiting
        assert self.comes_before(self.line.head)
        assert any(self.fits(shape) for shape in self.shapes)

    def reserved(self) -> None:
        """It fits now and runs on when the head starts; on the nodes of that it does not fit beside it."""
        head, promise = self.line.head, self.line.promise
        assert head is not None
        assert promise is not None
        assert self.told["job"] == head.job in self.world.waiting
        assert self.comes_before(head)
        known = promise.at < math.inf
        assert (self.told["at"], self.told["in_s"]) == (
            (promise.at, promise.at - self.world.now) if known else (None, None)
        )
        assert not known or self.world.now + self.job.limit_s > promise.at
        assert any(self.fits(shape) for shape in self.shapes)
        later = self.world.room(usage.attempt for usage in self.running() if usage.ends_at <= promise.at)
        later.take(promise.roles, promise.placement)
        kept = {a.node for a in promise.placement}
        for shape in self.shapes if known else ():
            if len(shape) == 1 and not shape[0].ports and shape[0].resources.gpu_milli == 1000:
                assert self.replicas(shape[0], later, kept) < shape[0].replicas or self.world.quotas

    def next_pass(self) -> None:
        """Who kept it waiting started after all, so that another pass follows; that starts somebody there."""
        assert self.made.starts
        after = plan(self.world.snapshot(), self.world.now, self.policy)
        assert any(self.world.waiting[start.job].pool == self.job.pool for start in after.starts)

    def quota(self) -> None:
        used, quota = self.of_account()
        assert used + self.told["asks"] > quota.cap[self.told["resource"]] == self.told["limit"]

    def quota_lent(self) -> None:
        """It has a right to less, and the others of its kind leave too little."""
        used, quota = self.of_account()
        name, pool = self.told["resource"], self.job.pool
        assert used + self.told["asks"] > quota.nominal[name] == self.told["limit"]
        left = sum(
            each.nominal[name] - self.books[account, where, name]
            for (account, where), each in self.world.quotas.items()
            if (where, account.kind) == (pool, self.told["kind"]) and name in each.nominal
        )
        own = max(self.told["limit"] - used, 0)
        assert self.told["lent"] == max(left - own, 0)
        assert own + self.told["lent"] < self.told["asks"], "what is told adds up to less than is asked for"

    def quota_kept(self) -> None:
        """Who claims it waits, comes first, and could not have its own as soon if this one started now."""
        used, quota = self.of_account()
        name = self.told["resource"]
        right = quota.nominal.get(name, quota.cap.get(name, 0))
        assert self.told["limit"] == right
        first = self.world.waiting[self.told["job"]]
        assert self.comes_before(first)
        others = [(usage.ends_at, self.taken(usage, usage.roles, usage.placement)) for usage in self.running()]
        head, promise = self.line.head, self.line.promise
        if head is not None and promise is not None:
            taken = self.taken(head, promise.roles, promise.placement)
            if head.job == first.job:
                assert used + taken + self.told["asks"] > right
                return
            others.append((promise.at + head.limit_s, taken))
        mine = self.world.now + self.job.limit_s, self.told["asks"]
        left = [right - amount for amount in self.amounts(first, name) if amount <= right]
        times = [(_when(others, most, self.world.now), _when([*others, mine], most, self.world.now)) for most in left]
        assert any(alone < beside for alone, beside in times)

    def ways(self) -> list[tuple[Role, ...]]:
        """Return the first way to run it; where a quota may bar that, all: of one of them it must be true."""
        assert any(self.fits(shape, Capacity(self.world.nodes, *PORTS)) for shape in self.shapes)
        if not any(account in accounts_of(self.job.tenant) for account, _ in self.world.quotas):
            assert not any(self.fits(shape) for shape in self.shapes)
            return self.shapes[:1]
        return [only(shape, model) for shape in self.shapes for model in (None, "A", "B")]

    def fits(self, roles: tuple[Role, ...], room: Room | None = None) -> bool:
        request = self.job.request
        return fit(room or self.world.room(), roles, request.pool, ALL, request.nodes, request.driver) is not None

    def lacks(self, roles: tuple[Role, ...], what: str) -> bool:
        """Whether `what` is the first of cards, cores, memory, ports that is short: it fits with plenty of it and of
        what follows.
        """
        follow = ORDER[ORDER.index(what) :]
        return self.fits_with(roles, follow) and not self.fits_with(roles, follow[1:])

    def fits_with(self, roles: tuple[Role, ...], plenty: Sequence[str]) -> bool:
        more: dict[str, Any] = {name: PLENTY for name in plenty if name != "ports"}
        rich = replace(self.world, nodes=tuple(replace(node, **more) for node in self.world.nodes))
        asked = tuple(replace(role, ports=()) for role in roles) if "ports" in plenty else roles
        return self.fits(asked, rich.room())

    def counts(self, roles: tuple[Role, ...], field: str) -> bool:
        """Whether what is told to be needed and free is what can be counted."""

        def share(role: Role) -> float:
            amount: float = getattr(role.resources, field)
            return amount * role.resources.gpu_milli / 1000 if field == "gpu" else amount

        role = max(roles, key=share)
        parts = [part for node in self.nodes() for part in self.free(node, field, role)]
        needs = sum(share(each) * each.replicas for each in roles)
        told = [self.told[name] for name in ("role", "replicas", "needs", "each", "free", "largest")]
        counted = [round(each, 3) for each in (needs, share(role), sum(parts), max(parts, default=0))]
        return told == [role.name, role.replicas, *counted]

    def nodes(self) -> list[Node]:
        """Those in service on which it may run."""
        request = self.job.request
        return [
            node
            for node in self.world.nodes
            if node.schedulable
            and node.pool == self.job.pool
            and node.name in (request.nodes or {node.name})
            and request.driver in (None, node.driver)
        ]

    def free(self, node: Node, field: str, role: Role) -> list[float]:
        """What is free on one node, in parts that one replica cannot join: cards by model, shares by card."""
        used: Counter[int] = Counter()
        taken = 0.0
        for usage in self.world.running.values():
            for task in usage.placement:
                ask = usage.roles[task.role].resources
                if task.node == node.name:
                    used.update(dict.fromkeys(task.gpus, ask.gpu_milli))
                    taken += 0 if field == "gpu" else getattr(ask, field)
        if field != "gpu":
            return [max(getattr(node, field) - taken, 0)]
        model, milli = role.resources.gpu_type, role.resources.gpu_milli
        cards = [(name, 1000 - used[at]) for at, name in enumerate(node.gpus) if model in (None, name)]
        if milli < 1000:
            return [left / 1000 for _, left in cards]
        return [float(sum(left == 1000 for name, left in cards if name == each)) for each in set(node.gpus)]

    def running(self) -> list[Usage]:
        return [usage for usage in self.world.running.values() if usage.pool == self.job.pool]

    def comes_before(self, first: Pending) -> bool:
        """Whether it does, at the latest when those have their turn that borrow."""
        assert self.made.ranking is not None
        mine = {account for account, _ in self.world.quotas} & set(accounts_of(self.job.tenant))
        return self.made.ranking.place(first) < self.made.ranking.place(self.job, borrows=bool(mine))

    def of_account(self) -> tuple[int, Quota]:
        """Return what the account that is named holds, and its quota."""
        account, name = Account(self.told["kind"], self.told["account"]), self.told["resource"]
        assert account in accounts_of(self.job.tenant)
        used = self.books[account, self.job.pool, name]
        assert self.told["used"] == used
        most = self.amounts(self.job, name)
        assert self.told["asks"] in most or (name.startswith("gpu:") and 0 < self.told["asks"] < max(most))
        return used, self.world.quotas[account, self.job.pool]

    def amounts(self, job: Pending, name: str) -> set[int]:
        """Return what each way to run asks of a resource."""
        ways = [only(fewest(shape), model) for shape in job.request.shapes for model in (None, "A", "B")]
        key = Account("user", job.tenant.owner), job.pool, name
        return {Ledger(World((), {})).ask(job.pool, job.tenant, way)[key] for way in ways}

    def taken(self, by: Usage | Pending, roles: Sequence[Role], placement: Sequence[Assignment]) -> int:
        """Return what somebody takes of the resource of the account that is named."""
        account = Account(self.told["kind"], self.told["account"])
        held = Ledger(replace(self.world, running={})).add(by.pool, by.tenant, roles, placement)
        return held[account, self.job.pool, self.told["resource"]]

    def replicas(self, role: Role, later: Room, kept: set[str]) -> int:
        """Return how many replicas there is room for, on the nodes `kept` now as well as `later`."""
        total, now = 0, self.world.room()
        for node in self.nodes():
            total += min(_most(room.on(node.name), role) for room in ((now, later) if node.name in kept else (now,)))
        return total


def _most(free: Free | None, role: Role) -> int:
    """Return how many replicas of whole cards of one model fit."""
    assert free is not None
    ask = role.resources
    most = min(int(free.cpu // (1000 * ask.cpu)), free.memory_mib // ask.memory_mib)
    cards = [len(cards) for model, cards in free.cards.items() if ask.gpu_type in (None, model)]
    return max(min(most, max(cards, default=0) // ask.gpu) if ask.gpu else most, 0)


def _when(releases: Sequence[Release], most: int, now: float) -> tuple[float, int]:
    """Return when no more than `most` is held, and after how many releases of those that have no limit, the last one
    last.
    """
    left, at, endless = sum(held for _, held in releases), now, 0
    for end, held in sorted(releases, key=itemgetter(0)):
        if left <= most and end > now:
            break
        left, at, endless = left - held, max(at, end), endless + (end == math.inf)
    return at, endless
