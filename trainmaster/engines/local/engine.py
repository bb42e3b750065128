"""The embedded engine: this machine, through one agent process that outlives the server. Needs no other software.

A launch is one message to the agent and its answer. The engine keeps no truth of its own: what runs is known by the
agent and by the disk; here is only what was last reported, so that after a reconnect only differences are pushed.
"""

import asyncio
import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

from trainmaster.agent.caching.showing import at_copies
from trainmaster.agent.enter import Entry
from trainmaster.agent.place import PACKAGE, start
from trainmaster.agent.sandbox import apart, sandbox, seccomp
from trainmaster.agent.sandbox.probe import Probe, probe_network, probe_sandbox
from trainmaster.agent.settings import Settings
from trainmaster.agent.starting.gangs import NOT_CACHED
from trainmaster.agent.starting.spawn import NOT_NOW
from trainmaster.agent.tasks import prepare as preparing
from trainmaster.core.config import Config
from trainmaster.core.errors import Conflict, Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import attempt_id, task_name
from trainmaster.core.launch import Gang
from trainmaster.core.records import Node, verdict_from_json
from trainmaster.engines.base import (
    AFTER_HOOK,
    AttemptReport,
    CardUsage,
    LaunchRefused,
    NativeRequest,
    Note,
    Sink,
    TaskReport,
    Terminal,
    Window,
)
from trainmaster.engines.findings import GangFindings, without_containers, without_sandbox
from trainmaster.engines.local.caching import LocalCache
from trainmaster.engines.local.client import AgentClient, AgentError
from trainmaster.engines.local.facts import Host
from trainmaster.engines.local.messages import local as say
from trainmaster.engines.runtime import ContainerRuntime
from trainmaster.engines.terminal import ChildTerminal, demand_running
from trainmaster.messages import render
from trainmaster.messages.assets.containers import containers_need_sandbox
from trainmaster.messages.jobs import starting
from trainmaster.messages.said import Said, said_from_json

log = logging.getLogger("trainmaster.engines.local")

ENDED: Final = ("exited", "lost")


class LocalEngine:
    """The engine of one home. See engines.base.Engine for the promises of each method."""

    owns_queue = False

    def __init__(self, layout: Layout, config: Config, name: str = "local") -> None:
        self.layout, self.name = layout, name
        self.config = config
        self.host = Host(config.local)
        self.runtime = ContainerRuntime(config.local.containers)
        self.cache = LocalCache(config)
        self.sandbox = Probe("")
        self.cgroups_detail = ""
        self._agents_data = layout.data
        self.settings = Settings()
        self._sink: Sink = lambda fact: None
        self._client = self._new_client()
        self._known: dict[str, dict[tuple[int, int], str]] = {}  # attempt -> task -> last kind reported
        self._noted: dict[str, set[tuple[int, int]]] = {}  # attempt -> tasks of which the notes were told
        self._held: dict[str, list[dict[str, Any]]] = {}  # events that wait until the launch of their attempt returns
        self._announced: dict[str, Gang] = {}  # by attempt
        self._again: set[asyncio.Task[None]] = set()

    def _new_client(self) -> AgentClient:
        return AgentClient(self.layout, self._greet, self._event, self._connected)

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self, sink: Sink) -> None:
        """Probe the sandbox, connect to the agent or start it. Raises Unavailable."""
        self._sink = sink
        local, limits = self.config.local, self.config.limits
        self.sandbox = await asyncio.to_thread(probe_sandbox, local.sandbox, shutil.which("bwrap"))
        await asyncio.to_thread(probe_network, local.network, self.sandbox)
        await asyncio.to_thread(self.runtime.look_first)
        self.settings = Settings(
            bwrap=self.sandbox.bwrap,
            degraded=self.sandbox.why,
            cgroups=local.cgroups == "auto",
            network=local.network,
            environment=os.path.abspath(local.environment or sys.prefix),
            package=str(PACKAGE.parent),
            log_mib=limits.log_mib,
            disk_mib=limits.disk_mib,
            inodes=limits.inodes,
            disk_share=limits.disk_share,
            reserve_mib=limits.reserve_mib,
            processes=limits.processes,
            sample_s=limits.sample_s,
            cards=self.host.cards_by_node(),
            cache=self.cache.folder,
        )
        try:
            await self._meet()
        except BaseException:  # also when cancelled: a client that is left open starts an agent again and again
            await self._leave()
            raise
        self.cache.start()

    async def _meet(self) -> None:
        await self._client.connect()
        self._check_data()

    async def _leave(self) -> None:
        await self._client.close()
        self._client = self._new_client()

    def _check_data(self) -> None:
        if self._agents_data != self.layout.data:
            raise Unavailable(say.agent_keeps_other_data(self._agents_data or self.layout.home))

    def demand_agent(self) -> None:
        """Return when the agent of this home can be used, starting or replacing it; blocking. Raises Unavailable when
        it cannot.
        """

        async def meet() -> None:
            try:
                await self._meet()
            finally:
                await self._leave()

        met: Future[None] = Future()

        def run() -> None:  # in a thread: the caller may be inside an event loop
            try:
                met.set_result(asyncio.run(meet()))
            except BaseException as error:
                met.set_exception(error)

        threading.Thread(target=run, name="meet", daemon=True).start()
        met.result()

    async def close(self) -> None:
        """Disconnect. Agent and user processes go on."""
        for task in self._again:
            task.cancel()
        await self.cache.close()
        await self._client.close()

    async def shut_down_agent(self) -> None:
        """End agent and keeper (tests, uninstalling). Raises AgentError while an attempt is not reaped."""
        await self._client.shut_down()

    async def nodes(self) -> tuple[Node, ...]:
        """Return this machine, or the virtual nodes that share it. Raises Unavailable while its agent cannot be
        used.
        """
        if self._client.trouble:
            raise Unavailable(self._client.trouble)
        self.runtime.look()
        found = self.sandbox
        kind = "bubblewrap" if found.bwrap else f"none: {render.text(found.why or starting.sandboxes_off())}"
        free = seccomp.missing() if found.bwrap else starting.there_is_no_sandbox()
        calls = f"not filtered: {render.text(free)}" if free else "filtered"
        network = render.text(apart.sharing(found.bwrap, self.config.local.network))
        containers = self.runtime.fact()
        return self.host.nodes(
            (
                ("sandbox", kind),
                ("containers", containers),
                ("system calls", calls),
                ("network", network),
                ("cgroups", self.cgroups_detail),
            )
        )

    def card_usage(self) -> Mapping[str, Sequence[CardUsage]]:
        """Return how busy the machine's cards are."""
        return self.host.card_usage()

    def isolation(self) -> dict[str, str]:
        """Return {kind: bubblewrap | none, detail}."""
        why = "bubblewrap" if self.sandbox.bwrap else render.text(self.sandbox.why) if self.sandbox.why else ""
        return {"kind": "bubblewrap" if self.sandbox.bwrap else "none", "detail": why}

    # -- tasks ---------------------------------------------------------------------------------------------------

    def prepare(self, gang: Gang) -> NativeRequest:
        """Return the exact commands, environments and sandboxes. Pure. Raises ValueError or KeyError for an impossible
        gang.
        """
        tasks = preparing.prepare(at_copies(gang, self.settings), self.layout, self.settings)
        return NativeRequest("local", preparing.document(tasks, self.settings.bwrap))

    def places(self) -> tuple[str, ...]:
        """Return where the Python environment and its interpreter lie, in a sandbox; without one nothing is mounted
        anywhere.
        """
        own = self.settings
        return sandbox.environment(own.environment, own.package).folders if own.bwrap else ()

    def check_gang(self, gang: Gang) -> GangFindings:
        """Return that no image is pulled and, where there is no sandbox, what cannot be mounted; that is known once it
        was started.
        """
        started, own = bool(self.settings.package), without_containers(gang)
        return own + without_sandbox(gang) if started and not self.settings.bwrap else own

    def no_environments(self) -> Said | None:
        """Return None: they lie on this machine."""
        return None

    def no_containers(self) -> Said | None:
        """Return why no image can be had of a runtime, as it was seen last."""
        return self.runtime.why_none(None if self.sandbox.bwrap else containers_need_sandbox())

    def no_cache(self) -> Said | None:
        """Return why inputs are not cached, None when they are."""
        return self.cache.why_none(bool(self.sandbox.bwrap))

    async def cache_inputs(self, gang: Gang, tell: Callable[[Said], bool]) -> tuple[Said, ...]:
        """Copy what is to be cached; return why something is not."""
        return await self.cache.bring(attempt_id(gang.job, gang.attempt), gang, tell)

    def announce(self, gang: Gang) -> None:
        """Let the agent make ready what it may be told to launch."""
        if self._client.tell("announce", gang=gang):
            self._announced[attempt_id(gang.job, gang.attempt)] = gang

    async def launch(self, gang: Gang) -> None:
        """Start all tasks or none. Raises LaunchRefused, Unavailable."""
        await self.launch_with(gang, {})

    async def launch_with(self, gang: Gang, values: Mapping[str, str]) -> None:
        """Like `launch`, with the values of the gang's secrets."""
        attempt = attempt_id(gang.job, gang.attempt)
        self._held.setdefault(attempt, [])
        try:
            told = await self._launch(attempt, gang, values)
        except AgentError as error:
            self._known.pop(attempt, None)
            if error.code == NOT_NOW:
                raise Unavailable(say.agent_not_able_now(error.said)) from error
            self.cache.release(attempt)
            raise LaunchRefused(error.code, error.said) from error
        finally:  # the caller must note the launch before it hears of its tasks
            asyncio.get_running_loop().call_soon(self._release, attempt)
        for code, said in told["notes"]:
            if code != NOT_CACHED or not self.cache.has_told(attempt):
                self._sink(Note(attempt, code, said_from_json(said)))
        self.cache.release(attempt)
        self._held.setdefault(attempt, [])[:0] = told["tasks"]  # older than what was pushed since

    async def _launch(self, attempt: str, gang: Gang, values: Mapping[str, str]) -> Any:
        if values:
            self._announced.pop(attempt, None)
            return await self._client.request("launch", gang=gang, secrets=values)
        if self._announced.pop(attempt, None) == gang:
            try:
                return await self._client.request("launch", attempt=attempt)
            except AgentError as error:
                if error.code != "not_ready":  # another agent, or it failed: send it whole
                    raise
        return await self._client.request("launch", gang=gang)

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Return what the agent knows of each attempt. Raises Unavailable."""
        answers = await self._client.request("observe", attempts=list(attempts))
        reports = []
        for attempt, told in zip(attempts, answers, strict=True):
            if told["known"]:
                self._known.setdefault(attempt, {})
            for event in told["tasks"]:
                self._tell_notes(event)
            reports.append(AttemptReport(attempt, told["known"], tuple(_report(event) for event in told["tasks"])))
        return tuple(reports)

    async def signal(self, attempt: str, signum: int) -> None:
        """Send a signal to the user's processes of every running task. Raises Unavailable."""
        await self._client.request("signal", attempt=attempt, signum=signum)

    async def reap(self, attempt: str, grace_s: float) -> None:
        """End everything of `attempt`; return when nothing is left. Raises Unavailable."""
        self._announced.pop(attempt, None)
        self.cache.release(attempt)
        await self._client.request("reap", attempt=attempt, grace_s=grace_s)
        self._known.pop(attempt, None)
        self._noted.pop(attempt, None)

    async def attach(
        self, attempt: str, role: int, index: int, argv: Sequence[str], window: Window | None, *, kept: bool = False
    ) -> Terminal:
        """Run `argv` inside the running task, or what is kept of it. Raises Conflict, Unavailable."""
        if kept:
            await self._let_in(attempt, role, index)
        else:
            (report,) = await self.observe([attempt])
            demand_running(report.tasks, role, index)
        entry = Entry(self.layout.home, self.layout.data, attempt, role, index, tuple(argv))
        words = [sys.executable, "-I", "-S", "-c", start("agent.enter"), self.settings.package, entry.word()]
        marker = f"{attempt}/{task_name(role, index)}"
        return ChildTerminal.start(words, {preparing.MARKER: marker}, window)

    async def _let_in(self, attempt: str, role: int, index: int) -> None:
        try:
            await self._client.request("enter", attempt=attempt, role=role, index=index)
        except AgentError as error:
            if error.code == NOT_NOW:
                raise Unavailable(say.task_not_entered_now(error.said)) from error
            raise Conflict(say.task_not_kept(task_name(role, index))) from error

    # -- what the agent says -------------------------------------------------------------------------------------

    def _greet(self) -> dict[str, Any]:
        return {"settings": self.settings.to_json()}

    def _connected(self, hello: dict[str, Any]) -> None:
        if hello.get("elsewhere"):
            log.warning(
                "this home folder is a copy, or was moved to another disk: its records name %s attempts whose "
                "tasks are not here. This server counts them as lost and touches nothing that runs of them",
                hello["elsewhere"],
            )
        version, self._agents_data = hello["cgroups"], hello.get("data", "")
        self.cgroups_detail = f"version {version}" if version else render.text(said_from_json(hello["no_cgroups"]))
        if not self.settings.cgroups:
            self.cgroups_detail = "switched off"
        if self._known:  # a reconnect: report what happened meanwhile
            task = asyncio.get_running_loop().create_task(self._catch_up(tuple(self._known)))
            self._again.add(task)
            task.add_done_callback(self._again.discard)

    async def _catch_up(self, attempts: tuple[str, ...]) -> None:
        answers = await self._client.request("observe", attempts=list(attempts))
        for told in answers:
            for event in told["tasks"]:
                self._event(event)

    def _event(self, event: dict[str, Any]) -> None:
        held = self._held.get(event["attempt"])
        if held is not None:
            held.append(event)
        else:
            self._push(event)

    def _release(self, attempt: str) -> None:
        for event in self._held.pop(attempt, ()):
            self._push(event)

    def _push(self, event: dict[str, Any]) -> None:
        """Tell the server what is new; an end whose start was never told is told as both."""
        if event["event"] == "note":
            self._sink(Note(event["attempt"], event["code"], said_from_json(event["said"])))
            return
        tasks = self._known.setdefault(event["attempt"], {})
        key, kind = (event["role"], event["index"]), event["kind"]
        before = tasks.get(key)
        if before == kind or before in ENDED:
            return
        tasks[key] = kind
        self._tell_notes(event)
        if before is None and kind != "running" and event["started_at"]:
            started = event.get("started") or ""
            self._sink(TaskReport(event["attempt"], *key, "running", event["started_at"], stamp=started))
        self._sink(_report(event))

    def _tell_notes(self, event: dict[str, Any]) -> None:
        """Tell once what is to be said of a task that has ended, beside why: it comes before its end."""
        noted, key = self._noted.setdefault(event["attempt"], set()), (event["role"], event["index"])
        if key not in noted and event.get("notes"):
            noted.add(key)
            for said in event["notes"]:
                self._sink(Note(event["attempt"], AFTER_HOOK, said_from_json(said), key))


def _report(event: dict[str, Any]) -> TaskReport:
    return TaskReport(
        event["attempt"],
        event["role"],
        event["index"],
        event["kind"],
        event["at"],
        event.get("exit_code"),
        event.get("signal"),
        verdict_from_json(event.get("verdict")),
        event.get("stamp") or "",
    )
