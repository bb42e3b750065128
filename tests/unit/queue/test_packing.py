"""Where replicas go: best fit, the roomiest for the remainder of a gang, least fragmentation, shares of cards, chosen
nodes.
"""

from dataclasses import replace
from typing import Any

from tests.builders import node
from trainmaster.core.records import Node, Resources, Role
from trainmaster.queue.explaining.reasons import problem, render
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.failures import Demand
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.packing import BEST_FIT, RECENT, Packing, Recent, mix_of
from trainmaster.queue.rules.never import can_ever_fit
from trainmaster.queue.rules.shortage import Shortages


def role(gpu: int, replicas: int = 1, **more: Any) -> Role:
    return Role("w", replicas, Resources(cpu=0.0, memory_mib=0, gpu=gpu, **more))


class Cluster:
    """Some nodes, and what runs on them."""

    def __init__(self, *nodes: Node) -> None:
        self.room = Room(nodes, 100, 199, frozenset())

    def put(self, *roles: Role, packing: Packing = BEST_FIT, driver: str | None = None, on: str = "") -> list[str]:
        """Place a gang and tell where, as ``node:cards``."""
        placed = fit(self.room, roles, "default", nodes=frozenset(on.split()), driver=driver, packing=packing)
        assert placed is not None
        self.room.take(roles, placed)
        return [f"{a.node}:{','.join(map(str, a.gpus))}" for a in placed]


def eight(*names: str) -> Cluster:
    return Cluster(*(node(name, cpu=64, gpus=8) for name in names))


def test_the_node_with_fewest_free_cards_that_fits_and_the_first_of_them() -> None:
    """The rule of most GPU simulators, also of those behind the reference waits of the Philly traces."""
    cluster = eight("n1", "n2", "n3", "n4")
    assert cluster.put(role(5)) == ["n1:0,1,2,3,4"]
    assert cluster.put(role(4)) == ["n2:0,1,2,3"]
    assert cluster.put(role(4)) == ["n2:4,5,6,7"]
    assert cluster.put(role(3)) == ["n1:5,6,7"]
    assert cluster.put(role(8)) == ["n3:0,1,2,3,4,5,6,7"]


def test_the_remainder_of_a_gang_of_whole_nodes_goes_where_it_is_told() -> None:
    """Twelve cards are a whole node and four more: by best fit beside others, by worst fit where most is free."""
    for rest, where in ((None, "n1:4,5,6,7"), ("worst-fit", "n3:0,1,2,3")):
        cluster = eight("n1", "n2", "n3")
        cluster.put(role(4))
        whole, remainder = role(8), replace(role(4), name="remainder")
        assert cluster.put(remainder, whole, packing=Packing(rest=rest)) == [where, "n2:0,1,2,3,4,5,6,7"]


def test_a_share_is_cut_from_the_card_it_fills_most_tightly() -> None:
    cluster = Cluster(node("n1", gpus=2), node("n2", gpus=1))
    assert cluster.put(role(1, gpu_milli=500)) == ["n2:0"]
    assert cluster.put(role(1, gpu_milli=600)) == ["n1:0"]
    assert cluster.put(role(1, gpu_milli=400)) == ["n1:0"]
    assert cluster.put(role(1, gpu_milli=400)) == ["n2:0"]
    assert cluster.put(role(1)) == ["n1:1"]
    assert fit(cluster.room, (role(1, gpu_milli=200),), "default") is None
    assert cluster.put(role(1, gpu_milli=100)) == ["n2:0"]


def test_replicas_share_a_card() -> None:
    cluster = Cluster(node("n1", gpus=2))
    assert cluster.put(role(1, 3, gpu_milli=400)) == ["n1:0", "n1:0", "n1:1"]
    assert fit(cluster.room, (role(1, 2, gpu_milli=400),), "default") is None


def test_a_slice_is_a_card_of_its_own_model() -> None:
    """A card cut in two slices and a whole one: who asks for the slice's model gets slices only."""
    sliced = Node("n1", "10.0.0.1", 8, 8192, ("A", "A-half", "A-half"), card_slots=((0, 0), (1, 0), (1, 1)))
    cluster = Cluster(sliced)
    assert cluster.put(role(1, 2, gpu_type="A-half")) == ["n1:1", "n1:2"]
    assert cluster.put(role(1, gpu_type="A")) == ["n1:0"]


def test_only_chosen_nodes_and_drivers() -> None:
    """R12, R13: names of nodes, version of the driver."""
    members = [replace(node(f"n{i}", gpus=2), driver="535" if i % 2 else "470") for i in range(4)]
    cluster = Cluster(*members)
    assert cluster.put(role(1), on="n2 n3") == ["n2:0"]
    assert cluster.put(role(1), driver="535") == ["n1:0"]
    assert cluster.put(role(1), driver="535", on="n2 n3") == ["n3:0"]
    assert fit(cluster.room, (role(1),), "default", driver="550") is None
    assert cluster.put(role(2, 1), driver="470") == ["n0:0,1"]


def test_names_and_drivers_that_no_node_has_are_refused_with_those_there_are() -> None:
    members = (replace(node("n1", gpus=2), driver="535"), node("n2", gpus=2))
    reason = can_ever_fit((role(1),), "default", members, names=frozenset({"n9"}))
    assert reason is not None
    assert (reason.code, problem(reason).path) == ("no_such_node", "node_names")
    assert render(reason).en == "The pool has no node named n9; there are: n1, n2"
    reason = can_ever_fit((role(1),), "default", members, names=frozenset({"n1"}), driver="550")
    assert reason is not None
    assert (reason.code, problem(reason).remedy) == ("no_such_driver", "Set driver to one of: 535.")
    assert can_ever_fit((role(2),), "default", members, names=frozenset({"n1", "n9"}), driver="535") is None


def test_a_share_that_waits_is_told_in_parts_of_cards() -> None:
    cluster = Cluster(node("n1", gpus=1))
    cluster.put(role(1, gpu_milli=600))
    short = Shortages(cluster.room).of(Demand.of((role(1, 2, gpu_milli=300),), "default"))
    assert short.code == "waiting_gpus"
    assert [short.evidence[name] for name in ("needs", "each", "free", "largest")] == [0.6, 0.3, 0.4, 0.4]


def test_any_model_goes_to_the_tightest_and_spares_the_scarcer_on_ties() -> None:
    cluster = Cluster(node("n1", gpus=2, model="A"), node("n2", gpus=2, model="B"), node("n3", gpus=2, model="B"))
    assert cluster.put(role(1)) == ["n2:0"]
    assert cluster.put(role(1)) == ["n2:1"]
    assert cluster.put(role(2, gpu_type="A")) == ["n1:0,1"]


def test_least_fragmentation_keeps_cores_beside_cards_that_are_asked_for_with_many() -> None:
    """Best fit takes the node with fewest free cards; when that strands its last cards without cores, fgd does not."""
    mix = mix_of([(Role("w", 1, Resources(cpu=8.0, memory_mib=0, gpu=1)), 10)])
    greedy = Role("w", 1, Resources(cpu=10.0, memory_mib=0, gpu=1))
    for packing, where in ((Packing(), "n1:0"), (Packing("fgd", mix=mix), "n2:0")):
        cluster = Cluster(node("n1", cpu=16, gpus=2), node("n2", cpu=34, gpus=4))
        assert cluster.put(greedy, packing=packing) == [where]


def test_without_a_mix_fgd_is_best_fit() -> None:
    cluster = eight("n1", "n2")
    assert cluster.put(role(4), packing=Packing("fgd")) == ["n1:0,1,2,3"]
    assert cluster.put(role(1, gpu_milli=300), packing=Packing("fgd")) == ["n1:4"]


def test_the_mix_is_of_the_gangs_asked_for_last_and_renewed_seldom() -> None:
    recent = Recent([(role(1),)])
    first = recent.mix(0.0)
    assert first == mix_of([(role(1), 1)])
    recent.note((role(2, 3),))
    assert recent.mix(299.0) == first
    assert recent.mix(300.0) == mix_of([(role(1), 1), (role(2), 3)])
    for _ in range(RECENT):
        recent.note((role(4),))
    assert recent.mix(600.0) == mix_of([(role(4), RECENT)])
    for _ in range(RECENT // 10):
        recent.note((role(8),))
    assert recent.mix(5000.0) == mix_of([(role(4), RECENT)])
    recent.note((role(8),))
    assert [kind[3] for kind in recent.mix(5000.0)] == [4, 8]
