"""Shapes of pools, nodes, workspaces, flavors and the queue. See `shapes`.

Amounts are by the name of the resource: `gpu` (cards of any model), `gpu:<model>`, `cpu` (cores), `memory_mib`. Of jobs
that the reader may not know of only sizes are told: job, name and owner are null.
"""

from typing import Any, Literal

from trainmaster.api.shapes_base import Shape, Text
from trainmaster.api.shapes_jobs import Forecast, Need, Port, PriorityName, Reason, Suggestion, Totals

Service = Literal["in_service", "cordoned", "draining", "drained"]
Room = Literal["idle", "tight", "free", "full", "away"]


class Amount(Shape):
    """One resource: held by running jobs, there is, and asked for by waiting jobs."""

    resource: str
    used: float
    total: float
    asked: float


class Share(Shape):
    """One limit with what counts against it. `cap` null: as much as others leave unused; `borrowed`: used above nominal.

    `warning`: what follows from a limit that is below what is used; null while it is not.
    """

    resource: str
    nominal: float
    cap: float | None
    used: float
    borrowed: float
    warning: Text | None


class VirtualCluster(Shape):
    """A guaranteed share of a pool."""

    name: str
    pool: str
    description: str
    share: list[Share]
    waiting: int
    running: int


class ResourcePool(Shape):
    """Nodes that jobs choose together. `selectable` false: shown, but not for the workspace asked about; `why` says why."""

    name: str
    kind: Literal["public", "dedicated"]
    engine: str
    workspaces: list[str]
    description: str
    nodes: int
    nodes_in_service: int
    amounts: list[Amount]
    virtual_clusters: list[VirtualCluster]
    waiting: int
    running: int
    selectable: bool
    why: Text | None


class ResourcePools(Shape):
    """All pools by name."""

    items: list[ResourcePool]


class VirtualClusters(Shape):
    """All virtual clusters by name."""

    items: list[VirtualCluster]


class PoolQuota(Shape):
    """What a workspace may use of one pool."""

    pool: str
    share: list[Share]


class Urgent(Shape):
    """Urgent jobs queued or running, and how many there may be (null: any number). `mine`: of who asks."""

    per_user: int | None
    total: int | None
    used: int
    mine: int


class Workspace(Shape):
    """A group of people who share quotas."""

    name: str
    description: str
    weight: float
    quotas: list[PoolQuota]
    urgent: Urgent
    waiting: int
    running: int


class Workspaces(Shape):
    """All workspaces by name."""

    items: list[Workspace]


class Flavor(Shape):
    """A named set of resources of one replica. `gpu_share`: the part of a card, 0..1; `kind` follows from the cards."""

    name: str
    workspace: str
    kind: Literal["cpu", "gpu", "ascend"]
    cpu: float
    memory_mib: int
    gpu: int
    gpu_type: str | None
    gpu_share: float
    shm_mib: int
    description: str


class CardDemand(Shape):
    """How many cards of a model there are, are held, and are asked for by waiting jobs. `model` null: any model."""

    model: str | None
    total: int
    used: float
    asked: float
    jobs: int


class Flavors(Shape):
    """Flavors by name, and what the queue asks for of every card model."""

    items: list[Flavor]
    demand: list[CardDemand]


class CardUse(Shape):
    """One task on one card. `label`: `physical(virtual):application`, the application null for others' jobs."""

    index: int
    model: str
    physical: int
    virtual: int
    share: float
    label: str
    job: str | None
    name: str | None
    owner: str | None
    task: str | None


class CardModel(Shape):
    """Cards of one model on a node."""

    model: str
    used: float
    total: int


class Fraction(Shape):
    """Used of total."""

    used: float
    total: float


class NodeDetail(Shape):
    """One machine: what it is, whether it is in service, and what is used of it. `reason`: why its engine starts nothing there."""

    name: str
    host: str
    pool: str
    service: Service
    reason: Text | None
    note: str
    by: str
    since: float | None
    os: str
    kernel: str
    driver: str
    simulated: bool
    facts: dict[str, Any]
    cpu: Fraction
    memory_mib: Fraction
    cards: list[CardModel]
    usage: list[CardUse]
    jobs: int


class NodePage(Shape):
    """All machines by name."""

    items: list[NodeDetail]


class NodeRow(NodeDetail):
    """A machine that could carry one of the flavors. `state`: idle or tight; free or full where none was chosen."""

    flavors: list[str]
    state: Room


class ClusterResources(Shape):
    """Machines that fit the chosen flavors (all machines when none is chosen), and what the queue asks for."""

    flavors: list[Flavor]
    nodes: list[NodeRow]
    demand: list[CardDemand]


class Waiting(Shape):
    """A waiting job. `position` 1 is next in its pool; `flavors`: the alternatives of its first role that has any."""

    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    pool: str
    virtual_cluster: str | None
    priority: PriorityName
    position: int
    reason: Reason | None
    submitted_at: float
    queued_at: float
    wait_s: float
    duration_s: float | None
    resources: Totals
    tasks: int
    flavors: list[str]
    forecast: Forecast | None


class QueuePage(Shape):
    """What waits, in the order it is considered. `total`: waiting jobs that match; `seq`: the feed's position."""

    items: list[Waiting]
    total: int
    offset: int
    demand: list[CardDemand]
    planned_at: float | None
    seq: int


class Bar(Shape):
    """One job on one node. `end` null: it has no limit; `low`, `high`: range of a forecast start.

    `gpu`: how many cards it takes; `cards`: which, empty for a forecast, as nobody knows that yet.
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


class TimelineNode(Shape):
    """A row of the timeline."""

    name: str
    pool: str
    service: Service
    cards: int


class Timeline(Shape):
    """Running and forecast jobs by node. `until`: where the picture may end so that all known ends are seen."""

    now: float
    until: float
    nodes: list[TimelineNode]
    bars: list[Bar]
    left_out: int


class Knob(Shape):
    """One setting of the queue's policy: what it is, its bounds, and what it means. `choices` empty: a number or a switch."""

    name: str
    title: Text
    meaning: Text
    unit: Literal["", "s", "count", "share"]
    value: Any
    default: Any
    minimum: float | None
    maximum: float | None
    choices: list[str]


class PolicyView(Shape):
    """The queue's policy. `changed_at` null: nobody has changed it."""

    knobs: list[Knob]
    changed_at: float | None
    changed_by: str | None


class WaitFigures(Shape):
    """How long jobs waited that ran. `waits`: quantiles, evenly spaced from the shortest to the longest; empty without jobs.

    `not_run`: who would never have started.
    """

    mean_s: float
    median_s: float
    p90_s: float
    max_s: float
    waits: list[float]
    not_run: int


class PolicyEffect(Shape):
    """The latest `jobs` jobs, which ended between `since` and `until`, under the present and a changed policy."""

    jobs: int
    since: float
    until: float
    left_out: int
    now: WaitFigures
    changed: WaitFigures


class AskedRole(Shape):
    """A role as the queue sees it."""

    name: str
    replicas: int
    min_replicas: int | None
    flavor: str | None
    resources: Need
    ports: list[Port]


class Asked(Shape):
    """What a job asked for, as every way in which it might have run. `run_s` null: it never ran; `tasks`: as how many."""

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


class History(Shape):
    """One page of the jobs that ended, oldest first."""

    items: list[Asked]
    next_cursor: str | None


class Alternative(Shape):
    """One way to run a job: the flavor of every role (null: its own resources), and when it would start."""

    flavors: list[str | None]
    when: Literal["now", "queue", "never"]


class WouldStart(Shape):
    """Would it start now? With several flavors: now when any of them can. `suggestions`: where it would wait and that was asked.

    `pool`: the one that this was said of, chosen by the platform where the job leaves it the choice.
    """

    when: Literal["now", "queue", "never"]
    reason: Reason | None
    position: int | None
    forecast: Forecast | None
    alternatives: list[Alternative]
    suggestions: list[Suggestion]
    pool: str
