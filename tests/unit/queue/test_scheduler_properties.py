"""What the scheduler promises, on any small cluster in the middle of its work (issue 3, "Tests"; B8, B15)."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.queue.clusters import misplaced, overbooked
from tests.unit.queue.ledger import Ledger
from tests.unit.queue.naive import naive
from tests.unit.queue.worlds import World, crowded, later, mixed, worlds
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.explaining.reasons import REASONS, render
from trainmaster.queue.ordering.quota import OWN, Books, accounts_of
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.placing.failures import Demand
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.rules import backfill
from trainmaster.queue.rules.backfill import Promise
from trainmaster.queue.snapshot import Pending, Request, Usage

few = settings(max_examples=examples(120))
PLAIN = replace(DEFAULT, fair_weight_s=0.0)
PACKED = (replace(DEFAULT, packing="worst-fit"), replace(DEFAULT, packing="fgd", packing_rest="worst-fit"))
policies = st.sampled_from((*NAMED.values(), replace(DEFAULT, backfill="easy-shortest"), *PACKED))
any_world = worlds() | mixed()


@few
@given(any_world, policies)
def test_nothing_is_held_twice_and_gangs_are_whole(world: World, policy: QueuePolicy) -> None:
    made = plan(world.snapshot(), world.now, policy)
    drivers = {node.name: node.driver for node in world.nodes}
    for start in made.starts:
        request = world.waiting[start.job].request
        for asked, placed in zip(request.shapes[start.shape], start.roles, strict=True):
            assert asked.replicas >= placed.replicas >= (asked.min_replicas or asked.replicas)
        assert misplaced(start.roles, start.placement, request.pool, world.nodes) == []
        assert {a.node for a in start.placement} <= (request.nodes or drivers.keys())
        assert {drivers[a.node] for a in start.placement} <= (
            {request.driver} if request.driver else {*drivers.values()}
        )
    assert len({start.job for start in made.starts}) == len(made.starts)
    away = {node.name for node in world.nodes if not node.schedulable}
    assert not any(a.node in away for start in made.starts for a in start.placement)
    world.start(made)
    usages = world.running.values()
    there = [replace(node, schedulable=True) for node in world.nodes]
    assert overbooked(there, [(usage.roles, usage.placement) for usage in usages]) == []


@few
@given(any_world, policies)
def test_equal_snapshots_give_equal_plans(world: World, policy: QueuePolicy) -> None:
    """Whatever the order in which a dictionary happens to give classes, attempts and quotas."""
    assert plan(world.snapshot(), world.now, policy) == plan(world.snapshot(backwards=True), world.now, policy)


@settings(max_examples=examples(200))
@given(worlds() | crowded(), policies)
def test_a_naive_plan_decides_the_same(world: World, policy: QueuePolicy) -> None:
    assume(policy.backfill != "easy-shortest")
    told: list[Promise | None] = []

    def rehearse(room: Room, ways: list[Demand], *rest: Any) -> Promise | None:
        made = backfill.rehearse(room, ways, *rest)
        told.extend([made] if ways else [])
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trainmaster.queue.plan.rehearse", rehearse)
        made = plan(world.snapshot(), world.now, policy)
    other = naive(world, policy, told)
    assert list(made.starts) == other.starts
    assert {r.pool: (r.job, r.at) for r in made.reservations} == (other.heads if policy.backfill != "none" else {})


@few
@given(worlds(quota=False), st.lists(st.sampled_from((0.0, 1.0, 7.0, 40.0)), min_size=1, max_size=4))
def test_a_promise_is_never_put_off_by_who_passes(world: World, waits: list[float]) -> None:
    """While limits are obeyed and nobody goes before it, the head starts no later than it was first told."""
    world.fair = None
    promised: dict[str, tuple[str, float]] = {}
    for wait in waits:
        made = plan(world.snapshot(), world.now, PLAIN)
        told = {each.pool: (each.job, each.at) for each in made.reservations}
        for pool, (job, at) in promised.items():
            if job in world.waiting and job not in {start.job for start in made.starts}:
                assert told[pool][0] == job
                assert told[pool][1] <= max(at, world.now)
        promised = told
        world.start(made)
        world = later(world, wait)


@settings(max_examples=examples(200))
@given(crowded(), st.lists(st.sampled_from((0.0, 1.0, 7.0, 40.0)), min_size=2, max_size=5))
def test_who_is_first_of_all_is_put_off_neither_by_its_colleagues_nor_by_others(
    world: World, waits: list[float]
) -> None:
    """It waits for its quota until the time that it claims, then, once, for its nodes until the time that it is
    promised.
    """
    for quota in world.quotas.values():  # a gang of any model may be promised a mixture that is not found again
        for amounts in (quota.nominal, quota.cap):
            amounts.pop("gpu:A", None)  # type: ignore[attr-defined]
            amounts.pop("gpu:B", None)  # type: ignore[attr-defined]
    told: tuple[str, str, float] | None = None
    for wait in waits:
        made = plan(world.snapshot(), world.now, PLAIN)
        world.start(made)
        if not world.waiting:
            return
        assert made.ranking is not None
        first = min(world.waiting.values(), key=made.ranking.place)
        line = made.lines[first.pool]
        claims = [claim for account in accounts_of(first.tenant) for claim in made.books[first.pool].claims.on(account)]
        mine = next((claim for claim in claims if claim.job == first.job), None)
        what = "nodes" if line.head is first else "quota" if mine is not None else "beyond its right"
        at = line.promise.at if line.promise and line.head is first else mine.promised.at if mine is not None else 0.0
        if told is not None and told[0] == first.job:
            assert (told[1], what) != ("nodes", "quota")
            assert told[1] != what or at <= max(told[2], world.now)
        told = first.job, what, at
        world = later(world, wait)


@few
@given(worlds())
def test_a_lower_class_never_starts_on_what_a_higher_could_use(world: World) -> None:
    made = plan(world.snapshot(), world.now, PLAIN)
    started = {start.job for start in made.starts}
    room = world.room()
    books = {pool: Books(pool, world.quotas, Running(world.running.values()).held) for pool in ("default", "other")}
    for start in made.starts:
        job = world.waiting[start.job]
        line = made.lines[job.pool]
        for other in world.waiting.values():
            if other.pool != job.pool or other.priority <= job.priority or other.job in started:
                continue
            if line.in_time(world.now + other.limit_s):
                for shape in map(fewest, other.request.shapes):
                    placed = fit(room, shape, other.pool)
                    assert placed is None or books[job.pool].judge(other.tenant, world.charged(shape, placed)) != OWN
        room.take(start.roles, start.placement)
        books[job.pool].charge(job.tenant, world.charged(start.roles, start.placement))


@settings(max_examples=examples(300))
@given(any_world | crowded(), policies)
def test_quotas_hold(world: World, policy: QueuePolicy) -> None:
    """Nobody gets beyond a cap; beyond a nominal amount only what the others of its kind leave unused."""
    held = Ledger(world)
    for start in plan(world.snapshot(), world.now, policy).starts:
        job = world.waiting[start.job]
        mine = held.add(job.pool, job.tenant, start.roles, start.placement)
        for (account, pool), quota in world.quotas.items():
            got = mine.keys() & {(account, pool, name) for name in {*quota.nominal, *quota.cap}}
            for _, _, name in got:
                total = held.amounts[account, pool, name]
                assert total <= quota.cap.get(name, total)
                if total > quota.nominal.get(name, total):
                    cohort = [
                        (other, each.nominal[name])
                        for (other, where), each in world.quotas.items()
                        if where == pool and other.kind == account.kind and name in each.nominal
                    ]
                    together = sum(held.amounts[other, pool, name] for other, _ in cohort)
                    assert together <= sum(nominal for _, nominal in cohort)


@few
@given(any_world, policies)
def test_everyone_who_waits_has_one_reason(world: World, policy: QueuePolicy) -> None:
    seen = world.snapshot()
    made = plan(seen, world.now, policy)
    started = {start.job for start in made.starts}
    for job in world.waiting.values():
        if job.job not in started:
            reason = explain(seen, job, made)
            assert reason.code in REASONS
            assert reason.code != "next_pass" or made.starts
            assert all("{" not in text for text in render(reason))


@few
@given(
    worlds(priorities=(0, 0, 1, 2)) | mixed(),
    st.sampled_from(("class", "reclaim")),
    st.sampled_from((DEFAULT, *PACKED)),
)
def test_preemption_lets_the_head_start_and_settles(world: World, preemption: str, base: QueuePolicy) -> None:
    """B15: without any rest between two evictions of one job, passes come to an end; everybody evicted was evictable.

    Who comes before the head may have waited for the quota that the eviction gave back: then it starts first; never one
    that was evicted. And a head of
    several roles, whose fit is a heuristic, may miss the room that was made for it once others started beside it.
    """
    policy = replace(base, preemption=preemption, preempt_min_run_s=0.0, preempt_again_s=0.0, restart_cost_s=0.0)
    world = later(world, 0.0)  # nobody is still being cleared away
    came = {usage.job: (world.now - 900.0, 1000 + n) for n, usage in enumerate(world.running.values())}
    came |= {job.job: job.order for job in world.waiting.values()}
    for _ in range(40):
        made = plan(world.snapshot(), world.now, policy)
        if not made.starts and not made.evictions:
            return
        for evict in made.evictions:
            usage = world.running[evict.attempt]
            head = world.waiting[evict.for_job]
            assert usage.preemptible
            assert usage.priority < head.priority or (evict.why == "reclaim" and usage.priority == head.priority)
        world.start(made)
        for evict in made.evictions:
            usage = world.running.pop(evict.attempt)
            back = _back(usage, world.asked[evict.job], came[evict.job])
            world.waiting[back.job] = back
        if made.evictions:
            heads = [world.waiting[name] for name in {evict.for_job for evict in made.evictions}]
            again = plan(world.snapshot(), world.now, policy)
            assert again.ranking is not None
            begun = {start.job for start in again.starts}
            for head in filter(is_plain, heads):
                assert head.job in begun or not begun & {evict.job for evict in made.evictions}
                first = (world.waiting[start.job] for start in again.starts)
                assert any(
                    again.ranking.place(one) <= again.ranking.place(head) for one in first if one.pool == head.pool
                )
    raise AssertionError("it never settles")


def is_plain(job: Pending) -> bool:
    """Whether the fit of a gang is complete."""
    return all(len(shape) == 1 and not shape[0].ports for shape in job.request.shapes)


def _back(usage: Usage, request: Request, order: tuple[float, int]) -> Pending:
    limit_s = usage.ends_at - usage.started_at if usage.ends_at < math.inf else math.inf
    return Pending(usage.job, request, order, usage.priority, usage.tenant, limit_s)
