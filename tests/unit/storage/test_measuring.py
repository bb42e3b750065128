"""What folders and versions of data sets take: allocated bytes, and each content once."""

import os
from pathlib import Path

import pytest

from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.storage.datasets.listing import ListedFile
from trainmaster.storage.datasets.weighing import LOOKED_AT, brought, contents_of, weighed
from trainmaster.storage.measuring import measured


def file(path: str, sha256: str, size: int = 10) -> ListedFile:
    return ListedFile(path, "f", sha256, size)


def test_holes_and_second_names_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "sub/deep").mkdir(parents=True)
    (tmp_path / "sub/data").write_bytes(os.urandom(100_000))
    os.link(tmp_path / "sub/data", tmp_path / "sub/deep/again")
    os.truncate(os.open(tmp_path / "holes", os.O_CREAT | os.O_WRONLY), 1 << 40)
    (tmp_path / "link").symlink_to("/")
    use = measured(str(tmp_path))
    assert use.files == 5  # two folders, the data once, the holes, the link
    assert 100_000 <= use.bytes < 200_000
    assert measured(str(tmp_path / "nowhere")) == Use()


def test_whoever_is_told_to_end_does(tmp_path: Path) -> None:
    class Ends(Exception):
        pass

    def end() -> None:
        raise Ends

    with pytest.raises(Ends):
        measured(str(tmp_path), end)


def test_a_version_takes_what_those_before_it_did_not_have() -> None:
    entries = [file("a", "one"), file("b", "one"), file("c", "two", 5), ListedFile("d", "d"), ListedFile("l", "l")]
    assert brought(entries, ()) == Use(15, 4)
    assert brought(entries, ["one"]) == Use(5, 3)
    assert brought(entries, ["one", "two"]) == Use(0, 2)


def test_only_the_last_versions_count_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Manifest:
        def __init__(self, *files: ListedFile) -> None:
            self.files = files

    there = {"v0": Manifest(file("a", "first"))} | {
        f"v{at}": Manifest(file("a", f"own-{at}")) for at in range(1, LOOKED_AT + 1)
    }
    there["last"] = Manifest(file("a", "first"), file("b", f"own-{LOOKED_AT}"))
    monkeypatch.setattr("trainmaster.storage.datasets.weighing.manifest_of", lambda _, place: there.get(place))
    layout, places = Layout("/home"), list(there)
    assert weighed(layout, places, 1) == Use(10, 1)
    assert weighed(layout, places, len(places) - 1) == Use(10, 1)  # the first is too long ago
    assert weighed(layout, places[1:2] + places[-1:], 1) == Use(20, 2)
    assert weighed(layout, ["gone"], 0) == Use()
    assert contents_of(layout, ["v0", "gone"]) == {"first"}
