"""Downloads of data sets: what comes, what is here already, lines that break, servers that are not to be trusted."""

import hashlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec, StorageFailed, Unavailable
from trainmaster.core.formats.frames import frame
from trainmaster.messages.server import client as said
from trainmaster.sdk.assets import fetching
from trainmaster.sdk.assets.fetching import NEAR, TreeDownload, runs_of
from trainmaster.sdk.transport import Transport

SMALL = 64
LARGE = bytes(range(256)) * 40


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file(path: str, content: bytes, *, executable: bool = False) -> answers.DatasetEntry:
    return answers.DatasetEntry(path=path, size=len(content), sha256=sha(content), executable=executable)


@dataclass
class Served:
    """A server with one version. `cuts`: after how many bytes the next streams break."""

    files: list[answers.DatasetEntry]
    contents: dict[str, bytes]
    cuts: list[int | None] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sent: int = 0

    def read(self, kind: type[Any], method: str, path: str, **options: Any) -> answers.DatasetTree:
        assert path.endswith("/tree")
        return answers.DatasetTree(version=1, digest="", size_bytes=0, small_bytes=SMALL, files=self.files)

    def download(self, path: str, params: dict[str, Any], headers: dict[str, str] | None = None) -> Iterator[bytes]:
        self.asked.append((path, {**params, **(headers or {})}))
        if path.endswith("/contents"):
            names = dict.fromkeys(one.sha256 for one in self.files if one.sha256 and (one.size or 0) <= SMALL)
            wanted = [*names][params["first"] : params["first"] + params["count"]]
            data = b"".join(frame(name, self.contents[name]) for name in wanted)
        else:
            [named] = [one for one in self.files if one.path == params["path"]]
            data = self.contents[named.sha256 or ""]
            if headers:
                data = data[int(headers["range"].removeprefix("bytes=").rstrip("-")) :]
        cut = self.cuts.pop(0) if self.cuts else None
        for at in range(0, len(data), 50):
            block = data[at : at + 50] if cut is None else data[at : min(at + 50, cut)]
            self.sent += len(block)
            yield block
            if cut is not None and at + 50 >= cut:
                raise Unavailable(said.server_does_not_answer("http://x", "cut"))


def fetched(server: Served, to: Path) -> tuple[list[Path], int]:
    moved: list[int] = []
    found = TreeDownload(cast(Transport, server), "/datasets/d/versions/1", "flowers", str(to), moved.append).run()
    return found, sum(moved)


@pytest.fixture
def flowers() -> Served:
    """Small and large files, some the same, a program, an empty one, a link, an empty folder."""
    return Served(
        [
            file("a/one.txt", b"one"),
            file("a/same.txt", b"one"),
            file("b/run.sh", b"#!/bin/sh\n", executable=True),
            file("empty", b""),
            answers.DatasetEntry(path="hollow", folder=True),
            file("large.bin", LARGE),
            file("large/again.bin", LARGE, executable=True),
            answers.DatasetEntry(path="link", link="a/one.txt"),
            file("n" * 255, b"long"),
        ],
        {sha(one): one for one in (b"one", b"#!/bin/sh\n", b"", LARGE, b"long")},
    )


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching.time, "sleep", lambda _: None)


def assert_whole(to: Path) -> None:
    assert (to / "a/one.txt").read_bytes() == (to / "a/same.txt").read_bytes() == b"one"
    assert (to / "large.bin").read_bytes() == (to / "large/again.bin").read_bytes() == LARGE
    assert (to / "empty").read_bytes() == b""
    assert (to / ("n" * 255)).read_bytes() == b"long"
    assert os.access(to / "b/run.sh", os.X_OK)
    assert os.access(to / "large/again.bin", os.X_OK)
    assert (to / "large.bin").stat().st_mode & 0o111 == 0
    assert os.readlink(to / "link") == "a/one.txt"
    assert (to / "hollow").is_dir()
    assert not [path for path in to.rglob("*") if path.name.endswith(".part")]


def test_everything_comes_each_content_once(flowers: Served, tmp_path: Path) -> None:
    found, moved = fetched(flowers, tmp_path / "to")
    assert_whole(tmp_path / "to")
    assert len(found) == 7
    assert found == sorted(found)
    assert moved == 2 * 3 + 10 + 2 * len(LARGE) + 4
    assert [path.rpartition("/")[2] for path, _ in flowers.asked] == ["content", "contents"]


def test_what_is_here_does_not_come_again(flowers: Served, tmp_path: Path) -> None:
    fetched(flowers, tmp_path)
    (tmp_path / "large/again.bin").unlink()
    (tmp_path / "a/one.txt").unlink()
    flowers.asked.clear()
    _, moved = fetched(flowers, tmp_path)
    assert_whole(tmp_path)
    assert moved == 2 * 3 + 10 + 2 * len(LARGE) + 4, "told of all that is here"
    flowers.asked.clear()
    fetched(flowers, tmp_path)
    assert flowers.asked == []


def test_where_something_else_is_nothing_is_written(flowers: Served, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/run.sh").write_bytes(b"#!/bin/no\n")  # as long
    (tmp_path / "link").write_text("mine")
    (tmp_path / "hollow").write_text("mine")
    with pytest.raises(Conflict) as refused:
        fetched(flowers, tmp_path)
    assert {problem.path for problem in refused.value.problems} == {
        str(tmp_path / name) for name in ("b/run.sh", "link", "hollow")
    }
    assert sorted(os.listdir(tmp_path)) == ["b", "hollow", "link"]
    assert flowers.asked == []


def test_a_line_that_breaks_is_taken_up_where_it_was(flowers: Served, tmp_path: Path) -> None:
    flowers.cuts = [1000, 5000, 0, None, 30, 60, 10]
    fetched(flowers, tmp_path)
    assert_whole(tmp_path)
    ranges = [asked.get("range") for path, asked in flowers.asked if path.endswith("/content")]
    assert ranges == [None, "bytes=1000-", "bytes=6000-", "bytes=6000-"]
    assert flowers.sent < len(LARGE) + 500


def test_another_process_goes_on_with_what_came(flowers: Served, tmp_path: Path) -> None:
    flowers.cuts = [4000] + [0] * fetching.TRIES
    with pytest.raises(Unavailable):
        fetched(flowers, tmp_path)
    assert not (tmp_path / "large.bin").exists()
    flowers.asked.clear()
    flowers.cuts.clear()
    fetched(flowers, tmp_path)
    assert_whole(tmp_path)
    assert flowers.asked[0][1]["range"] == "bytes=4000-"


@pytest.mark.parametrize("size", [3, len(LARGE)])
def test_another_content_than_was_said_is_not_kept(size: int, flowers: Served, tmp_path: Path) -> None:
    name = sha(b"one") if size == 3 else sha(LARGE)
    flowers.contents[name] = b"\0" * size
    with pytest.raises(InvalidSpec) as refused:
        fetched(flowers, tmp_path)
    assert refused.value.problems[0].code == "arrived_otherwise"
    assert not (tmp_path / "a/one.txt").exists()
    assert (tmp_path / "large.bin").exists() == (size == 3)
    assert not [path for path in tmp_path.rglob("*.part") if path.stat().st_size]


@pytest.mark.parametrize(
    "entry",
    [
        file("../out", b"x"),
        file("a/../../out", b"x"),
        file("/etc/out", b"x"),
        file("", b"x"),
        file("a//b", b"x"),
        answers.DatasetEntry(path="link", link="../out"),
        answers.DatasetEntry(path="link", link="/etc"),
        answers.DatasetEntry(path="..", folder=True),
    ],
)
def test_nothing_is_written_outside_the_folder(entry: answers.DatasetEntry, tmp_path: Path) -> None:
    server = Served([file("good", b"good"), entry], {sha(b"good"): b"good", sha(b"x"): b"x"})
    with pytest.raises(InvalidSpec) as refused:
        fetched(server, tmp_path / "to")
    assert [problem.code for problem in refused.value.problems] == ["leads_out_of_the_folder"]
    assert list(tmp_path.iterdir()) == []


def test_a_trap_beside_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    server = Served([file("a.txt", b"one")], {sha(b"one"): b"one"})
    os.symlink(tmp_path / "mine", tmp_path / f".{sha(b'one')[:16]}.part")
    with pytest.raises(StorageFailed):
        fetched(server, tmp_path)
    assert (tmp_path / "mine").read_text() == "mine"


@given(st.lists(st.booleans(), max_size=300))
def test_runs_hold_all_that_is_wanted_and_few_others(wanted: list[bool]) -> None:
    runs = runs_of(wanted)
    asked = [at for first, count in runs for at in range(first, first + count)]
    assert asked == sorted(set(asked))
    assert {at for at, one in enumerate(wanted) if one} <= set(asked)
    assert all(wanted[first] and wanted[first + count - 1] for first, count in runs)
    assert all(b[0] - sum(a) >= NEAR for a, b in itertools.pairwise(runs))
