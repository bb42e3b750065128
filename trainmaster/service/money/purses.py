"""What each workspace has left, and what is set aside of it for jobs that are queued or running: in memory.

A job is set aside for what it may cost at most: the price of all its machines for its time limit, of one without a
limit for an hour, beside what it has cost so far. Whoever asks and then submits without waiting in between can rely on
the answer: nobody else runs meanwhile, so that of any number of requests at once exactly those pass that can be paid
for. Sees every change of every job, in the loop's thread. Invariant: a balance here is the sum of the stored entries
and of what is on its way to the disk; what is set aside belongs to live jobs.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from trainmaster.core.cluster import Budget
from trainmaster.core.errors import Problem, problem_of
from trainmaster.core.events import Event
from trainmaster.core.money.amounts import charge, shown_amount
from trainmaster.core.money.metering import just_ended, ran, uses
from trainmaster.core.money.rates import Rate
from trainmaster.core.records import Job, Role, replace, role_from_json, to_json
from trainmaster.core.states import JobState
from trainmaster.messages.server import money
from trainmaster.service.cluster.pools import Pools
from trainmaster.service.money.pricing import rates_of

UNLIMITED_MS: Final = 3_600_000
"""For how long a job without a time limit is set aside."""
_FREE: Final = Rate()


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is set aside for one job. `rate`, `since_ms`: the price of an hour of what runs without a limit, and since
    when it does.
    """

    workspace: str
    amount: int = 0
    rate: int = 0
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a workspace stands. `balance`: less what jobs without a limit have cost so far; `available` None: there is no
    limit.
    """

    balance: int
    reserved: int
    credit_limit: int | None
    available: int | None

    @property
    def in_arrears(self) -> bool:
        """Whether it may not run anything that costs something."""
        return self.credit_limit is not None and self.balance < -self.credit_limit


class Purses:
    """One object per server. `live` gives a live job by its id."""

    def __init__(self, pools: Pools, currency: str, live: Callable[[str], Job]) -> None:
        self._pools, self._currency, self._live = pools, currency, live
        self.changing = asyncio.Lock()
        """Held while entries are added, or balances read anew."""
        self._balances: Counter[str] = Counter()
        self._reserves: dict[str, Reserve] = {}
        self._amounts: Counter[str] = Counter()
        self._rates: Counter[str] = Counter()
        self._since: Counter[str] = Counter()  # sum of rate x since_ms

    # -- following the jobs --------------------------------------------------------------------------------------

    def load(self, balances: Mapping[str, int]) -> None:
        """Begin anew from the stored entries."""
        self._balances = Counter(balances)

    def entered(self, workspace: str, amount: int) -> None:
        """Take in an entry that was stored."""
        self._balances[workspace] += amount

    def closed(self, workspace: str) -> None:
        """Forget a workspace that was removed with its balance."""
        self._balances.pop(workspace, None)

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs."""
        self._reserves.clear()
        for sums in (self._amounts, self._rates, self._since):
            sums.clear()
        for job in jobs:
            self._set(job)

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job."""
        if just_ended(before, after) and after.attempt is not None and after.attempt.ended_at is not None:
            self._balances[after.workspace] -= sum(use.amount for use in uses(after, after.attempt.ended_at))
        self._set(after)

    def _set(self, job: Job) -> None:
        self._add(self._reserves.pop(job.id, None), -1)
        if not job.terminal:
            reserve = self.reserve_of(job)
            if reserve.amount or reserve.rate:
                self._reserves[job.id] = reserve
                self._add(reserve, 1)

    def _add(self, reserve: Reserve | None, sign: int) -> None:
        if reserve is not None:
            self._amounts[reserve.workspace] += sign * reserve.amount
            self._rates[reserve.workspace] += sign * reserve.rate
            self._since[reserve.workspace] += sign * reserve.rate * reserve.since_ms

    # -- prices --------------------------------------------------------------------------------------------------

    def rates(self, job: Job, roles: Iterable[Role]) -> tuple[Rate, ...]:
        """Return what one machine of each of `roles` of `job` costs at this moment."""
        return rates_of(roles, job.workspace, job.pool, self._pools)

    def priced(self, event: Event) -> Event:
        """Return the event that gives an attempt its nodes with the prices of this moment, which hold for all of it."""
        given = event.data.get("roles")
        job = self._live(event.job)
        rates = self.rates(job, job.roles if given is None else map(role_from_json, given))
        if all(rate == _FREE for rate in rates):
            return event
        return replace(event, data={**event.data, "rates": to_json(rates)})

    def hourly(self, job: Job) -> int:
        """Return what an hour of a job costs: of its attempt, while it waits of the dearest way to run it."""
        if job.state is JobState.ACTIVE and job.attempt is not None:
            rates = job.attempt.rates
            return sum(rates[place.role].price for place in job.attempt.placement) if rates else 0
        if not self._pools.priced:
            return 0
        ways = job.shapes or (job.roles,)
        return max(
            sum(rate.price * role.replicas for rate, role in zip(self.rates(job, roles), roles, strict=True))
            for roles in ways
        )

    def reserve_of(self, job: Job) -> Reserve:
        """Return what is set aside for a job. O(replicas)."""
        hourly = self.hourly(job)
        if not hourly:
            return Reserve(job.workspace)
        span = None if job.attempt is None or job.state is not JobState.ACTIVE else ran(job.attempt, job.submitted_at)
        start = job.queued_at if span is None else span[0]
        if job.policy.duration_s is None:
            since = 0 if span is None else round(start * 1000)
            return Reserve(job.workspace, charge(hourly, UNLIMITED_MS), 0 if span is None else hourly, since)
        left = job.policy.duration_s if job.expires_at is None else max(0.0, job.expires_at - start)
        return Reserve(job.workspace, charge(hourly, round((left + job.policy.debug_hold_s) * 1000)))

    # -- asking --------------------------------------------------------------------------------------------------

    @property
    def in_use(self) -> bool:
        """Whether anybody accounts for money here: something has a price, or a workspace a balance or a budget.
        O(pools + flavors + workspaces).
        """
        pools = self._pools
        return (
            pools.priced
            or any(self._balances.values())
            or any(budget != Budget(budget.workspace) for budget in pools.budgets.values())
        )

    def standing(self, workspace: str, now: float) -> Standing:
        """Return how a workspace stands. O(1)."""
        open_ms = self._rates[workspace] * round(now * 1000) - self._since[workspace]
        balance = self._balances[workspace] - max(0, open_ms) // 3_600_000
        budget = self._pools.budgets.get(workspace, Budget(workspace))
        reserved, limit = self._amounts[workspace], budget.credit_limit
        return Standing(balance, reserved, limit, None if limit is None else balance + limit - reserved)

    def settled(self, workspace: str) -> int:
        """Return the sum of a workspace's entries."""
        return self._balances[workspace]

    def problems(self, jobs: Iterable[Job], now: float, path: str, gone: Iterable[Job] = ()) -> list[Problem]:
        """Return which workspaces could not pay for so many more jobs (R18), instead of the live jobs `gone`: what
        costs no more than these may is no new debt.
        """
        if not self._pools.budgets:
            return []
        costs: Counter[str] = Counter()
        for job in jobs:
            if self._limited(job.workspace):
                costs[job.workspace] += self.reserve_of(job).amount
        freed: Counter[str] = Counter()
        spent: Counter[str] = Counter()  # so far, by what has no limit: no part of what is set aside
        for job in gone:
            held = self._reserves.get(job.id, Reserve(job.workspace))
            freed[job.workspace] += held.amount
            spent[job.workspace] += held.rate * max(0, round(now * 1000) - held.since_ms) // 3_600_000
        found = (
            self._problem(name, cost, freed[name], spent[name], now, path)
            for name, cost in costs.items()
            if cost > freed[name] + spent[name]
        )
        return [problem for problem in found if problem is not None]

    def _limited(self, workspace: str) -> bool:
        budget = self._pools.budgets.get(workspace)
        return budget is not None and budget.credit_limit is not None

    def _problem(self, workspace: str, cost: int, freed: int, spent: int, now: float, path: str) -> Problem | None:
        stands = self.standing(workspace, now)
        if stands.credit_limit is None or stands.available is None:
            return None
        limit = shown_amount(stands.credit_limit)
        if stands.in_arrears:
            balance = shown_amount(stands.balance, -stands.credit_limit)
            return problem_of(path, money.in_arrears(workspace, balance, self._currency, limit))
        available = stands.available + freed + spent
        if cost <= available:
            return None
        texts = (
            shown_amount(cost, available),
            self._currency,
            shown_amount(available, cost),
            shown_amount(stands.balance + spent),
        )
        return problem_of(
            path, money.not_enough_balance(workspace, *texts, limit, shown_amount(stands.reserved - freed))
        )
