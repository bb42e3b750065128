"""Input and output of the queue: Snapshot in, Plan out. Plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainmaster.core.records import Assignment, Node, Role
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.placing.failures import Amounts, Demand
from trainmaster.queue.placing.packing import BEST_FIT, Kind, Packing

if TYPE_CHECKING:
    from trainmaster.queue.ordering.fairness import Fairness
    from trainmaster.queue.ordering.order import Ranking
    from trainmaster.queue.ordering.quota import Account, Books, Quota
    from trainmaster.queue.placing.capacity import Capacity, Room
    from trainmaster.queue.rules.backfill import Line
    from trainmaster.queue.rules.shortage import Shortages


class Tenant(NamedTuple):
    """Who a job is charged to: its virtual cluster (a share of a pool, R6; "": none), workspace, owner."""

    cluster: str = ""
    workspace: str = "default"
    owner: str = ""


NOBODY: Final = Tenant()


@dataclass(frozen=True, slots=True)
class Request:
    """What decides where a gang may go and what it takes.

    `shapes` are the flavor alternatives in the order tried (R161), one for an ordinary job; each is a whole gang, whose
    elastic roles may start with any number from `min_replicas` to `replicas`. `nodes` empty: any node of the pool.
    `plain`: card model and amounts of one that is of one shape and role and asks for neither ports nor nodes, once
    `smallest` was asked for.
    """

    pool: str
    shapes: tuple[tuple[Role, ...], ...]
    nodes: frozenset[str] = frozenset()
    driver: str | None = None
    _hash: int = field(init=False, repr=False, compare=False, default=0)
    _smallest: tuple[Demand, ...] | None = field(init=False, repr=False, compare=False, default=None)
    plain: tuple[str | None, Amounts] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.pool, self.shapes, self.nodes, self.driver)))

    def __hash__(self) -> int:
        return self._hash  # it is looked up several times in every pass

    @property
    def smallest(self) -> tuple[Demand, ...]:
        """The smallest gang of every shape, prepared for asking often."""
        found = self._smallest
        if found is None:
            found = tuple(Demand.of(fewest(shape), self.pool, self.nodes, self.driver) for shape in self.shapes)
            object.__setattr__(self, "_smallest", found)
            object.__setattr__(self, "plain", _plain(found))
        return found


def _plain(demands: tuple[Demand, ...]) -> tuple[str | None, Amounts] | None:
    if len(demands) > 1 or len(demands[0].parts) != 1:
        return None
    amounts, families = demands[0].parts[0]
    (_, nodes, driver), model, ports = families[0]
    return None if nodes or driver is not None or ports else (model, amounts)


@dataclass(frozen=True, slots=True)
class Pending:
    """One waiting job. `order`: time of its first submission and its number; it keeps both when it is queued again.

    `limit_s`: how long it may run at most from now on; infinite when it has no limit.
    """

    job: str
    request: Request
    order: tuple[float, int] = (0.0, 0)
    priority: int = 0
    tenant: Tenant = NOBODY
    limit_s: float = math.inf
    queued_at: float = 0.0

    @property
    def pool(self) -> str:
        """The pool whose nodes it waits for."""
        return self.request.pool

    @property
    def roles(self) -> tuple[Role, ...]:
        """The first of its shapes."""
        return self.request.shapes[0]


class ClassKey(NamedTuple):
    """What makes waiting jobs completely alike, apart from when they came."""

    request: Request
    priority: int = 0
    tenant: Tenant = NOBODY
    limit_s: float = math.inf

    @classmethod
    def of(cls, job: Pending) -> ClassKey:
        """Return the class that `job` belongs to."""
        return cls(job.request, job.priority, job.tenant, job.limit_s)


class RequestClass(NamedTuple):
    """Waiting jobs that are alike: one that cannot start speaks for all. `jobs` is sorted by `Pending.order`."""

    key: ClassKey
    jobs: Sequence[Pending]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one live attempt holds, and what the queue must know of it.

    `ends_at`: when its limit ends it, infinite when it has none. `held`: what it is charged for, `quota.charges`.
    `preempted_at`: when that was done to this job last.
    """

    attempt: str
    job: str
    roles: tuple[Role, ...]
    placement: tuple[Assignment, ...]
    pool: str = "default"
    started_at: float = 0.0
    ends_at: float = math.inf
    priority: int = 0
    tenant: Tenant = NOBODY
    held: tuple[tuple[str, int], ...] = ()
    preemptible: bool = False
    preempted_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything `plan` may know. Ports are given out of [port_first, port_last] per host address.

    `capacity`: what is free, when the caller keeps it between passes; it then stands for nodes, running and ports,
    which must describe the same. Without it the pass adds `running` up itself. `running` may be a kept `Running`, and
    `pending` what a kept `PendingQueue` gives.
    `quotas`: by account and pool; who has none has no limit. `fair`: what was used until now, None: nobody is favoured.
    `mix`: what is asked for of late (`packing.Recent`), for the fgd packing.
    `handing`: by pool, how many more may be handed over to an engine that decides order and places itself.
    """

    nodes: tuple[Node, ...]
    running: Iterable[Usage]
    pending: Sequence[RequestClass]
    port_first: int = 21000
    port_last: int = 28999
    busy_ports: frozenset[int] = frozenset()
    capacity: Capacity | None = None
    quotas: Mapping[tuple[Account, str], Quota] = field(default_factory=dict)
    fair: Fairness | None = None
    mix: tuple[Kind, ...] = ()
    handing: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something waits or is refused. `code` is a key of queue.reasons.REASONS; `evidence` are numbers and names.

    `sentences`: what it says in Chinese and English, once `queue.explaining.reasons.render` was asked: many jobs wait
    for the same reason.
    """

    code: str
    evidence: dict[str, Any] = field(default_factory=dict)
    sentences: tuple[str, str] | None = field(init=False, repr=False, compare=False, default=None)


@dataclass(frozen=True, slots=True)
class Start:
    """Start `job` now as its shape number `shape`, placed so; `roles` is that shape with the replicas placed."""

    job: str
    placement: tuple[Assignment, ...]
    roles: tuple[Role, ...]
    shape: int = 0


@dataclass(frozen=True, slots=True)
class Evict:
    """Send the attempt of `job` back to the queue, to make room for `for_job`. `why`: class | reclaim."""

    job: str
    attempt: str
    for_job: str
    why: str


@dataclass(frozen=True, slots=True)
class Reservation:
    """`job` is first in line in its pool and starts at `at` at the latest, on `nodes`, if limits are obeyed.

    `at` is infinite while it waits for attempts without a limit.
    """

    job: str
    pool: str
    at: float
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now, in this order: evictions, starts; and who is promised what.

    `more`: the pass ended at the policy's limit of starts; plan again once these are committed. `at`: when it was made.
    `room`, `lines`, `books` and `ranking` are how the pass ended, from which `explain` tells anybody's reason when it
    is asked for; not to be changed. `known` are the reasons told so far, `shortages` what of them
    concerns the room, `packing` how it placed.
    """

    starts: tuple[Start, ...] = ()
    evictions: tuple[Evict, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    more: bool = False
    at: float = 0.0
    room: Room | None = field(default=None, compare=False, repr=False)
    lines: Mapping[str, Line] = field(default_factory=dict, compare=False, repr=False)
    books: Mapping[str, Books] = field(default_factory=dict, compare=False, repr=False)
    ranking: Ranking | None = field(default=None, compare=False, repr=False)
    known: dict[ClassKey, Reason] = field(default_factory=dict, compare=False, repr=False)
    shortages: Shortages | None = field(default=None, compare=False, repr=False)
    packing: Packing = field(default=BEST_FIT, compare=False, repr=False)
