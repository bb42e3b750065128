"""The agent's lists of processes hold a task's own and nobody else's (B2): a mistake here would reach the whole
machine.
"""

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.gangs import gang
from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import spawn
from trainmaster.agent.starting.spares import Spares
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.agent.tasks.prepare import prepare
from trainmaster.core.folders.layout import Layout


@pytest.mark.parametrize("leader", [0, 1, 2, -1])
def test_an_unknown_leader_stands_for_nobody(leader: int) -> None:
    assert procs.scan(f"TRAINMASTER_TASK={uuid.uuid4()}".encode(), leader) == set()


def test_a_leader_whose_pid_is_somebody_elses_by_now_stands_for_nobody() -> None:
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        found = procs.stat(stranger.pid)
        assert found is not None
        assert procs.scan(b"TRAINMASTER_TASK=none", stranger.pid, found.start) == {stranger.pid}
        assert procs.scan(b"TRAINMASTER_TASK=none", stranger.pid, found.start - 1000) == set()
    finally:
        stranger.kill()
        stranger.wait()


def test_a_task_is_known_by_its_start_even_if_its_agent_stood_still_just_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next agent took it for a stranger, and called it lost, when a busy machine had delayed the start by 30 ms."""
    story, settings, layout = gang().shell("w", 1, "sleep 60").build(), Settings(cgroups=False), Layout(str(tmp_path))
    (prepared,) = prepare(story, layout, settings)
    attempt = LiveAttempt("a", story, settings, str(tmp_path / "record"))
    task = LiveTask(attempt, prepared, 0, program="/bin/sh")
    spawn.materialise(prepared, Spares(str(tmp_path / "spares")))
    start = os.posix_spawn

    def late(*args: Any, **more: Any) -> int:
        time.sleep(0.2)  # the machine stands still
        return start(*args, **more)

    monkeypatch.setattr(os, "posix_spawn", late)
    groups = Cgroups(str(tmp_path))
    spawn.spawn(task, "", groups)
    try:
        assert procs.is_same(procs.stat(task.pid), task.start)
    finally:
        os.kill(task.pid, signal.SIGKILL)
        os.waitpid(task.pid, 0)
        groups.close()


def test_marked_processes_are_found_with_what_they_started_and_never_ourselves() -> None:
    marker = f"TRAINMASTER_TASK={uuid.uuid4()}"
    name, _, value = marker.partition("=")
    task = subprocess.Popen(
        ["sh", "-c", "env -i sleep 60 & wait"], env={**os.environ, name: value}, start_new_session=True
    )
    try:
        while len(procs.descendants(task.pid)) < 1:
            pass
        found = procs.scan(marker.encode(), 0, 0)
        assert found == {task.pid, *procs.descendants(task.pid)}
        assert os.getpid() not in found
    finally:
        os.killpg(task.pid, signal.SIGKILL)
        task.wait()


@pytest.mark.parametrize("pids", [[0], [1], [-1], [os.getpid()]])
def test_sending_refuses_init_groups_and_ourselves_before_anything_is_sent(pids: list[int]) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(ValueError, match="refused to signal"):
            procs.send([bystander.pid, *pids], signal.SIGKILL)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
