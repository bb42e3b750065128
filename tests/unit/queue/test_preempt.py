"""Stories of preemption: from whom the first in line may take, how many at once, and when it rather waits."""

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.builders import node
from tests.unit.queue.lab import ANN, BOB, NODES, NOW, Lab, gang
from trainmaster.core.records import Resources, Role
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.placing.packing import Rule, mix_of
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT
from trainmaster.queue.snapshot import Plan

LONG_AGO = NOW - 700.0


def busy(**more: Any) -> Lab:
    """Four preemptible jobs of a card each, which ran for more than ten minutes, hold the first node."""
    lab = Lab()
    for _ in range(4):
        lab.runs(1, **{"preemptible": True, "started_at": LONG_AGO, "model": "A", **more})
    return lab


def evicted(made: Plan) -> list[str]:
    return [evict.attempt for evict in made.evictions]


def test_a_higher_class_takes_from_a_lower_one_what_it_needs_and_only_where_that_is_switched_on() -> None:
    lab = busy()
    head = lab.waits(gang(2, "A"), priority=1)
    assert evicted(lab.plan()) == []
    made = lab.plan(preemption="class")
    assert [(evict.for_job, evict.why) for evict in made.evictions] == [(head.job, "class")] * 2
    assert [(each.job, each.at) for each in made.reservations] == [(head.job, NOW)]


def test_nobody_takes_from_its_own_class_or_from_who_does_not_allow_it() -> None:
    equal, unwilling = busy(priority=1), busy(preemptible=False)
    for lab in (equal, unwilling):
        lab.waits(gang(2, "A"), priority=1)
        assert evicted(lab.plan(preemption="class")) == []


def test_the_lowest_class_goes_first_and_in_it_who_ran_shortest() -> None:
    lab = Lab()
    for priority, ran in ((1, 700.0), (0, 900.0), (0, 800.0), (0, 950.0)):
        lab.runs(1, model="A", priority=priority, started_at=NOW - ran, preemptible=True)
    lab.waits(gang(1, "A"), priority=2)
    assert evicted(lab.plan(preemption="class")) == ["r2"]
    lab.waiting.clear()
    lab.waits(gang(4, "A"), priority=2)
    assert evicted(lab.plan(preemption="class")) == ["r2", "r1", "r3", "r0"]


def test_who_has_nothing_that_is_needed_is_not_evicted() -> None:
    """Also where its eviction would be the cheapest."""
    lab = busy()
    lab.runs(1, model="B", preemptible=True, started_at=NOW - 650.0)
    lab.waits(gang(1, "A"), priority=1)
    assert evicted(lab.plan(preemption="class")) == ["r0"]


def test_no_more_are_evicted_at_once_than_the_policy_allows() -> None:
    """Who needs more waits: half of them would be lost for nothing."""
    lab = busy()
    lab.waits(gang(4, "A"), priority=1)
    assert evicted(lab.plan(preemption="class", preempt_most=3)) == []
    assert len(evicted(lab.plan(preemption="class", preempt_most=4))) == 4


def test_the_most_that_are_evicted_are_those_of_all_pools_together() -> None:
    lab = Lab([NODES[0], replace(NODES[1], pool="other")])
    for pool in ("default", "other"):
        for _ in range(2):
            lab.holds(gang(2), math.inf, ANN, pool, preemptible=True, started_at=LONG_AGO)
        lab.waits(gang(4), priority=1, pool=pool)
    assert evicted(lab.plan(preemption="class", preempt_most=3)) == ["r0", "r1"]
    assert len(evicted(lab.plan(preemption="class", preempt_most=4))) == 4


@pytest.mark.parametrize(("since", "knob"), [("started_at", "preempt_min_run_s"), ("preempted_at", "preempt_again_s")])
def test_who_has_hardly_begun_or_was_preempted_of_late_is_left_alone(since: str, knob: str) -> None:
    least = getattr(DEFAULT, knob)
    for ago, count in ((least - 1.0, 0), (least, 4)):
        lab = busy(**{since: NOW - ago})
        lab.waits(gang(4, "A"), priority=1)
        assert len(evicted(lab.plan(preemption="class"))) == count
        assert evicted(lab.plan(preemption="class", **{knob: ago + 1.0})) == []
    of_late: dict[str, Any] = {since: NOW - 10}
    lab.running[0] = replace(lab.running[0], **of_late)
    lab.waiting.clear()
    lab.waits(gang(3, "A"), priority=1)
    assert sorted(evicted(lab.plan(preemption="class"))) == ["r1", "r2", "r3"]


def test_who_would_start_within_the_cost_of_a_restart_waits() -> None:
    for left, count in ((60.0, 0), (61.0, 2)):
        lab = busy(ends_in=left)
        lab.waits(gang(2, "A"), priority=1)
        assert len(evicted(lab.plan(preemption="class"))) == count


def test_while_some_are_ending_nobody_else_is_evicted() -> None:
    """The next pass comes before they are gone, and a gang of theirs would be evicted for each."""
    lab = Lab()
    lab.runs(2, model="A", ends_in=-1.0)
    lab.runs(2, model="A", preemptible=True, started_at=LONG_AGO)
    lab.waits(gang(2, "A"), priority=1)
    assert evicted(lab.plan(preemption="class", restart_cost_s=-1.0)) == []
    lab.waiting.clear()
    lab.waits(gang(4, "A"), priority=1)
    assert evicted(lab.plan(preemption="class", restart_cost_s=-1.0)) == ["r1"]


def test_an_owner_takes_back_what_was_lent_and_no_more() -> None:
    lab = busy(tenant=ANN)
    lab.quotas = {
        (Account("user", "ann"), "default"): Quota({"gpu": 2000}),
        (Account("user", "bob"), "default"): Quota({"gpu": 4000}),
    }
    head = lab.waits(gang(2, "A"), tenant=BOB)
    assert evicted(lab.plan(preemption="class")) == []
    made = lab.plan(preemption="reclaim")
    assert [(evict.for_job, evict.why) for evict in made.evictions] == [(head.job, "reclaim")] * 2
    lab.waiting.clear()
    lab.waits(gang(3, "A"), tenant=BOB)  # of the four, ann holds two by right
    assert evicted(lab.plan(preemption="reclaim")) == []


def test_who_holds_nothing_of_what_its_account_borrows_is_left_alone() -> None:
    """It would be within its right again at once, and before the head: its work would be lost for nobody."""
    for cards, out in ((0, []), (1, ["r1"])):
        lab = Lab([node("n1", cpu=4, gpus=4)])
        lab.quotas = {(Account("user", name), "default"): Quota({"gpu": 2000}) for name in ("ann", "bob")}
        lab.runs(3 - cards, tenant=ANN, model="A100")
        wide = (Role("w", 1, Resources(3.0, 512, cards)),)
        lab.holds(wide, math.inf, ANN, preemptible=True, started_at=LONG_AGO)
        lab.waits((Role("w", 1, Resources(2.0, 512)),), tenant=BOB)
        assert evicted(lab.plan(preemption="reclaim")) == out


def test_who_gets_room_is_promised_where_the_policy_packs_it() -> None:
    """Least fragmentation: the smaller node's cores are those that most who ask for a card need."""
    lab = Lab([node("n1", cpu=16, gpus=2), node("n2", cpu=34, gpus=4)])
    both = (Role("a", 1, Resources(16.0, 0, 2)), Role("b", 1, Resources(34.0, 0, 4)))
    lab.holds(both, math.inf, ANN, preemptible=True, started_at=LONG_AGO)
    lab.waits((Role("w", 1, Resources(10.0, 0, 1)),), priority=1)
    usual = mix_of([(Role("w", 1, Resources(8.0, 0, 1)), 10)])
    rules: tuple[tuple[Rule, str], ...] = (("best-fit", "n1"), ("fgd", "n2"))
    for packing, where in rules:
        policy = replace(DEFAULT, preemption="class", packing=packing)
        made = plan(replace(lab.seen(), mix=usual), NOW, policy)
        assert evicted(made) == ["r0"]
        assert [each.nodes for each in made.reservations] == [(where,)]
