"""Input and output of the queue: Snapshot in, Plan out. Plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainmaster.core.records import Assignment, Node, Role

if TYPE_CHECKING:
    from trainmaster.queue.capacity import Capacity


@dataclass(frozen=True, slots=True)
class Pending:
    """One waiting job. `order` sorts ascending (first starts first); `roles` is its gang."""

    job: str
    order: tuple[float, ...]
    roles: tuple[Role, ...]
    pool: str = "default"
    queued_at: float = 0.0


@dataclass(frozen=True, slots=True)
class RequestClass:
    """Waiting jobs that ask for exactly the same: one that does not fit speaks for all. `jobs` is sorted by order."""

    key: str
    jobs: Sequence[Pending]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one live attempt holds."""

    job: str
    roles: tuple[Role, ...]
    placement: tuple[Assignment, ...]
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything `plan` may know. Ports are given out of [port_first, port_last] per host address.

    `capacity`: what is free, when the caller keeps it between passes; it then stands for nodes, running and ports,
    which must describe the same. Without it the pass adds `running` up itself.
    """

    nodes: tuple[Node, ...]
    running: Sequence[Usage]
    pending: Sequence[RequestClass]
    port_first: int = 21000
    port_last: int = 28999
    busy_ports: frozenset[int] = frozenset()
    capacity: Capacity | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something waits or is refused. `code` is a key of queue.reasons.REASONS; `evidence` are numbers and names."""

    code: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """Start `job` now, placed so."""

    job: str
    placement: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """The administrator's choices. `max_starts`: most starts of one pass, so that a pass never takes long."""

    max_starts: int = 512


@dataclass(frozen=True, slots=True)
class Plan:
    """Starts in order, and for every request class that still waits, the reason of its first job.

    `more`: the pass ended at the policy's limit of starts; plan again once these are committed. `at`: when it was made.
    """

    starts: tuple[Start, ...] = ()
    reasons: dict[str, Reason] = field(default_factory=dict)
    more: bool = False
    at: float = 0.0
