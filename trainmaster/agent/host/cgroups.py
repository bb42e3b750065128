"""Control groups, version 1 and 2, where they are writable: limits, exact membership, out-of-memory counters.

A group belongs to one task at a time and is used again once proven empty (making one costs as much as three signals). A
task is in its group before its first instruction: the single-threaded agent steps into the group, spawns, and steps
back. May never remove or change a group outside its own ``trainmaster-<hash of home>``.
"""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import field
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said

V1: Final[dict[str, tuple[str, ...]]] = {"memory": (), "pids": (), "cpu": (), "cpuacct": ()}
V2_CONTROLLERS: Final = ("memory", "pids", "cpu")
ROOT: Final = "/sys/fs/cgroup"
LEAF: Final = "trainmaster"
"""Version 2: the group below that of the service manager's unit in which the server is started (`trainmaster unit`),
and keeper and agent with it. A group that hands controllers down can hold no process itself, nor take one in.
"""
HOLDS_US: Final = (
    f"processes run in it, which version 2 does not allow; its unit needs DelegateSubgroup={LEAF}, of systemd 254 on"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one task; 0 means none. `cpu` cores become a weight: idle cores may be borrowed."""

    memory_mib: int = 0
    processes: int = 0
    cpu: float = 0.0


@dataclass(slots=True)
class ControlGroup:
    """One group; `folders` by controller (v2: one, ""). `base`: its counters before its present task."""

    name: str
    folders: dict[str, str]
    limits: Limits | None = None
    base: tuple[int, int, float] = (0, 0, 0.0)  # out-of-memory kills, refused forks, CPU seconds
    fds: dict[str, int] = field(default_factory=dict)

    def folder(self, controller: str) -> str | None:
        """Return the folder that serves `controller`, or None."""
        return self.folders.get(controller) or self.folders.get("")


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def own_paths(text: str) -> dict[str, str]:
    """Return {controller: path} of a /proc/PID/cgroup text; version 2 has the key ``""``."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


class Cgroups:
    """The groups of one agent. `version` 0: not usable here, and `why`."""

    def __init__(
        self, home: str, root: str = ROOT, own: str | None = None, controllers: tuple[str, ...] = V2_CONTROLLERS
    ) -> None:
        self.base = "trainmaster-" + hashlib.sha256(home.encode()).hexdigest()[:12]
        self.version = 0
        self.why: Said | None = None
        self.controllers = controllers  # of version 2
        self.parents: dict[str, str] = {}  # controller -> our folder
        self._back: list[int] = []  # fds of the files that bring the agent home
        self._free: list[ControlGroup] = []
        self._next = 0
        with open("/proc/self/cgroup") as file:
            paths = own_paths(own if own is not None else file.read())
        why = []
        for try_version in (self._open_v2, self._open_v1):
            try:
                try_version(root, paths)
                return
            except OSError as error:
                why.append(f"{error.strerror or error} ({error.filename})")
                self.parents = {}
        self.why = say.no_control_groups(why)

    def _open_v2(self, root: str, paths: dict[str, str]) -> None:
        own = os.path.normpath(os.path.join(root, paths.get("", "/").lstrip("/")))
        top = os.path.dirname(own) if os.path.basename(own) == LEAF else own
        have = _read(os.path.join(top, "cgroup.controllers")).decode().split()
        missing = [name for name in self.controllers if name not in have]
        if missing:
            raise OSError(95, f"version 2 has no {', '.join(missing)} controller", top)
        ours = os.path.join(top, self.base)
        os.makedirs(ours, exist_ok=True)
        enable = " ".join(f"+{name}" for name in self.controllers)
        try:
            _write(os.path.join(top, "cgroup.subtree_control"), enable)
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise OSError(errno.EBUSY, HOLDS_US, top) from error
            raise
        _write(os.path.join(ours, "cgroup.subtree_control"), enable)
        self.parents = {"": ours}
        self._back = [os.open(os.path.join(own, "cgroup.procs"), os.O_WRONLY | os.O_CLOEXEC)]
        self.version = 2

    def _open_v1(self, root: str, paths: dict[str, str]) -> None:
        back: list[int] = []
        for controller in V1:
            if controller not in paths:
                raise OSError(95, f"version 1 has no {controller} controller", root)
            top = os.path.join(root, controller, paths[controller].lstrip("/"))
            ours = os.path.join(top, self.base)
            os.makedirs(ours, exist_ok=True)
            back.append(os.open(os.path.join(top, "tasks"), os.O_WRONLY | os.O_CLOEXEC))
            self.parents[controller] = ours
        self._back = back
        self.version = 1

    def take(self, limits: Limits) -> ControlGroup:
        """Return an empty group with `limits`. Raises OSError when the kernel refuses."""
        group = self._used_before() or self._make(f"g{self._next}")
        if group.limits != limits:
            self.limit(group, limits)
        return group

    def _used_before(self) -> ControlGroup | None:
        """Return a free group with its counters noted, or None; one that somebody removed is dropped."""
        while self._free:
            group = self._free.pop()
            try:
                group.base = (0, 0, 0.0)
                group.base = (self.oom_kills(group), self.refused_forks(group), self.usage(group)[0])
                if self.version == 1:
                    os.pwrite(group.fds["peak"], b"0", 0)
                return group
            except OSError:
                for fd in group.fds.values():
                    os.close(fd)
        return None

    def _make(self, name: str) -> ControlGroup:
        while True:
            folders = {controller: os.path.join(parent, name) for controller, parent in self.parents.items()}
            try:
                for folder in folders.values():
                    os.makedirs(folder)
                break
            except FileExistsError:  # it belongs to an adopted task, or could not be removed
                self._next += 1
                name = f"g{self._next}"
        self._next += 1
        return self._open(ControlGroup(name, folders))

    def _open(self, group: ControlGroup) -> ControlGroup:
        step = "tasks" if self.version == 1 else "cgroup.procs"
        for controller, folder in group.folders.items():
            group.fds["step:" + controller] = os.open(os.path.join(folder, step), os.O_WRONLY | os.O_CLOEXEC)
        for name, controller, file in self._files():
            where = group.folder(controller)
            if where and os.path.exists(os.path.join(where, file)):
                mode = os.O_RDWR if name == "peak" and self.version == 1 else os.O_RDONLY
                group.fds[name] = os.open(os.path.join(where, file), mode | os.O_CLOEXEC)
        return group

    def _files(self) -> tuple[tuple[str, str, str], ...]:
        if self.version == 2:
            return (
                ("oom", "", "memory.events"),
                ("peak", "", "memory.peak"),
                ("memory", "", "memory.current"),
                ("cpu", "", "cpu.stat"),
                ("current", "", "pids.current"),
                ("count", "", "pids.events"),
            )
        return (
            ("oom", "memory", "memory.oom_control"),
            ("peak", "memory", "memory.max_usage_in_bytes"),
            ("memory", "memory", "memory.usage_in_bytes"),
            ("cpu", "cpuacct", "cpuacct.usage"),
            ("current", "pids", "pids.current"),
            ("count", "pids", "pids.events"),
        )

    def limit(self, group: ControlGroup, limits: Limits) -> None:
        """Give `group` these limits, whatever it had. Raises OSError."""
        memory = limits.memory_mib * 1024 * 1024
        weight = max(2, int(limits.cpu * 1024)) if limits.cpu else 1024
        if self.version == 2:
            self._set(group, "", "memory.max", str(memory) if memory else "max")
            self._set(group, "", "memory.oom.group", "0")
            self._set(group, "", "cpu.weight", str(max(1, min(10000, weight * 100 // 1024))))
            self._set(group, "", "pids.max", str(limits.processes) if limits.processes else "max")
        else:
            self._set(group, "memory", "memory.limit_in_bytes", str(memory) if memory else "-1")
            self._set(group, "cpu", "cpu.shares", str(weight))
            self._set(group, "pids", "pids.max", str(limits.processes) if limits.processes else "max")
        group.limits = limits

    @staticmethod
    def _set(group: ControlGroup, controller: str, file: str, text: str) -> None:
        folder = group.folder(controller)
        if folder is not None:
            _write(os.path.join(folder, file), text)

    def enter(self, group: ControlGroup) -> None:
        """Step into `group`: what is spawned now is born in it. Follow with `leave`, whatever happens."""
        for name, fd in group.fds.items():
            if name.startswith("step:"):
                os.write(fd, b"0")

    def leave(self) -> None:
        """Step back to the agent's own groups."""
        for fd in self._back:
            os.write(fd, b"0")

    def members(self, group: ControlGroup) -> list[int]:
        """Return the processes in `group` (zombies do not count).

        Opened anew each time: an open list of version 1 goes on showing what it showed when it was read first.
        """
        if int(os.pread(group.fds["current"], 32, 0)) == 0:
            return []
        folder = group.folder("pids")
        return [int(pid) for pid in _read(f"{folder}/cgroup.procs").split() if pid != b"0"]

    def oom_kills(self, group: ControlGroup) -> int:
        """Return how many processes of the present task the kernel ended for want of memory."""
        return self._counter(group, "oom", b"oom_kill") - group.base[0]

    def refused_forks(self, group: ControlGroup) -> int:
        """Return how often the present task hit its limit of processes."""
        return self._counter(group, "count", b"max") - group.base[1]

    @staticmethod
    def _counter(group: ControlGroup, file: str, wanted: bytes) -> int:
        if file in group.fds:
            for line in os.pread(group.fds[file], 512, 0).splitlines():
                key, _, value = line.partition(b" ")
                if key == wanted:
                    return int(value)
        return 0

    def peak_mib(self, group: ControlGroup) -> int | None:
        """Return the highest memory use in MiB, or None where the kernel does not say."""
        return int(os.pread(group.fds["peak"], 64, 0)) >> 20 if "peak" in group.fds else None

    def usage(self, group: ControlGroup) -> tuple[float, float]:
        """Return (CPU seconds in total, memory in MiB)."""
        memory = int(os.pread(group.fds["memory"], 64, 0)) / 1048576
        text = os.pread(group.fds["cpu"], 512, 0)
        total = int(text) / 1e9 if self.version == 1 else int(text.split()[1]) / 1e6  # usage_usec N
        return total - group.base[2], memory

    def stop_forks(self, group: ControlGroup) -> None:
        """From now on nothing in `group` can fork: a bomb ends with the processes it has."""
        self._set(group, "pids" if self.version == 1 else "", "pids.max", "0")
        group.limits = None

    def give(self, group: ControlGroup) -> None:
        """Take back a group that was proven empty."""
        self._free.append(group)

    def adopt(self, name: str, base: tuple[int, int, float]) -> ControlGroup | None:
        """Return the group `name` of a former agent, or None when it is gone."""
        folders = {controller: os.path.join(parent, name) for controller, parent in self.parents.items()}
        if not folders or not all(os.path.isdir(folder) for folder in folders.values()):
            return None
        return self._open(ControlGroup(name, folders, None, base))

    def sweep(self, keep: set[str]) -> None:
        """Remove empty groups of a former agent that no live task uses."""
        for parent in filter(os.path.isdir, self.parents.values()):
            for entry in os.listdir(parent):
                path = os.path.join(parent, entry)
                if entry not in keep and os.path.isdir(path):
                    try:
                        os.rmdir(path)
                    except OSError:
                        continue  # a process is left in it: `take` skips its name

    def close(self) -> None:
        """Remove every group that is empty, ours last."""
        for group in self._free:
            for fd in group.fds.values():
                os.close(fd)
        self._free.clear()
        self.sweep(set())
        for parent in self.parents.values():
            try:
                os.rmdir(parent)
            except OSError:
                continue
