"""From a gang to a job in Slurm's queue. The work on folders and with sbatch is done by a process of its own
(`submitter`).

Invariants: what was submitted is on disk before `submit` returns, and an attempt whose submission was not answered is
looked for by its name before it is submitted again.
"""

import asyncio
import contextlib
import itertools
import logging
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from socket import socketpair
from typing import Any, Final, TypeVar, cast

import msgspec

from trainmaster.agent.folder import Folder, StepWork, step_text, write_whole
from trainmaster.agent.place import PACKAGE
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import attempt_id
from trainmaster.core.launch import Asked, Gang
from trainmaster.engines.base import LaunchRefused
from trainmaster.engines.slurm.attempts import stored, submitter, turn
from trainmaster.engines.slurm.attempts.asking import Asking
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.attempts.people import ClusterPeople, SystemUser
from trainmaster.engines.slurm.attempts.queue import Queue
from trainmaster.engines.slurm.client.commands import (
    Access,
    ClusterDown,
    ClusterRefused,
    command,
    environment,
    failure,
    said_by,
)
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.script import AttemptPlace, BatchMember, BatchScript, batch, script_alone
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.jobs import starting

log = logging.getLogger("trainmaster.slurm")
T = TypeVar("T")

AT_ONCE: Final = 64
"""Attempts that are with the submitter at the same time."""
AHEAD_S: Final = 2.0
"""How long what was announced is remembered."""
LEAVE_S: Final = 1.0
"""How long the submitter has to end with the server. What it has to finish it finishes later."""
SLACK_S: Final = 10.0
"""How long the submitter may be busy with others once it is its turn."""
AGAIN: Final = frozenset({"begin", "turn"})
"""Requests that may be carried out twice: another submitter is asked where one ends without an answer."""
CODE: Final = str(PACKAGE.parent)
"""Folder of which the submitter imports our package."""


async def storing(what: Callable[..., T], *args: Any) -> T:
    """Work in the shared folder, in a thread. Raises Unavailable where that cannot be done now."""
    try:
        return await asyncio.to_thread(what, *args)
    except OSError as error:
        raise unwritable(error.strerror or str(error), error.filename) from error


def unwritable(why: str, where: str | None) -> Unavailable:
    """Return what to raise when the shared folder cannot be written: nothing was submitted then, or it is found by its
    name.
    """
    return Unavailable(slurm.shared_file_unwritable(why, where) if where else slurm.shared_folder_unwritable(why))


def check_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer. Raises Unavailable for one of a file that cannot be written."""
    if "error" in answer:
        raise unwritable(*answer["error"])
    return answer


class Gone(ClusterDown):
    """The submitter has ended: what became of a request that it did not answer is not known."""

    def __init__(self) -> None:
        super().__init__(slurm.submitter_ended())


class Hand(asyncio.Protocol):
    """The server's end of the submitter, which is started when it is first needed and again when it has ended.

    Invariant: nothing is asked of a process that is known to have ended, and another is started only when all that the
    first had answered has been read.

    `lock`: the path of a file; of those that name the same one works at a time, whichever servers have started them.
    """

    def __init__(self, access: Access, lock: str) -> None:
        self.access, self._lock = access, lock
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._starting = asyncio.Lock()
        self._parted = asyncio.Event()  # set once all that the last submitter said is read
        self._closed = False
        self._inbox = b""
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}

    @property
    def there(self) -> bool:
        """Whether the submitter runs: then `send` may be called. One system call."""
        return self._transport is not None and self._process is not None and self._process.poll() is None

    def send(self, op: str, **more: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a request; the future has its answer, or ClusterDown."""
        assert self._transport is not None
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._transport.write(msgspec.json.encode({"id": number, "op": op, **more}) + b"\n")
        return answer

    async def ask(self, op: str, **more: Any) -> dict[str, Any]:
        """Return the answer to a request. Raises ClusterDown when there is none, Unavailable where a file cannot be
        written.
        """
        await self.start()
        try:
            return check_answer(await self.send(op, **more))
        except Gone:
            if self._closed or op not in AGAIN:
                raise
        await self.start()
        return check_answer(await self.send(op, **more))

    async def turn(self) -> None:
        """Return when nothing that an earlier submitter has begun can come to Slurm any more.

        Raises ClusterDown, also when ours does not answer although its wait must be over: then it is killed.
        """
        try:
            async with asyncio.timeout(2 * self.access.timeout_s + turn.DYING_S + SLACK_S):
                await self.ask("turn")
        except TimeoutError:
            log.warning("The process that submits does not answer and is killed")
            if self._process is not None:
                self._process.kill()
            raise ClusterDown(slurm.submitter_silent()) from None

    async def start(self) -> None:
        """Start the submitter unless it runs. Raises ClusterDown."""
        if self.there:
            return
        async with self._starting:
            if self._transport is not None and not self.there:
                await self._parted.wait()
            if self._transport is None:
                await self._start()

    async def _start(self) -> None:
        ours, its = socketpair()
        with its:
            words = [sys.executable, "-I", "-S", "-c", submitter.START, CODE, str(self.access.timeout_s), self._lock]
            try:
                self._process = subprocess.Popen(
                    words,
                    env=environment(self.access),
                    cwd="/",
                    start_new_session=True,
                    stdin=its.fileno(),
                    stdout=subprocess.DEVNULL,
                )
            except OSError as error:
                ours.close()
                raise ClusterDown(slurm.submitter_not_started(error.strerror or str(error))) from error
        ours.setblocking(False)
        self._parted.clear()
        made, _ = await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
        self._transport = cast(asyncio.WriteTransport, made)  # uvloop's is one without saying so

    async def close(self) -> None:
        """Let it finish what it has begun, and go."""
        self._closed = True
        if self._transport is not None:
            self._transport.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, LEAVE_S)

    def data_received(self, data: bytes) -> None:
        """Hand on every answer that is whole."""
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            told = msgspec.json.decode(line)
            answer = self._asked.pop(told["id"], None)
            if answer is not None and not answer.done():
                answer.set_result(told)

    def connection_lost(self, exc: Exception | None) -> None:
        """Say to all who wait that it is not known what became of what they asked."""
        self._transport, self._inbox = None, b""
        self._parted.set()
        waiting, self._asked = self._asked, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(Gone())


@dataclass(frozen=True, slots=True)
class Order:
    """What will be submitted: all that follows from a gang, as whose job, and the folder."""

    gang: Gang
    attempt: str
    user: SystemUser
    shared: Folder
    work: StepWork
    batch: BatchScript


class Submitting:
    """Submits the attempts of one cluster. `package`: where our code lies on the shared folder, known once the engine
    has started.
    """

    def __init__(
        self, hand: Hand, layout: Layout, asking: Asking, people: ClusterPeople, queue: Queue, own: SlurmEngineConfig
    ) -> None:
        self.hand, self._layout, self._asking, self._people, self._queue = hand, layout, asking, people, queue
        self._own = own
        self.package = ""
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._begun: dict[str, tuple[Order, asyncio.Future[dict[str, Any]]]] = {}  # announced
        self._launched: set[str] = set()  # being submitted: an announcement comes too late

    def script(self, gang: Gang) -> str:
        """Return the batch script. Pure. Raises ValueError for what cannot be asked of Slurm."""
        shared = self._folder(gang)
        return script_alone(self._batch(gang, shared), BatchMember(attempt_id(gang.job, gang.attempt), shared.path))

    def _folder(self, gang: Gang) -> Folder:
        return Folder(self._layout.attempt(gang.job, gang.attempt))

    def _batch(self, gang: Gang, shared: Folder) -> BatchScript:
        place = AttemptPlace(shared.path, self.package, self._own.python, self._own.scratch, self._own.fetch_s)
        return batch(gang, self._asking.terms(gang.asked or Asked("")), place)

    def _order(self, gang: Gang, user: SystemUser) -> Order:
        """Return all that follows from `gang`. Raises ValueError for what cannot be asked of Slurm."""
        shared = self._folder(gang)
        work = self._asking.work(gang, self._layout.bulk, self.package)
        return Order(gang, attempt_id(gang.job, gang.attempt), user, shared, work, self._batch(gang, shared))

    def _begin(self, order: Order, single: bool = False) -> dict[str, Any]:
        """Return what the submitter is told first. `single`: the attempt may be no element of an array."""
        name = order.user.name
        argv = command(self.hand.access, "sbatch", ("--parsable",), name)
        told = {
            "attempt": order.attempt,
            "step": step_text(order.work),
            "user": name,
            "batch": order.batch,
            "argv": argv,
            "alone": single,
        }
        return {"folder": order.shared.path, **told}

    def announce(self, gang: Gang) -> None:
        """Let what would be submitted be written down, while the order to do so is not yet durable."""
        # In the next turn of the loop: the ledger's thread gets its batch first.
        asyncio.get_running_loop().call_soon(self._announce, gang)

    def _announce(self, gang: Gang) -> None:
        attempt, user = attempt_id(gang.job, gang.attempt), self._people.remembered(gang.user)
        new = attempt not in self._begun and attempt not in self._launched
        free = new and len(self._begun) < AT_ONCE and not self._turns.locked()
        if free and user is not None and self.hand.there:
            try:
                order = self._order(gang, user)
            except ValueError:
                return  # `submit` will raise it again
            begun = self.hand.send("begin", **self._begin(order))
            begun.add_done_callback(lambda done: done.cancelled() or done.exception())  # `submit` raises it
            self._begun[attempt] = order, begun
            asyncio.get_running_loop().call_later(AHEAD_S, self.forget, attempt)

    def forget(self, attempt: str) -> None:
        """Forget what was announced."""
        self._begun.pop(attempt, None)

    async def submit(self, attempt: str, gang: Gang) -> Following:
        """Put the gang into Slurm's queue, unless it is there already. Raises LaunchRefused, Unavailable."""
        self._launched.add(attempt)
        try:
            return await self._submit(attempt, gang)
        finally:
            self._launched.discard(attempt)

    async def _submit(self, attempt: str, gang: Gang) -> Following:
        async with self._turns:
            user = await self._people.user(gang.user)
            order, begun = self._begun.pop(attempt, (None, None))
            try:
                if begun is not None:
                    await asyncio.wait({begun})  # even if `gang` has changed since: both would write one folder
                lost = begun is None or isinstance(begun.exception(), Gone)  # then a new submitter has to begin it
                if order is None or begun is None or lost or order.gang != gang:
                    order = self._order(gang, user)
                    fresh = (await self.hand.ask("begin", **self._begin(order)))["ok"]
                else:
                    fresh = check_answer(await begun)["ok"]
                found = None if fresh else await self._before(order)
                if found is None:
                    if user.name:
                        await storing(self._people.open, gang, order.shared, user)
                    found = await self._run(order)
            except ValueError as error:
                raise LaunchRefused("launch_failed", said_by(error)) from error
            return Following(attempt, order.shared, order.work, *found, user.name)

    async def _before(self, order: Order) -> tuple[str, JobId] | None:
        """Return how Slurm calls what was submitted before, None when that has not come to Slurm: then all is as we
        would have it.

        Raises LaunchRefused, Unavailable.
        """
        before = await storing(stored.remembered, order.shared)
        if before is None or before.closed:
            raise LaunchRefused("launch_failed", starting.attempt_reaped(order.attempt))
        found = await self._queue.submitted(before, order.attempt, order.user.name)
        if found is None:
            await storing(order.shared.open, step_text(order.work))
        return found

    async def _run(self, order: Order) -> tuple[str, JobId]:
        told = await self.hand.ask("submit", folder=order.shared.path)
        if "unknown" in told:  # the submitter that began it has ended
            raise Gone
        if "late" in told:
            raise ClusterDown(slurm.sbatch_silent())
        if "refused" in told:
            try:
                raise failure("sbatch", *told["refused"])
            except ClusterRefused as error:
                if told["together"]:  # the cluster may allow no arrays, or only small ones: try it alone
                    await self.hand.ask("begin", **self._begin(order, single=True))
                    return await self._run(order)
                await storing(write_whole, order.shared.file(submitter.CLOSED), "")
                raise LaunchRefused("launch_failed", error.said) from error
        name, number, element = told["ok"]
        return name, JobId(number, element)
