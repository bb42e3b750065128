"""Input and output of the queue: Snapshot in, Plan out. Plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trainmaster.core.records import Assignment, Node, Role


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
    """Everything `plan` may know. Ports are given out of [port_first, port_last] per host address."""

    nodes: tuple[Node, ...]
    running: Sequence[Usage]
    pending: Sequence[RequestClass]
    port_first: int = 21000
    port_last: int = 28999
    busy_ports: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something waits or is refused. `code` is a key of queue.explain.REASONS; `evidence` are numbers and names."""

    code: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """Start `job` now, placed so."""

    job: str
    placement: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Starts in order, and for every request class that still waits, the reason of its first job."""

    starts: tuple[Start, ...] = ()
    reasons: dict[str, Reason] = field(default_factory=dict)
