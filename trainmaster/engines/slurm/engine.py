"""The engine of a Slurm cluster: one batch job for each attempt, followed through Slurm's queue and the attempt's
folder.

The server and the nodes share the data folder (`server.data`) and need nothing else of each other. Slurm decides order,
places and start times. Invariants: what was submitted is on disk before the launch returns (`submitting`), and whatever
Slurm starts twice runs once (`agent.folder.Folder.claim`).
"""

import asyncio
import logging
import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from trainmaster.agent.folder import Folder
from trainmaster.core.config import Config
from trainmaster.core.errors import Problem, TrainmasterError, Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.launch import Asked, Gang
from trainmaster.core.records import Node, Role
from trainmaster.engines.base import AttemptReport, Fact, NativeRequest, Note, Refused, Sink, Terminal, Waiting, Window
from trainmaster.engines.findings import GangFindings, without_containers, without_sandbox, without_volumes
from trainmaster.engines.runtime import ContainerRuntime
from trainmaster.engines.slurm import entering, script
from trainmaster.engines.slurm.attempts import stored
from trainmaster.engines.slurm.attempts.asking import Asking
from trainmaster.engines.slurm.attempts.cancelling import Cancelling, Wish
from trainmaster.engines.slurm.attempts.delivery import deliver
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.attempts.people import ClusterPeople
from trainmaster.engines.slurm.attempts.queue import Queue
from trainmaster.engines.slurm.attempts.submitting import Hand, Submitting, storing
from trainmaster.engines.slurm.checks import checks
from trainmaster.engines.slurm.client import rest
from trainmaster.engines.slurm.client.commands import Access, ClusterRefused, Commands, said_by
from trainmaster.engines.slurm.client.estimates import ClusterEstimates
from trainmaster.engines.slurm.client.machines import Machines
from trainmaster.engines.slurm.messages import slurm, slurm_rules
from trainmaster.engines.slurm.mirror import mirrors
from trainmaster.engines.slurm.mirror.mirrors import Mirrors
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.engines.slurm.wrong import Wrong
from trainmaster.messages import render
from trainmaster.messages.said import Said, verbatim

log = logging.getLogger("trainmaster.slurm")

LOOK_S: Final = 1.0
"""Between two questions to Slurm, and between two looks into the folders, while anything is live."""
SLACK_S: Final = 10.0
"""What agents, and a job that they have left, have beyond the grace period to end by themselves, before Slurm is told
to end it.
"""
AGAIN_S: Final = 30.0
"""Slurm is told again so long after, while it still has it: it may have hidden from us what it was told to end."""
NOT_OURS: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What taking in a fact raises that no agent of ours has written."""


class SlurmEngine:
    """One cluster. See engines.base.Engine for the promises of each method."""

    owns_queue = True

    def __init__(
        self, name: str, own: SlurmEngineConfig, layout: Layout, config: Config, pools: Sequence[str] = ()
    ) -> None:
        self.name, self.own, self.layout, self.config = name, own, layout, config
        self.commands = Commands(Access(own.conf, own.programs))
        self.people = ClusterPeople(name, own, layout, self.commands)
        service = self.people.service
        self.reading = rest.reading(own, self.commands, service)
        self.machines = Machines(self.reading, tuple(pools), own)
        self.asking = Asking(own, config.limits, self.machines)
        self.estimates = ClusterEstimates(self.commands, self.machines)
        self.queue = Queue(self.reading, service)
        self.cancelling = Cancelling(self.commands, self.queue)
        self.runtime = ContainerRuntime(config.local.containers)
        hand = Hand(self.commands.access, layout.path("run", f"{name}.submitter"))
        self.submitting = Submitting(hand, layout, self.asking, self.people, self.queue, own)
        self.mirrors = Mirrors(self.commands.access, own.python, own.scratch, self._take_note) if own.scratch else None
        self.version = (0, 0, 0)
        self._sink: Sink = lambda fact: None
        self._following: dict[str, Following] = {}
        self._launching: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()  # set when somebody waits for the next answer
        self._answered = asyncio.Condition()
        self._answers = 0
        self._trouble: Said | None = None  # why the last question got no answer

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self, sink: Sink) -> None:
        """Ask the cluster who it is, and bring our code to the shared folder. Raises Unavailable."""
        self._sink = sink
        called = checks.scratch(self.own.scratch) if self.own.scratch else checks.path(self.layout.bulk)
        if not called.ok:
            raise Unavailable(called.said)
        try:
            self.version = await self.commands.version()
            await self.people.check()
            self.submitting.package = await asyncio.to_thread(deliver, self.layout.bulk)
            await self.machines.read()
            await self.submitting.hand.start()
            await asyncio.to_thread(self.runtime.look_first)
        except (ClusterRefused, ValueError) as error:
            raise Unavailable(slurm.slurm_unusable(said_by(error))) from error
        except OSError as error:
            raise Unavailable(slurm.data_folder_unwritable(self.layout.bulk, error.strerror or str(error))) from error
        for work in (self._follow_queue, self._follow_folders):
            task = asyncio.get_running_loop().create_task(work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Disconnect. What runs and waits goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.mirrors is not None:
            await self.mirrors.close()
        await self.reading.close()
        await self.submitting.hand.close()

    async def nodes(self) -> tuple[Node, ...]:
        """Return the machines of our partitions. Raises Unavailable."""
        self.runtime.look()
        try:
            return await self.machines.nodes(self.isolation(), self.runtime.fact(self.no_containers()))
        except (ClusterRefused, ValueError) as error:
            raise Unavailable(slurm.slurm_nodes_not_told(said_by(error))) from error

    def isolation(self) -> dict[str, str]:
        """Return what is asked for; whether a node has it is known there, and told by the attempt."""
        kind = "none" if self.own.sandbox == "none" else "bubblewrap"
        return {"kind": kind, "detail": render.text(slurm.sandbox_where_it_is()) if self.own.sandbox == "auto" else ""}

    # -- starting ------------------------------------------------------------------------------------------------

    def prepare(self, gang: Gang) -> NativeRequest:
        """Return the batch script, and whose it would be. Pure. Raises ValueError for what cannot be asked of Slurm."""
        user = self.people.name_of(gang.user) or self.people.service
        return NativeRequest("slurm", {"user": user, "script": self.submitting.script(gang)}, self.people.warnings())

    def places(self) -> tuple[str, ...]:
        """Return the Python environment that is named; where its interpreter lies is known on a node."""
        return (self.own.environment,) if self.own.environment and self.own.sandbox != "none" else ()

    async def owner_problem(self, owner: str) -> Problem | None:
        """Return why jobs of `owner` cannot run as the system user that they would have to. Raises Unavailable."""
        return await self.people.problem(owner)

    def objections(self, roles: Sequence[Role], asked: Asked) -> tuple[Problem, ...]:
        """Return what the limits of the partition say against it, as they were read last."""
        return self.asking.objections(roles, asked)

    def check_gang(self, gang: Gang) -> GangFindings:
        """Return that no image is pulled, and what cannot be mounted; with sandboxes "auto" a node knows."""
        own = without_containers(gang) + without_volumes(gang, self.layout.bulk if self.own.scratch else "")
        return own + without_sandbox(gang) if self.own.sandbox == "none" else own

    def no_environments(self) -> Said | None:
        """Return that nodes cannot read them where they do not share our data."""
        return slurm_rules.environments_not_shared() if self.own.scratch else None

    def no_containers(self) -> Said | None:
        """Return why no files of an image can be shown; with sandboxes "auto" a node knows whether it has one."""
        if self.own.scratch:
            return slurm_rules.containers_not_shared()
        return self.runtime.why_none(slurm_rules.containers_unsandboxed() if self.own.sandbox == "none" else None)

    async def estimate(self, gang: Gang) -> Waiting | Refused:
        """Return what Slurm foresees. Raises Unavailable."""
        attempt, asked = attempt_id(gang.job, gang.attempt), gang.asked or Asked("")
        try:
            text = self.submitting.script(gang)
            user = await self.people.user(gang.user)
            return await self.estimates.of(attempt, asked.pool, text, len(script.components(gang.roles)), user.name)
        except ValueError as error:
            return Refused(attempt, "launch_failed", said_by(error), time.time())

    def announce(self, gang: Gang) -> None:
        """Write down what would be submitted."""
        self.submitting.announce(gang)

    async def launch(self, gang: Gang) -> None:
        """Put the gang into Slurm's queue. Raises LaunchRefused, Unavailable."""
        attempt = attempt_id(gang.job, gang.attempt)
        async with self._launching.setdefault(attempt, asyncio.Lock()):
            if attempt not in self._following:
                self._follow(await self.submitting.submit(attempt, gang))
        self._launching.pop(attempt, None)

    async def adjust(self, attempt: str, asked: Asked) -> None:
        """Tell Slurm of another limit or class. Where it keeps what it has, the attempt gets a note."""
        following = self._following.get(attempt)
        if following is None or following.over:
            return
        for change, code, kept in self.asking.changes(asked):
            try:
                await self.commands.run("scontrol", "update", f"JobId={following.id}", change, user=following.user)
            except ClusterRefused as error:
                self._sink(Note(attempt, code, kept(error.said)))

    # -- following -----------------------------------------------------------------------------------------------

    def _folder(self, attempt: str) -> Folder:
        return Folder(self.layout.attempt(*split_attempt_id(attempt)))

    def _follow(self, following: Following) -> None:
        """Push what becomes of it from now on, but nothing before the caller has had its turn."""
        self._following[following.attempt] = following
        self.queue.users.add(following.user)
        asyncio.get_running_loop().call_soon(setattr, following, "held", False)
        self._news.set()

    async def _follow_queue(self) -> None:
        while True:
            trouble, began = None, time.monotonic()
            try:
                await self._ask_slurm(list(self._following.values()))
            except TrainmasterError as error:
                trouble = error.said
                log.warning("%s: %s", self.name, error.message)
            except Exception as error:  # one strange answer must not end the following of all jobs
                trouble = slurm.slurm_not_understood(error.said if isinstance(error, Wrong) else repr(error))
                log.exception("%s: what Slurm said was not understood", self.name)
            async with self._answered:
                self._answers, self._trouble = self._answers + 1, trouble
                self._answered.notify_all()
            pause = max(LOOK_S / 4, 5 * (time.monotonic() - began))  # a slow answer loads the controller
            with suppress(TimeoutError):
                async with asyncio.timeout(max(LOOK_S, pause) if self._following else None):
                    await self._news.wait()
                await asyncio.sleep(pause)
            self._news.clear()

    async def _ask_slurm(self, about: Iterable[Following]) -> None:
        """Ask once about all of these and push what is new. Raises ClusterDown, ClusterRefused, ValueError."""
        asked = [one for one in about if not one.over]
        if asked:
            told = await self.queue.look({one.attempt: one.known for one in asked})
            for one in asked:
                self._push(one, one.looked(told[one.attempt], time.time()))

    async def _follow_folders(self) -> None:
        while True:
            try:
                running = [one for one in self._following.values() if one.runs]
                if self.mirrors is not None:
                    self.mirrors.tend(running)
                await self._read([one for one in running if not one.settled])
            except Exception:  # one strange fact must not end the following of all jobs
                log.exception("%s: what the nodes wrote was not understood", self.name)
            await asyncio.sleep(LOOK_S / 2)

    async def _read(self, about: Sequence[Following]) -> None:
        """Read what the nodes wrote about these, and push what is new."""
        if self.mirrors is not None:  # what the nodes wrote last may still be on its way
            about = [one for one in about if not (one.over and self.mirrors.busy(one))]
        if not about:
            return
        seen = await asyncio.to_thread(lambda: [stored.read_all(one) for one in about])
        for one, found in zip(about, seen, strict=True):
            if found is None:
                continue
            one.listened({part: beat for part, _, _, beat in found.parts}, time.monotonic())
            for part, facts, offset, _ in found.parts:
                one.parts[part] = offset
                try:
                    self._push(one, one.heard(part, facts))
                except NOT_OURS:  # the user's own tasks could have written that
                    log.exception("%s: what %s wrote about %s was not understood", self.name, part, one.attempt)
            said = verbatim(found.words) if found.words else None
            if said is None and self.mirrors is not None:
                said = self.mirrors.why_silent(one)
            self._push(one, one.read(time.time(), said))

    def _take_note(self, note: Note) -> None:
        self._sink(note)

    def _push(self, one: Following, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if not one.held:
                self._sink(fact)
            else:
                asyncio.get_running_loop().call_soon(self._sink, fact)

    async def observe(self, attempts: Sequence[str]) -> tuple[AttemptReport, ...]:
        """Return what is known of each. Raises Unavailable while the cluster does not answer about one that is not
        followed yet.
        """
        fresh = []
        for attempt in attempts:
            if attempt not in self._following and (one := await self._find(attempt)) is not None:
                fresh.append(one)
        if fresh:
            await self._ask_about(fresh)
            for one in fresh:
                self._follow(one)
        found = ((attempt, self._following.get(attempt)) for attempt in attempts)
        return tuple(one.report() if one is not None else AttemptReport(name, known=False) for name, one in found)

    async def _find(self, attempt: str, closed: bool = False) -> Following | None:
        """Return what the folder of `attempt` tells that another server launched, None when none did or, unless
        `closed`, it was reaped.
        """
        shared = self._folder(attempt)
        before = await asyncio.to_thread(stored.remembered, shared)
        if before is None or (before.closed and not closed):
            return None
        user = before.user if before.name else self.people.name_of(before.work.gang.user)
        found = await self.queue.submitted(before, attempt, user)
        return None if found is None else Following(attempt, shared, before.work, *found, user, ran=before.ran)

    async def _ask_about(self, fresh: list[Following]) -> None:
        """Learn all there is about these; what they tell is told by `observe` itself."""
        sink, self._sink = self._sink, lambda fact: None
        try:
            await self._ask_slurm(fresh)
            for _ in range(4):
                await self._read([one for one in fresh if one.runs])
        finally:
            self._sink = sink

    # -- ending --------------------------------------------------------------------------------------------------

    async def signal(self, attempt: str, signum: int) -> None:
        """Let the agents send a signal to the user's processes of every running task."""
        following = self._following.get(attempt)
        if following is not None and following.began and not following.settled:
            await asyncio.to_thread(following.shared.order, "signal", signum=signum)

    async def reap(self, attempt: str, grace_s: float) -> None:
        """End everything of `attempt`; return when Slurm and the agents say that nothing is left. Raises
        Unavailable.
        """
        await storing(stored.close, self._folder(attempt), grace_s)
        submitting = self._launching.setdefault(attempt, asyncio.Lock())
        async with submitting:  # a launch that comes later is refused: the folder is closed
            following = self._following.get(attempt)
            if following is None:
                await self.submitting.hand.turn()  # an earlier server's submitter may be submitting it now
                following = await self._find(attempt, closed=True)
        if following is not None:
            self._following.setdefault(attempt, following)
            await self._end(following, grace_s)
        await storing(mirrors.conclude, self._folder(attempt), self.layout.incomplete(*split_attempt_id(attempt)))
        self._following.pop(attempt, None)
        if self.mirrors is not None:
            self.mirrors.forget(attempt)
        self._launching.pop(attempt, None)
        self.submitting.forget(attempt)

    async def _end(self, one: Following, grace_s: float) -> None:
        loop = asyncio.get_running_loop()
        since, told = loop.time(), -math.inf
        while True:
            await self._answer()
            await self._read([one])
            over, fetching = one.over, self._fetches(one)
            if self.mirrors is not None and fetching and not one.alive:
                since = max(since, self.mirrors.progressed(one))
            patience_s = 0.0
            if one.began and not one.put_back:  # its agents end by themselves; give them, and the fetching, time
                patience_s = grace_s + SLACK_S + (self.own.fetch_s if fetching and not one.alive else 0.0)
            if not over and loop.time() >= max(since + patience_s, told + AGAIN_S):
                components = len(one.work.components)
                await self.cancelling.cancel(Wish(one.name, one.id.element, one.user, alone=components > 1))
                told = loop.time()
            if over and not one.alive and not fetching:
                return

    def _fetches(self, one: Following) -> bool:
        """Return whether something of it is still to be fetched from its nodes."""
        if self.mirrors is None:
            return False
        self.mirrors.tend([one])
        return self.mirrors.busy(one)

    async def _answer(self) -> None:
        """Wait until Slurm was asked. Raises Unavailable when it did not answer."""
        wanted = self._answers + 1
        self._news.set()
        async with self._answered:
            await self._answered.wait_for(lambda: self._answers >= wanted)
            if self._trouble is not None:
                raise Unavailable(slurm.slurm_silent(self._trouble))

    async def attach(
        self, attempt: str, role: int, index: int, argv: Sequence[str], window: Window | None, *, kept: bool = False
    ) -> Terminal:
        """Run `argv` inside the running task, by a step of its own. Raises Conflict, Unavailable."""
        place = entering.ClusterPlace(self.commands.access, self.submitting.package, self.own.python, self.own.scratch)
        return await entering.enter(place, self._following.get(attempt), role, index, argv, window, kept=kept)
