"""What everybody used this month, added up once for all who ask: a page that everybody opens must not add up the
entries of the month each time.

Invariant: what is told is of this month and at most AGE_S old when nobody else asks; who asks meanwhile waits for
nothing.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

from trainmaster.answers import MonthUse, ReportDay
from trainmaster.core.money.amounts import amount_text
from trainmaster.service.context import Context
from trainmaster.service.money.months import Month, month_at
from trainmaster.service.use_cases.money.spending import spending
from trainmaster.store.money.entries import CORRECTION, USE, Spent

AGE_S = 60.0
"""After so long it is added up again."""


class MonthSpent(NamedTuple):
    """What was spent in a month, as it was known `at` that moment."""

    month: Month
    at: float
    parts: list[Spent]


class Months:
    """One object per server; in the loop's thread."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._zone = context, ZoneInfo(context.config.money.time_zone)
        self._known: MonthSpent | None = None
        self._task: asyncio.Task[MonthSpent] | None = None

    async def spent(self) -> MonthSpent:
        """Return what was spent this month. O(entries of the month) once a minute, else O(1). Raises StorageFailed."""
        now, known = self._ctx.clock(), self._known
        if known is not None and known.month.name == month_at(now, self._zone).name:
            if not 0 <= now - known.at < AGE_S:
                self._again()
            return known
        return await asyncio.shield(self._again())

    def _again(self) -> "asyncio.Task[MonthSpent]":
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._task

    async def _read(self) -> MonthSpent:
        now = self._ctx.clock()
        month = month_at(now, self._zone)
        read = partial(self._ctx.entries.spent_by_all, month.bounds)
        self._known = MonthSpent(month, now, await spending(self._ctx, month.bounds, lambda _: True, read))
        return self._known

    def use(self, found: MonthSpent, covers: Callable[[Spent], bool]) -> MonthUse:
        """Return what of `found` is covered, by day."""
        parts = [one for one in found.parts if one.kind == USE and covers(one)]
        days = [[0, 0, 0] for _ in found.month.bounds[1:]]
        for one in parts:
            for at, more in enumerate((one.machine_ms, one.gpu_ms, -one.amount)):
                days[one.span][at] += more
        machine_ms, gpu_ms, amount = (sum(day[at] for day in days) for at in range(3))
        return MonthUse(
            month=found.month.name,
            time_zone=self._zone.key,
            currency=self._ctx.config.money.currency,
            priced=self._ctx.purses.in_use,
            at=found.at,
            machine_s=machine_ms / 1000,
            gpu_s=gpu_ms / 1_000_000,
            amount=amount_text(amount),
            days=[
                ReportDay(day=name, machine_s=day[0] / 1000, gpu_s=day[1] / 1_000_000, amount=amount_text(day[2]))
                for name, day in zip(self._days(found.month), days, strict=True)
            ],
        )

    def _days(self, month: Month) -> list[str]:
        return [f"{datetime.fromtimestamp(begin / 1000, self._zone):%Y-%m-%d}" for begin in month.bounds[:-1]]


def spent_of_budget(parts: Iterable[Spent], workspace: str) -> int:
    """Return what a workspace has spent: its use, less what was given back."""
    return -sum(one.amount for one in parts if one.workspace == workspace and one.kind in (USE, CORRECTION))
