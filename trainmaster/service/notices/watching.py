"""What happens by nothing happening: a time limit comes near, a job is queued for longer than foreseen, GPUs do
nothing, a budget is spent.

Deadlines are on one heap with one timer. Only jobs that run with GPUs are looked at, in a thread, once a minute: their
samples are on the disk anyway. What was told is noted with it, so a server that is killed tells nothing twice.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from trainmaster.core.errors import TrainmasterError
from trainmaster.core.money.amounts import shown_amount
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Phase
from trainmaster.messages.said import Said
from trainmaster.messages.server import money
from trainmaster.messages.server import notices as said
from trainmaster.service.context import Context
from trainmaster.service.control.timers import Timers
from trainmaster.service.money.months import month_at
from trainmaster.service.notices.audience import Audience
from trainmaster.service.notices.kinds import BUDGET, IDLE, LIMIT, WAITS, Happening
from trainmaster.service.notices.storing import storage_alarms
from trainmaster.service.notices.telling import Teller
from trainmaster.storage import usage
from trainmaster.store.money.entries import BudgetAlarm
from trainmaster.store.notices.rows import NoticeRows

log = logging.getLogger("trainmaster.notices")

LEAD_S: Final = 900.0
"""So long before its end a job's time limit is near, but not before three quarters of it are over."""
SHORT_S: Final = 600.0
"""Of a limit below this nobody is warned: there is nothing that one could do."""
SLACK_S: Final = 300.0
"""So much later than foreseen is told."""
IDLE_S: Final = 1800.0
BUSY: Final = 0.01
"""GPUs do nothing that are used less than this (0..1)."""
LOOK_S: Final = 60.0
_LIMIT, _WAITS = "limit ", "waits "


@dataclass(slots=True)
class _Looked:
    """A job with GPUs: since when they do nothing, and the newest sample that says so."""

    since: float
    sample: float = 0.0
    told: bool = False


class NoticeWatch:
    """One object per server; in the loop's thread."""

    def __init__(self, context: Context, teller: Teller, rows: NoticeRows, audience: Audience) -> None:
        self._ctx, self._teller, self._rows, self._audience = context, teller, rows, audience
        self._timers = Timers(context.clock, self._due)
        self._with_gpus: dict[str, _Looked] = {}
        self._expected: dict[str, float] = {}
        self._alarmed: set[str] = set()
        self._telling: set[asyncio.Task[None]] = set()
        context.forecasts.on_told = self.expected

    # -- following the live jobs ---------------------------------------------------------------------------------

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job. O(log n) where a deadline moves, else O(1)."""
        if before is None or before.started_at != after.started_at or before.policy is not after.policy:
            self._set_limit(after)
        if after.terminal:
            self._timers.drop(_LIMIT + after.id)
        if after.state is not JobState.QUEUED and self._expected.pop(after.id, None) is not None:
            self._timers.drop(_WAITS + after.id)
        runs = after.attempt is not None and after.attempt.phase is Phase.RUNNING and after.state is JobState.ACTIVE
        if not runs:
            self._with_gpus.pop(after.id, None)
        elif after.id not in self._with_gpus and any(role.resources.gpu for role in after.roles):
            self._with_gpus[after.id] = _Looked(self._ctx.clock())

    def stored(self, changed: Iterable[Job]) -> None:
        """See what became durable."""
        self._teller.stored(changed)

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs."""
        self._with_gpus.clear()
        self._expected.clear()
        for job in jobs:
            self.moved(None, job)

    def expected(self, job: str, until: float | None) -> None:
        """Note by when a job was first expected to start at the latest."""
        if until is not None and self._expected.get(job) != until:
            self._expected[job] = until
            self._timers.set(_WAITS + job, until + SLACK_S)

    def _set_limit(self, job: Job) -> None:
        limit_s, ends = job.policy.duration_s, job.expires_at
        near = ends is not None and limit_s is not None and limit_s >= SHORT_S and not job.terminal
        self._timers.set(_LIMIT + job.id, ends - min(LEAD_S, limit_s / 4) if near and ends and limit_s else None)

    def _due(self, key: str) -> None:
        job = self._ctx.master.live.get(key[len(_LIMIT) :])
        if job is None:
            return
        found = self._near_limit(job) if key.startswith(_LIMIT) else self._late(job)
        if found is not None:
            task = asyncio.get_running_loop().create_task(self._tell(found))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    def _near_limit(self, job: Job) -> Happening | None:
        now, ends = self._ctx.clock(), job.expires_at
        if job.state is not JobState.ACTIVE or ends is None or ends <= now:
            return None
        return _of_job(
            job, LIMIT, f"{job.policy.duration_s:.0f}", now, said.notice_limit(job.name, ends - now)
        )  # fmt: skip

    def _late(self, job: Job) -> Happening | None:
        now, until = self._ctx.clock(), self._ctx.forecasts.calibration.until(job.id)
        if job.state is not JobState.QUEUED or until is None or now < until + SLACK_S:
            return None
        return _of_job(job, WAITS, str(job.attempts_used), now, said.notice_waits(job.name, until))

    async def _tell(self, one: Happening) -> None:
        try:
            await self._teller.tell(one)
        except TrainmasterError as error:
            log.warning("%s could not be told: %s", one.key, error)

    # -- looking ---------------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Look, again and again."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self.look()
            except (TrainmasterError, OSError) as error:
                log.warning("idle GPUs and budgets could not be looked at; tried again later: %s", error)

    async def look(self) -> None:
        """Look once. Raises StorageFailed, Unavailable."""
        await self._look_at_gpus()
        await self._look_at_budgets()
        await self._look_at_storage()

    async def close(self) -> None:
        """Wake no more."""
        self._timers.close()
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    async def _look_at_gpus(self) -> None:
        live = self._ctx.master.live
        jobs = [live[id_] for id_ in self._with_gpus if id_ in live]
        if not jobs:
            return
        used = await asyncio.to_thread(lambda: [(job, self._used(job)) for job in jobs])
        now = self._ctx.clock()
        for job, use in used:
            looked = self._with_gpus.get(job.id)
            if looked is None:
                continue
            if use is None or use[1] >= BUSY or use[0] <= looked.sample:  # unknown, or nobody measures any more
                looked.since = now
            looked.sample = use[0] if use is not None else looked.sample
            idle_s = now - looked.since
            if idle_s >= IDLE_S and job.attempt is not None and not looked.told:
                looked.told = True
                gpus = sum(round(role.resources.gpu * role.replicas) for role in job.roles)
                words = said.notice_idle(job.name, max(1, gpus), idle_s)
                await self._teller.tell(_of_job(job, IDLE, str(job.attempt.number), now, words))

    def _used(self, job: Job) -> tuple[float, float] | None:
        """Return (time of the newest sample, greatest use) of the GPUs of all its replicas; None where one is not
        known.
        """
        newest, greatest, attempt = 0.0, 0.0, job.attempt
        for task in () if attempt is None else attempt.tasks:
            if task.ended or not job.roles[task.role].resources.gpu:
                continue
            path = self._ctx.layout.task(job.id, attempt.number if attempt else 0, task.role, task.index).usage
            found = usage.busiest(path)
            if found is None:
                return None
            newest, greatest = max(newest, found[0]), max(greatest, found[1])
            if greatest >= BUSY:
                break
        return (newest, greatest) if newest else None

    async def _look_at_budgets(self) -> None:
        if not self._ctx.pools.budgets:
            return
        alarms = await asyncio.to_thread(self._ctx.entries.alarms, self._months())
        fresh = {_key(one): one for one in alarms if _key(one) not in self._alarmed}
        if fresh:
            told = await asyncio.to_thread(self._rows.told_once, fresh)
            for key, one in fresh.items():
                if key not in told:
                    await self._teller.tell(await asyncio.to_thread(self._alarm, key, one))
                self._alarmed.add(key)

    async def _look_at_storage(self) -> None:
        spaces, month = self._ctx.pools.workspaces.values(), max(self._months())
        limited = [one for one in spaces if one.storage or one.storage_per_person or one.storage_people]
        if not limited:
            return
        kept, now, leaders = self._ctx.kept, self._ctx.clock(), self._audience.leaders

        def reached() -> list[Happening]:
            return [alarm for one in limited for alarm in storage_alarms(kept, one, month, now, leaders)]

        fresh = {one.key: one for one in await asyncio.to_thread(reached) if one.key not in self._alarmed}
        told = await asyncio.to_thread(self._rows.told_once, fresh) if fresh else ()
        for key, one in fresh.items():
            if key not in told:
                await self._teller.tell(one)
            self._alarmed.add(key)

    async def begin(self) -> None:
        """Take the alarms that there were before anybody was told anything as told."""
        alarms = await asyncio.to_thread(self._ctx.entries.alarms, self._months())
        await asyncio.to_thread(self._rows.skip, [_key(one) for one in alarms], self._ctx.clock())

    def _months(self) -> set[str]:
        """Return this month, and on its first day the one before, whose last alarms may just have come."""
        now, zone = self._ctx.clock(), ZoneInfo(self._ctx.config.money.time_zone)
        return {month_at(at, zone).name for at in (now, now - 86400.0)}

    def _alarm(self, key: str, one: BudgetAlarm) -> Happening:
        texts = shown_amount(one.spent), shown_amount(one.budget)
        words = money.budget_alarm(one.workspace, one.month, one.percent, *texts)
        persons = self._audience.leaders(one.workspace)
        return Happening(BUDGET, key, one.at, words, one.workspace, once=True, persons=persons)


def _key(one: BudgetAlarm) -> str:
    return f"{BUDGET}/{one.workspace}/{one.month}/{one.percent}"


def _of_job(job: Job, kind: str, which: str, now: float, words: Said) -> Happening:
    return Happening(
        kind, f"{kind}/{job.id}/{which}", now, words, job.workspace, job.owner, job.id, job.name, once=True
    )
