"""Turns what an engine reports into events, and asks it again where reports may have been missed.

Only facts that change something become events: a repeated report costs a dictionary look-up and is dropped. The same
code serves pushes, the slow reconciliation while something runs, and the first look after a restart (there is no
recovery mode).
"""

import asyncio
import logging
from typing import Final

from trainmaster.core.errors import StorageFailed, TrainmasterError, Unavailable
from trainmaster.core.events import Data, Event, Kind
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Attempt, Job, to_json
from trainmaster.core.states import Phase, TaskPhase
from trainmaster.core.verdicts import PLATFORM_STOPPED
from trainmaster.engines.base import AttemptReport, Engine, Fact, Note, Refused, Started, TaskReport, Waiting
from trainmaster.engines.registry import Engines
from trainmaster.messages.jobs import tasks
from trainmaster.service.control.clock import Clock
from trainmaster.service.control.master import Master
from trainmaster.service.scheduling.waits import NOT_STARTED, Waits

log = logging.getLogger("trainmaster.observe")

RECONCILE_S: Final = 10.0
"""Seconds between looks while attempts are live; pushes carry everything in between."""
LAUNCHED: Final = frozenset({Phase.PENDING, Phase.RUNNING, Phase.RETAINED})
"""Phases in which an attempt the engine does not know is lost."""
WATCHED: Final = LAUNCHED | {Phase.STARTING}
"""Phases in which the slow reconciliation goes on: a launch may be answered without any order that would begin it
again.
"""


class Observer:
    """One object per server."""

    def __init__(self, master: Master, engines: Engines, waits: Waits, clock: Clock) -> None:
        self._master, self._engines, self._waits, self._clock = master, engines, waits, clock
        self._task: asyncio.Task[None] | None = None

    def report(self, fact: Fact) -> None:
        """Take in one pushed fact (in the loop's thread)."""
        try:
            job_id, number = split_attempt_id(fact.attempt)
            job = self._master.live.get(job_id)
            if job is None or job.terminal or job.attempt is None or job.attempt.number != number:
                return
            event = self._event(job, job.attempt, fact)
            if event is not None:
                self._master.apply(event)
        except (StorageFailed, Unavailable):
            return  # asked again as soon as the ledger can be written
        except (TrainmasterError, KeyError, ValueError):
            log.exception("a report was not understood: %s", fact)

    def _event(self, job: Job, attempt: Attempt, fact: Fact) -> Event | None:
        """Return what `fact` changes; None when it changes nothing."""
        match fact:
            case TaskReport():
                return self._of_task(job, attempt, fact)
            case Note():
                task = attempt.task(*fact.of_end) if fact.of_end is not None else None
                if task is not None and task.ended:
                    return None  # an engine that was started anew tells all again
                data = {"code": fact.code, "said": fact.said.to_json()}
                return Event(job.id, Kind.NOTED, self._clock(), "agent", attempt.number, data)
            case Waiting() if attempt.phase in NOT_STARTED:
                self._waits.note(fact)
            case Started() if attempt.phase in NOT_STARTED:
                data = {"placement": to_json(fact.placement)}
                return Event(
                    job.id, Kind.STARTED, self._seen(fact.at, "", attempt.created_at), "engine", attempt.number, data
                )
            case Refused() if attempt.phase in NOT_STARTED and fact.node is not None:
                data = {"node": fact.node, "said": fact.said.to_json()}
                return Event(
                    job.id, Kind.BAD_NODE, self._seen(fact.at, "", attempt.created_at), "engine", attempt.number, data
                )
            case Refused() if attempt.phase in NOT_STARTED:
                data = {"code": fact.code, "said": fact.said.to_json()}
                return Event(
                    job.id,
                    Kind.LAUNCH_FAILED,
                    self._seen(fact.at, "", attempt.created_at),
                    "engine",
                    attempt.number,
                    data,
                )
        return None

    def _seen(self, at: float, stamp: str, since: float) -> float:
        """Return when something was seen, by our clock: exactly where this machine's kernel has stamped it, else by the
        clock of whoever saw it, which may differ from ours, but not before `since` and not in the future.
        """
        found = self._clock.of(stamp)
        return found if found is not None else min(max(at, since), self._clock())

    def _of_task(self, job: Job, attempt: Attempt, report: TaskReport) -> Event | None:
        task = attempt.task(report.role, report.index)
        if task is None or task.ended:
            return None
        data: Data = {"role": report.role, "index": report.index}
        at = self._seen(report.at, report.stamp, task.started_at or attempt.accepted_at or attempt.created_at)
        if report.kind == "running":
            if task.phase is not TaskPhase.WAITING:
                return None
            return Event(job.id, Kind.TASK_RUNNING, at, "agent", attempt.number, data)
        if report.kind == "lost":
            if report.verdict is not None and report.verdict.said is not None:
                data["said"] = report.verdict.said.to_json()
            if report.verdict is not None and report.verdict.code == PLATFORM_STOPPED:
                data["code"] = report.verdict.code
            return Event(job.id, Kind.TASK_LOST, at, "agent", attempt.number, data)
        data["exit_code"], data["signal"] = report.exit_code, report.signal
        if report.verdict is not None:
            data["verdict"] = to_json(report.verdict)
        return Event(job.id, Kind.TASK_EXITED, at, "agent", attempt.number, data)

    async def look(self) -> None:
        """Ask every engine about the attempts that were launched on it; of one that does not answer nothing is
        learnt.
        """
        asked: dict[str, list[str]] = {engine.name: [] for engine in self._engines}
        for job in self._master.live.values():
            if job.attempt is not None and job.attempt.phase in LAUNCHED:
                asked[self._engines.of(job.pool).name].append(attempt_id(job.id, job.attempt.number))
        await asyncio.gather(*(self._ask(engine, asked[engine.name]) for engine in self._engines))

    async def _ask(self, engine: Engine, attempts: list[str]) -> None:
        if not attempts:
            return
        try:
            answers = await self._engines.up(engine).observe(attempts)
        except TrainmasterError as error:
            log.warning("the engine %s did not answer: %s", engine.name, error.message)
            return
        for answer in answers:
            self._take_in(answer)

    def _take_in(self, answer: AttemptReport) -> None:
        if not answer.known:
            self._lost(answer.attempt)
            return
        if answer.queue is not None:
            self.report(answer.queue)
        for report in answer.tasks:
            self.report(report)

    def _lost(self, key: str) -> None:
        job_id, number = split_attempt_id(key)
        job = self._master.live.get(job_id)
        attempt = job.attempt if job is not None else None
        if job is None or attempt is None or attempt.number != number or attempt.phase not in LAUNCHED:
            return
        if attempt.phase is Phase.PENDING:
            self._master.apply(
                Event(
                    job_id, Kind.FAULT, self._clock(), "system", number, {"said": tasks.attempt_forgotten().to_json()}
                )
            )
            return
        for task in attempt.tasks:
            if not task.ended:
                data = {"role": task.role, "index": task.index, "said": tasks.attempt_forgotten().to_json()}
                self._master.apply(Event(job_id, Kind.TASK_LOST, self._clock(), "system", number, data))

    def watch(self) -> None:
        """Begin the slow reconciliation, unless it goes on already; it ends by itself when nothing runs."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._reconcile())

    async def _reconcile(self) -> None:
        while any(job.attempt is not None and job.attempt.phase in WATCHED for job in self._master.live.values()):
            await asyncio.sleep(RECONCILE_S)
            await self.look()

    async def close(self) -> None:
        """End the reconciliation."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
