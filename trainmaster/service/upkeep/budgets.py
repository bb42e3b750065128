"""Keeps what is known of money true: reads the balances with the live jobs, and tells of budgets that are spent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.service.money.purses import Purses
from trainmaster.store.money.entries import BudgetAlarm, MoneyRows

log = logging.getLogger("trainmaster.budgets")

EVERY_S: Final = 30.0
"""Between two looks at what was spent of the budgets."""


class BudgetKeeper:
    """One object per server; in the loop's thread. `tell_alarms` tells of those that are new, and returns them."""

    def __init__(
        self, purses: Purses, rows: MoneyRows, tell_alarms: Callable[[], Awaitable[Sequence[BudgetAlarm]]]
    ) -> None:
        self._purses, self._rows, self._tell_alarms = purses, rows, tell_alarms

    async def restore(self) -> None:
        """Begin anew from the stored entries. While nothing is being made durable. Raises StorageFailed."""
        async with self._purses.changing:
            self._purses.load(await asyncio.to_thread(self._rows.balances))

    async def follow(self) -> None:
        """Tell of every alarm, again and again."""
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                for alarm in await self._tell_alarms():
                    log.warning(
                        "workspace %s has spent %d%% of its budget of %s", alarm.workspace, alarm.percent, alarm.month
                    )
            except TrainmasterError as error:
                log.warning("budgets could not be looked at; tried again later: %s", error)
