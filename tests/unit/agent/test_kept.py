"""Who may enter a task that is kept: only what is still there, also before its end is noticed."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fixtures.gangs import gang
from trainmaster.agent.host import procs
from trainmaster.agent.supervising.stand_ins import KeptTasks
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.core.folders.layout import TaskPaths


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """A program that waits; once it is killed it is there as a zombie, for nobody has buried it."""
    with subprocess.Popen(["sleep", "1000"]) as made:
        yield made
        made.kill()


@pytest.fixture
def task(tmp_path: Path) -> LiveTask:
    """A task that has ended and is kept."""
    settings: Any = SimpleNamespace()
    prepared: Any = SimpleNamespace(role=0, index=0, name="task0-0", paths=TaskPaths(str(tmp_path)))
    attempt = LiveAttempt("a", gang().told("w", 1, ()).build(), settings, str(tmp_path / "record"))
    made = LiveTask(attempt, prepared, 0)
    attempt.tasks.append(made)
    return made


def asked(task: LiveTask) -> list[str]:
    """Return what became of the question whether it may be entered."""
    said: list[str] = []
    supervisor: Any = SimpleNamespace(attempts={"a": task.attempt}, later=lambda after_s, again: said.append("later"))
    KeptTasks(supervisor).let_in("a", 0, 0, lambda: said.append("ready"), lambda why: said.append("refused"))
    return said


def runs_as(task: LiveTask, process: "subprocess.Popen[bytes]") -> None:
    """Let the process be the task's own, as the agent knows it: by its number and its start."""
    found = procs.stat(process.pid)
    assert found is not None
    task.pid, task.start = process.pid, found.start


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Return once it is dead; it is not buried."""
    process.kill()
    while (state := procs.stat(process.pid)) is not None and state.alive:
        time.sleep(0.001)  # nobody may wait for it: it would be buried


def test_what_has_just_been_killed_is_not_entered(task: LiveTask, process: "subprocess.Popen[bytes]") -> None:
    """What the agent does about its end would hit who enters, too: they wait until that is done."""
    task.end, task.settled, task.pid = {"exit_code": 7}, True, 1
    there = LiveTask(task.attempt, task.prepared, 0, live.WAIT[0], stands_in=True)
    runs_as(there, process)
    task.attempt.stand_ins[0] = there
    assert asked(task) == ["ready"]
    kill(process)
    assert (there.running, there.gone) == (True, True), "nobody has noticed it yet"
    assert asked(task) == ["later"]


def test_nor_what_was_killed_and_has_not_died_of_it_yet(
    task: LiveTask, process: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a process that was killed is there for a while, and looks as if nothing had happened."""
    runs_as(task, process)
    status = Path(f"/proc/{process.pid}/status").read_bytes()
    assert (procs.killed(process.pid), task.gone) == (False, False)
    read = procs._slurp
    waits = re.sub(rb"SigPnd:\t0+", b"SigPnd:\t0000000000000100", status)  # what the kernel says in between
    monkeypatch.setattr(procs, "_slurp", lambda path, *size: waits if path.endswith("/status") else read(path, *size))
    assert (task.alive, task.gone) == (True, True)
    assert asked(task) == ["later"]


def test_so_with_a_task_that_runs(task: LiveTask, process: "subprocess.Popen[bytes]") -> None:
    runs_as(task, process)
    assert asked(task) == ["ready"]
    kill(process)
    assert asked(task) == ["later"]
