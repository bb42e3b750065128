"""The file of a backup: what is written is read back, by tar too; and whatever was changed or cut off is found (B7)."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.core.errors import Conflict, StorageFailed, TrainmasterError
from trainmaster.storage.archive import ABOUT, Archive, ArchiveWriter, making

ODD = "caf\udce9 of \n lines, 任务"
HOLE = 3 << 20


def nothing(_: int) -> None:
    """Hear of bytes."""


def fill(archive: ArchiveWriter, folder: Path) -> None:
    """Write one of everything."""
    archive.text("home/config.toml", b"[server]\nport = 1\n")
    archive.folder("data/jobs", 0o500, 1000.0)
    for name, content in (("empty", b""), ("log", b"hello\n" * 20_000)):
        (folder / name).write_bytes(content)
        with open(folder / name, "rb") as file:
            archive.file(f"data/jobs/{name}", file.fileno())
    with open(folder / "hole", "wb") as file:
        file.write(b"begin")
        file.truncate(HOLE)
        file.seek(HOLE)
        file.write(b"end")
    with open(folder / "hole", "rb") as file:
        assert archive.file(f"data/jobs/{ODD}", file.fileno()) < HOLE
    archive.link("data/jobs/link", "/etc/passwd", 1000.0)
    archive.finish({"rows": {"job": 1}})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    with making(str(folder / "one.tar"), {"made_at": 5.0, "left_out": []}, nothing) as archive:
        fill(archive, folder)
    return folder / "one.tar"


def test_what_was_written_is_read_back(made: Path) -> None:
    moved = list[int]()
    archive = Archive(str(made))
    assert archive.about() == {"format": 1, "made_at": 5.0, "left_out": []}
    assert archive.verify(moved.append)["rows"] == {"job": 1}
    assert sum(moved) > 120_000
    found = {entry.name: (entry, dict(content())) for entry, content in archive.entries()}
    assert [*found] == [
        ABOUT,
        "home/config.toml",
        "data/jobs",
        *(f"data/jobs/{n}" for n in ("empty", "log", ODD, "link")),
    ]
    assert found["data/jobs"][0].mode == 0o500
    assert b"".join(found["data/jobs/log"][1].values()) == b"hello\n" * 20_000
    sparse, parts = found[f"data/jobs/{ODD}"]
    assert sparse.size == HOLE + 3
    assert parts[0].startswith(b"begin\0")
    assert max(at + len(block) for at, block in parts.items()) == HOLE + 3
    assert (found["data/jobs/link"][0].kind, found["data/jobs/link"][0].target) == ("link", "/etc/passwd")
    assert made.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in made.parent.glob("*.partial")] == []


def test_tar_unpacks_it_holes_and_all(made: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "-xf", made, "-C", tmp_path], check=True, capture_output=True)
    hole = tmp_path / "data" / "jobs" / ODD
    assert hole.stat().st_size == HOLE + 3
    assert hole.read_bytes() == b"begin" + bytes(HOLE - 5) + b"end"
    assert (tmp_path / "data/jobs/log").read_bytes() == b"hello\n" * 20_000
    (tmp_path / "data/jobs").chmod(0o700)


@settings(max_examples=examples(150))
@given(st.data())
def test_a_changed_bit_anywhere_is_found_or_changes_nothing(made: Path, data: st.DataObject) -> None:
    """Whichever byte of the file it is: what stands in it is refused, or read as it was. Padding may be anything."""
    content = bytearray(made.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    other = made.with_name("other.tar")
    other.write_bytes(content)
    try:
        Archive(str(other)).verify(nothing)
    except TrainmasterError:
        return
    assert described(other) == described(made)


def described(path: Path) -> list[object]:
    return [
        (one.name, one.kind, one.mode, one.size, one.parts, one.target, b"".join(block for _, block in content()))
        for one, content in Archive(str(path)).entries()
    ]


@settings(max_examples=examples(60))
@given(st.data())
def test_a_file_that_was_cut_off_is_refused(made: Path, data: st.DataObject) -> None:
    content = made.read_bytes()
    whole = len(content.rstrip(b"\0"))
    other = made.with_name("cut.tar")
    other.write_bytes(content[: data.draw(st.integers(0, whole - 1))])
    with pytest.raises(Conflict):
        Archive(str(other)).verify(nothing)


def test_the_part_that_was_changed_is_named(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "x.tar"
    other.write_bytes(made.read_bytes().replace(b"port = 1", b"port = 2"))
    with pytest.raises(Conflict, match=r"home/config\.toml is not what was written"):
        Archive(str(other)).verify(nothing)


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\0" * 2048])
def test_what_is_no_backup_is_called_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(Conflict, match="is not a backup made by tm backup"):
        Archive(str(tmp_path / "x")).about()


def test_somebody_elses_tar_is_no_backup_and_a_later_format_is_named(tmp_path: Path) -> None:
    for about, said in (({"a": 1}, "is not a backup"), ({"format": 9}, "has format 9; this version reads up to 1")):
        (tmp_path / ABOUT).write_text(json.dumps(about))
        subprocess.run(["tar", "-cf", "x.tar", ABOUT], cwd=tmp_path, check=True)
        with pytest.raises(Conflict, match=said):
            Archive(str(tmp_path / "x.tar")).about()


def broken() -> None:
    raise OSError(28, "No space left on device")


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("end", "error"), [(broken, StorageFailed), (interrupted, KeyboardInterrupt)])
def test_what_does_not_become_whole_leaves_nothing(
    tmp_path: Path, end: Callable[[], None], error: type[BaseException]
) -> None:
    with pytest.raises(error), making(str(tmp_path / "x.tar"), {"made_at": 1.0}, nothing):
        end()
    assert os.listdir(tmp_path) == []


def test_nothing_is_overwritten_not_even_what_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"

    def slowly() -> None:
        with making(str(path), {"made_at": 1.0}, nothing) as archive:
            fill(archive, tmp_path)
            path.write_text("of somebody else")

    with pytest.raises(Conflict, match="exists already"):
        slowly()
    assert path.read_text() == "of somebody else"
    with pytest.raises(Conflict, match="exists already"), making(str(path), {"made_at": 1.0}, nothing):
        pass


def test_two_do_not_write_the_same_file_and_what_a_killed_one_left_is_no_hindrance(tmp_path: Path) -> None:
    path = str(tmp_path / "x.tar")
    (tmp_path / "x.tar.partial").write_bytes(b"left behind" * 100_000)
    with making(path, {"made_at": 1.0}, nothing) as archive:
        with pytest.raises(Conflict, match="Another tm backup"), making(path, {"made_at": 1.0}, nothing):
            pass
        fill(archive, tmp_path)
    Archive(path).verify(nothing)


def test_a_file_that_becomes_shorter_meanwhile_is_read_to_its_size_and_said(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * 3_000_000)
    path = str(tmp_path / "x.tar")

    def cut(_: int) -> None:
        os.truncate(tmp_path / "log", 100_000)

    with making(path, {"made_at": 1.0}, cut) as archive:
        (tmp_path / "log").write_bytes(b"x" * 3_000_000)
        with open(tmp_path / "log", "rb") as file:
            archive.file("data/log", file.fileno())
        assert archive.changed == ["data/log"]
        archive.finish({})
    Archive(path).verify(nothing)
