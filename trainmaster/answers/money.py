"""Money: what was used and what it cost, balances, budgets. See the package.

Amounts are decimal texts in the one currency of the platform, exact to a millionth: "12.50". Machines' time is in
seconds, exact to a millisecond.
"""

from typing import Literal

from trainmaster.answers.base import Answer

EntryKind = Literal["use", "credit", "correction", "closing"]


class ReportLine(Answer, frozen=True):
    """What one person used of one flavor in one workspace, and what it cost. `flavor` "": resources were written
    out.
    """

    workspace: str
    owner: str
    flavor: str
    machine_s: float
    gpu_s: float
    amount: str


class ReportDay(Answer, frozen=True):
    """What all lines add up to on one day (YYYY-MM-DD)."""

    day: str
    machine_s: float
    gpu_s: float
    amount: str


class ReportSums(Answer, frozen=True):
    """What was credited and corrected in one workspace. A correction above 0 gave something back."""

    workspace: str
    credited: str
    corrected: str


class UsageReport(Answer, frozen=True):
    """What was used in one month of `time_zone`, from `since` until before `until`, as it is known `at` that moment:
    what runs is counted up to then. Lines by cost, then time, most first. `priced`: money is in use, that is, something
    has a price or a workspace a balance or a budget; else every amount is 0 and not worth showing.
    """

    month: str
    time_zone: str
    currency: str
    priced: bool
    since: float
    until: float
    at: float
    machine_s: float
    gpu_s: float
    amount: str
    lines: list[ReportLine]
    days: list[ReportDay]
    sums: list[ReportSums]


class AlarmView(Answer, frozen=True):
    """That so many percent of the budget of a month were spent, and when that was seen."""

    month: str
    percent: int
    at: float
    spent: str
    budget: str


class BalanceView(Answer, frozen=True):
    """How a workspace stands. `balance`: all entries; `running`: what running jobs have cost so far, beside it;
    `reserved`: what queued and running jobs may cost at most, beside what those without a time limit have cost.

    `credit_limit`: how far it may go below 0, null however far; `available`: what new jobs may cost, null without a
    limit. `budget` of this `month`, null without one; `spent` of it so far.
    """

    workspace: str
    currency: str
    balance: str
    running: str
    reserved: str
    credit_limit: str | None
    available: str | None
    in_arrears: bool
    month: str
    time_zone: str
    budget: str | None
    spent: str
    alarms: list[int]
    alarmed: list[AlarmView]


class BalancesView(Answer, frozen=True):
    """Workspaces by name. `priced`: as in `UsageReport`."""

    priced: bool
    items: list[BalanceView]


class EntryView(Answer, frozen=True):
    """One change of a balance, which stays for ever. Of a use: whose job ran on how many nodes of which flavor, from
    when until when, at which price of an hour. `by`: who entered a credit or a correction, and `note` why.
    """

    id: str
    at: float
    kind: EntryKind
    amount: str
    by: str
    note: str
    owner: str
    job: str | None
    attempt: int | None
    role: int | None
    pool: str
    flavor: str
    machines: int
    since: float
    until: float
    price: str


class EntryPage(Answer, frozen=True):
    """Entries, newest first."""

    workspace: str
    items: list[EntryView]
    next_cursor: str | None
