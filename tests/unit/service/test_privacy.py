"""The home is its user's alone, also beside a server that runs there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from trainmaster.service.folders.privacy import close_to_others


def test_a_file_that_is_renamed_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers write a file beside the old one and rename it, the mark of the ledger up to twice a second."""
    tmp_path.chmod(0o700)
    for name in ("mark.new", "config.toml"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
    scan = os.scandir

    @contextmanager
    def renamed(path: str) -> Iterator[list[os.DirEntry[str]]]:
        with scan(path) as entries:
            found = list(entries)
        (tmp_path / "mark.new").rename(tmp_path / "mark")
        yield found

    monkeypatch.setattr(os, "scandir", renamed)
    close_to_others(str(tmp_path))
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
