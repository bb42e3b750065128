"""Stories of quotas in the queue: who waits for one gets it, in any of the ways it may run, and others meanwhile go
on.
"""

from dataclasses import replace

import pytest

from tests.unit.queue.lab import ANN, BOB, NOW, Lab, gang, started
from trainmaster.core.records import Resources, Role
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.explaining.reasons import Known, render, with_names
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.policy import NAMED
from trainmaster.queue.snapshot import Tenant


def test_the_small_jobs_of_a_person_do_not_keep_its_large_one_waiting_for_ever() -> None:
    lab = Lab(ann={"gpu": 4})
    lab.runs(2, ends_in=100)
    large = lab.waits(gang(4))
    late, in_time, other = lab.waits(gang(1)), lab.waits(gang(1), limit_s=100), lab.waits(gang(1), tenant=BOB)
    made = lab.plan()
    assert started(made) == [in_time.job, other.job]
    assert [lab.why(job, made) for job in (large, late)] == ["quota", "quota_kept"]
    reason = explain(lab.seen(), late, made)
    assert reason.evidence["job"] == large.job
    assert "user ann" in render(with_names(reason, lambda job: Known())).en
    assert "another user's job" in render(with_names(reason, lambda job: Known())).en
    assert (
        "的剩余配额已预留给任务 large，它排在此任务之前"
        in render(with_names(reason, lambda job: Known("large", "ann"))).zh
    )
    assert "a job of bob" in render(with_names(reason, lambda job: Known(owner="bob"))).en


def test_what_is_left_beside_the_large_one_is_not_kept() -> None:
    lab = Lab(ann={"gpu": 4})
    lab.runs(3, ends_in=100)
    lab.waits(gang(2))
    one, two = lab.waits(gang(1)), lab.waits(gang(1))
    made = lab.plan()
    assert started(made) == [one.job]
    assert lab.why(two, made) == "quota"  # four are in use now


def test_where_nobody_has_a_limit_the_large_one_is_not_passed_once_more_in_each_pass() -> None:
    """Nobody knows when it starts, but one that ends is enough, and stays enough: the second small one must wait."""
    lab = Lab(ann={"gpu": 4})
    lab.runs(2)
    large = lab.waits(gang(3))
    beside, second = lab.waits(gang(1)), lab.waits(gang(1))
    assert started(lab.plan()) == [beside.job]
    lab.waiting.remove(beside)
    lab.runs(1, started_at=NOW)
    made = lab.plan()
    assert started(made) == []
    assert [lab.why(job, made) for job in (large, second)] == ["quota", "quota_kept"]


def test_who_asks_for_more_than_it_will_ever_have_a_right_to_claims_nothing() -> None:
    lab = Lab(ann={"gpu": 2})
    lab.waits(gang(3))
    colleague = lab.waits(gang(2))
    assert started(lab.plan()) == [colleague.job]


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_a_flavor_that_a_quota_bars_does_not_cost_the_promise_of_the_other(order: tuple[str, str]) -> None:
    """R161: the first in line for the nodes of B, although A, which is idle, is not for it."""
    lab = Lab(ann={"gpu:A": 0})
    lab.runs(3, ends_in=50, tenant=BOB, model="B")
    first = lab.waits(*(gang(4, model) for model in order))
    small = [lab.waits(gang(1, "B"), tenant=BOB) for _ in range(3)]
    made = lab.plan()
    assert [(each.job, each.at, each.nodes) for each in made.reservations] == [(first.job, NOW + 50, ("n2",))]
    assert started(made) == []
    assert {lab.why(job, made) for job in small} == {"reserved"}
    assert started(lab.plan(backfill="none")) == []
    assert NAMED["fifo-strict"].backfill == "none"


def test_cards_of_any_model_are_those_that_a_quota_allows() -> None:
    lab = Lab(ann={"gpu:A": 0})
    lab.runs(1, ends_in=50, tenant=BOB, model="B")  # A is the more plentiful
    job = lab.waits(gang(2))
    made = lab.plan()
    assert started(made) == [job.job]
    assert made.starts[0].placement[0].node == "n2"
    assert made.starts[0].roles == job.roles


def test_the_first_in_line_is_left_the_quota_that_it_has() -> None:
    """Nodes are free at 50; a colleague's job that ends in time on other nodes would take its quota, and it would be
    nobody then.
    """
    lab = Lab()
    lab.quotas = {(Account("workspace", "red"), "default"): Quota(cap={"gpu": 6000})}
    lab.runs(1, ends_in=50, tenant=Tenant("", "blue", "cyd"), model="B")
    first = lab.waits(gang(4, "B"))
    fits, too_many = lab.waits(gang(2, "A"), limit_s=20, tenant=BOB), lab.waits(gang(1, "A"), limit_s=20, tenant=BOB)
    made = lab.plan()
    assert [(each.job, each.at) for each in made.reservations] == [(first.job, NOW + 50)]
    assert started(made) == [fits.job]
    assert lab.why(too_many, made) == "quota_kept"


def test_who_is_first_in_line_for_what_is_its_right_may_still_borrow() -> None:
    """B is its right and busy, A is idle and may be borrowed once all others had their turn: then nothing is kept of
    B.
    """
    lab = Lab()
    lab.quotas = {
        (Account("user", "ann"), "default"): Quota({"gpu:A": 0}),
        (Account("user", "cyd"), "default"): Quota({"gpu:A": 4000}),
    }
    lab.runs(3, ends_in=50, tenant=BOB, model="B")
    first = lab.waits(gang(4, "B"), gang(4, "A"))
    made = lab.plan()
    assert [(start.job, start.shape) for start in made.starts] == [(first.job, 1)]
    assert made.reservations == ()


def test_what_is_kept_for_the_first_in_line_does_not_stand_in_its_own_way() -> None:
    """A colleague claims two of three cores from 50 on; the core that is left is kept for the first, which may have it
    now.
    """
    lab = Lab()
    lab.quotas = {
        (Account("user", "ann"), "default"): Quota({"gpu:A": 0, "cpu": 3000}),
        (Account("user", "cyd"), "default"): Quota({"gpu:A": 4000}),
    }
    lab.holds((Role("w", 1, Resources(1.5, 512)),), 50, ANN)
    lab.runs(3, ends_in=80, tenant=BOB, model="B")
    lab.waits((Role("w", 1, Resources(2.0, 512)),))
    first = lab.waits(gang(4, "B"), gang(4, "A"))
    after = lab.waits((Role("w", 1, Resources(0.5, 512)),))
    made = lab.plan()
    assert [(start.job, start.shape) for start in made.starts] == [(first.job, 1)]
    assert lab.why(after, made) == "quota_kept"
    lab.waiting[1] = replace(first, request=replace(first.request, shapes=(gang(4, "B"),)))
    made = lab.plan()
    assert [each.job for each in made.reservations] == [first.job]
    assert lab.why(lab.waiting[1], made) == "waiting_gpus"


def test_in_strict_order_who_lacks_no_nodes_but_the_quota_of_their_cards_holds_nobody_up() -> None:
    """A request for any model says only where it is placed what it is charged for; of an elastic one the smallest size
    counts.
    """
    lab = Lab(ann={"gpu:A": 0, "gpu:B": 0})
    elastic = (replace(gang(1)[0], replicas=20, min_replicas=1),)
    for shape in (elastic, gang(1)):
        lab.waiting.clear()
        barred, other = lab.waits(shape), lab.waits(gang(4, "B"), tenant=BOB)
        made = lab.plan(backfill="none")
        assert started(made) == [other.job]
        assert lab.why(barred, made) == "quota"
    lab.quotas = {
        (Account("user", "ann"), "default"): Quota({"gpu:A": 0, "gpu:B": 0}),
        (Account("user", "bob"), "default"): Quota({"gpu:A": 4000}),
    }
    assert started(lab.plan(backfill="none")) == [other.job, barred.job]


def test_a_gang_passes_with_cards_of_the_model_that_fits_although_another_was_refused_those() -> None:
    """Any model does not fit: the first role takes the cards of the second, whose model is named. Of A it does."""
    cat = Tenant("", "red", "cat")
    lab = Lab(ann={"gpu:A": 0}, bob={"gpu:A": 4})
    lab.runs(1, ends_in=50, tenant=cat, model="B")
    gang_of_two = (Role("x", 1, Resources(2.0, 1024, 3, None, 0)), Role("y", 1, Resources(1.0, 512, 2, "B", 0)))
    head = lab.waits(gang(4, "B"), tenant=cat)
    barred, able = (lab.waits(gang_of_two, limit_s=40, tenant=tenant) for tenant in (ANN, BOB))
    made = lab.plan()
    assert [each.job for each in made.reservations] == [head.job]
    assert started(made) == [able.job]
    assert lab.why(barred, made) == "waiting_gpus"


def test_the_first_of_a_strict_line_borrows_at_once_since_nobody_can_start_before_it() -> None:
    """Its first shape lacks nodes and holds up everybody; its second needs what others leave of their quota."""
    lab = Lab()
    lab.quotas = {
        (Account("user", name), "default"): Quota({"gpu:B": most}) for name, most in (("ann", 0), ("bob", 4000))
    }
    lab.runs(4, ends_in=50, tenant=BOB, model="A")
    first = lab.waits(gang(4, "A"), gang(2, "B"))
    behind = lab.waits(gang(1, "B"), tenant=BOB)
    made = lab.plan(backfill="none")
    assert started(made) == [first.job, behind.job]
    assert made.starts[0].shape == 1
    lab.quotas = {(Account("user", "ann"), "default"): Quota({"gpu:B": 0})}
    made = lab.plan(backfill="none")
    assert started(made) == []
    assert lab.why(first, made) == "waiting_gpus"
