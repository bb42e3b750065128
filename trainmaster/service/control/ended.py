"""What may still be done to jobs that ended: they are deleted, by a person or by the rules by which things are kept,
and what people say of them is changed. One way for all.

Files go before the record: on a full disk the room that they leave lets it be removed. Ended in between, the job is
still there, without some of its files, and whoever asked was told nothing. Invariants: of several who delete a job at
once one does it; nobody changes a row that another changes or removes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from trainmaster.core.errors import Conflict, NotFound, StorageFailed, TrainmasterError
from trainmaster.core.events import AuditEvent, Event
from trainmaster.core.records import Job
from trainmaster.messages.jobs import jobs as said
from trainmaster.service.control.master import Master

PATIENCE_S: Final = 10.0
"""How long a deletion waits for a ledger on a full disk, which the files that it removed make room for."""


class EndedJobs:
    """One object per server; in the loop's thread. `remove_files` removes all of a job but saved models; it may
    block.
    """

    def __init__(self, master: Master, remove_files: Callable[[str], None]) -> None:
        self._master, self._remove_files = master, remove_files
        self._deleting = 0  # requests under way
        self._gone: set[str] = set()  # what they delete: each row goes once
        self._changed: dict[str, Job] = {}  # what was changed since a request found it
        self._turn = asyncio.Lock()  # from the look at a row to its change

    async def change(
        self, job_id: str, read: Callable[[str], Job | None], event_of: Callable[[Job], Event | None]
    ) -> Job | None:
        """Change a job that ended, or is about to; return it after that, None where it is there no more.

        `read` reads it from the ledger; it may block. `event_of` judges it as it is when its turn has come, and says
        what becomes of it, None: nothing. Returns once it is durable. Raises StorageFailed, Unavailable, and what
        `event_of` raises.
        """
        async with self._turn:
            job = self._master.live.get(job_id) or await asyncio.to_thread(read, job_id)
            if job is None:
                return None
            event = event_of(job)
            if event is None:
                return job
            job = self._master.apply_to_ended(job, event)
            if self._deleting:
                self._changed[job_id] = job
            await self._master.durable()
        return job

    async def delete(self, ref: str, find: Awaitable[Job], audit_event_of: Callable[[Job], AuditEvent]) -> None:
        """Delete the job that `find` finds for `ref`. `audit_event_of`: what the audit is told of it.

        Raises Conflict before its end, NotFound where another is deleting it, StorageFailed, and what `find` raises.
        """
        self._deleting += 1
        try:
            job = await find
            if job.id in self._gone:
                raise NotFound(said.job_being_deleted(repr(ref)))
            if not job.terminal:
                raise Conflict(said.no_deletion_before_end(job.id))
            await self._delete(job, audit_event_of(job))
        finally:
            self._deleting -= 1
            if not self._deleting:
                self._gone.clear()
                self._changed.clear()

    async def _delete(self, job: Job, audit_event: AuditEvent) -> None:
        self._gone.add(job.id)
        try:
            if job.id in self._master.live:
                await self._master.durable()  # its end is not on disk yet
            await asyncio.to_thread(self._remove_files, job.id)
            await self._forget(job, audit_event)
        except TrainmasterError:
            self._gone.discard(job.id)
            raise

    async def _forget(self, job: Job, audit_event: AuditEvent) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                async with self._turn:
                    self._master.delete(self._changed.get(job.id, job), audit_event)
                    await self._master.durable()
            except StorageFailed:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(0.5)
            else:
                return
