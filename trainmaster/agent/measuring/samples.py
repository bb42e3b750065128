"""Usage samples of running tasks: one JSON array a line in ``usage.jsonl``. Only while something runs; cheap.

[t, cpu_s_total, mem_mib, disk_read_mib_total, disk_write_mib_total, net_rx_mib_total|null, net_tx_mib_total|null,
gpu_util_0_1|null, gpu_mem_mib|null, processes]. The network is shared between tasks, so its share is not knowable:
null.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import field
from typing import Any, Final

from trainmaster._compat import dataclass
from trainmaster.agent.host import procs, sharing
from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.measuring.nvml import Nvml
from trainmaster.agent.tasks import ending
from trainmaster.agent.tasks.live import LiveTask

MEMORY, PROCESSES = 2, 9  # their places in a sample
MOST_PROCESSES: Final = 256  # each costs a file to read; a fork bomb's are not worth it


@dataclass(slots=True)
class Totals:
    """Counters that must not fall when a process ends: what ended ones had, and the last seen of each live one."""

    gone: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    seen: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    def add(self, now: dict[int, tuple[float, float, float]]) -> tuple[float, float, float]:
        """Take the counters of the live processes; return the sums that include the ended ones."""
        for pid, last in self.seen.items():
            if pid not in now:
                for i in range(3):
                    self.gone[i] += last[i]
        self.seen = now
        cpu, read, write = (self.gone[i] + sum(values[i] for values in now.values()) for i in range(3))
        return cpu, read, write


class Sampler:
    """Samples tasks. `nvml` is opened when the first task with a real card is seen."""

    def __init__(self, cgroups: Cgroups) -> None:
        self.cgroups = cgroups
        self.totals: dict[LiveTask, Totals] = {}
        self.nvml: Nvml | None = None

    def sample(self, task: LiveTask, now: float) -> list[Any]:
        """Return one sample of `task` and append it to its file. Raises OSError when the disk is full."""
        pids = ending.user_processes(task, self.cgroups)
        cpu, memory = 0.0, 0.0
        counters: dict[int, tuple[float, float, float]] = {}
        for pid in pids[:MOST_PROCESSES]:
            spent = 0.0
            if task.group is None:
                found = procs.stat(pid)
                if found is None:
                    continue
                spent, memory = found.cpu_ticks / procs.TICKS, memory + found.rss_pages * procs.PAGE / 1048576
            counters[pid] = (spent, *_disk(pid))
        cpu, read, write = self.totals.setdefault(task, Totals()).add(counters)
        if task.group is not None:
            cpu, memory = self.cgroups.usage(task.group)
        task.peak_mib = max(task.peak_mib, int(memory))
        gpu, gpu_memory = self._cards(task)
        line = [
            round(now, 3),
            round(cpu, 3),
            round(memory, 1),
            round(read, 2),
            round(write, 2),
            None,
            None,
            gpu,
            gpu_memory,
            len(pids),
        ]
        fd = os.open(task.prepared.paths.usage, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, sharing.FILE)
        try:
            os.write(fd, json.dumps(line, separators=(",", ":")).encode() + b"\n")
        finally:
            os.close(fd)
        return line

    def forget(self, running: set[LiveTask]) -> None:
        """Drop what is kept of tasks that no longer run."""
        self.totals = {task: totals for task, totals in self.totals.items() if task in running}

    def _cards(self, task: LiveTask) -> tuple[float | None, float | None]:
        gang = task.attempt.gang
        place = gang.find(task.prepared.role, task.prepared.index)
        cards = task.attempt.settings.cards.get(place.node)
        if not place.gpus or cards is None or not cards.uuids:
            return None, None
        if self.nvml is None:
            self.nvml = Nvml()
        found = [usage for usage in (self.nvml.usage(cards.uuids[card]) for card in place.gpus) if usage is not None]
        if not found:
            return None, None
        return round(sum(u for u, _ in found) / len(found), 3), round(sum(m for _, m in found), 1)


def _disk(pid: int) -> tuple[float, float]:
    """Return (MiB read from, MiB written to) storage by `pid`."""
    try:
        with open(f"/proc/{pid}/io", "rb") as file:
            fields = dict(line.split(b": ") for line in file.read().splitlines())
    except OSError:
        return 0.0, 0.0
    return int(fields[b"read_bytes"]) / 1048576, int(fields[b"write_bytes"]) / 1048576


class DiskUse:
    """Adds up what is allocated below one folder, a bounded piece per step: a million files must not hold up the agent,
    nor hide what comes behind them.
    """

    def __init__(self, folder: str) -> None:
        self._folders = [folder]
        self._entries: Iterator[os.DirEntry[str]] = iter(())
        self.bytes = self.files = 0

    def step(self, most: int) -> bool:
        """Count up to `most` entries; return whether that was all. O(most)."""
        for _ in range(most):
            try:
                entry = next(self._entries, None)
                if entry is None:
                    if not self._folders:
                        return True
                    self._entries = os.scandir(self._folders.pop())
                    continue
                self.files += 1
                if entry.is_dir(follow_symlinks=False):
                    self._folders.append(entry.path)
                else:
                    self.bytes += entry.stat(follow_symlinks=False).st_blocks * 512
            except OSError:
                continue  # removed meanwhile
        return False
