"""What running elastic gangs may take (R172): only what nobody else can use, was promised, or has a right to."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.unit.queue.lab import ANN, BOB, NOW, Lab, gang
from tests.unit.queue.ledger import Ledger
from tests.unit.queue.worlds import World, mixed, worlds
from trainmaster.core.records import Resources, Role
from trainmaster.queue.elastic import fewest, sized
from trainmaster.queue.explain import explain
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.quota import Account, Quota, accounts_of
from trainmaster.queue.snapshot import Plan, Request, Tenant, Usage
from trainmaster.queue.suggest import suggest


def grows(lab: Lab, most: int, ends_in: float = math.inf, tenant: Tenant = ANN, **more: Any) -> Usage:
    """Let one replica of an elastic gang of up to `most` run, of a card of any model each, for more than ten minutes."""
    whole = (Role("w", most, Resources(1.0, 512, 1, None, 0), min_replicas=1),)
    request = Request("default", (whole,))
    return lab.holds(fewest(whole), ends_in, tenant, **{"request": request, "started_at": NOW - 700.0, **more})


def sizes(made: Plan) -> list[int]:
    return [resize.replicas for resize in made.resizes]


def test_it_takes_what_is_left_up_to_what_it_asked_for() -> None:
    for most, size in ((1, []), (3, [3]), (6, [6]), (20, [8])):
        lab = Lab()
        grows(lab, most)
        assert sizes(lab.plan()) == size


def test_the_oldest_takes_first_and_the_next_pass_knows_what_it_took() -> None:
    lab = Lab()
    for ago in (700.0, 900.0):
        grows(lab, 6, started_at=NOW - ago)
    assert [(each.job, each.replicas) for each in lab.plan().resizes] == [("r1", 6)]


def test_who_waits_starts_first_and_who_is_left_over_is_not_passed_by() -> None:
    lab = Lab()
    grows(lab, 20)
    one, two = lab.waits(gang(3, "A")), lab.waits(gang(2, "B"))
    made = lab.plan()
    assert ([start.job for start in made.starts], sizes(made)) == ([one.job, two.job], [3])
    assert lab.plan(max_starts=1).resizes == ()


def test_it_leaves_the_first_in_line_what_it_was_promised() -> None:
    """Unless it has ended by then."""
    for ends_in, size in ((math.inf, 4), (501.0, 4), (500.0, 7)):
        lab = Lab()
        grows(lab, 20, ends_in)
        lab.runs(1, ends_in=500.0, tenant=BOB, model="B")
        lab.waits(gang(4, "B"))
        assert sizes(lab.plan()) == [size]


def test_where_nobody_passes_the_first_in_line_nobody_grows_past_it() -> None:
    lab = Lab()
    grows(lab, 20)
    lab.runs(1, ends_in=500.0, tenant=BOB, model="B")
    lab.waits(gang(4, "B"))
    assert lab.plan(backfill="none").resizes == ()


@pytest.mark.parametrize(
    ("quota", "size"), [(Quota({"gpu": 3000}), [3]), (Quota({"gpu": 1000}), []), (Quota({}, {"gpu": 2000}), [2])]
)
def test_it_stays_within_its_right(quota: Quota, size: list[int]) -> None:
    """Also where another account leaves enough to borrow."""
    lab = Lab()
    lab.quotas = {(Account("user", "ann"), "default"): quota, (Account("user", "bob"), "default"): Quota({"gpu": 9000})}
    grows(lab, 20)
    assert sizes(lab.plan()) == size


def test_cards_of_any_model_are_charged_as_what_they_are() -> None:
    lab = Lab()
    lab.quotas = {(Account("user", "ann"), "default"): Quota({"gpu:A": 2000, "gpu:B": 0})}
    grows(lab, 20)
    assert all(size <= 2 for size in sizes(lab.plan()))


def test_who_is_about_to_make_room_for_another_does_not_grow() -> None:
    lab = Lab()
    grows(lab, 20, preemptible=True)
    lab.waits(gang(4, "A"), priority=1)
    made = lab.plan(preemption="class")
    assert [evict.attempt for evict in made.evictions] == ["r0"]
    assert made.resizes == ()


def test_it_grows_no_more_often_than_the_policy_says() -> None:
    for more in ({"started_at": NOW - 599.0}, {"resized_at": NOW - 599.0}):
        lab = Lab()
        grows(lab, 4, **more)
        assert lab.plan().resizes == ()
        assert sizes(lab.plan(grow_every_s=599.0)) == [4]


def test_it_grows_only_where_that_saves_more_than_a_restart_costs() -> None:
    """With four times the cards three quarters of what is left of its time are saved."""
    for ends_in, size in ((80.0, []), (81.0, [4])):
        lab = Lab()
        grows(lab, 4, ends_in=ends_in)
        assert sizes(lab.plan()) == size


def test_it_grows_where_it_may_run() -> None:
    lab = Lab()
    usage = grows(lab, 20)
    assert usage.request is not None
    lab.running[0] = replace(usage, request=replace(usage.request, nodes=frozenset({"n1"})))
    assert sizes(lab.plan()) == [4]


policies = st.sampled_from((*NAMED.values(), replace(DEFAULT, packing="worst-fit")))


@st.composite
def growing(draw: st.DrawFn) -> World:
    """Most of what runs is elastic, and does so for some time."""
    world: World = draw(worlds() | mixed())
    for name, usage in world.running.items():
        more = draw(st.sampled_from((0, 1, 3)))
        whole = tuple(replace(role, replicas=role.replicas + more, min_replicas=1) for role in usage.roles)
        request = replace(usage.request, shapes=(whole,)) if usage.request is not None else None
        ends_at = draw(st.sampled_from((world.now + 100.0, math.inf)))
        world.running[name] = replace(usage, request=request, started_at=world.now - 700.0, ends_at=ends_at)
    return world


@settings(max_examples=80, deadline=None)
@given(growing(), policies)
def test_growth_is_a_right_and_harms_nobody(world: World, base: QueuePolicy) -> None:
    """Whoever waits has the same reason and the same suggestions as without it, which nobody carries out yet."""
    policy = replace(base, grow_every_s=60.0, restart_cost_s=0.0)
    seen, still = world.snapshot(), replace(policy, grow_every_s=math.inf)
    made, other = plan(seen, world.now, policy), plan(seen, world.now, still)
    assert replace(made, resizes=()) == other
    world.start(made)
    held, grown = Ledger(world), set[str]()
    for resize in made.resizes:
        usage = world.running[resize.job]
        role = usage.roles[resize.role]
        assert usage.request is not None
        assert role.replicas < resize.replicas <= usage.request.shapes[usage.shape][resize.role].replicas
        assert resize.job not in grown
        assert not made.lines[usage.pool].closed if usage.pool in made.lines else True
        grown.add(resize.job)
        event("grows")
        mine = held.ask(usage.pool, usage.tenant, (sized(role, resize.replicas - role.replicas),))
        for (account, pool), quota in world.quotas.items():
            for name in (
                {*quota.nominal, *quota.cap} if pool == usage.pool and account in accounts_of(usage.tenant) else ()
            ):
                total = held.amounts[account, pool, name]
                assert not mine[account, pool, name] or total <= quota.nominal.get(name, quota.cap.get(name, total))
    after = world.snapshot()
    for job in world.waiting.values():
        reasons = explain(after, job, made), explain(after, job, other)
        assert reasons[0] == reasons[1]
        assert suggest(after, job, reasons[0], made, policy=policy) == suggest(
            after, job, reasons[1], other, policy=still
        )
