"""CPU and memory of a set of processes, fair to every peer: a control group holds all that a peer starts, its dead
included.

Where no accounting group is writable, /proc is summed instead (own time and that of children waited for); what a peer
never waits for is then missing, which the record's reader is told by `CpuGroup.exact`.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

V1: Final = "/sys/fs/cgroup/cpuacct"
V2: Final = "/sys/fs/cgroup"
TICK: Final = os.sysconf("SC_CLK_TCK")


class CpuGroup:
    """An accounting group. `prefix` goes before a command that shall be counted."""

    def __init__(self, name: str) -> None:
        self.folder = ""
        self.pids: list[int] = []
        for root in (V1, V2):
            folder = f"{root}/trainmaster-bench-{os.getpid()}-{name}"
            if root == V2 and not os.path.exists(f"{V2}/cgroup.controllers"):
                continue
            with contextlib.suppress(OSError):
                os.mkdir(folder)
                self.folder = folder
                break

    @property
    def exact(self) -> bool:
        """Whether the kernel counts."""
        return bool(self.folder)

    def prefix(self) -> list[str]:
        """Return the words to put before a command so that it starts inside."""
        if not self.folder:
            return []
        return ["/bin/sh", "-c", f'echo $$ > "{self.folder}/cgroup.procs" && exec "$@"', "sh"]

    def seconds(self) -> float:
        """Return the CPU seconds used so far."""
        if not self.folder:
            return sum(_of_process(pid) for pid in descendants(self.pids))
        with contextlib.suppress(OSError):
            return int(Path(self.folder, "cpuacct.usage").read_text()) / 1e9
        text = Path(self.folder, "cpu.stat").read_text()
        return int(text.split()[1]) / 1e6

    def close(self) -> None:
        """Remove the group and those below it, once empty."""
        for _ in range(50):  # what was killed leaves it a moment later
            for folder, _folders, _files in os.walk(self.folder, topdown=False) if self.folder else ():
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if not self.folder or not os.path.exists(self.folder):
                return
            time.sleep(0.05)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _of_process(pid: int) -> float:
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICK if fields else 0.0  # utime, stime, cutime, cstime of proc(5)


def descendants(pids: Iterable[int]) -> set[int]:
    """Return `pids` and everything below them."""
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _stat(int(name))):
            below.setdefault(int(fields[1]), []).append(int(name))
    found: set[int] = set()
    todo = list(pids)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += below.get(pid, [])
    return found


def pss_mib(pids: Iterable[int]) -> float:
    """Return the proportional set size of exactly `pids`."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


def load() -> float:
    """Return the 1-minute load."""
    return os.getloadavg()[0]


def quantile(values: Iterable[float], share: float) -> float:
    """Return the value below which `share` of `values` lie, interpolated."""
    found = sorted(values)
    place = (len(found) - 1) * share
    low = int(place)
    return found[low] + (found[min(low + 1, len(found) - 1)] - found[low]) * (place - low)
