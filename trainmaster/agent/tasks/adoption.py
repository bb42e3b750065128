"""Read back what a former agent of this home left on disk. Starts and signals nothing."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from trainmaster.agent.caching.showing import with_copies
from trainmaster.agent.host import procs
from trainmaster.agent.host.cgroups import Cgroups, ControlGroup
from trainmaster.agent.host.words import say
from trainmaster.agent.settings import settings_from_json
from trainmaster.agent.tasks import live
from trainmaster.agent.tasks.live import LiveAttempt, LiveTask
from trainmaster.agent.tasks.prepare import prepare
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import gang_from_json


def read(layout: Layout, name: str) -> LiveAttempt:
    """Return the attempt of the record `name`. Raises ValueError, KeyError, TypeError or IndexError for a malformed
    one.
    """
    path = live.record_path(layout, name)
    with open(path, "rb") as file:
        lines = [json.loads(line) for line in file if line.endswith(b"\n")]  # a torn last line never happened
    request, meta = lines[0], lines[1]
    gang, settings = gang_from_json(request["gang"]), settings_from_json(meta["settings"])
    attempt = LiveAttempt(name, gang, settings, path, meta.get("boot") or procs.boot())
    attempt.elsewhere = live.written_elsewhere(meta, layout)
    unnoted = procs.now_ticks() - int((time.time() - os.stat(path).st_mtime) * procs.TICKS)
    shown = gang if attempt.elsewhere else with_copies(gang, settings, name, path)[0]
    for position, prepared in enumerate(prepare(shown, layout, settings)):
        task = LiveTask(attempt, prepared, position, start=unnoted, started_at=time.time())
        if prepared.name in meta["groups"] and not attempt.elsewhere:
            group, base = meta["groups"][prepared.name]
            task.group = ControlGroup(group, {}, None, tuple(base))
        attempt.tasks.append(task)
    for line in lines[2:]:
        if "s" in line:
            task = attempt.tasks[line["s"]]
            task.pid, task.start, task.started_at = line["pid"], line["start"], line["at"]
            task.stamp = line.get("stamp", "")
        elif "launched" in line:
            attempt.launched = True
            for task in attempt.tasks:
                task.started_at, task.stamp = line["launched"], line.get("stamp", "")
        elif "m" in line:
            task = attempt.tasks[line["m"]]
            task.pump, task.pump_start = line["pid"], line["start"]
        elif "e" in line:
            attempt.tasks[line["e"]].end = {key: value for key, value in line.items() if key != "e"}
        elif "h" in line and not (attempt.elsewhere or attempt.boot != procs.boot()):
            _stand_in(attempt.tasks[line["h"]], line, unnoted)
    return attempt


def _stand_in(task: LiveTask, line: dict[str, Any], unnoted: int) -> None:
    """Take over a line of the record about who stands in for `task`: before the start without a pid, after it with
    one.
    """
    found = live.stand_in(task)
    found.pid, found.start, found.started_at = line.get("pid", 0), line.get("start", unnoted), line.get("at", 0.0)
    if found.pid or os.path.exists(found.prepared.paths.log):
        task.attempt.stand_ins[task.position] = found


def regroup(attempt: LiveAttempt, cgroups: Cgroups) -> None:
    """Take over the control groups of an attempt that was read."""
    for task in attempt.tasks:
        if task.group is not None:
            task.group = cgroups.adopt(task.group.name, task.group.base)
            if task.position in attempt.stand_ins:
                attempt.stand_ins[task.position].group = task.group


def set_aside(layout: Layout, name: str, error: Exception) -> None:
    """Move a malformed record out of the way and say so: one bad file must not stop the host."""
    folder = layout.path("run", "malformed")
    os.makedirs(folder, 0o700, exist_ok=True)
    os.replace(live.record_path(layout, name), os.path.join(folder, name))
    say(f"record {name} is malformed and was set aside in {folder}: {error!r}")


def identify(task: LiveTask) -> None:
    """Find the main process of a task that was started but not noted (the agent died in between).

    It carries the task's marker, or, before its first instruction, writes to the task's log already. Of several (the
    task's own daemons look alike) it is the oldest.
    """
    leaders = [found for found in map(procs.stat, procs.all_pids()) if found is not None and found.alive]
    mine = [
        found
        for found in leaders
        if found.sid == found.pid
        and (procs.carries(found.pid, task.marker) or procs.writes_to(found.pid, task.prepared.paths.log))
    ]
    if mine:
        first = min(mine, key=lambda found: (found.start, found.pid))
        task.pid, task.start = first.pid, first.start
        task.attempt.note(task.line)
