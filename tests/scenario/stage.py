"""The whole platform on a home of its own, and what must hold after every story told on it.

    async with Stage(tmp_path) as stage:
        job = await stage.submit(spec("a", "echo hello"))
        assert (await stage.ended(job)).state == "succeeded"

Leaving the stage ends what still runs and checks, for every job in the ledger, that folding its events gives its rows,
that nothing is held any more, and that no process and no control group is left.
"""

import asyncio
import contextlib
import glob
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import select

from tests.fixtures.seeing import ALL
from trainmaster import answers
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Conflict
from trainmaster.core.events import Event
from trainmaster.core.records import Attempt, Job
from trainmaster.core.reduce import reduce
from trainmaster.engines.base import Engine
from trainmaster.engines.local.engine import LocalEngine
from trainmaster.engines.registry import Engines
from trainmaster.service.control.clock import Clock
from trainmaster.service.platform import Platform
from trainmaster.service.wiring import build
from trainmaster.store import tables
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.jobs.read_ledger import LedgerReader

ADMIN: Final = Principal("admin", "admin")
PATIENCE_S: Final = 120.0
NODES: Final = {
    "local": {"virtual_nodes": 2, "cpu": 4.0, "memory_mib": 4096, "simulated_gpus": 2, "gpu_type": "simulated"},
    "limits": {"sample_s": 0.5},
}
"""Two nodes with four cores, 4 GiB and two cards each."""
ENDED: Final = frozenset({"succeeded", "failed", "stopped", "expired"})
COUNTS: Final = "i=0; while [ ! -e /workspace/outputs/go ]; do i=$((i+1)); echo line $i; sleep 0.05; done; echo end"
"""Writes a line again and again, until the test makes the file `go` in the job's outputs."""


def spec(name: str, text: str = "true", **fields: Any) -> dict[str, Any]:
    """Return a job of one role "main" that runs a shell text. Fields of the role are known by name, the rest is the
    job's.
    """
    own = {
        key: fields.pop(key)
        for key in ("replicas", "resources", "ports", "min_failed", "min_succeeded", "main", "hooks")
        if key in fields
    }
    return {"name": name, "roles": [role("main", text, **own)], **fields}


def fake_spec(name: str, command: str = "true", **fields: Any) -> dict[str, Any]:
    """Return a job that fake machines understand."""
    document = spec(name, command, **fields)
    document["roles"][0]["command"] = command
    return document


def role(name: str, text: str, **fields: Any) -> dict[str, Any]:
    """Return a role that runs a shell text with little memory."""
    resources = {"cpu": 0.5, "memory": 256, **fields.pop("resources", {})}
    return {"name": name, "command": ["/bin/sh", "-c", text], "resources": resources, **fields}


def toml(config: Mapping[str, Any]) -> str:
    """Return a config.toml of sections; a list of them is written one after the other."""
    lines = []
    for section, found in config.items():
        for values in found if isinstance(found, list) else [found]:
            lines.append(f"[[{section}]]" if isinstance(found, list) else f"[{section}]")
            lines += [f"{key} = {_toml_value(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else repr(value).replace("'", '"')


class Stage:
    """One home. `engine` None: the local engine with `config`."""

    def __init__(
        self,
        home: Path,
        config: dict[str, dict[str, Any]] | None = None,
        engine: Callable[[], Engine | Engines] | None = None,
    ) -> None:
        self.home = home
        self._make_engine = engine
        self.set_by = 0.0  # seconds by which the machine's clock was set; the time that passes is the real one
        home.mkdir(parents=True, exist_ok=True)
        merged = {key: {**NODES.get(key, {}), **(config or {}).get(key, {})} for key in {*NODES, *(config or {})}}
        (home / "config.toml").write_text(toml(merged))
        self.platform: Platform = self._build()

    def _build(self) -> Platform:
        self.clock = Clock(wall=lambda: time.time() + self.set_by)
        if self._make_engine is None:
            return build(str(self.home), clock=self.clock)
        made = self._make_engine()
        return build(str(self.home), engines=made if isinstance(made, Engines) else Engines([made]), clock=self.clock)

    async def __aenter__(self) -> Self:
        await self.platform.start()
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            await self._end_all()
            if error is None:
                await self.platform.context.master.durable()
                self.check_ledger()
                self.check_nothing_left()
        finally:
            engine = self.platform.context.engines.first
            if isinstance(engine, LocalEngine):
                for attempt in os.listdir(self.home / "run" / "live"):  # left by a test that failed
                    await engine.reap(attempt, 0)
                await engine.shut_down_agent()
            await self.platform.close()
        if error is None and isinstance(engine, LocalEngine):  # a fake one makes none: 0.1 s to look through thousands
            await self.check_no_groups()

    async def restart(self) -> None:
        """End the server and start another on the same home."""
        await self.platform.close()
        self.platform = self._build()
        await self.platform.start()

    def let_pass(self, seconds: float) -> None:
        """Let time pass at once: for the platform, and by the machine's clock."""
        self.set_by += seconds
        self.clock.follow(seconds)

    # -- do ----------------------------------------------------------------------------------------------------

    async def submit(self, document: dict[str, Any], key: str | None = None, **body: Any) -> str:
        """Submit; return the id."""
        view, _ = await self.platform.submit({"spec": document, **body}, ADMIN, key)
        return str(view.id)

    async def view(self, job: str) -> answers.JobDetail:
        """Return everything the API shows of a job."""
        return await self.platform.job(job, ADMIN)

    async def until(self, job: str, true: Callable[[answers.JobDetail], bool], what: str = "it") -> answers.JobDetail:
        """Return the job's view once `true` of it."""
        limit = time.monotonic() + PATIENCE_S
        while True:
            view = await self.view(job)
            if true(view):
                return view
            if time.monotonic() > limit:
                raise AssertionError(
                    f"waited in vain for {what}: {view.state} {view.reason} {view.verdict} {view.uploads} "
                    f"{self.kinds(job)} {view.attempt_list}"
                )
            await asyncio.sleep(0.02)

    async def state(self, job: str, *states: str) -> answers.JobDetail:
        """Return the job's view once it is in one of `states`; fail at once when it ends in another."""

        def there(view: answers.JobDetail) -> bool:
            assert view.state in states or view.state not in ENDED, (view.state, view.verdict)
            return view.state in states

        return await self.until(job, there, " or ".join(states))

    async def ended(self, job: str) -> answers.JobDetail:
        """Return the job's view once it has ended and that is on the disk: notes and events are read there."""
        await self.until(job, lambda view: view.state in ENDED, "its end")
        await self.platform.context.master.durable()
        return await self.view(job)

    async def running(self, job: str, line: str = "") -> answers.JobDetail:
        """Return the job's view once all its tasks run and, when asked, the first one has logged `line`."""
        view = await self.until(job, lambda v: v.state == "running" and v.tasks.running == v.tasks.total, "running")
        if line:
            await self.until(job, lambda _: line in self.log(job), f"{line!r} in the log")
        return view

    # -- look --------------------------------------------------------------------------------------------------

    def log(self, job: str, attempt: int = 1, role: int = 0, index: int = 0) -> str:
        """Return a task's log."""
        path = Path(self.platform.layout.task(job, attempt, role, index).log)
        return path.read_text(errors="replace") if path.exists() else ""

    def output(self, job: str, name: str) -> Path:
        """Return the path of a file the job wrote to /workspace/outputs."""
        return Path(self.platform.layout.outputs(job), name)

    def kinds(self, job: str) -> list[str]:
        """Return the kinds of the job's events, in order."""
        return [event.kind.value for event in self.events(job)]

    def events(self, job: str) -> list[Event]:
        """Return the job's events."""
        return self.platform.context.reader.events(ALL, job)

    def processes(self, job: str = "") -> dict[int, str]:
        """Return pid -> start time of the live processes of this home's tasks (of one job when asked)."""
        jobs = [job] if job else self.job_ids()
        return {pid: start for pid, start, marker in marked() if any(one in marker for one in jobs)}

    def job_ids(self) -> list[str]:
        """Return the ids of all jobs in the ledger."""
        with self.platform._life._database.read() as connection:
            return list(connection.scalars(select(tables.job.c.id)))

    # -- what must hold ----------------------------------------------------------------------------------------

    async def _end_all(self) -> None:
        for job in list(self.platform.context.master.live):
            with contextlib.suppress(Conflict):  # its outputs are being saved: it ends by itself
                await self.platform.stop(job, ADMIN)
        for job in list(self.platform.context.master.live):
            await self.ended(job)

    def check_ledger(self) -> None:
        """For every job: fold(reduce, events) == rows, of the job and of each of its attempts."""
        for job in self.job_ids():
            check_fold(job, self.platform.context.records)

    def check_nothing_left(self) -> None:
        """No room is held and no process of any job is alive."""
        scheduling = self.platform.context.scheduling
        assert scheduling.capacity.holders == {}
        assert len(scheduling.queue) == 0
        assert self.platform.context.master.live == {}
        limit = time.monotonic() + PATIENCE_S
        while (left := self.processes()) and time.monotonic() < limit:
            time.sleep(0.02)  # a process that was killed takes a moment to be gone from /proc
        assert left == {}

    async def check_no_groups(self) -> None:
        """The agent, asked to end, leaves no control group of this home."""
        name = "trainmaster-" + hashlib.sha256(str(self.home).encode()).hexdigest()[:12]
        limit = time.monotonic() + PATIENCE_S
        while (left := glob.glob(f"/sys/fs/cgroup/**/{name}", recursive=True)) and time.monotonic() < limit:
            await asyncio.sleep(0.05)  # it answers before it clears up
        assert left == []


def check_fold(job: str, records: LedgerReader) -> None:
    """Assert that the job's rows are what its events lead to."""
    reader = JobReader(records)
    folded: Job | None = None
    attempts: dict[int, Attempt] = {}
    for event in reader.events(ALL, job):
        folded, _ = reduce(folded, event)
        if folded.attempt is not None:
            attempts[folded.attempt.number] = folded.attempt
    assert folded == records.get_job(job)
    assert list(attempts.values()) == reader.history(ALL, job)[0]


def marked() -> list[tuple[int, str, str]]:
    """Return (pid, start time, marker) of every live process that carries a task's marker."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            entries = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            stat = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        marker = next((e for e in entries if e.startswith(b"TRAINMASTER_TASK=")), None)
        if marker is not None and stat[0] not in "ZX":
            found.append((int(name), stat[19], marker.decode().partition("=")[2]))
    return found
