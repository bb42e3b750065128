"""What each member of a workspace may hold at most: in a pass, in what is foreseen, in what is simulated."""

import math
from dataclasses import replace

from tests.unit.queue.lab import ANN, BOB, NODES, NOW, PLAIN, Lab, gang
from trainmaster.core.cluster import Workspace
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.forecasting.forecast import at_once, foresee, scene_after
from trainmaster.queue.forecasting.history import History
from trainmaster.queue.ordering.quota import Account, Books, Excess, asks, each_member
from trainmaster.queue.ordering.rights import Rights
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.plan import plan


def lab(**most: float | None) -> Lab:
    made = Lab()
    rights = Rights((Workspace("red", per_person={"default": most}),))
    made.quotas = dict(rights.quotas(NODES))
    return made


def test_each_has_as_much_and_nobody_takes_it_from_another() -> None:
    story = lab(gpu=4, jobs=3)
    for _ in range(3):
        story.waits(gang(2), tenant=ANN)
    story.waits(gang(2), tenant=BOB)
    started = {start.job for start in plan(story.seen(), NOW, PLAIN).starts}
    assert started == {"j0", "j1", "j3"}


def test_one_has_another_limit_and_the_rest_of_that_of_each() -> None:
    people = {"ann": {"default": {"gpu": 6}}, "bob": {"default": {"jobs": None}}}
    quotas = Rights((Workspace("red", per_person={"default": {"gpu": 2, "jobs": 1}}, people=people),)).quotas(NODES)
    caps = {account: dict(quota.cap) for (account, _), quota in quotas.items()}
    assert caps == {
        each_member("red"): {"gpu": 2000, "jobs": 1000},
        Account("member", "ann", "red"): {"gpu": 6000, "jobs": 1000},
        Account("member", "bob", "red"): {"gpu": 2000},
    }


def test_what_ran_before_counts_and_so_does_what_ends() -> None:
    story = lab(gpu=2)
    story.runs(2)
    books = Books("default", story.quotas, Running(story.running).held)
    refused = books.judge(ANN, asks(gang(1)))
    assert refused == Excess(Account("member", "ann", "red"), "gpu", 2000, 1000, 2000)
    assert books.judge(BOB, asks(gang(2))) == "own"
    assert books.judge(replace_workspace(ANN, "blue"), asks(gang(4))) == "own", "the limit is that of one workspace"
    books.charge(ANN, asks(gang(2)), -1)
    assert books.judge(ANN, asks(gang(2))) == "own"


def replace_workspace(tenant, workspace):  # type: ignore[no-untyped-def]
    return tenant._replace(workspace=workspace)


def test_it_is_foreseen_that_one_waits_for_oneself() -> None:
    """The machines are free; only what is theirs is not, until the first ends."""
    story = lab(jobs=1)
    story.runs(1, ends_in=100.0)
    waits = story.waits(gang(1), limit_s=50.0)
    made = plan(story.seen(), NOW, PLAIN)
    reason = explain(story.seen(), waits, made)
    assert (reason.code, reason.evidence["kind"], reason.evidence["workspace"]) == ("quota", "member", "red")
    seen = at_once(foresee(scene_after(story.seen(), made, "default", History())))
    assert NOW < seen.starts["j0"].at <= NOW + 100.0
    free = replace(story.seen(), quotas={})
    assert {start.job for start in plan(free, NOW, PLAIN).starts} == {"j0"}


def test_a_limit_of_nothing_is_a_limit() -> None:
    story = lab(jobs=0)
    story.waits(gang(0))
    assert plan(story.seen(), NOW, PLAIN).starts == ()
    assert math.isinf(
        at_once(foresee(scene_after(story.seen(), plan(story.seen(), NOW, PLAIN), "default", History())))
        .starts["j0"]
        .at
    )
