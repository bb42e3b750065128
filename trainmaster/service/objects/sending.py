"""Outputs and logs of jobs on their way to object storage, while the jobs run and after (R147, R148, R158).

A place is a row before its job starts (`begin`), so a server that is killed loses none. Every so often a pass copies
what has settled (`storage/objects/sending`); once the ledger says that the job is over, a last one the rest. What
hinders it is tried again, ever more rarely, for a day after the job; then it has failed, in words, until it is asked
for again. Invariants: only places that are open are looked at; no workspace waits for the store of another; that a
place is done is told once in the history of its job. Methods in the loop's thread, but for those that say so.
"""

import asyncio
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from trainmaster.core.config import StorageConfig
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.core.sending import LOGS, FileState, SendState, SendTarget, SentFile
from trainmaster.messages.assets import objects as said
from trainmaster.messages.jobs import files
from trainmaster.messages.said import Said
from trainmaster.service.helpers.own_thread import in_own_thread
from trainmaster.service.objects.connections import StoreConnections
from trainmaster.spec.inputs import split_place
from trainmaster.spec.job import JobSpec
from trainmaster.spec.outputs import fresh, place_of
from trainmaster.storage.logs.whole import Logs
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.storage.objects.sending import SendPass, SendPlan, is_empty
from trainmaster.store.sending.rows import SendRows

log = logging.getLogger("trainmaster.sending")

TICK_S: Final = 0.5
AT_ONCE: Final = 2
"""Passes of one workspace under way."""
REST: Final = 4.0
"""The pause behind a look at the folder of a running job, at least, as a multiple of it."""
FIRST_S: Final = 5.0
LONGEST_S: Final = 300.0
GIVE_UP_S: Final = 86400.0
LATE_S: Final = 600.0
"""By which the clock of a node may be behind, when a log is asked whether its job wrote it."""
PATIENCE_S: Final = 60.0
"""For which a store may be away before a job that asks for an empty place is not started."""
Tell = Callable[[Said], bool]
Told = Callable[[SendTarget], Awaitable[None]]
"""Tells the history of a job what became of a place, once."""


class _Closing(Exception):
    """The server ends, or nobody wants it any more."""


@dataclass(slots=True)
class _Open:
    """A place that there is something to do for."""

    target: SendTarget
    due: float = 0.0  # by the monotonic clock
    over: Job | None = None
    known: dict[str, SentFile] | None = None
    work: SendPass | None = None
    looked_s: float = 0.0
    task: "asyncio.Task[None] | None" = field(default=None)

    def now(self) -> SendTarget:
        """Return the place as it is in the middle of a pass, too."""
        one, work = self.target, self.work
        if work is None:
            return one
        files, size = one.files + work.sent_files, one.size_bytes + work.sent_bytes
        return replace(one, files=files, size_bytes=size, left_files=work.left_files, left_bytes=work.left_bytes)


class Sending:
    """One object per server; sees the jobs as `LiveWatcher`. `find`: reads a job from the ledger; it may block."""

    def __init__(
        self,
        rows: SendRows,
        connections: StoreConnections,
        layout: Layout,
        clock: Callable[[], float],
        find: Callable[[str], Job | None],
        config: StorageConfig,
    ) -> None:
        self.rows, self._connections, self._layout = rows, connections, layout
        self._clock, self._find, self._every_s = clock, find, config.send_every_s
        self._open: dict[tuple[int, int], _Open] = {}
        self._running: set[str] = set()
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # by workspace
        self._closing = False
        self.told: Told | None = None
        self.first_s, self.give_up_s, self.patience_s = FIRST_S, GIVE_UP_S, PATIENCE_S

    # -- the jobs ----------------------------------------------------------------------------------------------

    def moved(self, before: Job | None, after: Job) -> None:
        """See nothing: only what is durable counts."""

    def restore(self, jobs: Iterable[Job]) -> None:
        """Know which jobs are not over."""
        self._running = {job.id for job in jobs if not job.terminal}

    def stored(self, changed: Iterable[Job]) -> None:
        """See which jobs began and ended. What is open of one that ended is due now."""
        for job in changed:
            if not job.terminal:
                self._running.add(job.id)
            elif job.id in self._running:
                self._running.discard(job.id)
                for one in self._open.values():
                    if one.target.job == job.id:
                        one.due = 0.0

    async def begin(self, job: Job, spec: JobSpec, tell: Tell) -> Said | None:
        """Let the places of a job be known, before it starts; return what speaks against them. Raises Unavailable."""
        there = await asyncio.to_thread(self.rows.of_job, job.seq) if spec.outputs else []
        if there or not spec.outputs:
            return None
        made = []
        for number, item in enumerate(spec.outputs):
            place, empty = place_of(item.s3, job.id, job.name), fresh(item.s3)
            if not empty:
                try:
                    found = await self._patiently(job.workspace, place, item.if_exists == "refuse", tell)
                except StoreFailed as error:
                    return error.said
                if found is None:
                    return None  # nobody wants it any more
                if item.if_exists == "refuse" and not found:
                    return said.send_place_not_empty(place)
                empty = found
            made.append(SendTarget(job.id, job.seq, number, job.workspace, place, item.folder, item.if_exists, empty))
        await asyncio.to_thread(self.rows.add, made)
        for one in made:
            self._open.setdefault((one.seq, one.number), _Open(one))
        return None

    async def _patiently(self, workspace: str, place: str, must: bool, tell: Tell) -> bool | None:
        """Return whether a place is empty; False where a store is away and it need not be known, None where nobody
        wants to know any more. Raises StoreFailed, Unavailable.
        """
        since = time.monotonic()
        while True:
            if not tell(said.looking_at_outputs(place)):
                return None
            try:
                async with self._slot(workspace):
                    return await in_own_thread(lambda: self._empty(workspace, place), "look")
            except StoreFailed as error:
                if error.lasting or (must and time.monotonic() - since > self.patience_s):
                    raise
                if not must:
                    return False
                if not tell(said.looking_at_outputs_again(error.said)):
                    return None
            await asyncio.sleep(1.0)

    def _empty(self, workspace: str, place: str) -> bool:
        name, path = split_place(place)
        bucket = self._connections.open(workspace, name)
        return is_empty(bucket, bucket.target.place(path))

    async def again(self, seq: int) -> int:
        """Open what failed of a job, or was left out; return how many places that are."""
        count = await asyncio.to_thread(self.rows.again, seq, self._clock())
        if count:
            await self._load()
        return count

    def live(self, targets: Iterable[SendTarget]) -> list[SendTarget]:
        """Return places as they are at this moment, of what is being sent, too."""
        found = ((one, self._open.get((one.seq, one.number))) for one in targets)
        return [one if known is None else known.now() for one, known in found]

    # -- again and again ---------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Send what there is to send, for as long as the server leads."""
        self._closing = False
        self._open.clear()
        try:
            while not await self._tried(self._load()):
                await asyncio.sleep(self.first_s)
            while True:
                now = time.monotonic()
                for one in self._open.values():
                    if one.task is None and one.due <= now:
                        one.task = asyncio.create_task(self._work(one))
                await asyncio.sleep(TICK_S)
        finally:
            self._closing = True  # threads that wait for a store are not waited for
            for one in self._open.values():
                if one.task is not None:
                    one.task.cancel()

    async def _load(self) -> None:
        for target in await asyncio.to_thread(self.rows.open):
            self._open.setdefault((target.seq, target.number), _Open(target))

    async def _work(self, one: _Open) -> None:
        try:
            await self._tried(self._pass(one))
        finally:
            one.task = None
            running = one.target.job in self._running and not one.target.tries
            pause = max(self._every_s, REST * one.looked_s) if running else 0.0  # it may have ended during the pass
            one.due = time.monotonic() + max(pause, one.target.next_at - self._clock(), TICK_S)

    async def _pass(self, one: _Open) -> None:
        """Send once what there is to send; keep how far that is."""
        target = one.target
        if target.job not in self._running and one.over is None:
            job = await asyncio.to_thread(self._find, target.job)
            if job is None:  # it was deleted
                self._open.pop((target.seq, target.number), None)
                return
            one.over = job if job.terminal else None
        if target.state is SendState.GOING:
            wrong: StoreFailed | None = None
            work: SendPass | None = None
            try:
                work = one.work = await self._prepared(one)
                async with self._slot(target.workspace):
                    await in_own_thread(partial(self._send, target, work), "send")
            except StoreFailed as error:
                wrong = error
            except OSError as error:
                wrong = StoreFailed(said.outputs_not_read(error.strerror or type(error).__name__), lasting=False)
            one.work, one.looked_s = None, work.looked_s if work is not None else 0.0
            await self._keep(one, self._after(one, work, wrong))
        if one.target.state is not SendState.GOING:
            await self._close(one)

    async def _prepared(self, one: _Open) -> SendPass:
        target = one.target
        if one.known is None:
            one.known = await asyncio.to_thread(self.rows.files, target)
        top, _, beneath = target.folder.partition("/")
        settled = None if one.over is not None else int((self._clock() - self._every_s) * 1e9)
        asks = target.if_exists != "overwrite" and not target.empty
        path = split_place(target.place)[1]
        if top == LOGS:
            until = math.inf if one.over is None else (one.over.ended_at or math.inf) + LATE_S
            plan = SendPlan(self._layout.attempts(target.job), "", path, asks, settled, Logs(until))
        else:
            root = self._layout.outputs(target.job) if top == "outputs" else self._layout.model_out(target.job)
            plan = SendPlan(root, beneath, path, asks, settled)

        def note(some: Iterable[SentFile]) -> None:
            self.rows.note(target, some)

        return SendPass(plan, one.known, note, self._go_on)

    def _send(self, target: SendTarget, work: SendPass) -> None:
        """In a thread of its own."""
        bucket = self._connections.open(target.workspace, split_place(target.place)[0], self._go_on)
        work.run(bucket)

    def _go_on(self) -> None:
        if self._closing:
            raise _Closing

    # -- what becomes of it ------------------------------------------------------------------------------------

    def _after(self, one: _Open, work: SendPass | None, wrong: StoreFailed | None) -> SendTarget:
        """Return what a pass has made of a place."""
        now, known, over = self._clock(), one.known or {}, one.over
        up = [file.size for file in known.values() if file.state is FileState.UP]
        out = sorted((file for file in known.values() if file.state is FileState.LEFT), key=lambda file: file.path)
        new = replace(
            one.target,
            files=len(up),
            size_bytes=sum(up),
            left_files=work.left_files if work is not None else one.target.left_files,
            left_bytes=work.left_bytes if work is not None else one.target.left_bytes,
            left_out=len(out),
            said=said.outputs_left_out_of_upload(len(out), out[0].path, out[0].said or files.output_not_readable())
            if out
            else None,
            tries=0,
            next_at=0.0,
        )
        if wrong is not None:
            new = replace(new, said=wrong.said, tries=new.tries + one.target.tries + 1)
            new = replace(new, next_at=now + min(LONGEST_S, self.first_s * 2.0 ** min(new.tries - 1, 10)))
            since = max(over.ended_at or now, one.target.changed_at) if over is not None else now
            if over is not None and (wrong.lasting or now - since > self.give_up_s):
                new = replace(new, state=SendState.FAILED, next_at=0.0)
        elif over is not None and new.left_files == 0:
            incomplete = os.path.lexists(self._layout.incomplete(over.id, over.attempts_used))
            new = replace(new, state=SendState.FAILED if incomplete else SendState.DONE)
            new = replace(new, said=files.outputs_not_fetched()) if incomplete else new
        return new

    async def _keep(self, one: _Open, new: SendTarget) -> None:
        if new == one.target:
            return
        if not await asyncio.to_thread(self.rows.put, new):  # the job was deleted
            self._open.pop((new.seq, new.number), None)
            raise _Closing
        one.target = new

    async def _close(self, one: _Open) -> None:
        """Tell what became of a place, and look at it no more."""
        if self.told is not None:
            await self.told(one.target)
        await self._keep(one, replace(one.target, open=False, changed_at=self._clock()))
        self._open.pop((one.target.seq, one.target.number), None)

    def _slot(self, workspace: str) -> asyncio.Semaphore:
        return self._slots.setdefault(workspace, asyncio.Semaphore(AT_ONCE))

    @staticmethod
    async def _tried(work: Coroutine[Any, Any, None]) -> bool:
        try:
            await work
        except (TrainmasterError, OSError, _Closing) as error:  # a full disk, a database that is away: said there
            log.debug("outputs could not be sent: %s", error)
            return False
        return True
