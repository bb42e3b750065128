"""What one person is shown first. See the package."""

from trainmaster.answers.audit import AuditEventView
from trainmaster.answers.base import Answer
from trainmaster.answers.cluster import PersonalLimit, PoolQuota
from trainmaster.answers.jobs import JobView
from trainmaster.answers.money import ReportDay
from trainmaster.answers.queue import WaitingView


class FreeCards(Answer, frozen=True):
    """How many GPUs of one model a pool has, how many are free, and how many of these on one node at most."""

    model: str
    total: int
    free: float
    most: int


class FreePool(Answer, frozen=True):
    """What is free on the nodes in service of a pool that one may use."""

    pool: str
    nodes: int
    cards: list[FreeCards]
    cpu: float
    cpu_free: float
    memory_mib: int
    memory_free_mib: int
    waiting: int
    running: int


class MonthUse(Answer, frozen=True):
    """What was used in `month` of `time_zone` up to `at`, and what it cost, by day. `priced`: as in `UsageReport`."""

    month: str
    time_zone: str
    currency: str
    priced: bool
    at: float
    machine_s: float
    gpu_s: float
    amount: str
    days: list[ReportDay]


class HomePerson(Answer, frozen=True):
    """What one person has running and queued in a workspace, how many GPUs they hold now, and used this month."""

    name: str
    running: int
    waiting: int
    gpu: float
    gpu_s: float
    amount: str


class HomeWorkspace(Answer, frozen=True):
    """How a workspace stands, for who administers it. `people`: most GPUs first, at most 8; `next`: who waits and is
    considered first. `budget` of this month, null without one.
    """

    name: str
    running: int
    waiting: int
    quotas: list[PoolQuota]
    people: list[HomePerson]
    next: list[WaitingView]
    use: MonthUse
    balance: str
    in_arrears: bool
    budget: str | None
    spent: str


class HomeView(Answer, frozen=True):
    """What one person is shown first: their own jobs, at most 8 of each kind and how many there are; `failed` of the
    last 14 days. `any`: whether they ever submitted a job that is still there; `seq`: the feed's position.
    """

    name: str
    at: float
    seq: str
    any: bool
    running: list[JobView]
    running_total: int
    waiting: list[WaitingView]
    waiting_total: int
    failed: list[JobView]
    free: list[FreePool]
    use: MonthUse
    limits: list[PersonalLimit]
    did: list[AuditEventView]
    workspaces: list[HomeWorkspace]
