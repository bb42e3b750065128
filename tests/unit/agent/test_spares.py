"""Spare folders: given once, whole, and never over something that is there."""

import os
from pathlib import Path

from trainmaster.agent.starting.spares import KEPT, Spares

SHAPE = ("model", "attempts", "attempts/1")


def ready(folder: Path) -> Spares:
    """Return spares that were asked for SHAPE once and filled."""
    spares = Spares(str(folder))
    assert not spares.give(SHAPE, str(folder.parent / "first"))
    spares.fill()
    return spares


def test_a_spare_becomes_the_folder_that_was_asked_for(tmp_path: Path) -> None:
    spares = ready(tmp_path / "spare")
    wanted = tmp_path / "jobs" / "ab" / "job"  # its parents are made too
    assert spares.give(SHAPE, str(wanted))
    assert sorted(os.path.relpath(path, wanted) for path in wanted.rglob("*")) == sorted(SHAPE)
    assert {path.stat().st_mode & 0o777 for path in (wanted, *wanted.rglob("*"))} == {0o700}


def test_what_is_in_use_stays_as_it_is(tmp_path: Path) -> None:
    spares = ready(tmp_path / "spare")
    held = tmp_path / "job"
    (held / "model").mkdir(parents=True)
    (held / "model" / "weights").touch()
    assert not spares.give(SHAPE, str(held))
    assert [path.name for path in held.rglob("*")] == ["model", "weights"]


def test_nobody_gets_the_folder_of_somebody_else(tmp_path: Path) -> None:
    spares = ready(tmp_path / "spare")
    given = [spares.give(SHAPE, str(tmp_path / str(number))) for number in range(KEPT + 1)]
    assert given == [True] * KEPT + [False]  # then the caller makes its own
    spares.fill()
    assert spares.give(SHAPE, str(tmp_path / "one more"))


def test_what_a_former_agent_left_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "spare" / "0" / "half made").mkdir(parents=True)
    ready(tmp_path / "spare")
    assert not list((tmp_path / "spare").rglob("half made"))


def test_a_full_disk_leaves_it_to_the_caller(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spares = Spares(str(tmp_path / "file" / "spare"))  # no folder can be made there
    assert not spares.give(SHAPE, str(tmp_path / "job"))
    spares.fill()
    assert not spares.give(SHAPE, str(tmp_path / "job"))
