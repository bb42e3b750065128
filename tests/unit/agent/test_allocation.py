"""Who runs where: every node of an attempt works out the same from what the cluster says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.records import PortRequest, Resources, Role
from trainmaster.engines.slurm.node.allocation import FIRST_PORT, LAST_PORT, component, placement, tasks_per_node

ROLES = (
    Role("ps", 1, Resources(), (PortRequest("rpc"),)),
    Role("worker", 3, Resources(gpu=2), (PortRequest("master"), PortRequest("http", 2), PortRequest("fixed", 2, 8000))),
)


def test_counts() -> None:
    assert tasks_per_node("2(x3),1") == (2, 2, 2, 1)
    with pytest.raises(ValueError):
        tasks_per_node("")


def test_tasks_fill_the_nodes_in_order() -> None:
    ps = component([(0, 0)], "n3", "1")
    workers = component([(1, 0), (1, 1), (1, 2)], "n[1-2]", "2,1")
    assert workers.on("n1") == ((1, 0), (1, 1))
    assert workers.on("n9") == ()
    places = placement("t-1", ROLES, [ps, workers], {"n1": "10.0.0.1", "n2": "10.0.0.2"})
    assert [(p.role, p.index, p.node, p.host, p.gpus) for p in places] == [
        (0, 0, "n3", "n3", ()),
        (1, 0, "n1", "10.0.0.1", (0, 1)),
        (1, 1, "n1", "10.0.0.1", (2, 3)),
        (1, 2, "n2", "10.0.0.2", (0, 1)),
    ]
    assert places[1].ports[2] == ("fixed", (8000, 8001))


@pytest.mark.parametrize(("nodes", "counts"), [("n[1-2]", "1"), ("n1", "2"), ("", "3"), ("n[1-2]", "3,1"), ("n1", "x")])
def test_what_does_not_fit_is_refused(nodes: str, counts: str) -> None:
    with pytest.raises(ValueError):
        component([(0, 0), (0, 1), (0, 2)], nodes, counts)


@given(st.text(min_size=1, max_size=40), st.integers(1, 200), st.integers(1, 50))
def test_ports_of_an_attempt_are_its_own_and_below_the_systems(attempt: str, replicas: int, count: int) -> None:
    roles = (Role("w", replicas, Resources(), (PortRequest("a"), PortRequest("b", count))),)
    part = component([(0, index) for index in range(replicas)], f"n[1-{replicas}]", f"1(x{replicas})")
    places = placement(attempt, roles, [part], {})
    ports = [port for place in places for _, numbers in place.ports for port in numbers]
    assert len(set(ports)) == len(ports) == replicas * (count + 1)
    assert all(FIRST_PORT <= port < LAST_PORT for port in ports)
    assert places == placement(attempt, roles, [part], {})
