"""The queue: what waits, when it starts, the policy, and what the past asked for. See the package.

Of jobs that the reader may not know of only sizes, owner and workspace are told: job and name are null.
"""

from typing import Literal

from trainmaster.answers.base import Answer, Text
from trainmaster.answers.cluster import CardDemand, Service
from trainmaster.answers.jobs import (
    ForecastView,
    NeedView,
    PortView,
    PriorityName,
    ReasonView,
    SuggestionView,
    TotalsView,
    When,
)


class WaitingView(Answer, frozen=True):
    """A queued job. `position` 1 is next in its pool; `flavors`: the alternatives of its first sub-task with any."""

    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    pool: str
    virtual_cluster: str | None
    priority: PriorityName
    position: int
    reason: ReasonView | None
    submitted_at: float
    queued_at: float
    wait_s: float
    duration_s: float | None
    resources: TotalsView
    tasks: int
    flavors: list[str]
    forecast: ForecastView | None


class QueuePage(Answer, frozen=True):
    """What waits, in the order it is considered. `total`: queued jobs that match; `seq`: the feed's position."""

    items: list[WaitingView]
    total: int
    offset: int
    demand: list[CardDemand]
    planned_at: float | None
    seq: str


class Bar(Answer, frozen=True):
    """One job on one node. `end` null: it has no limit; `low`, `high`: range of a forecast start.

    `gpu`: how many GPUs it takes; `cards`: which, empty for a forecast, as nobody knows that yet.
    """

    node: str
    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    priority: PriorityName
    kind: Literal["running", "forecast"]
    start: float
    end: float | None
    low: float | None
    high: float | None
    cards: list[int]
    gpu: float
    cpu: float
    memory_mib: int


class TimelineNode(Answer, frozen=True):
    """A row of the timeline."""

    name: str
    pool: str
    service: Service
    cards: int


class Timeline(Answer, frozen=True):
    """Running and forecast jobs by node. `until`: where the picture may end so that all known ends are seen."""

    now: float
    until: float
    nodes: list[TimelineNode]
    bars: list[Bar]
    left_out: int


class KnobView(Answer, frozen=True):
    """One setting of the queue's policy: what it is, its bounds, and what it means. `choices` empty: a number or a
    switch.
    """

    name: str
    title: Text
    meaning: Text
    unit: Literal["", "s", "count", "share"]
    value: int | float | bool | str
    default: int | float | bool | str
    minimum: float | None
    maximum: float | None
    choices: list[str]


class PolicyView(Answer, frozen=True):
    """The queue's policy. `changed_at` null: nobody has changed it."""

    knobs: list[KnobView]
    changed_at: float | None
    changed_by: str | None


class WaitFigures(Answer, frozen=True):
    """How long jobs waited that ran. `waits`: quantiles, evenly spaced from the shortest to the longest; empty without
    jobs.

    `not_run`: who would never have started.
    """

    mean_s: float
    median_s: float
    p90_s: float
    max_s: float
    waits: list[float]
    not_run: int


class PolicyEffect(Answer, frozen=True):
    """The latest `jobs` jobs, which ended between `since` and `until`, under the present and a changed policy."""

    jobs: int
    since: float
    until: float
    left_out: int
    now: WaitFigures
    changed: WaitFigures


class AskedRole(Answer, frozen=True):
    """A sub-task as the queue sees it."""

    name: str
    replicas: int
    min_replicas: int | None
    flavor: str | None
    resources: NeedView
    ports: list[PortView]


class AskedView(Answer, frozen=True):
    """What a job asked for, as every way in which it might have run. `run_s` null: it never ran; `tasks`: as how
    many.
    """

    id: str
    owner: str
    workspace: str
    pool: str
    virtual_cluster: str | None
    priority: PriorityName
    preemptible: bool
    submitted_at: float
    ended_at: float | None
    duration_s: float | None
    run_s: float | None
    tasks: int
    nodes: list[str]
    driver: str | None
    shapes: list[list[AskedRole]]


class HistoryView(Answer, frozen=True):
    """One page of the jobs that ended, oldest first."""

    items: list[AskedView]
    next_cursor: str | None


class Alternative(Answer, frozen=True):
    """One way to run a job: the flavor of every sub-task (null: its own resources), and when it would start."""

    flavors: list[str | None]
    when: When


class WouldStart(Answer, frozen=True):
    """Would it start now? With several flavors: now when any of them can. `suggestions`: where it would wait and that
    was asked.

    `pool`: the one that this was said of, chosen by the platform where the job leaves it the choice.
    """

    when: When
    reason: ReasonView | None
    position: int | None
    forecast: ForecastView | None
    alternatives: list[Alternative]
    suggestions: list[SuggestionView]
    pool: str
