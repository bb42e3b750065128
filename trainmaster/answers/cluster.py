"""Pools, nodes, workspaces and flavors. See the package.

Amounts are by the name of the resource: `gpu` (cards of any model), `gpu:<model>`, `cpu` (cores), `memory_mib`. Of jobs
that the reader may not know of only sizes, owner and workspace are told: job and name are null.
"""

from typing import Literal

from trainmaster.answers.base import Answer, Text, Used
from trainmaster.core.cluster import Sharing

Service = Literal["in_service", "cordoned", "draining", "drained"]
Room = Literal["idle", "tight", "free", "full", "away"]


class Amount(Answer, frozen=True):
    """One resource: held by running jobs, there is, and asked for by queued jobs."""

    resource: str
    used: float
    total: float
    asked: float


class ShareView(Answer, frozen=True):
    """One limit with what counts against it. `cap` null: as much as others leave unused; `borrowed`: used above
    nominal.

    `warning`: what follows from a limit that is below what is used; null while it is not.
    """

    resource: str
    nominal: float
    cap: float | None
    used: float
    borrowed: float
    warning: Text | None


class VirtualClusterView(Answer, frozen=True):
    """A guaranteed share of a pool."""

    name: str
    pool: str
    description: str
    share: list[ShareView]
    waiting: int
    running: int


class ResourcePool(Answer, frozen=True):
    """Nodes that jobs choose together. `selectable` false: shown, but not for the workspace asked about; `why` says
    why. `price_gpu`, `price_cpu`: of one hour of a GPU and of a core, as decimal texts, where no flavor says a price.
    """

    name: str
    kind: Literal["public", "dedicated"]
    engine: str
    workspaces: list[str]
    description: str
    nodes: int
    nodes_in_service: int
    amounts: list[Amount]
    virtual_clusters: list[VirtualClusterView]
    waiting: int
    running: int
    selectable: bool
    why: Text | None
    price_gpu: str
    price_cpu: str


class ResourcePools(Answer, frozen=True):
    """All pools by name."""

    items: list[ResourcePool]


class VirtualClusters(Answer, frozen=True):
    """All virtual clusters by name."""

    items: list[VirtualClusterView]


class PoolQuota(Answer, frozen=True):
    """What a workspace may use of one pool."""

    pool: str
    share: list[ShareView]


class UrgentView(Answer, frozen=True):
    """Urgent jobs queued or running, and how many there may be (null: any number). `mine`: of who asks."""

    per_user: int | None
    total: int | None
    used: int
    mine: int


class PersonalLimit(Answer, frozen=True):
    """What one person may hold at most of a resource (gpu, gpu:<model>, cpu, memory_mib, jobs) in a pool, in one
    workspace, and holds now.
    """

    workspace: str
    pool: str
    resource: str
    used: float
    limit: float


class StorageView(Answer, frozen=True):
    """What is kept for a workspace, or for one person in it, with what is set aside for uploads and models on their
    way, and how much may be at most, in MiB and in files; null: no limit. `person`: null of all of it. `warning`: what
    follows when nothing more may be kept; null while it may.
    """

    person: str | None
    used_bytes: int
    used_files: int
    limit_mib: float | None
    limit_files: float | None
    warning: Text | None


class WorkspaceStorage(Answer, frozen=True):
    """Storage quotas of a workspace. `per_person`: what each person may keep at most, by `mib` and `files`; `people`:
    what some may keep instead, by name; null: no limit. `use`: of all of it; `mine`: of who asks; `by_person`: of each
    for whom something is kept, who has most first. `people`: for who is in it; `by_person`: for who administers it.
    """

    use: StorageView
    mine: StorageView
    per_person: dict[str, float | None]
    people: dict[str, dict[str, float | None]]
    by_person: list[StorageView]


class WorkspaceView(Answer, frozen=True):
    """A group of people who share quotas. `per_person`: what each person may hold at most, by pool and resource;
    `people`: what some may hold instead, by name, null without limit: for who is in it; `mine`: what holds of who asks.
    `require_duration`: a job without a time limit of its own is refused.
    """

    name: str
    description: str
    weight: float
    quotas: list[PoolQuota]
    urgent: UrgentView
    sharing: Sharing
    require_duration: bool
    waiting: int
    running: int
    per_person: dict[str, dict[str, float | None]]
    people: dict[str, dict[str, dict[str, float | None]]]
    mine: list[PersonalLimit]
    storage: WorkspaceStorage


class WorkspacesView(Answer, frozen=True):
    """All workspaces by name."""

    items: list[WorkspaceView]


class FlavorView(Answer, frozen=True):
    """A named set of resources of one replica. `gpu_share`: the part of a GPU, 0..1; `kind` follows from the vendor
    and the GPUs. `price`: of one hour of one replica, as a decimal text, null as its pool says. `cache_mib`: local
    cache disk; `pools`: in which it is offered, empty in all.
    """

    name: str
    workspace: str
    kind: Literal["cpu", "gpu", "ascend", "mlu"]
    cpu: float
    memory_mib: int
    gpu: int
    gpu_type: str | None
    gpu_share: float
    shm_mib: int
    description: str
    vendor: str
    price: str | None
    cache_mib: int
    pools: list[str]


class CardDemand(Answer, frozen=True):
    """How many GPUs of a model there are, are held, and are asked for by queued jobs. `model` null: any model."""

    model: str | None
    total: int
    used: float
    asked: float
    jobs: int


class Flavors(Answer, frozen=True):
    """Flavors by name, and what the queue asks for of every GPU model."""

    items: list[FlavorView]
    demand: list[CardDemand]
    currency: str


class CardUse(Answer, frozen=True):
    """One replica on one GPU. `label`: `physical(virtual):application`, the application null for others' jobs."""

    index: int
    model: str
    physical: int
    virtual: int
    share: float
    label: str
    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    task: str | None


class CardModel(Answer, frozen=True):
    """GPUs of one model on a node."""

    model: str
    used: float
    total: int


class NodeDetail(Answer, frozen=True):
    """One node: what it is, whether it is in service, and what is used of it. `reason`: why its engine starts
    nothing there.
    """

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
    facts: dict[str, str]
    cpu: Used
    memory_mib: Used
    cards: list[CardModel]
    usage: list[CardUse]
    jobs: int


class NodePage(Answer, frozen=True):
    """All nodes by name."""

    items: list[NodeDetail]


class NodeRow(NodeDetail, frozen=True):
    """A node that could carry one of the flavors. `state`: idle or tight; free or full where none was chosen."""

    flavors: list[str]
    state: Room


class ClusterResources(Answer, frozen=True):
    """Nodes that fit the chosen flavors (all nodes when none is chosen), and what the queue asks for.

    `nodes`: those of the page that was asked for, by pool; `total`: how many match.
    """

    flavors: list[FlavorView]
    nodes: list[NodeRow]
    total: int
    demand: list[CardDemand]


class UseRow(Answer, frozen=True):
    """What the jobs of one person, or of one workspace, hold and ask for. `running`: jobs that hold something, in the
    queue of a cluster, too; `waiting`: jobs that are queued here. `asked`: what the queued ones will hold.
    """

    owner: str | None
    workspace: str | None
    running: int
    waiting: int
    gpu: float
    cpu: float
    memory_mib: float
    gpu_asked: float
    cpu_asked: float
    memory_mib_asked: float


class ClusterUse(Answer, frozen=True):
    """Who uses what of a pool, or of all: most GPUs first. Who holds and asks for nothing is left out."""

    nodes: int
    nodes_in_service: int
    gpu: Used
    cpu: Used
    memory_mib: Used
    running: int
    waiting: int
    people: list[UseRow]
    workspaces: list[UseRow]


class ClusterPast(Answer, frozen=True):
    """How much was held over time, by the attempts of the jobs that are kept: the mean of each span of `step_s` seconds
    that begins at `at`. `known_from`: before that, jobs are missing, as there are too many; null while none are.

    `gpu_total`, `cpu_total`: what there is now, as what there was is not kept.
    """

    step_s: float
    at: list[float]
    gpu: list[float]
    cpu: list[float]
    gpu_total: float
    cpu_total: float
    known_from: float | None
