"""Pools whose engine decides order and places: who is handed over to it, in our order, as quotas allow, never too
many.
"""

from dataclasses import replace

from tests.builders import job, node, snapshot
from trainmaster.core.records import Job
from trainmaster.core.states import Priority
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT
from trainmaster.queue.snapshot import Plan, Snapshot


def cluster(left: int, *jobs: Job, cards: int | None = None) -> Snapshot:
    """Return what the planner sees of a cluster without any node, which takes `left` more; `cards`: the quota of
    ann.
    """
    quotas = {} if cards is None else {(Account("user", "ann"), "alps"): Quota(cap={"gpu": 1000 * cards})}
    moved = [replace(one, pool="alps", owner="ann" if one.owner != "bob" else "bob") for one in jobs]
    return replace(snapshot([], *moved), handing={"alps": left}, quotas=quotas)


def started(made: Plan, *jobs: Job) -> list[str]:
    names = {each.id: each.name for each in jobs}
    return [names[start.job] for start in made.starts]


def code(seen: Snapshot, made: Plan, what: Job) -> str:
    return next(explain(seen, p, made).code for cls in seen.pending for p in cls.jobs if p.job == what.id)


def test_no_node_is_needed_to_be_handed_over() -> None:
    (start,) = plan(cluster(5, job().role("ps").role("w", 2, gpu=8).done()), 0.0).starts
    assert [(a.role, a.index, a.node, a.gpus) for a in start.placement] == [
        (0, 0, "", ()),
        (1, 0, "", ()),
        (1, 1, "", ()),
    ]


def test_as_many_as_may_wait_there_and_the_urgent_first() -> None:
    jobs = job("a").done(), job("b").done(), job("urgent").priority(Priority.URGENT).done()
    seen = cluster(2, *jobs)
    made = plan(seen, 0.0)
    assert started(made, *jobs) == ["urgent", "a"]
    assert not made.more
    assert code(seen, made, jobs[1]) == "cluster_full"


def test_a_quota_holds_back_what_exceeds_it_and_nobody_of_others() -> None:
    """Who comes first gets the quota: a later job of the same account would keep it from that."""
    jobs = [job(f"{cards}-{n}").role(gpu=cards).done() for n, cards in enumerate((2, 4, 1, 8))]
    seen = cluster(9, *jobs[:3], replace(jobs[3], owner="bob"), cards=4)
    made = plan(seen, 0.0)
    assert started(made, *jobs) == ["2-0", "8-3"]
    assert [code(seen, made, jobs[n]) for n in (1, 2)] == ["quota", "quota_kept"]


def test_an_elastic_job_is_handed_over_as_large_as_its_quota_allows() -> None:
    elastic = job().role("w", 8, gpu=1, min_replicas=2).done()
    (start,) = plan(cluster(1, elastic, cards=5), 0.0).starts
    assert start.roles[0].replicas == len(start.placement) == 5


def test_a_pass_that_ends_at_its_limit_of_starts_goes_on_in_the_next() -> None:
    seen = cluster(9, *(job(str(n)).done() for n in range(3)))
    made = plan(seen, 0.0, replace(DEFAULT, max_starts=2))
    assert len(made.starts) == 2
    assert made.more


def test_other_pools_are_planned_as_ever() -> None:
    here, there = job("here").done(), replace(job("there").done(), pool="alps")
    seen = replace(snapshot([node()], here, there), handing={"alps": 1})
    assert {(s.job, s.placement[0].node) for s in plan(seen, 0.0).starts} == {(here.id, "n1"), (there.id, "")}
