"""Lists of host names expand as Slurm expands them, and fold without loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.formats.hostlist import expand, fold


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("m3", ["m3"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[01-03,7],m3", ["n01", "n02", "n03", "n7", "m3"]),
        ("n[099-101]", ["n099", "n100", "n101"]),
        ("n[9-11]-ib", ["n9-ib", "n10-ib", "n11-ib"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("[1-2]", ["1", "2"]),
        ("a.b-c", ["a.b-c"]),
    ],
)
def test_a_list_expands(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    "text", ["n[1-", "n1]", "n[[1]]", "n[a]", "n[3-1]", "n[]", ",", "n1,", "n1 n2", "n[1-99999999]", "n[1-300][1-300]"]
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        expand(text)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n1", "n2", "n3"], "n[1-3]"),
        (["n08", "n09", "n10", "n12"], "n[08-10,12]"),
        (["n9", "n10", "m"], "n[9-10],m"),
        (["n1", "m1", "n2"], "n1,m1,n2"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["n1-ib", "n2-ib"], "n1-ib,n2-ib"),
    ],
)
def test_neighbours_fold(names: list[str], text: str) -> None:
    assert fold(names) == text


NAME = st.from_regex(r"[a-c]{0,2}[0-9]{0,3}(-?[a-c][0-9]{0,2})?", fullmatch=True).filter(bool)
COUNTED = st.builds(
    lambda before, first, width, count: [f"{before}{number:0{width}d}" for number in range(first, first + count)],
    st.sampled_from(["n", "node-", "r1n"]),
    st.integers(0, 200),
    st.integers(1, 4),
    st.integers(1, 12),
)


@given(st.lists(st.one_of(NAME.map(lambda name: [name]), COUNTED), max_size=8))
def test_what_is_folded_expands_to_the_same(groups: list[list[str]]) -> None:
    names = [name for group in groups for name in group]
    assert expand(fold(names)) == names
