"""Secrets in files: made once, however many look for one at the same time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from trainmaster.service.folders import secret_files
from trainmaster.service.folders.secret_files import secret_in


def test_servers_that_start_together_have_one_secret(tmp_path: Path) -> None:
    """Each would take the other for a stranger else."""
    together = Barrier(4)

    def make(path: str) -> str:
        together.wait()
        return secret_in(path)

    with ThreadPoolExecutor(4) as threads:
        for number in range(50):
            made = set(threads.map(make, [str(tmp_path / f"{number}")] * 4))
            assert made == {(tmp_path / f"{number}").read_text().strip()}
    assert not list(tmp_path.glob("*.new"))


def test_whoever_comes_second_takes_what_the_first_has_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looked when there was none yet."""
    first = secret_in(str(tmp_path / "secret"))
    looks = iter(["", first])
    monkeypatch.setattr(secret_files, "_private_text", lambda path: next(looks))
    assert secret_in(str(tmp_path / "secret")) == first


def test_one_that_others_can_read_is_made_anew(tmp_path: Path) -> None:
    """What they may have read opens nothing any more."""
    path = tmp_path / "secret"
    first = secret_in(str(path))
    path.chmod(0o644)
    assert secret_in(str(path)) != first
    assert path.stat().st_mode & 0o777 == 0o600
