"""What administrators decided, in memory and on disk; quotas in the queue's words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.audited import audit_event
from trainmaster.core.cluster import Flavor, Limit, Pool, VirtualCluster, Workspace
from trainmaster.core.events import Actor
from trainmaster.core.records import Job, Node, Resources, Role, replace
from trainmaster.core.states import JobState
from trainmaster.queue.ordering.quota import Account
from trainmaster.service.cluster.pools import Pools
from trainmaster.service.cluster.quotas import policy_of, rights_of
from trainmaster.service.scheduling.tally import Tally
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.database import Database


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[ClusterSettings]:
    database = Database.open(f"sqlite:///{tmp_path}/t.db", backup_dir=str(tmp_path))
    yield ClusterSettings(database)
    database.close()


async def test_every_kind_of_record_comes_back_as_it_was(rows: ClusterSettings) -> None:
    pools = Pools(rows, lambda: 5.0)
    await pools.start()
    assert ([*pools.pools], [*pools.workspaces]) == (["default"], ["default"])
    share = VirtualCluster("vc", share={"gpu:A100": Limit(2, 3.5), "memory_mib": Limit(1000)})
    workspace = Workspace("w", 2.0, {"default": {"cpu": Limit(1.5)}}, 0, None, "words")
    async with pools.changing():
        await pools.put("virtual_cluster", "vc", share, Actor("ann"))
        await pools.put("workspace", "w", workspace, Actor("ann"))
        await pools.put("pool", "p", Pool("p", "dedicated", ("w",)), Actor("ann"))
        await pools.put("flavor", "w/f", Flavor("f", "w", gpu=1, gpu_milli=250), Actor("ann"))
        earlier = {"max_starts": 3, "grow_every_s": 600.0, "packing": "nonsense"}  # written by another version
        await pools.put("policy", "queue", earlier, Actor("ann"))
    again = Pools(rows, lambda: 6.0)
    await again.start()
    assert again.virtual_clusters == {"vc": share}
    assert again.workspaces["w"] == workspace
    assert again.flavors == {"default": {}, "w": {"f": Flavor("f", "w", gpu=1, gpu_milli=250)}}
    assert (again.pools["p"].open_to("w"), again.pools["p"].open_to("default")) == (True, False)
    assert (policy_of(again).max_starts, policy_of(again).packing) == (3, "best-fit")
    changed = again.changed_last("pool", "p")
    assert changed is not None
    assert (changed.at, changed.by) == (5.0, "ann")


async def test_a_row_that_cannot_be_read_does_not_stop_the_server(rows: ClusterSettings) -> None:
    rows.put(Setting("pool", "bad", {"name": 7, "kind": "secret"}, 1.0, "ann"), audit_event()).result(10)
    rows.put(Setting("of the future", "x", {}, 1.0, "ann"), audit_event()).result(10)
    pools = Pools(rows, lambda: 5.0)
    await pools.start()
    assert [*pools.pools] == ["default"]


async def test_quotas_in_the_words_of_the_queue(rows: ClusterSettings) -> None:
    """Who is in no virtual cluster is entitled to what nobody is guaranteed."""
    pools = Pools(rows, lambda: 5.0)
    assert pools.take_machines((Node("n", "h", 8.0, 1000, ("A100",) * 4),))
    assert not pools.take_machines((Node("n", "h", 8.0, 1000, ("A100",) * 4),))
    async with pools.changing():
        await pools.put("virtual_cluster", "a", VirtualCluster("a", share={"gpu": Limit(1, 2)}), Actor("ann"))
        other = VirtualCluster("b", share={"gpu": Limit(2), "cpu": Limit(0.5)})
        await pools.put("virtual_cluster", "b", other, Actor("ann"))
        await pools.put("workspace", "w", Workspace("w", 3.0, {"default": {"memory_mib": Limit(10)}}), Actor("ann"))
    quotas = rights_of(pools).quotas(pools.nodes)
    assert quotas[Account("cluster", ""), "default"].nominal == {"gpu": 1000, "cpu": 7500}
    assert quotas[Account("cluster", "a"), "default"].cap == {"gpu": 2000}
    assert quotas[Account("cluster", "b"), "default"].nominal == {"gpu": 2000, "cpu": 500}
    assert quotas[Account("workspace", "w"), "default"].nominal == {"memory_mib": 10}
    assert rights_of(pools).weights == {"default": 1.0, "w": 3.0}


def test_the_tally_comes_to_nothing_when_all_have_ended() -> None:
    tally = Tally()
    roles = (Role("a", 3, Resources(cpu=0.1, gpu=1, gpu_type="A100", gpu_milli=300)),)
    waiting = Job("t1", "n", "ann", roles, "d", 0.0, virtual_cluster="vc")
    tally.moved(None, waiting)
    assert (tally.of("pool", "default").asked["gpu"], tally.demand["default", "A100"]) == (900, 900)
    tally.restore([waiting])
    assert tally.of("virtual_cluster", "vc").waiting == 1
    running = replace(waiting, state=JobState.ACTIVE)
    tally.moved(waiting, running)
    assert (tally.of("pool", "default").used["cpu"], tally.of("pool", "default").waiting) == (300, 0)
    tally.moved(running, replace(running, state=JobState.FAILED))
    sums = tally.of("workspace", "default", "default")
    assert (sums.waiting, sums.running, +sums.used, +sums.asked, +tally.demand) == (0, 0, {}, {}, {})
