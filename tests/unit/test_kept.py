"""scripts/kept.py, under which scripts/test runs: whatever a command starts ends with it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
DEAF = "import signal, time\nfor one in (2, 15):\n    signal.signal(one, signal.SIG_IGN)\n"
SLEEP = "while True:\n    time.sleep(60)\n"
STORY = """
import os, subprocess, sys, time
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
server = subprocess.Popen([sys.executable, "deaf.py"], start_new_session=True, **quiet).pid
start = f"setsid {sys.executable} deaf.py >/dev/null 2>&1 & echo $!"
daemon = subprocess.check_output(["/bin/sh", "-c", start], text=True)
with open("new", "w") as file:
    file.write(f"{os.getpid()} {server} {daemon}")
"""
READY = "os.rename('new', 'pids')\n"
"""Lets the test go on: what is done to the command next finds it as it is by then."""


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.02)  # processes of others


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Run:
    """One run of kept.py by a shell, whose command starts a server and a daemon. `then`: what the command does after
    that, READY among it.
    """

    def __init__(self, folder: Path, then: str) -> None:
        (folder / "deaf.py").write_text(DEAF + SLEEP)
        (folder / "story.py").write_text(STORY + then)
        words = f"{sys.executable} {ROOT}/scripts/kept.py {sys.executable} story.py 2>said; echo $? >status"
        self.folder = folder
        env = {name: value for name, value in os.environ.items() if name != "TRAINMASTER_KEPT"}
        self.shell = subprocess.Popen(["/bin/sh", "-c", words], cwd=folder, start_new_session=True, env=env)
        until((folder / "pids").exists)
        self.command, *self.others = map(int, (folder / "pids").read_text().split())
        (self.kept,) = map(int, Path(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children").read_text().split())

    @property
    def gone(self) -> bool:
        return not any(map(lives, (self.kept, self.command, *self.others)))

    def said(self) -> str:
        return (self.folder / "said").read_text()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[str], Run]]:
    made: list[Run] = []

    def start(then: str) -> Run:
        made.append(Run(tmp_path, then))
        return made[-1]

    yield start
    for one in made:
        for pid in (one.kept, one.command, *one.others):
            if lives(pid):
                os.kill(pid, signal.SIGKILL)
        one.shell.wait()


def test_what_a_command_left_is_ended_and_named(run: Callable[[str], Run]) -> None:
    made = run(READY + "while not os.path.exists('go'):\n    time.sleep(0.02)\nsys.exit(7)")
    (made.folder / "go").touch()
    made.shell.wait(PATIENCE_S)
    assert made.gone
    assert (made.folder / "status").read_text() == "7\n"
    assert made.said().count("left behind, and ended: ") == 1, "two of the same name"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("group", [False, True])
def test_whoever_is_told_to_end_cleans_up_first_and_leaves_nothing(
    run: Callable[[str], Run], signum: signal.Signals, group: bool
) -> None:
    tidy = f"try:\n    {READY}    time.sleep(600)\nexcept KeyboardInterrupt:\n    open('tidied', 'w'); sys.exit(2)"
    made = run(tidy if signum == signal.SIGINT or not group else READY + "time.sleep(600)")
    if group:
        os.killpg(made.shell.pid, signum)
    else:
        os.kill(made.kept, signum)
    until(lambda: made.gone)
    assert (made.folder / "tidied").exists() == (signum == signal.SIGINT or not group)


def test_a_command_that_hears_nothing_is_killed_by_who_asks_twice(run: Callable[[str], Run]) -> None:
    made = run(DEAF + READY + SLEEP)
    os.kill(made.kept, signal.SIGTERM)
    assert lives(made.command)
    os.kill(made.kept, signal.SIGINT)
    until(lambda: made.gone)


def test_an_orphan_that_has_ended_is_buried_while_the_command_runs(run: Callable[[str], Run]) -> None:
    """A process namespace whose first process has ended waits for all who were in it."""
    told = run(READY + SLEEP)
    (_, daemon) = told.others
    os.kill(daemon, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{daemon}").exists())
    assert lives(told.command)
    os.kill(told.kept, signal.SIGTERM)
    until(lambda: told.gone)


def test_nothing_is_started_for_one_that_has_gone_already(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    words = [sys.executable, str(ROOT / "scripts/kept.py"), "touch", str(tmp_path / "begun")]
    assert subprocess.run(words, env={"TRAINMASTER_KEPT": str(gone.pid)}, check=False).returncode == 1
    assert not (tmp_path / "begun").exists()


@pytest.mark.parametrize("who", ["command", "shell"])
def test_nothing_outlives_one_that_was_killed(run: Callable[[str], Run], who: str) -> None:
    """kill -9 of pytest, or of the script around it."""
    made = run(READY + "time.sleep(600)")
    os.kill({"command": made.command, "shell": made.shell.pid}[who], signal.SIGKILL)
    until(lambda: made.gone)
