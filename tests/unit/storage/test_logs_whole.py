"""A log as it leaves the platform: with its size known before it is read, and readable at any place."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.storage.logs.logs import attempt_logs, stream
from trainmaster.storage.logs.whole import Logs

HOLE = 1 << 20


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of which a megabyte was cut out, and the beginning never written."""
    path = tmp_path_factory.mktemp("log") / "log"
    with path.open("wb") as file:
        file.seek(HOLE)
        file.write(b"begins\n")
        file.seek(3 * HOLE)
        file.write(b"ends\n")
    return path


@given(length=st.integers(1, 200), at=st.integers(0, 200))
def test_any_part_is_that_of_the_download(log: Path, length: int, at: int) -> None:
    """R158, R207."""
    whole = b"".join(stream(str(log)))
    assert whole.count(b"bytes were cut here") == 2
    with log.open("rb") as file:
        size, pread = Logs().content(str(log), file.fileno())
        found = pread(length, at)
        assert size == len(whole)
        assert found == whole[at : at + len(found)]
        assert 0 < len(found) <= length or at >= size


def test_what_grows_meanwhile_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    with path.open("rb") as file:
        size, pread = Logs().content(str(path), file.fileno())
        path.write_bytes(b"one\ntwo\n")
        assert (size, pread(100, 0), pread(100, 4)) == (4, b"one\n", b"")


def test_only_logs_are_logs(tmp_path: Path) -> None:
    """Neither what else lies in the folder of a task, nor what is no file, nor the note of a rule that removed it."""
    for task in ("1/task0-0", "10/task0-0", "2/task0-0", "2/task0-1", "2/other"):
        (tmp_path / task / "tmp").mkdir(parents=True)
        (tmp_path / task / "log").write_text(task)
        (tmp_path / task / "tmp/log").write_text("not this one")
    (tmp_path / "2/task0-1/log").unlink()
    (tmp_path / "2/task0-1/log").symlink_to("/etc/passwd")
    logs = Logs()
    assert [path for path, _ in logs.walk(str(tmp_path))] == [
        "1/task0-0/log", "2/task0-0/log", "2/task0-1/log", "10/task0-0/log",
    ]  # fmt: skip
    names = [name for name, _ in attempt_logs(str(tmp_path))]
    assert names == ["attempt-1/task0-0.log", "attempt-2/task0-0.log", "attempt-10/task0-0.log"]
    os.utime(tmp_path / "10/task0-0/log", (4e9, 4e9))
    assert [path for path, _ in Logs(3e9).walk(str(tmp_path))][-1] == "2/task0-1/log"
    assert attempt_logs(str(tmp_path / "nothing")) == []
