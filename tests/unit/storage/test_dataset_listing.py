"""The list of files of an upload: all that is wrong is told at once, and what is let through can be built (R28)."""

import os
import unicodedata
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.tree import TreeEntry, link_digest, tree_digest
from trainmaster.storage.datasets.listing import MAX_ENTRIES, folded, judged

ZERO: Final = "0" * 64


def file(path: str, digest: str = ZERO, size: int = 0, **more: Any) -> dict[str, Any]:
    return {"path": path, "size": size, "sha256": digest, **more}


def codes(*items: Any, most: int = 0) -> list[tuple[str, str]]:
    """Return (path, code) of all that is wrong with a list."""
    with pytest.raises(InvalidSpec) as why:
        judged(list(items), most)
    assert all(one.rule and one.remedy for one in why.value.problems)
    return [(one.path, one.code) for one in why.value.problems]


def test_the_digest_is_that_of_the_tree() -> None:
    """The same as of an upload of code, or of a model."""
    listing = judged(
        [
            file("b/x", "1" * 64, 3, executable=True),
            file("a"),
            {"path": "l", "link": "b/x"},
            {"path": "e", "folder": True},
        ],
        0,
    )
    assert [one.path for one in listing.entries] == ["a", "b/x", "e", "l"]
    assert (listing.files, listing.size_bytes, listing.contents()) == (2, 3, {ZERO: 0, "1" * 64: 3})
    assert listing.digest == tree_digest(
        [
            TreeEntry("a", "f", ZERO),
            TreeEntry("b/x", "x", "1" * 64),
            TreeEntry("e", "d"),
            TreeEntry("l", "l", link_digest("b/x")),
        ]
    )


def test_a_folder_that_holds_something_is_not_listed() -> None:
    assert [one.path for one in judged([{"path": "a", "folder": True}, file("a/x")], 0).entries] == ["a/x"]


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "a/../../x", "a/./x", "a//x", "", ".", "..", "a/", "/", "a/.."],
)
def test_a_path_that_leaves_its_folder_is_refused(path: str) -> None:
    assert codes(file(path)) == [(path, "path_not_plain")]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "name_with_control_characters"),
        ("a\nb", "name_with_control_characters"),
        ("a\x7fb", "name_with_control_characters"),
        ("x" * 256, "path_too_long"),
        ("/".join(["ab"] * 334), "path_too_long"),
        ("/".join(["a"] * 61), "path_too_long"),
        ("\ud800", "name_not_utf8"),
    ],
)
def test_a_name_that_no_file_should_have_is_refused(path: str, code: str) -> None:
    assert [one[1] for one in codes(file(path))] == [code]


@pytest.mark.parametrize("target", ["/etc/passwd", "../x", "a/../../x", "x/../y", "..", "../.."])
def test_a_link_out_of_it_is_refused(target: str) -> None:
    assert codes({"path": "l", "link": target}) == [("l", "link_leaves_dataset")]
    assert judged([{"path": "d/l", "link": "../x"}], 0).entries[0].target == "../x"


@pytest.mark.parametrize(
    ("first", "second"),
    [("A", "a"), ("é", "e\u0301"), ("Straße", "STRASSE"), ("d/x", "D/y"), ("K", "\u212a"), ("ſ", "s")],
)
def test_names_that_some_systems_take_for_one_are_refused(first: str, second: str) -> None:
    """Also folders that are only implied."""
    assert first != second
    assert [code for _, code in codes(file(first), file(second))] == ["names_collide"]


def test_a_file_cannot_hold_others_and_stands_once() -> None:
    assert codes(file("a"), file("a/b")) == [("a", "beneath_a_file")]
    assert codes(file("a/b"), file("a")) == [("a", "beneath_a_file")]
    assert codes({"path": "a", "link": "b"}, file("a/b")) == [("a", "beneath_a_file")]
    assert codes(file("a"), file("a")) == [("a", "listed_twice")]


@pytest.mark.parametrize(
    "item",
    [
        7, None, [], {}, {"path": 7}, {"path": "a"}, {"path": "a", "size": 1}, file("a", "0" * 63), file("a", "A" * 64),
        file("a", size=-1), file("a", size=2**53), file("a", size=True), {**file("a"), "size": 1.0},
        file("a", executable=1), {**file("a"), "mode": 7}, {"path": "a", "link": ""}, {"path": "a", "link": 7},
        {"path": "a", "link": "x\0"}, {"path": "a", "folder": False}, {**file("a"), "link": "b"},
        {"path": "a", "link": "\ud800"},
    ],
)  # fmt: skip
def test_what_is_no_entry_is_refused(item: Any) -> None:
    assert [code for _, code in codes(item)] == ["not_an_entry"]


def test_limits() -> None:
    assert codes(file("a", size=(1 << 20) + 1), most=1) == [("files", "dataset_too_large")]
    assert codes(*[file("a")] * (MAX_ENTRIES + 1)) == [("files", "too_many_listed")]
    assert codes() == [("files", "not_a_listing")]
    with pytest.raises(InvalidSpec):
        judged({"a": 1}, 0)
    assert codes(file("a", size=1), file("b", size=2)) == [("b", "sizes_differ")]
    assert len(codes(*(file(f"/{number}") for number in range(500)))) == 100


NAMES: Final = st.text(st.sampled_from("aAbé\u0301eſs.\0/\\ ~\u212a"), max_size=5)


@settings(max_examples=300)
@given(st.lists(st.tuples(NAMES, st.sampled_from("fld"), NAMES), min_size=1, max_size=6))
@example([("..A", "f", "")])
def test_what_is_let_through_can_be_built_and_stays_inside(given_items: list[tuple[str, str, str]]) -> None:
    """And no two of its paths are the same to a system that ignores case, or encodes text otherwise."""
    items: list[dict[str, Any]] = []
    for path, kind, target in given_items:
        more = {"f": {"size": 0, "sha256": ZERO}, "l": {"link": target}, "d": {"folder": True}}[kind]
        items.append({"path": path, **more})
    try:
        listing = judged(items, 0)
    except InvalidSpec:
        return
    every = {
        "/".join(one.path.split("/")[:end]) for one in listing.entries for end in range(1, len(one.path.split("/")) + 1)
    }
    assert len({folded(path) for path in every}) == len(every)
    assert len({unicodedata.normalize("NFC", path.lower()) for path in every}) == len(every)
    for one in listing.entries:
        assert not one.path.startswith("/")
        assert os.path.normpath(one.path) == one.path
        assert ".." not in one.path.split("/")
        leads = os.path.normpath(os.path.join(os.path.dirname(one.path), one.target)) if one.kind == "l" else one.path
        assert not leads.startswith(("../", "/"))
        assert leads != ".."
    kinds = {one.path: one.kind for one in listing.entries}
    assert all(kinds.get(str(parent), "d") == "d" for path in kinds for parent in Path(path).parents)
