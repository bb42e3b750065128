"""Whose turn it is: a lock that its holder keeps for life, and what becomes of one that does not end."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import socket, socketpair

import pytest

from trainmaster.engines.slurm import turn

HOLD = """
import fcntl, os, socket, sys, time
sys.path.insert(0, {package!r})
from trainmaster.engines.slurm import turn
if {tells}:
    ours, its = socket.socketpair()
    turn.take({path!r}, its, 60)
else:
    fcntl.flock(os.open({path!r}, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


class Others:
    """Processes that hold the lock, or do nothing."""

    def __init__(self, lock: Path) -> None:
        self.lock = lock
        self.processes: list[subprocess.Popen[bytes]] = []
        self.server, self.ours = socketpair()

    def holds(self, tells: bool = True) -> subprocess.Popen[bytes]:
        """Return one that holds the lock; `tells`: it has written down who it is."""
        text = HOLD.format(package=str(Path(turn.__file__).parents[3]), path=str(self.lock), tells=tells)
        made = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.processes.append(made)
        assert made.stdout is not None
        assert made.stdout.readline() == b"held\n"
        return made

    def end(self) -> None:
        """End all of them."""
        for process in self.processes:
            process.kill()
            process.communicate()
        self.server.close()
        self.ours.close()


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Others]:
    made = Others(tmp_path / "lock")
    yield made
    made.end()


def take(others: Others, server: socket | None = None) -> bool:
    """Take the lock without patience; let go of it at once, as the end of this process would."""
    before = set(os.listdir("/proc/self/fd"))
    taken = turn.take(str(others.lock), server or others.server, 0.0)
    for fd in set(os.listdir("/proc/self/fd")) - before:
        if os.path.exists(f"/proc/self/fd/{fd}") and os.readlink(f"/proc/self/fd/{fd}") == str(others.lock):
            os.close(int(fd))
    return taken


def test_who_holds_it_says_who_it_is(others: Others) -> None:
    process = others.holds()
    said = json.loads(others.lock.read_text())
    assert (said["pid"], said["start"] > 0) == (process.pid, True)


def test_it_is_free_when_its_holder_was_killed(others: Others) -> None:
    process = others.holds()
    process.kill()
    process.wait()
    assert take(others)
    assert json.loads(others.lock.read_text())["pid"] == os.getpid()


def test_who_does_not_end_is_killed(others: Others) -> None:
    process = others.holds()
    assert take(others)
    assert process.wait() == -9


@pytest.mark.parametrize("start", [1, None])
def test_another_process_of_that_number_is_left_alone(
    others: Others, start: int | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And nobody waits for ever for one of whom it cannot be told who it is."""
    monkeypatch.setattr(turn, "DYING_S", 0.0)
    process, innocent = others.holds(tells=False), subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    others.processes.append(innocent)
    others.lock.write_text(json.dumps({"pid": innocent.pid, "start": start}) if start is not None else "")
    assert take(others)
    assert (innocent.poll(), process.poll()) == (None, None)
    assert "work begins beside it" in capfd.readouterr().err


def test_a_server_that_is_gone_gets_no_turn(others: Others) -> None:
    process = others.holds()
    others.ours.close()
    assert not take(others)
    assert process.poll() is None
    process.kill()
    process.wait()
    assert not take(others), "neither when it is free"
