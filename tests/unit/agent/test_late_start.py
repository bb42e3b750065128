"""A gang that a former agent has decided to start, and of which nothing runs yet: its heir starts it as soon as it can
(B2).
"""

import errno
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.gangs import gang
from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.settings import Settings
from trainmaster.agent.supervising.heir import Heir
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks import live
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import gang_to_json


class Agent:
    """One agent of a home, whose timers run when they are told to."""

    def __init__(self, layout: Layout) -> None:
        self.timers: list[Callable[[], None]] = []
        self.told: list[Any] = []
        os.makedirs(live.live_folder(layout), exist_ok=True)
        self.supervisor = Supervisor(
            layout,
            Cgroups(layout.home),
            self.told.append,
            lambda seconds, call: self.timers.append(call),
            lambda pid, call: False,
        )

    def pass_time(self) -> None:
        """Run all that was to be done later, as often as anything new was said, up to a bound."""
        for _ in range(20):
            due, self.timers = self.timers, []
            for call in due:
                call()


def test_a_gang_that_cannot_be_started_late_is_ended_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host has no room for a process; whoever stops the job waits for a proof that nothing is left, and there is
    nothing.
    """
    layout, settings = Layout(str(tmp_path)), Settings(cgroups=False)
    story = gang().shell("w", 2, "sleep 60").build()
    first = Agent(layout)
    attempt = first.supervisor.gangs.ready(story, settings, json.dumps({"gang": gang_to_json(story)}).encode())
    live.decide(attempt)

    def no_room(*args: Any, **more: Any) -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "posix_spawn", no_room)
    heir = Agent(layout)
    Heir(heir.supervisor).adopt()
    heir.pass_time()
    assert [task.running for task in heir.supervisor.attempts[attempt.id].tasks] == [False, False]
    ended: list[str] = []
    heir.supervisor.reap(attempt.id, 0.0, lambda: ended.append(attempt.id))
    heir.pass_time()
    assert ended == [attempt.id]
    assert os.listdir(live.live_folder(layout)) == []


def test_how_a_sandbox_ended_that_was_never_launched_is_not_told(tmp_path: Path) -> None:
    """Its agent was killed as it gave it up. Told, it would be the end of the launch that follows: the same attempt."""
    layout, settings = Layout(str(tmp_path)), Settings(cgroups=False)
    story = gang().shell("w", 1, "sleep 60").build()
    first = Agent(layout)
    attempt = first.supervisor.gangs.ready(story, settings, json.dumps({"gang": gang_to_json(story)}).encode())
    dead = subprocess.Popen(["true"], start_new_session=True)
    found = procs.stat(dead.pid)
    assert found is not None
    attempt.note({"s": 0, "pid": dead.pid, "start": found.start, "at": time.time(), "stamp": procs.stamp()})
    dead.wait()
    heir = Agent(layout)
    Heir(heir.supervisor).adopt()
    heir.pass_time()
    assert heir.told == []
    assert heir.supervisor.attempts == {}
    assert os.listdir(live.live_folder(layout)) == []
