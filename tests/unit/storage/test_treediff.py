"""What differs between two folders, bounded whatever lies in them."""

import os
from pathlib import Path

import pytest

from trainmaster.storage import treediff
from trainmaster.storage.treediff import tree_diff


def tree(root: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return str(root)


def test_lines_files_links_and_modes(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", {"a/x.py": b"1\n2\n", "gone": b"g", "same": b"s", "run.sh": b"r"})
    new = tree(tmp_path / "new", {"a/x.py": b"1\n3", "same": b"s", "run.sh": b"r"})
    os.symlink("same", f"{old}/link")
    os.symlink("gone", f"{new}/link")
    os.chmod(f"{new}/run.sh", 0o755)
    found = tree_diff(old, new)
    told = {file.path: (file.change, file.diff) for file in found.files}
    assert told.keys() == {"a/x.py", "gone", "link", "run.sh"}
    assert told["a/x.py"][1] == (
        "--- a/a/x.py\n+++ b/a/x.py\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n\\ No newline at end of file\n"
    )
    assert told["gone"][0] == "removed"
    assert told["run.sh"] == ("changed", ""), "only whether it is a program changed"
    assert "-same" in told["link"][1], "what a link leads to is not read"
    assert (found.same, found.left_out) == (1, 0)


def test_nothing_is_compared_with_nothing(tmp_path: Path) -> None:
    assert tree_diff(None, None).files == ()
    only = tree(tmp_path / "x", {"a": b"1\n"})
    assert [file.change for file in tree_diff(None, only).files] == ["added"]
    assert [file.change for file in tree_diff(only, None).files] == ["removed"]


def test_what_is_too_much_is_named_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treediff, "MOST_FILES", 3)
    monkeypatch.setattr(treediff, "MOST_BYTES", 100)
    monkeypatch.setattr(treediff, "MOST_DIFF", 60)
    old = tree(tmp_path / "old", {"a": b"x" * 200, "b": b"\0", "c": b"1\n" * 20})
    new = tree(tmp_path / "new", {"a": b"y" * 200, "b": b"\1\0", "c": b"2\n" * 20, "d": b"d", "e": b"e"})
    found = tree_diff(old, new)
    assert [(file.path, file.binary, file.cut, bool(file.diff)) for file in found.files] == [
        ("a", False, True, False),
        ("b", True, False, False),
        ("c", False, True, True),
    ]
    assert found.files[2].diff.endswith("\n")
    assert len(found.files[2].diff) <= 60
    assert found.left_out == 2
    late = tree_diff(old, new, patience_s=-1)
    assert (late.files, late.left_out) == ((), 5)
