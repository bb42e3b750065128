"""What was recorded of a workload, and how a recorded size becomes a gang. Plain data.

A record holds the true run time, which the queue must never see: only `engine` reads it. Invariant: the records of a
workload are sorted by the second of their submission; equal seconds keep the order of the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.records import Node, Resources, Role, replace
from trainmaster.core.states import Priority
from trainmaster.messages.cluster import simulation
from trainmaster.queue.placing.need import WHOLE

LIMITS: Final = ("auto", "recorded", "exact", "loose", "none")
"""What the queue is told of run times: as recorded; the true run time; a loose one made from it; nothing. `auto`: as
recorded where the file has a column for it, else loose."""

LOOSE_H: Final = (1, 4, 12, 24, 72, 168, 336, 720, 1440, 2880)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One job. Times are whole seconds; `limit_s` None: the file names none. `row` counts from 0 in the file.

    `work_s` is the run time once started, with the whole gang, as whichever of `shapes`: those and what follows are as
    in `Job`. `reference` holds waits that other simulators found.
    """

    id: str
    row: int
    submit_s: int
    work_s: int
    roles: tuple[Role, ...]
    limit_s: int | None = None
    workspace: str = "default"
    owner: str = ""
    pool: str = "default"
    priority: Priority = Priority.NORMAL
    preemptible: bool = False
    shapes: tuple[tuple[Role, ...], ...] = ()
    node_names: tuple[str, ...] = ()
    driver: str | None = None
    virtual_cluster: str | None = None
    reference: Mapping[str, int] = field(default_factory=dict)

    @property
    def cards(self) -> float:
        """Cards of the whole gang, of a shared card its part."""
        return sum(role.replicas * role.resources.gpu * role.resources.gpu_milli for role in self.roles) / WHOLE

    @property
    def cores(self) -> float:
        """Cores of the whole gang."""
        return sum(role.replicas * role.resources.cpu for role in self.roles)


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in the order of their submission, and what the file said besides. `has_limits`: it has a column for them."""

    name: str
    jobs: tuple[Recorded, ...]
    has_limits: bool = False
    notes: tuple[str, ...] = ()


def workload(name: str, jobs: Iterable[Recorded], has_limits: bool, notes: Sequence[str] = ()) -> Workload:
    """Return the jobs sorted by submission, with the clock at 0 when the first one arrives and no id twice."""
    found = sorted(jobs, key=lambda job: (job.submit_s, job.row))
    seen: set[str] = set()
    out = []
    for job in found:
        name_of = job.id if job.id not in seen else f"{job.id}#{job.row}"
        seen.add(name_of)
        out.append(job if name_of == job.id else replace(job, id=name_of))
    return Workload(name, tuple(out), has_limits, tuple(notes))


def loose_limit_s(work_s: int, row: int) -> int:
    """Return a limit such as people give: the next step of LOOSE_H that covers `work_s`, for half of the rows one
    more.
    """
    steps = [hours * 3600 for hours in LOOSE_H]
    at = next((i for i, step in enumerate(steps) if step >= work_s), len(steps) - 1)
    if row * 2654435761 >> 7 & 1:
        at = min(at + 1, len(steps) - 1)
    return max(steps[at], work_s)


def check_limits(word: str) -> None:
    """Raise InvalidSpec when `word` is none of LIMITS."""
    if word not in LIMITS:
        raise InvalidSpec(simulation.no_such_limits(repr(word), LIMITS))


def limit_s(job: Recorded, limits: str, has_limits: bool) -> int | None:
    """Return what the queue is told of the run time of `job`, by the word `limits` of LIMITS; None: nothing.

    A limit below the recorded run time is raised to it: that job was not ended where it was recorded.
    """
    if limits == "auto":
        limits = "recorded" if has_limits else "loose"
    if limits == "exact":
        return job.work_s
    if limits == "loose":
        return loose_limit_s(job.work_s, job.row)
    if limits == "recorded" and job.limit_s is not None:
        return max(job.limit_s, job.work_s)
    return None


@dataclass(frozen=True, slots=True)
class NodeSize:
    """What one node carries, by which recorded sizes are divided into replicas: cards, cores (0: none)."""

    cards: int
    cores: float

    @classmethod
    def of(cls, nodes: Sequence[Node]) -> "NodeSize":
        """Return the most that one of `nodes` has."""
        return cls(max((len(node.gpus) for node in nodes), default=0), max((node.cpu for node in nodes), default=0.0))


@cache
def gang(cards: int, each: Resources, whole: int, least: int | None = None) -> tuple[Role, ...]:
    """Return the roles of a job that asks for `cards`; `each` is what one replica asks for besides.

    Up to one node's worth (`whole`) is one replica. More is ``cards // whole`` replicas of a whole node and, when
    something is left over, one replica of it, as in the rules of the Philly simulators. `least` makes the whole nodes
    elastic: as few as hold that many cards.
    """
    if cards <= whole or whole <= 0:
        return (Role("worker", 1, replace(each, gpu=cards)),)
    nodes, rest = divmod(cards, whole)
    fewest = None if least is None else min(nodes, max(1, -(-least // whole)))
    roles = (Role("worker", nodes, replace(each, gpu=whole, gpu_milli=WHOLE), min_replicas=fewest),)
    return (*roles, Role("rest", 1, replace(each, gpu=rest))) if rest else roles


@cache
def gang_of_cores(cores: int, each: Resources, whole: float) -> tuple[Role, ...]:
    """Return the roles of a job that asks for `cores`, divided like cards."""
    node = int(whole)
    if cores <= node or node <= 0:
        return (Role("worker", 1, replace(each, cpu=float(cores))),)
    nodes, rest = divmod(cores, node)
    roles = (Role("worker", nodes, replace(each, cpu=float(node))),)
    return (*roles, Role("rest", 1, replace(each, cpu=float(rest)))) if rest else roles
