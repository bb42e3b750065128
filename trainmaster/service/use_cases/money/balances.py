"""Balances of workspaces: how they stand, what was entered, credit limits and budgets. The platform's administrators
enter credits and corrections; whoever is in a workspace sees how it stands.

Invariant: an entry is added and never changed; what holds in memory is what the disk holds.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.answers import AlarmView, BalancesView, BalanceView, EntryPage, EntryView
from trainmaster.core.cluster import Budget
from trainmaster.core.errors import InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import did_itself, subject_of
from trainmaster.core.money.amounts import amount_text, shown_amount
from trainmaster.core.money.metering import uses
from trainmaster.core.states import JobState
from trainmaster.messages.cluster import cluster
from trainmaster.messages.server import money
from trainmaster.service.context import Context
from trainmaster.service.money.months import Month, month_at
from trainmaster.service.use_cases.money.spending import spending
from trainmaster.store.money.entries import CORRECTION, USE, BudgetAlarm, MoneyEntry

MOST_ALARMS: Final = 10


class Balances:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx, self._rows = context, context.entries
        self._zone = ZoneInfo(context.config.money.time_zone)

    # -- looking -------------------------------------------------------------------------------------------------

    async def all(self, who: Principal) -> BalancesView:
        """Return how every workspace stands that the caller is in, of which there may be none. Raises Forbidden."""
        visible = decide(who, "balance:read").visible
        names = [name for name in self._ctx.pools.workspaces if visible.covers(InWorkspace(name))]
        return BalancesView(priced=self._ctx.purses.in_use, items=await self._views(names))

    async def of(self, workspace: str, who: Principal) -> BalanceView:
        """Return how a workspace stands. Raises NotFound, also for one that the caller is not in."""
        self._demand(workspace, who, "balance:read")
        return (await self._views([workspace]))[0]

    async def entries(self, workspace: str, who: Principal, limit: int = 50, cursor: str | None = None) -> EntryPage:
        """Return one page of entries, newest first: of who does not see all of the workspace, what their own jobs used.
        `cursor`: the number it begins below. Raises NotFound.
        """
        self._demand(workspace, who, "balance:read")
        visible = decide(who, "usage:read").demand()
        before = None if cursor is None else int(cursor)
        found = await asyncio.to_thread(self._rows.page, visible, workspace, limit + 1, before)
        following = str(found[limit - 1].seq) if len(found) > limit else None
        return EntryPage(workspace=workspace, items=list(map(self._entry, found[:limit])), next_cursor=following)

    # -- changing ------------------------------------------------------------------------------------------------

    async def enter(
        self, workspace: str, who: Principal, kind: str, amount: int, note: str = "", key: str | None = None
    ) -> EntryView:
        """Add a credit, which less than 0 takes one back, or a correction of what use cost. Whatever takes something
        away or corrects says why. The same `key` again adds nothing.

        Raises NotFound, Forbidden, InvalidSpec, Conflict, StorageFailed.
        """
        self._demand(workspace, who, "balance:write")
        _refuse(_entry_problems(kind, amount, note))
        purses, text = self._ctx.purses, amount_text(amount)
        async with self._ctx.pools.changing(), purses.changing:  # nobody removes the workspace meanwhile
            self._demand(workspace, who, "balance:write")
            now = self._ctx.clock()
            at = round(now * 1000)
            said = money.credit_entered(workspace, text)
            if kind == CORRECTION:
                said = money.balance_corrected(workspace, text, note)
            wanted = MoneyEntry(now, kind, workspace, amount, at, at, by=who.name, note=note, key=key)
            audit_event = who.did(subject_of("workspace", workspace), said, now)
            entry, stored = await asyncio.to_thread(self._rows.add, wanted, audit_event)
            if stored:
                purses.entered(workspace, amount)
        return self._entry(entry)

    async def set_budget(self, budget: Budget, who: Principal) -> BalanceView:
        """Let a workspace have this credit limit and budget. Raises NotFound, Forbidden, InvalidSpec, StorageFailed."""
        self._demand(budget.workspace, who, "balance:write")
        alarms = budget.alarms
        if len(alarms) > MOST_ALARMS or not all(1 <= percent <= 1000 for percent in alarms):
            _refuse([problem_of("alarms", money.not_alarms(MOST_ALARMS))])
        async with self._ctx.pools.changing():
            self._demand(budget.workspace, who, "balance:write")
            await self._ctx.pools.put("budget", budget.workspace, budget, who.actor)
        return (await self._views([budget.workspace]))[0]

    # -- alarms --------------------------------------------------------------------------------------------------

    async def tell_alarms(self) -> list[BudgetAlarm]:
        """Tell once of every part of a budget that was spent; return those that are new. Raises StorageFailed."""
        budgets = [one for one in self._ctx.pools.budgets.values() if one.monthly is not None and one.alarms]
        if not budgets:
            return []
        now = self._ctx.clock()
        month = month_at(now, self._zone)
        spent = await self._spent(month)
        told = {(one.workspace, one.percent) for one in await asyncio.to_thread(self._rows.alarms, [month.name])}
        found = [
            BudgetAlarm(one.workspace, month.name, percent, now, spent[one.workspace], one.monthly or 0)
            for one in budgets
            for percent in sorted(set(one.alarms))
            if (one.workspace, percent) not in told and _reached(spent[one.workspace], one.monthly or 0, percent)
        ]
        for alarm in found:
            texts = shown_amount(alarm.spent), shown_amount(alarm.budget)
            said = money.budget_alarm(alarm.workspace, alarm.month, alarm.percent, *texts)
            audit_event = did_itself(subject_of("workspace", alarm.workspace), said, now)
            await asyncio.to_thread(self._rows.alarm, alarm, audit_event)
        return found

    async def _spent(self, month: Month) -> Counter[str]:
        """Return what every workspace has spent in a month so far: its use, less what was given back."""
        read = partial(self._rows.spent_by_all, month.whole)
        found: Counter[str] = Counter()
        for spent in await spending(self._ctx, month.whole, lambda _: True, read):
            if spent.kind in (USE, CORRECTION):
                found[spent.workspace] -= spent.amount
        return found

    def _running(self, now: float) -> Counter[str]:
        found: Counter[str] = Counter()
        for job in self._ctx.master.live.values():
            if job.state is JobState.ACTIVE:
                found[job.workspace] += sum(use.amount for use in uses(job, now))
        return found

    async def _views(self, names: Iterable[str]) -> list[BalanceView]:
        now = self._ctx.clock()
        month = month_at(now, self._zone)
        spent = await self._spent(month)
        alarmed: defaultdict[str, list[AlarmView]] = defaultdict(list)
        for one in await asyncio.to_thread(self._rows.alarms, [month.name]):
            alarmed[one.workspace].append(_alarm(one))
        running = self._running(now)  # with the balances, in one turn of the loop
        return [self._view(name, now, month.name, spent[name], running[name], alarmed[name]) for name in names]

    def _view(
        self, name: str, now: float, month: str, spent: int, running: int, alarmed: list[AlarmView]
    ) -> BalanceView:
        stands, purses = self._ctx.purses.standing(name, now), self._ctx.purses
        budget = self._ctx.pools.budgets.get(name, Budget(name))
        return BalanceView(
            workspace=name,
            currency=self._ctx.config.money.currency,
            balance=amount_text(purses.settled(name)),
            running=amount_text(running),
            reserved=amount_text(stands.reserved),
            credit_limit=None if stands.credit_limit is None else amount_text(stands.credit_limit),
            available=None if stands.available is None else amount_text(stands.available),
            in_arrears=stands.in_arrears,
            month=month,
            time_zone=self._zone.key,
            budget=None if budget.monthly is None else amount_text(budget.monthly),
            spent=amount_text(spent),
            alarms=list(budget.alarms),
            alarmed=alarmed,
        )

    def _demand(self, workspace: str, who: Principal, scope: str) -> None:
        """Return when `who` may do this in a workspace that exists: of one they are not in nothing is told."""
        if workspace not in self._ctx.pools.workspaces:
            raise NotFound(cluster.workspace_not_found(workspace, sorted(self._ctx.pools.workspaces)))
        decide(who, scope, InWorkspace(workspace)).demand()

    def _entry(self, one: MoneyEntry) -> EntryView:
        return EntryView(
            id=self._ctx.seals.id("entry", one.seq),
            at=one.at,
            kind=one.kind,  # type: ignore[arg-type]
            amount=amount_text(one.amount),
            by=one.by,
            note=one.note,
            owner=one.owner,
            job=one.job,
            attempt=one.attempt,
            role=one.role,
            pool=one.pool,
            flavor=one.flavor,
            machines=one.machines,
            since=one.start_ms / 1000,
            until=one.end_ms / 1000,
            price=amount_text(one.price),
        )


def _reached(spent: int, budget: int, percent: int) -> bool:
    return spent > 0 and spent * 100 >= budget * percent


def _entry_problems(kind: str, amount: int, note: str) -> list[Problem]:
    found = []
    if amount == 0:
        found.append(problem_of("amount", money.entry_of_nothing(), amount_text(amount)))
    if (kind == CORRECTION or amount < 0) and not note.strip():
        found.append(problem_of("note", money.entry_without_note()))
    return found


def _refuse(found: list[Problem]) -> None:
    if found:
        raise InvalidSpec(money.entry_not_accepted(), problems=tuple(found))


def _alarm(one: BudgetAlarm) -> AlarmView:
    return AlarmView(
        month=one.month,
        percent=one.percent,
        at=one.at,
        spent=amount_text(one.spent),
        budget=amount_text(one.budget),
    )
