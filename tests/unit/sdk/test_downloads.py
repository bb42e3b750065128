"""What a job left arrives as it was, however its files are called, and nowhere else (R149, R242)."""

import os
from pathlib import Path

from trainmaster.sdk.downloads import to_file, unpacked
from trainmaster.storage.trees import zip_tree


def test_every_file_of_an_archive_arrives_under_a_name_of_its_own(tmp_path: Path) -> None:
    """Names may hold backslashes, which part folders elsewhere, and bytes that are no text."""
    left = tmp_path / "left"
    (left / "a").mkdir(parents=True)
    for name in (b"a/b", rb"a\b", b"caf\xe9", b"caf\xe8", "评估".encode(), b"plain"):
        Path(os.fsdecode(bytes(left) + b"/" + name)).write_bytes(name)
    files = unpacked(zip_tree(str(left)), tmp_path / "here")
    found = {str(file.relative_to(tmp_path / "here")): file.read_bytes() for file in files}
    assert found == {
        "a/b": b"a/b",
        r"a\b": rb"a\b",
        "caf%E9": b"caf\xe9",
        "caf%E8": b"caf\xe8",
        "评估": "评估".encode(),
        "plain": b"plain",
    }


def test_nothing_is_written_through_a_link_that_somebody_else_laid(tmp_path: Path) -> None:
    """In a folder of all users the name of what is written first can be guessed."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in ("log", "download.zip"):
        (tmp_path / f".{name}.{os.getpid()}.part").symlink_to(mine)
    (tmp_path / "left").mkdir()
    (tmp_path / "left/kept").write_text("kept")
    to_file([b"said"], tmp_path / "log")
    assert unpacked(zip_tree(str(tmp_path / "left")), tmp_path) == [tmp_path / "kept"]
    assert mine.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["kept", "left", "log", "mine"]
    assert not (tmp_path / "log").is_symlink()
