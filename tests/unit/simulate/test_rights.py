"""Quotas, shares and weights in a simulation: the very rules of the queue, as they are and as changed."""

from dataclasses import replace

import pytest

from tests.unit.simulate.test_history import ended, past
from tests.unit.simulate.workloads import drawn, job, machines, of
from trainmaster import answers
from trainmaster.core.cluster import Limit, VirtualCluster, Workspace
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.records import Resources, Role
from trainmaster.queue.ordering.rights import Rights
from trainmaster.simulate.compare import compare, more_nodes, settings
from trainmaster.simulate.history import rights_of
from trainmaster.simulate.rights import changed_rights
from trainmaster.simulate.run import SimulationOutcome, SimulationSetting, simulate
from trainmaster.simulate.workload import Workload

TEAMS = of(*(job(row, 0, 100, 4, 100, workspace=team) for row, team in enumerate(["red", "red", "blue", "blue"])))


def waits(outcome: SimulationOutcome) -> list[int]:
    return [row.wait_s for row in outcome.rows]


def both(work: Workload, rights: Rights | None = None, **texts: list[str]) -> list[SimulationOutcome]:
    quotas, shares, weights = (texts.get(name, ()) for name in ("quota", "share", "weight"))
    changes = [*changed_rights(quotas, shares, weights, work, rights or Rights())]
    return [*compare(work, machines("1x8"), settings(["fifo-easy"], rights=rights), changes)]


def test_a_quota_holds_a_workspace_back_and_lets_the_other_start() -> None:
    plain, held = both(TEAMS, quota=["red:gpu=4:4"])
    assert waits(plain) == [0, 0, 100, 100]
    assert waits(held) == [0, 100, 0, 100]
    assert held.label == "fifo-easy, red:gpu=4:4"


def test_what_is_guaranteed_to_a_virtual_cluster_is_kept_for_it() -> None:
    """Jobs of none may borrow what it leaves, but after those within their right."""
    role = Role("w", 1, Resources(0, 0, 4))
    jobs = [ended(name, 0.0, 0.0, 100.0, role) for name in "ab"]
    work = past(*jobs, ended("c", 0.0, 0.0, 100.0, role, virtual_cluster="vc"))
    assert [waits(one) for one in both(work, share=["vc:gpu=4:4"])] == [[0, 0, 100], [0, 100, 0]]


def test_a_weight_moves_a_workspace_forward() -> None:
    """Both used the same before; who weighs more used less than its share, and is next."""
    work = of(
        *(job(row, 0, 1000, 4, 1000, workspace=team) for row, team in enumerate(["red", "blue"])),
        *(job(row, 10, 100, 8, 100, workspace=team) for row, team in ((2, "red"), (3, "blue"))),
    )
    changes = [*changed_rights((), (), ["blue=5"], work, Rights())]
    plain, heavy = compare(work, machines("1x8"), settings(["default"]), changes)
    assert waits(plain)[2:] == [990, 1090]
    assert waits(heavy)[2:] == [1090, 990]


def test_what_holds_now_holds_on_both_sides() -> None:
    rights = Rights((Workspace("red", quotas={"default": {"gpu": Limit(4, 4)}}),))
    assert [waits(one) for one in both(TEAMS, rights, weight=["red=2"])] == [[0, 100, 0, 100]] * 2


def test_more_machines_and_another_quota_are_one_second_time() -> None:
    changes = [more_nodes("1"), *changed_rights(["red:gpu=4:4"], (), (), TEAMS, Rights())]
    _, second = compare(TEAMS, machines("1x8"), settings(["fifo-easy"]), changes)
    assert (second.label, waits(second)) == ("fifo-easy + 1 node, red:gpu=4:4", [0, 100, 0, 0])


def test_quotas_that_bind_nobody_change_nothing() -> None:
    work = drawn(2)
    wide = Rights(tuple(Workspace(name, 3.0, {"default": {"gpu": Limit(99)}}) for name in "ab"))
    plain, bound = (simulate(work, machines(), SimulationSetting(rights=rights)) for rights in (Rights(), wide))
    assert plain.rows == bound.rows


def test_one_quota_is_replaced_and_the_rest_stays() -> None:
    known = Rights(
        (Workspace("red", 2.0, {"default": {"cpu": Limit(1)}, "big": {"gpu": Limit(9)}}), Workspace("blue")),
        (VirtualCluster("vc", "big", {"gpu": Limit(1)}),),
    )
    rights = known
    for change in changed_rights(["red:gpu=1,gpu:A100=0.5:2"], ["vc:gpu=2"], ["red=3"], TEAMS, known):
        rights = change.rights(rights)
    red, blue = rights.workspaces
    assert red == replace(
        known.workspaces[0],
        weight=3.0,
        quotas={"default": {"gpu": Limit(1), "gpu:A100": Limit(0.5, 2)}, "big": {"gpu": Limit(9)}},
    )
    assert (blue, rights.virtual_clusters) == (Workspace("blue"), (VirtualCluster("vc", "big", {"gpu": Limit(2)}),))


@pytest.mark.parametrize(
    "text", ["green:gpu=1", "red", "red:disk=1", "red:gpu:=1", "red:gpu=x", "red:gpu=-1", "red:gpu=4:2", "red:gpu=4:0"]
)
def test_what_is_written_wrong_or_fits_nobody_is_refused(text: str) -> None:
    with pytest.raises(InvalidSpec):
        [*changed_rights([text], (), (), TEAMS, Rights())]
    for weight in ("red=0", "red=inf", "green=1", "red"):
        with pytest.raises(InvalidSpec):
            [*changed_rights((), (), [weight], TEAMS, Rights())]


def test_the_rules_of_the_server_are_read() -> None:
    share = [answers.ShareView(resource="gpu", nominal=8, cap=None, used=1, borrowed=0, warning=None)]
    urgent = answers.UrgentView(per_user=None, total=None, used=0, mine=0)
    use = answers.StorageView(person=None, used_bytes=0, used_files=0, limit_mib=None, limit_files=None, warning=None)
    red = answers.WorkspaceView(
        name="red",
        description="",
        weight=2,
        quotas=[answers.PoolQuota(pool="default", share=share)],
        urgent=urgent,
        sharing="open",
        require_duration=False,
        waiting=0,
        running=0,
        per_person={},
        people={},
        mine=[],
        storage=answers.WorkspaceStorage(use=use, mine=use, per_person={}, people={}, by_person=[]),
    )
    vc = answers.VirtualClusterView(name="vc", pool="big", description="", share=share, waiting=0, running=0)
    found = rights_of([red], [vc])
    limits = {"gpu": Limit(8)}
    assert found == Rights((Workspace("red", 2, {"default": limits}),), (VirtualCluster("vc", "big", limits),))
