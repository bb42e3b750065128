"""Whose turn it is: a lock that its holder and the programs of that keep for life, and what becomes of one that does
not end.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import socket, socketpair

import pytest

from trainmaster.engines.slurm.attempts import turn

HOLD = """
import os, socket, subprocess, sys
sys.path.insert(0, {package!r})
from trainmaster.engines.slurm.attempts import turn
ours, its = socket.socketpair()
if {holds}:
    lock = turn.take({path!r}, its, 60)
else:
    lock = os.open({path!r}, os.O_RDWR | os.O_CREAT),
child = subprocess.Popen(["sleep", "600"], pass_fds=lock, start_new_session=True) if {child} else None
print(child.pid if child else 0, flush=True)
sys.stdin.read()
"""


class Others:
    """Processes that hold the lock, or do nothing."""

    def __init__(self, lock: Path) -> None:
        self.lock = lock
        self.processes: list[subprocess.Popen[bytes]] = []
        self.children: list[int] = []  # pidfds
        self.server, self.ours = socketpair()

    def holds(self, holds: bool = True, child: bool = False) -> subprocess.Popen[bytes]:
        """Return one that holds the lock, or only has its file open; `child`: so does a program that it has started."""
        text = HOLD.format(package=str(Path(turn.__file__).parents[4]), path=str(self.lock), holds=holds, child=child)
        made = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.processes.append(made)
        assert made.stdout is not None
        if pid := int(made.stdout.readline()):
            self.children.append(os.pidfd_open(pid))
        return made

    def end(self) -> None:
        """End all of them."""
        for child in self.children:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)
            os.close(child)
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


def take(others: Others, server: socket | None = None) -> bool | None:
    """Take the lock without patience, and say whether it is held; let go of it at once, as the end of this process
    would.
    """
    taken = turn.take(str(others.lock), server or others.server, 0.0)
    for fd in os.listdir("/proc/self/fd"):
        if os.path.lexists(f"/proc/self/fd/{fd}") and os.readlink(f"/proc/self/fd/{fd}") == str(others.lock):
            os.close(int(fd))
    return None if taken is None else taken != ()


def killed(child: int) -> None:
    """Wait until the process behind the pidfd has ended."""
    assert select.select([child], [], [], 20.0)[0]


def test_it_is_free_when_its_holder_was_killed(others: Others) -> None:
    process = others.holds()
    process.kill()
    process.wait()
    assert take(others)


def test_who_does_not_end_is_killed_with_its_programs(others: Others, capfd: pytest.CaptureFixture[str]) -> None:
    process = others.holds(child=True)
    assert take(others)
    assert process.wait() == -9
    killed(*others.children)
    assert f"process {process.pid}, which does not end, was killed\n" in capfd.readouterr().err


def test_it_is_held_as_long_as_a_program_of_a_killed_one_lives(
    others: Others, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    process = others.holds(child=True)
    process.kill()
    process.wait()
    with monkeypatch.context() as patch:
        patch.setattr(turn, "_kill", lambda pid, lock: False)
        patch.setattr(turn, "DYING_S", 0.0)
        assert take(others) is False
    assert "work begins beside it" in capfd.readouterr().err
    assert take(others)
    killed(*others.children)


def test_who_only_waits_for_it_is_left_alone(others: Others) -> None:
    process, waits = others.holds(), others.holds(holds=False)
    assert take(others)
    assert (process.wait(), waits.poll()) == (-9, None)


def test_what_is_waited_for_is_said(
    others: Others, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(turn, "SAY_S", 0.0)
    process = others.holds()
    assert take(others)
    assert capfd.readouterr().err.count(f"waits for the submitter of an earlier server (pid {process.pid})\n") == 1


def test_nobody_waits_for_ever_where_none_can_be_killed(
    others: Others, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A Python may have been built without pidfds."""
    monkeypatch.setattr(turn, "DYING_S", 0.0)
    monkeypatch.delattr(os, "pidfd_open")
    process = others.holds()
    assert take(others) is False
    assert process.poll() is None
    assert "work begins beside it" in capfd.readouterr().err


def test_killing_leaves_no_descriptor_behind(others: Others, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(turn, "DYING_S", 0.0)
    monkeypatch.setattr(signal, "pidfd_send_signal", fails)
    others.holds()
    before = len(os.listdir("/proc/self/fd"))
    assert take(others) is False
    assert len(os.listdir("/proc/self/fd")) == before
    monkeypatch.undo()  # the others are to be ended


def test_where_nothing_can_be_locked_work_begins_without(others: Others, capfd: pytest.CaptureFixture[str]) -> None:
    others.lock = others.lock / "missing"
    assert take(others) is False
    assert "cannot be locked (No such file or directory): work begins without" in capfd.readouterr().err
    others.ours.close()
    assert take(others) is None


def test_a_server_that_is_gone_gets_no_turn(others: Others) -> None:
    process = others.holds()
    others.ours.close()
    assert take(others) is None
    assert process.poll() is None
    process.kill()
    process.wait()
    assert take(others) is None, "neither when it is free"
