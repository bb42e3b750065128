"""What administrators decide about the machines and who may use them: pools, virtual clusters, workspaces, flavors,
nodes.

Plain immutable records; the engine says what a machine has, these say what it is for. Amounts are by the name of the
resource: `gpu` (cards of any model), `gpu:<model>`, `cpu` (cores), `memory_mib`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from trainmaster._compat import dataclass
from trainmaster.core.records import Resources, Role

DEFAULT: Final = "default"
"""The pool, and the workspace, that always exist."""
ANY: Final = "any"
"""In a job's document: the pool that the platform chooses. No pool is called so."""

RESOURCES: Final = ("gpu", "cpu", "memory_mib")
"""Names of resources, beside `gpu:<model>`."""
JOBS: Final = "jobs"
"""Where something is limited: how many jobs run at a time."""
STORAGE: Final = ("mib", "files")
"""What is limited of all that is kept, whatever the pool: MiB on the disk, and files (inodes)."""

PoolKind = Literal["public", "dedicated"]
FlavorKind = Literal["cpu", "gpu", "ascend", "mlu"]
Service = Literal["in_service", "cordoned", "draining"]
Sharing = Literal["off", "open", "required"]
"""Whether members may share jobs with each other, and whether each submit has to say how."""


@dataclass(frozen=True, slots=True)
class Limit:
    """`nominal`: what one is entitled to. Above it one borrows what others leave unused, up to `cap` (None: all of
    it).
    """

    nominal: float = 0.0
    cap: float | None = None


Limits = Mapping[str, Limit]
"""By the name of the resource; what is not named is not limited."""

Most = Mapping[str, "float | None"]
"""What one person may hold at most, by the name of the resource; None, or what is not named: not limited."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes that jobs choose together (R10, R11). `workspaces`: who may use a dedicated one; a public one is for
    all. `price_gpu`, `price_cpu`: of one hour of a GPU and of a core, in millionths, where no flavor says a price.
    """

    name: str
    kind: PoolKind = "public"
    workspaces: tuple[str, ...] = ()
    description: str = ""
    price_gpu: int = 0
    price_cpu: int = 0

    def open_to(self, workspace: str) -> bool:
        """Return whether jobs of `workspace` may run here."""
        return self.kind == "public" or workspace in self.workspaces


@dataclass(frozen=True, slots=True)
class VirtualCluster:
    """A guaranteed share of a pool (R6): its jobs come first up to `share`, above it they borrow."""

    name: str
    pool: str = DEFAULT
    share: Limits = field(default_factory=dict)
    description: str = ""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A group of people who share quotas. `weight`: its part of the cluster relative to other workspaces, > 0.

    `quotas`: limits by pool. `urgent_per_user`, `urgent_total`: how many urgent jobs one user, and all of them
    together, may have queued or running (R20); None: any number. `sharing`: with "off" what is shared is hidden until
    it is on again. `require_duration`: a job without a time limit of its own is refused (R56). `per_person`: what each
    person may hold at most, by pool; `people`: what some may hold instead, by name and pool. `storage`: what may be
    kept for all of it at most, by the names of STORAGE; `storage_per_person`, `storage_people`: of that for each
    person, and for some instead, by name.
    """

    name: str
    weight: float = 1.0
    quotas: Mapping[str, Limits] = field(default_factory=dict)
    urgent_per_user: int | None = None
    urgent_total: int | None = None
    description: str = ""
    sharing: Sharing = "open"
    per_person: Mapping[str, Most] = field(default_factory=dict)
    people: Mapping[str, Mapping[str, Most]] = field(default_factory=dict)
    require_duration: bool = False
    storage: Most = field(default_factory=dict)
    storage_per_person: Most = field(default_factory=dict)
    storage_people: Mapping[str, Most] = field(default_factory=dict)

    def most_of(self, person: str, pool: str) -> dict[str, float]:
        """Return what `person` may hold at most in `pool`: what is said of them comes before what is said of each."""
        most = {**self.per_person.get(pool, {}), **self.people.get(person, {}).get(pool, {})}
        return {name: amount for name, amount in most.items() if amount is not None}

    def storage_of(self, person: str | None) -> dict[str, float]:
        """Return what may be kept at most for `person`, None: for all of it; what is not limited is not named."""
        most = self.storage if person is None else {**self.storage_per_person, **self.storage_people.get(person, {})}
        return {name: amount for name, amount in most.items() if amount is not None}


@dataclass(frozen=True, slots=True)
class Flavor:
    """A named set of resources of one replica, in one workspace (R2). `gpu_milli`: thousandths of each card, 1..1000.

    `vendor`: who makes its cards (R14), "" by their model. `price`: of one hour of one replica (R3), in millionths, 0
    free, None as its pool says. `cache_mib`: local cache disk, as its nodes have it (R15). `pools`: in which it is
    offered, empty: in all.
    """

    name: str
    workspace: str = DEFAULT
    cpu: float = 1.0
    memory_mib: int = 1024
    gpu: int = 0
    gpu_type: str | None = None
    gpu_milli: int = 1000
    shm_mib: int = 64
    description: str = ""
    vendor: str = ""
    price: int | None = None
    cache_mib: int = 0
    pools: tuple[str, ...] = ()

    @property
    def kind(self) -> FlavorKind:
        """The type of resource that it belongs to (R14)."""
        return card_kind(self.gpu_type, self.vendor) if self.gpu else "cpu"

    def offered_in(self, pool: str) -> bool:
        """Return whether jobs in `pool` may choose it."""
        return not self.pools or pool in self.pools

    def resources(self) -> Resources:
        """Return what one replica gets."""
        return Resources(
            cpu=self.cpu,
            memory_mib=self.memory_mib,
            gpu=self.gpu,
            gpu_type=self.gpu_type if self.gpu else None,
            shm_mib=self.shm_mib,
            gpu_milli=self.gpu_milli,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """What a workspace may spend, in millionths. `credit_limit`: how far its balance may go below 0, None: however far;
    `monthly`: its budget of a calendar month, None: none, which stops nothing. `alarms`: at how many percent of it an
    alarm is told.
    """

    workspace: str
    credit_limit: int | None = None
    monthly: int | None = None
    alarms: tuple[int, ...] = (80, 100)


@dataclass(frozen=True, slots=True)
class NodeSetting:
    """What was decided about a node. `pool` None: as the engine says. `note`, `by`, `since` tell who took it out and
    why.

    `draining`: like cordoned, and running jobs are meant to leave it.
    """

    name: str
    pool: str | None = None
    service: Service = "in_service"
    note: str = ""
    by: str = ""
    since: float = 0.0


_OF_VENDOR: Final[Mapping[str, FlavorKind]] = {"huawei": "ascend", "cambricon": "mlu"}
_OF_MODEL: Final[Mapping[FlavorKind, tuple[str, ...]]] = {"ascend": ("ascend", "910", "310"), "mlu": ("mlu",)}
"""How models of cards begin that are no GPUs."""


def card_kind(model: str | None, vendor: str = "") -> FlavorKind:
    """Return the type of a card by who makes it, else by its model: ascend, mlu, else gpu."""
    known = _OF_VENDOR.get(vendor.lower())
    if known is not None:
        return known
    named = (model or "").lower()
    return next((kind for kind, begins in _OF_MODEL.items() if named.startswith(begins)), "gpu")


def amounts(roles: tuple[Role, ...]) -> dict[str, float]:
    """Return what all replicas of `roles` take together, by the name of the resource; shares of cards count as
    shares.
    """
    total: dict[str, float] = {"gpu": 0.0, "cpu": 0.0, "memory_mib": 0.0}
    for role in roles:
        ask = role.resources
        cards = role.replicas * ask.gpu * ask.gpu_milli / 1000
        total["gpu"] += cards
        total["cpu"] += role.replicas * ask.cpu
        total["memory_mib"] += role.replicas * ask.memory_mib
        if ask.gpu and ask.gpu_type is not None:
            total[f"gpu:{ask.gpu_type}"] = total.get(f"gpu:{ask.gpu_type}", 0.0) + cards
    return total
