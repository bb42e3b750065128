"""Lineage as a graph: whatever is told, it is bounded, has no circle, and has nothing that was not told."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from trainmaster.service.use_cases.finding.graph import Bounds, Drawn, Look, grow

NODES = st.sampled_from([f"n{number}" for number in range(12)])
TOLD = st.dictionaries(NODES, st.lists(st.tuples(NODES, st.just("input")), max_size=8), max_size=12)
BOUNDS = st.builds(Bounds, st.integers(1, 5), st.integers(1, 8), st.integers(1, 4))
Told = Mapping[str, list[tuple[str, str]]]


def telling(told: Told) -> Look:
    return lambda key, most: told.get(key, [])[:most]


def drawn(before: Told, after: Told, bounds: Bounds) -> Drawn:
    return grow("n0", telling(before), telling(after), bounds)


@given(TOLD, TOLD, BOUNDS)
def test_it_has_layers_from_left_to_right(before: Told, after: Told, bounds: Bounds) -> None:
    """However twisted what is told is: an edge leads to a higher layer, so there is no circle."""
    found = drawn(before, after, bounds)
    assert found.layers["n0"] == 0
    for edge in found.edges:
        assert found.layers[edge.source] < found.layers[edge.target]
    assert len({(edge.source, edge.target) for edge in found.edges}) == len(found.edges)


@given(TOLD, TOLD, BOUNDS)
def test_it_is_bounded_and_of_one_piece(before: Told, after: Told, bounds: Bounds) -> None:
    found = drawn(before, after, bounds)
    for sign in (-1, 1):
        assert sum(layer * sign > 0 for layer in found.layers.values()) <= bounds.most
    for key, layer in found.layers.items():
        if layer < 0:
            assert sum(edge.target == key for edge in found.edges) <= bounds.each
            assert any(edge.source == key for edge in found.edges)
        if layer > 0:
            assert sum(edge.source == key for edge in found.edges) <= bounds.each
            assert any(edge.target == key for edge in found.edges)


@given(TOLD, TOLD, BOUNDS)
def test_it_has_nothing_that_was_not_told(before: Told, after: Told, bounds: Bounds) -> None:
    found = drawn(before, after, bounds)
    for edge in found.edges:
        near, far, told = (
            (edge.target, edge.source, before) if found.layers[edge.source] < 0 else (edge.source, edge.target, after)
        )
        assert (far, edge.how) in told[near]
    assert set(found.layers) == {"n0"} | {one for edge in found.edges for one in (edge.source, edge.target)}


@given(TOLD)
def test_what_fits_is_whole(told: Told) -> None:
    """And where it is, nothing is said to be missing."""
    found = drawn(told, {}, Bounds(20, 20, 20))
    reached, waiting = {"n0"}, ["n0"]
    while waiting:
        fresh = {other for other, _ in told.get(waiting.pop(), ())} - reached
        reached |= fresh
        waiting += fresh
    assert set(found.layers) == reached
    assert found.more == set()


def test_what_is_left_out_is_said_where_it_would_be() -> None:
    chain = {f"n{at}": [(f"n{at + 1}", "output")] for at in range(9)}
    short = drawn({}, chain, Bounds(3, 60, 24))
    assert [*short.layers] == ["n0", "n1", "n2", "n3"]
    assert short.more == {"n3"}
    assert drawn({}, chain, Bounds(9, 60, 24)).more == set()
    wide = drawn({"n0": [(f"n{at}", "input") for at in range(1, 6)]}, {}, Bounds(3, 60, 4))
    assert (len(wide.layers), wide.more) == (5, {"n0"})
    few = drawn({"n0": [(f"n{at}", "input") for at in range(1, 6)]}, {}, Bounds(3, 2, 24))
    assert (len(few.layers), few.more) == (3, {"n0"})


def test_what_lies_behind_by_two_ways_stands_behind_the_longer() -> None:
    told = {"n0": [("n1", "input"), ("n2", "input")], "n1": [("n2", "output")]}
    assert drawn(told, {}, Bounds(4, 60, 24)).layers == {"n0": 0, "n1": -1, "n2": -2}
