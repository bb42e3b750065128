"""What one person is shown first: what runs, waits and failed of their own, what is free, what they used and did; and
how the workspaces stand that they administer.

Reads what is in memory, and bounded pieces of the store by an index. Invariant: what it costs does not grow with the
jobs that have ended, but for the failed of the last days.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace, Visible
from trainmaster.answers import (
    AuditEventView,
    FreeCards,
    FreePool,
    HomePerson,
    HomeView,
    HomeWorkspace,
    JobView,
    PersonalLimit,
    PoolQuota,
)
from trainmaster.core.cluster import Budget, Pool, Workspace
from trainmaster.core.money.amounts import amount_text
from trainmaster.core.states import JobState, Shown
from trainmaster.queue.placing.capacity import Free
from trainmaster.queue.placing.need import WHOLE
from trainmaster.service.context import Context
from trainmaster.service.use_cases.auditing import AuditFilters, Auditing
from trainmaster.service.use_cases.cluster_parts import limits_of, shares_of, used_of
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.service.use_cases.personal.month import Months, MonthSpent, spent_of_budget
from trainmaster.service.use_cases.queueing import Queueing
from trainmaster.service.views import totals
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.money.entries import USE, Spent

SHOWN: Final = 8
"""Of each kind so many are shown."""
FAILED: Final = 5
FAILED_S: Final = 14 * 86_400.0
NEXT: Final = 5


@dataclass(slots=True)
class _Sums:
    """What one person has in one workspace."""

    running: int = 0
    waiting: int = 0
    gpu: float = 0.0
    gpu_ms: int = 0
    amount: int = 0


@dataclass(frozen=True, slots=True)
class _People:
    """Sums by workspace and person."""

    of: defaultdict[str, defaultdict[str, _Sums]] = field(default_factory=lambda: defaultdict(_by_person))


def _by_person() -> defaultdict[str, _Sums]:
    return defaultdict(_Sums)


class Home:
    """One object per server; in the loop's thread."""

    def __init__(self, context: Context, jobs: Jobs, queueing: Queueing, auditing: Auditing) -> None:
        self._ctx, self._jobs, self._queueing, self._auditing = context, jobs, queueing, auditing
        self._months = Months(context)

    async def of(self, who: Principal) -> HomeView:
        """Return what `who` is shown first. Raises Forbidden, StorageFailed. O(live jobs + nodes)."""
        visible, seq = decide(who, "jobs:read").demand(), self._ctx.feed.here()
        mine = [job for job in self._ctx.master.live.values() if job.owner == who.name and visible.covers(job)]
        running = sorted((job for job in mine if job.state is JobState.ACTIVE), key=lambda job: -job.seq)
        shown, failed, spent, did = await asyncio.gather(
            self._jobs.views(running[:SHOWN], who, seq),
            self._failed(who, visible, seq),
            self._months.spent(),
            self._did(who),
        )
        waiting = self._queueing.page(who, mine=True, limit=SHOWN)
        usage = decide(who, "usage:read").visible
        return HomeView(
            name=who.name,
            at=self._ctx.clock(),
            seq=seq,
            any=bool(mine) or bool(self._ctx.counts.by_state(visible, who.name)) or bool(failed),
            running=shown,
            running_total=len(running),
            waiting=[one for one in waiting.items if one.job is not None],
            waiting_total=len(mine) - len(running),
            failed=failed,
            free=[self._free(pool) for pool in self._ctx.pools.pools.values() if _may_use(who, pool)],
            use=self._months.use(spent, lambda one: one.owner == who.name and usage.covers(_place(one))),
            limits=list(self._limits(who)),
            did=did,
            workspaces=self._workspaces(who, spent),
        )

    # -- one's own -----------------------------------------------------------------------------------------------

    async def _failed(self, who: Principal, visible: Visible, seq: str) -> list[JobView]:
        since = self._ctx.clock() // 3600 * 3600 - FAILED_S  # the same for an hour: the statement is kept by it
        query = JobQuery((Shown.FAILED, Shown.EXPIRED), owner=who.name, since=since)
        page = await asyncio.to_thread(self._ctx.reader.list_jobs, visible, query, FAILED)
        return await self._jobs.views(page.items, who, seq)

    async def _did(self, who: Principal) -> list[AuditEventView]:
        if not decide(who, "audit:read").allowed:
            return []
        return (await self._auditing.page(who, AuditFilters(by=who.name), SHOWN)).items

    def _limits(self, who: Principal) -> Iterator[PersonalLimit]:
        charged = self._ctx.scheduling.running.held
        for workspace in self._ctx.pools.workspaces.values():
            if decide(who, "jobs:submit", InWorkspace(workspace.name)).allowed:
                yield from limits_of(workspace, who.name, charged)

    # -- what is free --------------------------------------------------------------------------------------------

    def _free(self, pool: Pool) -> FreePool:
        nodes, sums = self._ctx.scheduling.capacity.nodes_of(pool.name), self._ctx.tally.of("pool", pool.name)
        return FreePool(
            pool=pool.name,
            nodes=len(nodes),
            cards=_free_cards(nodes),
            cpu=sum(free.node.cpu for free in nodes),
            cpu_free=sum(free.cpu for free in nodes) / 1000,
            memory_mib=sum(free.node.memory_mib for free in nodes),
            memory_free_mib=sum(free.memory_mib for free in nodes),
            waiting=sums.waiting,
            running=sums.running,
        )

    # -- workspaces that one administers -------------------------------------------------------------------------

    def _workspaces(self, who: Principal, spent: MonthSpent) -> list[HomeWorkspace]:
        found = [
            one
            for one in self._ctx.pools.workspaces.values()
            if decide(who, "members:write", InWorkspace(one.name)).allowed
            and decide(who, "usage:read", InWorkspace(one.name)).allowed
        ]
        found.sort(key=lambda one: -self._busy(one.name))
        found = found[:SHOWN]
        people = self._people({one.name for one in found}, spent.parts) if found else _People()
        return [self._workspace(one, who, spent, people.of[one.name]) for one in found]

    def _busy(self, workspace: str) -> int:
        sums = self._ctx.tally.of("workspace", workspace)
        return sums.running + sums.waiting

    def _people(self, names: set[str], parts: Iterable[Spent]) -> _People:
        found = _People()
        for job in self._ctx.master.live.values():
            if job.workspace in names:
                sums = found.of[job.workspace][job.owner]
                if job.state is JobState.ACTIVE:
                    sums.running += 1
                    sums.gpu += totals(job.roles).gpu
                else:
                    sums.waiting += 1
        for one in parts:
            if one.kind == USE and one.workspace in names:
                sums = found.of[one.workspace][one.owner]
                sums.gpu_ms += one.gpu_ms
                sums.amount -= one.amount
        return found

    def _workspace(self, one: Workspace, who: Principal, spent: MonthSpent, people: dict[str, _Sums]) -> HomeWorkspace:
        sums, tally = self._ctx.tally.of("workspace", one.name), self._ctx.tally
        standing = self._ctx.purses.standing(one.name, self._ctx.clock())
        budget = self._ctx.pools.budgets.get(one.name, Budget(one.name)).monthly
        persons = [
            HomePerson(
                name=name,
                running=of.running,
                waiting=of.waiting,
                gpu=of.gpu,
                gpu_s=of.gpu_ms / 1_000_000,
                amount=amount_text(of.amount),
            )
            for name, of in people.items()
        ]
        persons.sort(key=lambda person: (-person.gpu, -person.running, -person.waiting, -person.gpu_s, person.name))
        return HomeWorkspace(
            name=one.name,
            running=sums.running,
            waiting=sums.waiting,
            quotas=[
                PoolQuota(pool=pool, share=shares_of(limits, used_of(tally.of("workspace", one.name, pool))))
                for pool, limits in sorted(one.quotas.items())
            ],
            people=persons[:SHOWN],
            next=self._queueing.page(who, workspace=one.name, limit=NEXT).items if sums.waiting else [],
            use=self._months.use(spent, lambda part: part.workspace == one.name),
            balance=amount_text(standing.balance),
            in_arrears=standing.in_arrears,
            budget=None if budget is None else amount_text(budget),
            spent=amount_text(spent_of_budget(spent.parts, one.name)),
        )


def _may_use(who: Principal, pool: Pool) -> bool:
    if pool.kind == "public":
        return True
    return any(decide(who, "jobs:submit", InWorkspace(name)).allowed for name in pool.workspaces)


def _place(one: Spent) -> InWorkspace:
    return InWorkspace(one.workspace, one.owner)


def _free_cards(nodes: Iterable[Free]) -> list[FreeCards]:
    total: Counter[str] = Counter()
    free: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for one in nodes:
        total.update(one.node.gpus)
        for model, cards in one.cards.items():
            free[model] += len(cards) * WHOLE
            most[model] = max(most[model], len(cards))
        for card, left in one.parts:
            free[one.node.gpus[card]] += left
    return [
        FreeCards(model=model, total=total[model], free=free[model] / WHOLE, most=most[model])
        for model in sorted(total)
    ]
