"""Turns what an engine reports into events, and asks it again where reports may have been missed.

Only facts that change something become events: a repeated report costs a dictionary look-up and is dropped. The same code
serves pushes, the slow reconciliation while something runs, and the first look after a restart (there is no recovery mode).
"""

import asyncio
import logging
from typing import Any, Final

from trainmaster.core.errors import StorageFailed, TrainmasterError
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Job, to_json
from trainmaster.core.states import Phase, TaskPhase
from trainmaster.engines.base import Engine, Note, TaskReport
from trainmaster.service.master import Master

log = logging.getLogger("trainmaster.observe")

RECONCILE_S: Final = 10.0
"""Seconds between looks while attempts are live; pushes carry everything in between."""
LAUNCHED: Final = frozenset({Phase.RUNNING, Phase.RETAINED})
"""Phases in which an attempt the engine does not know has lost its tasks."""


class Observer:
    """One object per server."""

    def __init__(self, master: Master, engine: Engine, clock: Any) -> None:
        self._master, self._engine, self._clock = master, engine, clock
        self._task: asyncio.Task[None] | None = None

    def report(self, fact: TaskReport | Note) -> None:
        """Take in one pushed fact (in the loop's thread)."""
        try:
            job_id, number = split_attempt_id(fact.attempt)
            job = self._master.live.get(job_id)
            if job is None or job.terminal or job.attempt is None or job.attempt.number != number:
                return
            event = self._note(job, fact) if isinstance(fact, Note) else self._fact(job, fact)
            if event is not None:
                self._master.apply(event)
        except StorageFailed:
            return  # asked again as soon as the ledger can be written
        except (TrainmasterError, KeyError, ValueError):
            log.exception("a report was not understood: %s", fact)

    def _note(self, job: Job, note: Note) -> Event:
        number = job.attempt.number if job.attempt else 0
        return Event(job.id, Kind.NOTED, self._clock(), "agent", number, {"code": note.code, "message": note.message})

    def _fact(self, job: Job, report: TaskReport) -> Event | None:
        attempt = job.attempt
        task = attempt.task(report.role, report.index) if attempt is not None else None
        if attempt is None or task is None or task.ended:
            return None
        data: dict[str, Any] = {"role": report.role, "index": report.index}
        if report.kind == "running":
            if task.phase is not TaskPhase.WAITING:
                return None
            return Event(job.id, Kind.TASK_RUNNING, report.at, "agent", attempt.number, data)
        if report.kind == "lost":
            data["reason"] = report.verdict.message if report.verdict else ""
            return Event(job.id, Kind.TASK_LOST, report.at, "agent", attempt.number, data)
        data["exit_code"], data["signal"] = report.exit_code, report.signal
        if report.verdict is not None:
            data["verdict"] = to_json(report.verdict)
        return Event(job.id, Kind.TASK_EXITED, report.at, "agent", attempt.number, data)

    async def look(self) -> None:
        """Ask the engine about every launched attempt. Raises Unavailable when it does not answer."""
        asked = [job for job in self._master.live.values() if job.attempt is not None and job.attempt.phase in LAUNCHED]
        keys = [attempt_id(job.id, job.attempt.number) for job in asked if job.attempt is not None]
        if not keys:
            return
        for answer in await self._engine.observe(keys):
            if answer.known:
                for report in answer.tasks:
                    self.report(report)
            else:
                self._all_lost(answer.attempt)

    def _all_lost(self, key: str) -> None:
        job_id, number = split_attempt_id(key)
        job = self._master.live.get(job_id)
        attempt = job.attempt if job is not None else None
        if job is None or attempt is None or attempt.number != number or attempt.phase not in LAUNCHED:
            return
        for task in attempt.tasks:
            if not task.ended:
                data = {
                    "role": task.role,
                    "index": task.index,
                    "reason": "the engine knows nothing of this attempt any more",
                }
                self._master.apply(Event(job_id, Kind.TASK_LOST, self._clock(), "system", number, data))

    def watch(self) -> None:
        """Begin the slow reconciliation, unless it goes on already; it ends by itself when nothing runs."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._reconcile())

    async def _reconcile(self) -> None:
        while any(job.attempt is not None and job.attempt.phase in LAUNCHED for job in self._master.live.values()):
            await asyncio.sleep(RECONCILE_S)
            try:
                await self.look()
            except TrainmasterError as error:
                log.warning("the engine did not answer: %s", error.message)

    async def close(self) -> None:
        """End the reconciliation."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
