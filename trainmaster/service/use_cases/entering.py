"""Entering tasks that run, or are held after a failure: who may, how many at once, and the note of it in the job's
history before anything is run.
"""

import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Conflict, RateLimited, Unavailable
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import attempt_id, task_name
from trainmaster.core.records import Job
from trainmaster.core.states import Phase, TaskPhase
from trainmaster.engines.base import Terminal, Window
from trainmaster.messages.jobs import jobs
from trainmaster.service.context import Context
from trainmaster.service.use_cases.jobs import task_in

MOST: Final = 20
"""Commands that one person may run inside tasks at a time: each is a process of the server."""


class Entering:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._open: Counter[str] = Counter()  # by person

    @asynccontextmanager
    async def enter(
        self, job: Job, task: str, argv: Sequence[str], window: Window | None, who: Principal
    ) -> AsyncIterator[Terminal]:
        """Run `argv` inside `task` (``task0-0`` or ``worker-0``) of the job while the context is held, then hang up.

        Raises NotFound, Forbidden, Conflict while the task neither runs nor is held, RateLimited, StorageFailed,
        Unavailable.
        """
        decide(who, "jobs:write", job).demand()
        role, index = task_in(job, task)
        number, kept = self._place(job, role, index)
        engine = self._ctx.engines.up(self._ctx.engines.of(job.pool))
        attaches = self._ctx.engines.abilities(engine).attaches
        if attaches is None:
            raise Unavailable(jobs.engine_without_entering(engine.name))
        if self._open[who.name] >= MOST:
            raise RateLimited(jobs.too_many_entered(MOST))
        self._open[who.name] += 1
        try:
            data = {"role": role, "index": index, "program": os.path.basename(argv[0])}
            self._ctx.master.apply(Event(job.id, Kind.ENTERED, self._ctx.clock(), who.name, number, data, by=who.actor))
            await self._ctx.master.durable()
            terminal = await attaches.attach(attempt_id(job.id, number), role, index, argv, window, kept=kept)
            try:
                yield terminal
            finally:
                await terminal.close()
        finally:
            self._open[who.name] -= 1

    @staticmethod
    def _place(job: Job, role: int, index: int) -> tuple[int, bool]:
        """Return the number of the attempt in which the task runs, or is kept after its end, and which of both. Raises
        Conflict.
        """
        name = task_name(role, index)
        if job.terminal:
            raise Conflict(jobs.entering_ended_job(job.id))
        task = job.attempt.task(role, index) if job.attempt is not None else None
        if job.attempt is None or task is None or task.phase is TaskPhase.WAITING:
            raise Conflict(jobs.entering_waiting_task(name, job.id))
        kept = job.attempt.phase is Phase.RETAINED and task.ended
        if task.ended and not kept:
            raise Conflict(jobs.entering_ended_task(name, job.id))
        return job.attempt.number, kept
