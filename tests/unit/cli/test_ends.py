"""What the terminal says at the end of a job: what would help where it failed, and of which name its model is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.shell import ONE_NODE, Shell, serving, write


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


def test_a_command_that_was_not_found_is_answered_with_the_right_one(tm: Shell, tmp_path: Path) -> None:
    said = tm("submit", write(tmp_path / "j.json", "pyton train.py"), "--wait", code=1)
    assert "main-0: the command pyton was not found in PATH" in said
    assert "task0-0" not in said
    assert "The last lines" not in said  # it wrote none
    assert "what would help: " in said
    assert "python train.py" in said  # the command that clones it so


def test_the_last_lines_are_those_of_who_failed(tm: Shell, tmp_path: Path) -> None:
    said = tm("submit", write(tmp_path / "j.json", "sh -c 'echo no data; exit 3'"), "--wait", code=1)
    assert "The last lines of main-0:\nno data" in said


def test_a_saved_model_is_called_by_its_name(tm: Shell, tmp_path: Path) -> None:
    file = write(tmp_path / "j.json", "sh -c 'echo x > /model/y'", model={"name": "kept"})
    assert "model\tkept@1" in tm("submit", file, "--wait")
    job = tm.json("list")[0]
    assert "model\tkept@1" in tm("show", job["id"])
    assert job["model"].endswith("@1")
    assert job["model"] not in tm("list")
