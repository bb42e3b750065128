"""What `sweep:` says, and which entries follow from it (R45, R48)."""

import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.errors import InvalidSpec
from trainmaster.spec.problems import LARGEST
from trainmaster.spec.sweeps.checking import SweepDocument, read_sweep
from trainmaster.spec.sweeps.rows_of_csv import rows_of_csv
from trainmaster.spec.sweeps.sweep import MOST_ENTRIES, Draw, SweepEntry, drawn_of, entries_of, how_many, with_entry

JOB: dict[str, Any] = {"name": "digits", "command": "python train.py", "parameters": {"lr": 0.1, "epochs": 5}}


def read(sweep: Any, **fields: Any) -> SweepDocument:
    found, problems = read_sweep({**JOB, **fields, "sweep": sweep})
    assert problems == []
    assert found is not None
    return found


def wrong(sweep: Any, **fields: Any) -> list[tuple[str, str]]:
    return [(one.path, one.code) for one in read_sweep({**JOB, **fields, "sweep": sweep})[1]]


def test_a_grid_is_the_product_and_the_last_changes_fastest() -> None:
    found = read({"grid": {"lr": [0.1, 0.01], "batch": [16, 32, 64]}})
    entries = entries_of(found.sweep)
    assert how_many(found.sweep) == len(entries) == 6
    assert [entry.index for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert entries[0].parameters == {"lr": 0.1, "batch": 16}
    assert entries[1].parameters == {"lr": 0.1, "batch": 32}
    assert entries[5].parameters == {"lr": 0.01, "batch": 64}


def test_an_entry_is_the_job_with_what_it_has_of_its_own() -> None:
    found = read({"grid": {"lr": [0.5]}})
    document = with_entry(found.base, found.at, entries_of(found.sweep)[0], "digits-1")
    assert document == {**JOB, "name": "digits-1", "parameters": {"lr": 0.5, "epochs": 5}}
    assert found.base == JOB  # nothing of it was changed
    roles = [{"name": "ps", "command": "ps"}, {"name": "worker", "command": "work", "parameters": {"a": 1}}]
    base = {"name": "two", "roles": roles}
    both, problems = read_sweep({**base, "sweep": {"grid": {"lr": [1]}, "role": "worker"}})
    assert (problems, both and both.at) == ([], 1)
    assert with_entry(base, 1, SweepEntry(1, {"lr": 1}), "two-1")["roles"] == [
        roles[0],
        {"name": "worker", "command": "work", "parameters": {"a": 1, "lr": 1}},
    ]
    main, _ = read_sweep({"name": "x", "roles": [roles[0], {**roles[1], "main": True}], "sweep": {"grid": {"lr": [1]}}})
    assert main is not None
    assert main.at == 1


def test_rows_are_parameters_or_whole_entries() -> None:
    """R48: an entry of a batch has an algorithm and a command of its own."""
    rows = [
        {"lr": 0.1},
        {"command": "python other.py", "parameters": {"lr": 0.2}},
        {"code": "other"},
        {"command": "x", "lr": 1},  # not a whole entry: parameters called so
        {"algorithm": "resnet@2", "parameters": {"lr": 0.3}},
        {"algorithm": "ppo", "lr": 1},
    ]
    entries = entries_of(read({"list": rows}).sweep)
    assert entries[0] == SweepEntry(1, {"lr": 0.1})
    assert entries[1] == SweepEntry(2, {"lr": 0.2}, "python other.py")
    assert entries[2] == SweepEntry(3, {}, None, {"path": "other"})
    assert entries[3] == SweepEntry(4, {"command": "x", "lr": 1})
    assert with_entry(JOB, None, entries[1], "digits-2")["command"] == "python other.py"
    assert with_entry(JOB, None, entries[2], "digits-3")["code"] == {"path": "other"}
    assert entries[4] == SweepEntry(5, {"lr": 0.3}, algorithm="resnet@2")
    assert entries[5] == SweepEntry(6, {"algorithm": "ppo", "lr": 1})
    assert [one.own for one in entries] == [[], ["command"], ["code"], [], ["algorithm"], []]


def test_an_entry_with_an_algorithm_runs_that() -> None:
    """R48: the file's own code and command are not the algorithm's; what the entry says itself stays."""
    job = {**JOB, "code": "here", "algorithm": "mlp"}
    assert with_entry(job, None, SweepEntry(1, {"lr": 0.3}, algorithm="net@2"), "digits-1") == {
        "name": "digits-1",
        "algorithm": "net@2",
        "parameters": {"lr": 0.3, "epochs": 5},
    }
    whole = SweepEntry(2, {}, "python own.py", {"path": "own"}, "net@2")
    made = with_entry(job, None, whole, "digits-2")
    assert (made["algorithm"], made["command"], made["code"]) == ("net@2", "python own.py", {"path": "own"})
    roles = [{"name": "ps", "command": "ps"}, {"name": "worker", "command": "work"}]
    made = with_entry({"name": "two", "roles": roles}, 1, SweepEntry(1, {}, algorithm="net"), "two-1")
    assert made["roles"] == [roles[0], {"name": "worker"}]


@given(st.integers(0, 2**53 - 1), st.integers(1, 500), st.text(min_size=1, max_size=8), st.data())
def test_a_draw_keeps_to_its_range_and_is_the_same_again(seed: int, index: int, name: str, data: st.DataObject) -> None:
    whole, log = data.draw(st.booleans()), data.draw(st.booleans())
    number = st.integers(1 if log else -(10**6), 10**6) if whole else st.floats(1e-6 if log else -1e6, 1e6)
    low, high = sorted((float(data.draw(number)), float(data.draw(number))))
    if low >= high:
        return
    draw = Draw(min=low, max=high, log=log, int=whole)
    value = drawn_of(draw, seed, index, name)
    assert low <= value <= high
    assert isinstance(value, int) is whole
    assert value == drawn_of(draw, seed, index, name)
    choice = Draw(values=("a", 1, None))
    assert drawn_of(choice, seed, index, name) in choice.values or drawn_of(choice, seed, index, name) is None


def test_draws_are_spread_over_the_whole_range() -> None:
    values = [drawn_of(Draw(min=1e-4, max=1.0, log=True), 7, index, "lr") for index in range(1, 2001)]
    by_magnitude = [sum(10.0**at <= value < 10.0 ** (at + 1) for value in values) for at in range(-4, 0)]
    assert min(by_magnitude) > 400  # 500 expected
    assert {drawn_of(Draw(min=1, max=3, int=True), 7, index, "n") for index in range(1, 100)} == {1, 2, 3}
    assert {drawn_of(Draw(min=1, max=100, int=True, log=True), 7, n, "n") for n in range(1, 2000)} >= {1, 2, 100}
    other = [drawn_of(Draw(min=0.0, max=1.0), 8, index, "lr") for index in range(1, 5)]
    assert other != [drawn_of(Draw(min=0.0, max=1.0), 7, index, "lr") for index in range(1, 5)]


@given(
    st.dictionaries(
        st.sampled_from(["lr", "batch", "seed"]),
        st.lists(st.integers(-LARGEST, LARGEST), min_size=1, max_size=6),
        min_size=1,
    )
)
def test_every_point_of_a_grid_is_there_once(grid: dict[str, list[int]]) -> None:
    entries = entries_of(read({"grid": grid}).sweep)
    assert len(entries) == math.prod(map(len, grid.values()))
    places = {tuple(entry.parameters[name] for name in grid) for entry in entries}
    assert places == {*product(*grid.values())}


@pytest.mark.parametrize(
    ("sweep", "found"),
    [
        (5, [("sweep", "not_object")]),
        (None, [("sweep", "no_sweep")]),
        ({}, [("sweep", "one_kind_of_sweep")]),
        ({"grid": {"a": [1]}, "list": [{"a": 1}]}, [("sweep", "one_kind_of_sweep")]),
        ({"grid": {"lr": []}}, [("sweep.grid.lr", "empty")]),
        ({"grid": {"lr": [[1]], "b": [{}]}}, [("sweep.grid.lr.0", "not_scalar"), ("sweep.grid.b.0", "not_scalar")]),
        ({"gird": {"lr": [1]}}, [("sweep.gird", "unknown_key_near")]),
        ({"list": [{"lr": [1]}]}, [("sweep.list.0.lr", "not_scalar")]),
        ({"list": [{"algorithm": "no/name"}]}, [("sweep.list.0.algorithm", "bad_reference")]),
        ({"list": [{"parameters": {"lr": [1]}}]}, [("sweep.list.0.parameters.lr", "not_scalar")]),
        ({"random": {"lr": [[1]]}, "count": 2}, [("sweep.random.lr.0", "not_scalar")]),
        (
            {"random": {"a": {"min": 1, "max": 0}}},
            [("sweep.random.a", "range_empty"), ("sweep.count", "count_missing")],
        ),
        (
            {"random": {"lr": {"min": 0, "max": 1, "log": True}}, "count": 1},
            [("sweep.random.lr.min", "range_not_logarithmic")],
        ),
        ({"random": {"n": {"min": 0.5, "max": 2, "int": True}}, "count": 1}, [("sweep.random.n", "range_not_whole")]),
        (
            {"random": {"n": {"log": True}}, "count": 1},
            [("sweep.random.n.min", "required"), ("sweep.random.n.max", "required")],
        ),
        ({"grid": {"a": [1]}, "seed": 3}, [("sweep.seed", "only_for_random")]),
        ({"grid": {"a": [1]}, "role": "worker"}, [("sweep.role", "no_such_role_of_sweep")]),
        ({"grid": {"a": [*range(200)], "b": [*range(200)]}}, [("sweep.grid", "too_many_entries")]),
        (
            {"grid": {"a": [1]}, "stop_early": {"rule": "halving", "after": 3, "every": 2}},
            [("sweep.stop_early.every", "not_of_this_rule"), ("sweep.metric", "early_without_metric")],
        ),
        (
            {"grid": {"a": [1]}, "stop_early": {"rule": "best"}},
            [("sweep.stop_early.rule", "not_one_of"), ("sweep.stop_early.after", "required")],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_place(sweep: Any, found: list[tuple[str, str]]) -> None:
    assert sorted(wrong(sweep)) == sorted(found)


def test_names_of_entries_have_to_fit() -> None:
    """R21: 30 characters, the number among them; all problems at once."""
    grid = {"grid": {"a": [*range(10)], "b": [*range(10)]}}
    assert wrong(grid, name="n" * 26) == []
    assert wrong(grid, name="n" * 27, slug="s") == [("name", "entry_names_too_long"), ("slug", "slug_of_a_sweep")]


def test_entries_are_bounded() -> None:
    assert how_many(read({"random": {"a": [1]}, "count": MOST_ENTRIES}).sweep) == MOST_ENTRIES
    assert wrong({"random": {"a": [1]}, "count": MOST_ENTRIES + 1}) == [("sweep.count", "too_big")]
    assert len(entries_of(read({"grid": {"a": [*range(100)]}}).sweep, 7)) == 7


def test_a_table_is_read_as_entries() -> None:
    assert rows_of_csv("lr, batch ,model\n0.1,16,resnet\n\n0.01,,vgg\n") == [
        {"lr": 0.1, "batch": 16, "model": "resnet"},
        {"lr": 0.01, "model": "vgg"},
    ]
    assert rows_of_csv('\ufeffname,on\n"a,b",true\n') == [{"name": "a,b", "on": True}]


@pytest.mark.parametrize("text", ["", "lr,batch\n", "lr,lr\n1,2\n", "lr,\n1,2\n", "lr,b\n1\n2,3,4\n", 'lr\n"1\n'])
def test_a_table_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        rows_of_csv(text)
    assert {one.code for one in refused.value.problems} == {"bad_csv"}
    if text == "lr,b\n1\n2,3,4\n":
        assert len(refused.value.problems) == 2
