"""The engine of plain processes: one keeper beside each task, which outlives the server; all that is known lies in the
attempt's folder.

Invariants: what was begun is on disk before anything runs, and an attempt that was ended never starts again (`closed`).
"""

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import trainmaster
from trainmaster.agent.host import procs
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting import spawn
from trainmaster.agent.tasks import prepare as preparing
from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import attempt_id, split_attempt_id, split_task_name
from trainmaster.core.launch import Gang
from trainmaster.core.records import Node
from trainmaster.engines.base import AttemptReport, LaunchRefused, NativeRequest, Sink, TaskReport
from trainmaster.engines.findings import GangFindings, without_containers, without_sandbox
from trainmaster.messages.said import verbatim
from trainmaster_plain import keeper, plain_ended, plain_unwritable

LOOK_S: Final = 0.1
ENDED: Final = ("exited", "lost")


class PlainEngine:
    """One machine. See trainmaster.engines.base.Engine for the promises of each method."""

    owns_queue = False

    def __init__(self, own: EngineConfig, layout: Layout, config: Config) -> None:
        self.name, self.own, self.layout = own.name, own, layout
        package = str(Path(trainmaster.__file__).parents[1])
        self.settings = Settings(environment=os.path.abspath(config.local.environment or sys.prefix), package=package)
        self._sink: Sink = lambda fact: None
        self._told: dict[str, dict[tuple[int, int], str]] = {}  # of attempts that are followed: the last kind by task
        self._keepers: list[subprocess.Popen[bytes]] = []
        self._work: asyncio.Task[None] | None = None

    async def start(self, sink: Sink) -> None:
        """Follow what is launched or asked about from now on."""
        self._sink = sink
        self._work = asyncio.get_running_loop().create_task(self._follow())

    async def close(self) -> None:
        """Follow nothing any more. Keepers and tasks go on."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def nodes(self) -> tuple[Node, ...]:
        """Return this machine."""
        memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        cores = self.own.settings.cores or len(os.sched_getaffinity(0))
        return (Node(self.name, "127.0.0.1", float(cores), memory_mib, pool=(*self.own.pools, "default")[0]),)

    def isolation(self) -> dict[str, str]:
        """Return that there is none."""
        return {"kind": "none", "detail": "plain processes"}

    def prepare(self, gang: Gang) -> NativeRequest:
        """Return the commands. Pure. Raises ValueError or KeyError for an impossible gang."""
        return NativeRequest("plain", preparing.document(self._tasks(gang), ""))

    def check_gang(self, gang: Gang) -> GangFindings:
        """Return that no image is pulled, and what cannot be mounted: a process sees folders where they lie."""
        return without_containers(gang) + without_sandbox(gang)

    async def launch(self, gang: Gang) -> None:
        """Write down what is to run, and start a keeper for each task. Raises LaunchRefused, Unavailable."""
        attempt = attempt_id(gang.job, gang.attempt)
        folder = self._folder(attempt)
        try:
            if not os.path.exists(f"{folder}/begun"):
                self._write(attempt, gang, folder)
            self._keep(attempt)
        except OSError as error:
            raise Unavailable(plain_unwritable(folder, error.strerror or str(error))) from error
        asyncio.get_running_loop().call_soon(self._told.setdefault, attempt, {})  # the caller notes the launch first

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Return what lies in the folder of each attempt."""
        found = []
        for attempt in attempts:
            known = os.path.exists(f"{self._folder(attempt)}/begun")
            reports = tuple(self._reports(attempt)) if known else ()
            if known:
                self._keep(attempt)  # a server may have been killed before it had started all keepers
                self._told.setdefault(attempt, {}).update({(one.role, one.index): one.kind for one in reports})
            found.append(AttemptReport(attempt, known, reports))
        return tuple(found)

    async def signal(self, attempt: str, signum: int) -> None:
        """Send a signal to all processes of the attempt."""
        procs.send(self._processes(attempt), signum)

    async def reap(self, attempt: str, grace_s: float) -> None:
        """Let nothing of the attempt begin any more, and end what runs."""
        folder, loop = self._folder(attempt), asyncio.get_running_loop()
        os.makedirs(folder, exist_ok=True)
        open(f"{folder}/closed", "w", encoding="utf-8").close()
        for place in self._places(attempt):
            _claim(place)
        asked, limit = set[int](), loop.time() + grace_s
        while any(map(_kept, self._places(attempt))) or self._processes(attempt):
            running = self._processes(attempt)
            late = loop.time() >= limit
            procs.send(running if late else running - asked, 9 if late else 15)
            asked |= running
            await asyncio.sleep(LOOK_S / 2)
        self._told.pop(attempt, None)
        Path(f"{folder}/begun").unlink(missing_ok=True)

    # -- inside ------------------------------------------------------------------------------------------------

    def _folder(self, attempt: str) -> str:
        return os.path.join(self.layout.attempt(*split_attempt_id(attempt)), "plain")

    def _tasks(self, gang: Gang) -> tuple[preparing.Prepared, ...]:
        return preparing.prepare(gang, self.layout, self.settings)

    def _write(self, attempt: str, gang: Gang, folder: str) -> None:
        if os.path.exists(f"{folder}/closed"):
            raise LaunchRefused("launch_failed", plain_ended(attempt))
        try:
            tasks = self._tasks(gang)
            for task in tasks:
                spawn.resolve(task, gang)
        except spawn.StartRefused as error:
            raise LaunchRefused(error.code, error.said) from error
        except (ValueError, KeyError) as error:
            raise LaunchRefused("launch_failed", verbatim(str(error))) from error
        os.makedirs(folder, exist_ok=True)
        for task in tasks:
            for made in task.folders:
                os.makedirs(made, exist_ok=True)
            for path, text in task.files.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                Path(path).write_text(text, encoding="utf-8")
            asked = {"args": task.argv, "env": task.env, "cwd": task.cwd, "log": task.paths.log}
            keeper.put(f"{folder}/{task.name}.task", asked)
        keeper.put(f"{folder}/begun", [task.name for task in tasks])

    def _keep(self, attempt: str) -> None:
        self._keepers = [one for one in self._keepers if one.poll() is None]
        for place in self._places(attempt):
            if not _claimed(place):
                self._keepers.append(subprocess.Popen([sys.executable, keeper.__file__, place], start_new_session=True))

    def _places(self, attempt: str) -> list[str]:
        folder = self._folder(attempt)
        return [f"{folder}/{name}" for name in _read(f"{folder}/begun") or ()]

    def _processes(self, attempt: str) -> set[int]:
        names = map(os.path.basename, self._places(attempt))
        found = [procs.scan(f"{preparing.MARKER}={attempt}/{name}".encode()) for name in names]
        return set().union(*found)

    def _reports(self, attempt: str) -> Iterator[TaskReport]:
        for place in self._places(attempt):
            role, index = split_task_name(os.path.basename(place))
            kept, claimed = _kept(place), _claimed(place)
            end, began = _read(f"{place}.end"), _read(f"{place}.began")
            if end is not None:
                yield TaskReport(attempt, role, index, "exited", end["at"], end["exit_code"], end["signal"])
            elif claimed and not kept:  # whoever watched it is gone; so the task counts as gone, and reap makes it so
                yield TaskReport(attempt, role, index, "lost", os.stat(f"{place}.lock").st_mtime)
            elif began is not None:
                yield TaskReport(attempt, role, index, "running", began["at"])

    async def _follow(self) -> None:
        while True:
            for attempt, told in list(self._told.items()):
                for report in list(self._reports(attempt)):
                    self._push(report, told)
            await asyncio.sleep(LOOK_S)

    def _push(self, report: TaskReport, told: dict[tuple[int, int], str]) -> None:
        task = report.role, report.index
        before = told.get(task)
        if before == report.kind or before in ENDED:
            return
        told[task] = report.kind
        if before is None and report.kind in ENDED:
            self._sink(TaskReport(report.attempt, *task, "running", report.at))
        self._sink(report)


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _claimed(place: str) -> bool:
    try:
        return os.stat(f"{place}.lock").st_size > 0
    except FileNotFoundError:
        return False


def _kept(place: str) -> bool:
    """Return whether the keeper of a task lives."""
    with open(f"{place}.lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _claim(place: str) -> None:
    """Let no keeper begin the task, unless one has."""
    with open(f"{place}.lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not os.fstat(lock.fileno()).st_size:
            lock.write("never")
