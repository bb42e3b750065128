"""Machines, their cards and who uses them, and the engines that run jobs there. See the package."""

from trainmaster.answers.base import Answer, Sandbox, Text, Used
from trainmaster.core.states import Shown


class CardHolder(Answer, frozen=True):
    """A replica that holds a GPU or a share (0..1) of it. Of jobs that the reader may not know of, only the share,
    owner and workspace are told.
    """

    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    task: str | None
    state: Shown | None
    share: float


class CardView(Answer, frozen=True):
    """One accelerator, and everybody who holds a part of it."""

    index: int
    model: str
    uses: list[CardHolder]
    utilisation: float | None
    memory_mib: float | None
    memory_total_mib: float | None


class NodeTask(Answer, frozen=True):
    """A replica on a node. Of a job that the reader may not know of, only what it holds, its owner and its workspace;
    the rest is null.

    `share`: how much of each of its GPUs, 0..1.
    """

    job: str | None
    name: str | None
    owner: str | None
    workspace: str
    task: str | None
    state: Shown | None
    cpu: float
    memory_mib: int
    gpus: list[int]
    share: float


class NodeView(Answer, frozen=True):
    """One node."""

    name: str
    host: str
    pool: str
    schedulable: bool
    reason: Text | None
    simulated: bool
    facts: dict[str, str]
    cpu: Used
    memory_mib: Used
    gpus: list[CardView]
    tasks: list[NodeTask]


class PoolName(Answer, frozen=True):
    """A pool by its name."""

    name: str


class QueueView(Answer, frozen=True):
    """The queue in numbers."""

    waiting: int
    running: int


class EngineAbilities(Answer, frozen=True):
    """What an engine can do beside running jobs. `owns_queue`: it decides order and places itself; `estimates`: it
    foresees when jobs would start there; `adjusts`: what waits or runs there can be changed; `attaches`: replicas can
    be entered; `measures`: it tells how busy GPUs are; `images`: replicas run in the container image that they name;
    `no_environments`: why they cannot have an image of the platform, null: they can; `no_containers`: the same of one
    that is a container's; `no_cache`: why inputs cannot be cached on its nodes.
    """

    owns_queue: bool
    estimates: bool
    adjusts: bool
    attaches: bool
    measures: bool
    images: bool
    no_environments: Text | None
    no_containers: Text | None
    no_cache: Text | None


class EngineView(Answer, frozen=True):
    """What runs the jobs of some pools. `label`: what its kind is called; `trouble`: why it does not answer now."""

    name: str
    kind: str
    label: Text
    can: EngineAbilities
    pools: list[str]
    nodes: int
    nodes_in_service: int
    trouble: Text | None


class EnginesView(Answer, frozen=True):
    """All engines, as the configuration names them."""

    items: list[EngineView]


class ClusterView(Answer, frozen=True):
    """Nodes, GPUs, who uses what."""

    nodes: list[NodeView]
    pools: list[PoolName]
    queue: QueueView
    sandbox: Sandbox
