"""Changes in the folder of a volume: what is there is whole, nothing leads out, whatever a job has laid (R52, R245)."""

import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.storage.trees import list_files, open_file, zip_tree
from trainmaster.storage.volumes import changing
from trainmaster.storage.volumes.erasing import erase_all
from trainmaster.storage.volumes.paths import new_path, old_path

BAD: Final = [
    "", "/", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", "./a", "a/.", "a\\b", "..\\x", "a\0b", "a\nb",
    "a\x7f", "\ud800", "x" * 256, "é" * 128, "/".join("a" * 64), "a/" * 70 + "b", "x/" * 2500 + "y",
]  # fmt: skip


def put(root: Path, path: str, content: bytes, token: str = "t", **more: Any) -> None:
    file = changing.ArrivingFile(str(root), token)
    file.write(content)
    file.finish(path, **more)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    changing.make(str(tmp_path / "volumes" / "v1"))
    return tmp_path / "volumes" / "v1"


@pytest.fixture
def files(root: Path) -> Path:
    return root / "files"


@pytest.mark.parametrize("path", BAD)
def test_a_path_that_leads_elsewhere_is_refused_wherever_it_is_named(root: Path, files: Path, path: str) -> None:
    (files / "a").write_text("a")
    acts: list[Callable[[], Any]] = [
        lambda: new_path(path),
        lambda: put(root, path, b"x"),
        lambda: changing.make_folder(str(root), path),
        lambda: changing.move(str(root), "a", path),
    ]
    for act in acts:
        with pytest.raises(InvalidSpec) as why:
            act()
        assert why.value.problems[0].rule
    for act in (lambda: changing.take_away(str(root), path, "t"), lambda: changing.move(str(root), path, "b")):
        with pytest.raises((InvalidSpec, NotFound, StorageFailed)):
            act()
    assert os.listdir(files) == ["a"]
    assert os.listdir(root / "arriving") == []


@given(st.text(st.sampled_from("a.b/\\%\0\n2eé\ud800 "), max_size=12))
def test_what_is_let_through_lies_below_the_top_and_nowhere_else(path: str) -> None:
    """Encoded once more it is a name like any other."""
    for judge in (new_path, old_path):
        try:
            parts = judge(path)
        except InvalidSpec:
            continue
        assert "/".join(parts) == path
        assert os.path.normpath("/top/" + path) == "/top/" + path
        assert not {"", ".", ".."} & set(parts)


def test_a_file_comes_whole_with_its_folders_and_takes_the_place_of_another(root: Path, files: Path) -> None:
    put(root, "data/train/a.csv", b"one")
    put(root, "data/train/a.csv", b"two", executable=True)
    assert (files / "data/train/a.csv").read_bytes() == b"two"
    assert stat.S_IMODE((files / "data/train/a.csv").stat().st_mode) == 0o755
    put(root, "%2e%2e%2fx", b"a name")
    put(root, "..x", b"another")
    assert sorted(os.listdir(files)) == ["%2e%2e%2fx", "..x", "data"]
    for path, code in (("data", "folder_in_volume"), ("..x/y", "no_folder_in_volume")):
        with pytest.raises(Conflict) as why:
            put(root, path, b"x")
        assert why.value.code == code
    file = changing.ArrivingFile(str(root), "cut")
    file.write(b"half")
    file.abort()
    assert os.listdir(root / "arriving") == []


def test_of_two_that_send_the_same_path_the_last_whole_one_is_there(root: Path, files: Path) -> None:
    """Never a mixture, also for who reads meanwhile."""
    contents = [bytes([at]) * 300_000 for at in range(8)]
    put(root, "x", contents[0])

    def send(at: int) -> None:
        for turn in range(6):
            file = changing.ArrivingFile(str(root), f"{at}-{turn}")
            for start in range(0, len(contents[at]), 100_000):
                file.write(contents[at][start : start + 100_000])
            file.finish("x")

    threads = [threading.Thread(target=send, args=(at,)) for at in range(8)]
    for one in threads:
        one.start()
    while any(one.is_alive() for one in threads):
        assert (files / "x").read_bytes() in contents
    for one in threads:
        one.join()
    assert (files / "x").read_bytes() in contents
    assert os.listdir(root / "arriving") == []


def test_links_that_a_job_laid_are_never_followed(root: Path, files: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (files / "folder").symlink_to(outside)
    (files / "file").symlink_to(outside / "secret")
    for path in ("folder/secret", "file"):
        with pytest.raises(NotFound):
            open_file(str(files), path)
    with pytest.raises(NotFound):
        list_files(str(files), "folder")
    assert b"secret" not in b"".join(zip_tree(str(files)))
    for act in (
        lambda: put(root, "folder/new", b"x"),
        lambda: changing.make_folder(str(root), "folder/new"),
        lambda: changing.move(str(root), "file", "folder/new"),
    ):
        with pytest.raises(Conflict):
            act()
    for path in ("folder/secret", "folder/none"):
        with pytest.raises(NotFound):
            changing.take_away(str(root), path, "t1")
        with pytest.raises(NotFound):
            changing.move(str(root), path, "mine")
    put(root, "file", b"new")  # takes the place of the link itself
    assert (files / "file").read_bytes() == b"new"
    assert not (files / "file").is_symlink()
    changing.take_away(str(root), "folder", "t2")
    assert [*erase_all(str(root / "going"))]
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_text() == "secret"


def test_what_is_no_file_is_neither_read_nor_waited_for(files: Path, root: Path) -> None:
    os.mkfifo(files / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(files / "s"))
    listener.close()
    os.symlink("/dev/zero", files / "zero")
    program = files / "setuid"
    program.write_text("x")
    program.chmod(0o6755)
    Path(os.fsdecode(os.fsencode(files) + b"/\xff\xfe")).write_text("odd")
    listed = list_files(str(files)).items
    assert [one.kind for one in listed] == ["other", "other", "file", "link", "file"]
    assert listed[-1].name == "\ufffd\ufffd"
    for name in ("fifo", "s", "zero"):
        with pytest.raises(NotFound):
            open_file(str(files), name)
    assert len(b"".join(zip_tree(str(files)))) > 0
    put(root, "setuid", b"y")
    assert stat.S_IMODE(program.stat().st_mode) == 0o644
    for name in ("fifo", "s", "zero", "setuid"):
        changing.take_away(str(root), name, f"t-{name}")
    assert os.listdir(files) == [os.fsdecode(b"\xff\xfe")]


def test_a_move_takes_the_place_of_nothing(root: Path, files: Path) -> None:
    put(root, "a/x", b"x")
    put(root, "b", b"b")
    changing.move(str(root), "a/x", "c/d/y")
    assert (files / "c/d/y").read_bytes() == b"x"
    changing.move(str(root), "c", "e")
    for path, to, error in (
        ("b", "e", Conflict), ("e", "b", Conflict), ("e", "e/in", Conflict), ("b", "b", Conflict),
        ("none", "f", NotFound), ("b/none", "f", NotFound), ("b", "b/in", Conflict), ("e/d/y", "b/in", Conflict),
    ):  # fmt: skip
        with pytest.raises(error):
            changing.move(str(root), path, to)
    assert (files / "b").read_bytes() == b"b"
    assert (files / "e/d/y").read_bytes() == b"x"
    changing.make_folder(str(root), "e/more")
    with pytest.raises(Conflict):
        changing.make_folder(str(root), "e/more")


def test_what_was_deleted_goes_however_deep_and_whatever_it_forbids(root: Path, files: Path) -> None:
    deep = os.open(files, os.O_RDONLY)
    for _ in range(600):  # deeper than a path can be
        os.mkdir("d" * 100, dir_fd=deep)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    put(root, "locked/x", b"x")
    (files / "locked").chmod(0)
    changing.take_away(str(root), "d" * 100, "ours-1")
    changing.take_away(str(root), "locked", "ours-2")
    assert os.listdir(files) == []
    layout, unknown = Layout(str(root.parents[1])), root.parent / ".gone-v9"
    (unknown / "files").mkdir(parents=True)
    mine, other = changing.ArrivingFile(str(root), "ours-3"), changing.ArrivingFile(str(root), "dead-1")
    assert [*changing.clear(layout, lambda: {"v1"}, "ours-")]
    assert os.listdir(root / "going") == []
    assert os.listdir(root / "arriving") == ["ours-3"]
    assert not unknown.exists()
    other.abort()
    mine.finish("x")
    changing.set_aside(layout, "volumes/v1")
    assert os.listdir(root.parent) == [".gone-v1"]
    with pytest.raises(NotFound):
        changing.take_away(str(root), "x", "t")
    for _ in changing.clear(layout, set, ""):
        pass
    assert not (root.parent / ".gone-v1").exists()
