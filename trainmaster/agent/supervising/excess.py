"""Limits where no control group keeps them: who is far above what was asked for is warned, then ended, by what samples
show.

A sample comes after the fact: this is for the neighbours, not a wall. Memory that processes share counts once (Pss),
and what the kernel cannot tell so is not counted: nobody is ended for a guess. Costs nothing where a control group
keeps the limits.
"""

from __future__ import annotations

from typing import Final

from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.agent.tasks import ending
from trainmaster.agent.tasks.live import LiveTask
from trainmaster.messages.jobs import tasks as say

NEAR: Final = 0.8
"""From this share of the limit on memory is looked at closely, and often."""
MUCH, MUCH_LOOKS = 1.2, 3
"""So many times the limit, in so many looks in a row, is the end."""
FAR: Final = 2.0
"""So many times the limit is the end at once."""


def shared_fairly_mib(pids: list[int]) -> float:
    """Return the memory of `pids` in MiB, each page divided among those that share it. Costs the kernel a walk of their
    pages.
    """
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith((b"Pss:", b"SwapPss:")))
        except OSError:  # it has ended, or we may not see its memory
            continue
    return total / 1024


def check(supervisor: Supervisor, task: LiveTask, seen_mib: float, processes: int) -> bool:
    """Look whether `task` keeps to its limits: a sample saw `seen_mib`, with shared pages counted often. Return whether
    it should be looked at again soon.
    """
    limits = task.prepared.limits
    if task.group is not None:
        return False
    if limits.processes and processes > limits.processes:
        supervisor.doom(task, "too_many_processes", say.task_over_processes(task.who, processes, limits.processes))
    task.near = limits.memory_mib > 0 and seen_mib >= NEAR * limits.memory_mib
    return look(supervisor, task)


def look(supervisor: Supervisor, task: LiveTask) -> bool:
    """Look closely at the memory of a task that is near its limit. Return whether it still is."""
    if not task.near or not task.running or task.doom:
        task.over = 0
        return False
    limit = task.prepared.limits.memory_mib
    used = shared_fairly_mib(ending.user_processes(task, supervisor.cgroups))
    task.peak_mib = max(task.peak_mib, int(used))
    task.over = task.over + 1 if used > MUCH * limit else 0
    if used > FAR * limit or task.over >= MUCH_LOOKS:
        supervisor.doom(task, "out_of_memory", say.task_over_memory(task.who, round(used), limit))
    elif used > limit and not task.warned:
        task.warned = True
        said = say.task_near_memory(task.who, round(used), limit, round(MUCH * limit))
        task.attempt.notes.append(("over_memory", said))
        supervisor.push({"event": "note", "attempt": task.attempt.id, "code": "over_memory", "said": said.to_json()})
    task.near = used >= NEAR * limit
    return task.near
