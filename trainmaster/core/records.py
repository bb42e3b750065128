"""The plain immutable records everything else talks about: Job, Attempt, Task and what they are made of.

Changed only by `reduce`, which returns new ones. All are JSON-able through `to_json` / `job_from_json` without loss.
Times are seconds since the epoch (UTC), durations seconds, memory MiB, indices start at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields, make_dataclass
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from trainmaster._compat import dataclass
from trainmaster.core.ids import split_task_name
from trainmaster.core.money.rates import Rate, rates_from_json
from trainmaster.core.states import TERMINAL, JobShare, JobState, Phase, Priority, Shown, TaskPhase, Why, shown_state
from trainmaster.messages.said import Said, said_in


@dataclass(frozen=True, slots=True)
class Resources:
    """What one replica asks for. `gpu` counts cards; `gpu_type` None means any type (R8).

    `gpu_milli`: thousandths of each card, 1..1000; less than 1000 (a card shared with others) only with `gpu` 1.
    """

    cpu: float = 1.0
    memory_mib: int = 1024
    gpu: int = 0
    gpu_type: str | None = None
    shm_mib: int = 64
    gpu_milli: int = 1000


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A labelled block of `count` ports; `begin_at` 0 lets the platform choose (R80-R83)."""

    label: str
    count: int = 1
    begin_at: int = 0


@dataclass(frozen=True, slots=True)
class Role:
    """The part of a task role that scheduling and completion need; the command lives in the spec.

    `min_failed` None: task failures never fail the job (R85). `min_succeeded` None: the role is complete when all its
    tasks have ended (R86). `main` or `ends_job`: completing this role completes the job (R136, D11).
    `min_replicas`: may start with as few as that (R182), 1..replicas; None: with all of `replicas` or not at all.
    `flavor`: the name its resources were given by (R161), None: they were written out.
    """

    name: str
    replicas: int
    resources: Resources = Resources()
    ports: tuple[PortRequest, ...] = ()
    min_succeeded: int | None = None
    min_failed: int | None = 1
    main: bool = False
    ends_job: bool = False
    min_replicas: int | None = None
    flavor: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """What may happen to a job without asking its owner. Durations in seconds.

    `retries`: new attempts after the user's command failed (R88). `fault_restarts`: new attempts after the platform
    lost tasks that were running (R181). A node that proves bad before anything ran is free up to `bad_node_limit`
    times.
    """

    retries: int = 0
    fault_restarts: int = 0
    bad_node_limit: int = 5
    duration_s: float | None = None
    grace_s: float = 10.0
    debug_hold_s: float = 0.0  # > 0: keep a failed attempt this long (R90)
    save_model: bool = True


@dataclass(frozen=True, slots=True)
class Assignment:
    """Where one replica runs: node, address its peers reach it at, card indices on that node, ports by label.

    `node` "": nowhere yet; the engine will choose (see `unplaced`).
    """

    role: int
    index: int
    node: str
    host: str
    gpus: tuple[int, ...] = ()
    ports: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why something ended: `said`, where the `code` (of core.verdicts) does not say it all, with its evidence."""

    code: str
    said: Said | None = None
    evidence: str = ""  # the log line or record that shows it
    role: int | None = None
    index: int | None = None
    exit_code: int | None = None
    signal: int | None = None


def find_task(roles: Sequence[Role], name: str) -> tuple[int, int] | None:
    """Return (role, index) of the task that is called `name`: ``task0-1``, or by the name of its role ``worker-1``.
    None: no such.
    """
    try:
        role, index = split_task_name(name)
    except ValueError:
        called, _, digits = name.rpartition("-")
        role = next((number for number, one in enumerate(roles) if one.name == called), len(roles))
        index = int(digits) if digits.isascii() and digits.isdigit() else -1
    return (role, index) if role < len(roles) and 0 <= index < roles[role].replicas else None


@dataclass(frozen=True, slots=True)
class Task:
    """One replica in one attempt."""

    role: int
    index: int
    phase: TaskPhase = TaskPhase.WAITING
    exit_code: int | None = None
    signal: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    verdict: Verdict | None = None

    @property
    def ended(self) -> bool:
        """True once the task can no longer run."""
        return self.phase in (TaskPhase.EXITED, TaskPhase.LOST)

    @property
    def succeeded(self) -> bool:
        """True when the task exited with code 0."""
        return self.phase is TaskPhase.EXITED and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at running a job; never reused. `cause`: first, retry, fault, bad_node, preempted.

    `rates`: what one replica of each role costs, as it was when this attempt got its nodes.
    """

    number: int
    cause: str
    phase: Phase
    placement: tuple[Assignment, ...]
    tasks: tuple[Task, ...]
    created_at: float
    why: Why | None = None
    accepted_at: float | None = None  # when an engine that owns its queue took it in
    started_at: float | None = None  # when the first task was reported running
    draining_at: float | None = None
    retained_at: float | None = None
    ended_at: float | None = None
    verdict: Verdict | None = None
    rates: tuple[Rate, ...] = ()

    def task(self, role: int, index: int) -> Task | None:
        """Return the task at (role, index) or None. O(tasks)."""
        for task in self.tasks:
            if task.role == role and task.index == index:
                return task
        return None


@dataclass(frozen=True, slots=True)
class Job:
    """One row. `seq` is the submit order within the server; `attempt` is the current or last attempt.

    `roles` is what the current attempt was placed as, while queued the first of `shapes`: the flavors it may run with
    in the order tried (R161), of which exactly one runs; empty: `roles` alone. `node_names` empty: any node (R12).
    """

    id: str
    name: str
    owner: str
    roles: tuple[Role, ...]
    spec_digest: str
    submitted_at: float
    seq: int = 0
    slug: str | None = None
    workspace: str = "default"
    pool: str = "default"
    state: JobState = JobState.QUEUED
    priority: Priority = Priority.NORMAL
    policy: Policy = Policy()
    framework: str = "single"
    dialect: str = "native"
    description: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    queued_at: float = 0.0  # start of the current wait
    pause_s: float = 0.0  # not tried for so long from `queued_at`: the trouble that ended the last try may last
    started_at: float | None = None  # first task of the first attempt running; the duration counts from here (R191)
    ended_at: float | None = None
    attempts_used: int = 0
    retries_used: int = 0
    faults_used: int = 0
    bad_nodes_used: int = 0
    attempt: Attempt | None = None
    next_cause: str = "first"
    shapes: tuple[tuple[Role, ...], ...] = ()
    node_names: tuple[str, ...] = ()
    driver: str | None = None  # version of the accelerators' driver that its nodes must have (R13), None: any
    virtual_cluster: str | None = None  # the share of the pool that it is charged to (R6)
    share: JobShare = JobShare.NONE  # with the other members of its workspace
    tags: tuple[str, ...] = ()  # what people call it, also after its end; sorted
    note: str = ""  # what they want to remember of it
    family: str | None = None  # id of the first of its versions (R159), None: it is that
    family_version: int = 1
    preemptible: bool = False  # may be sent back to the queue for a job of a higher class or the owner of a quota
    preempted_at: float | None = None  # when that happened last
    model: str | None = None  # "<model id>@<version>" once it is saved
    sweep: str | None = None  # id of the sweep that it is an entry of
    sweep_index: int = 0  # which of its entries, from 1
    sweep_most: int = 0  # so many of them run at a time; 0: as many as there is room for
    verdict: Verdict | None = None
    version: int = 0  # number of events applied

    @property
    def terminal(self) -> bool:
        """True once nothing can change the outcome; a terminal job holds nothing."""
        return self.state in TERMINAL

    @property
    def shown(self) -> Shown:
        """The state a person sees."""
        return shown_state(self.state, self.attempt.phase if self.attempt and self.state is JobState.ACTIVE else None)

    @property
    def expires_at(self) -> float | None:
        """When the duration runs out, None while it has not started or has no limit."""
        if self.policy.duration_s is None or self.started_at is None:
            return None
        return self.started_at + self.policy.duration_s

    @property
    def tasks_total(self) -> int:
        """Number of replicas of all roles."""
        return sum(role.replicas for role in self.roles)


@dataclass(frozen=True, slots=True)
class Node:
    """One machine as the queue sees it. `gpus` holds the model of each card by index; capacity in cores and MiB.

    A slice of a card (MIG, sMLU) is a card with a model name of its own; `card_slots` then says for each card index the
    physical card and the slice on it (empty: every card is whole). `driver`, `os` and `kernel` are versions, ""
    unknown.
    """

    name: str
    host: str
    cpu: float
    memory_mib: int
    gpus: tuple[str, ...] = ()
    pool: str = "default"
    schedulable: bool = True
    reason: Said | None = None  # why not schedulable
    simulated: bool = False
    facts: tuple[tuple[str, str], ...] = field(default=())  # what else is told about it (R165)
    card_slots: tuple[tuple[int, int], ...] = ()
    driver: str = ""
    os: str = ""
    kernel: str = ""


def unplaced(roles: Iterable[Role]) -> tuple[Assignment, ...]:
    """Return every replica without a place: the placement for an engine that chooses places itself."""
    return tuple(Assignment(at, index, "", "") for at, role in enumerate(roles) for index in range(role.replicas))


def port_space(host: str) -> str:
    """Return the name under which ports of `host` are counted: one for all loopback addresses, because a program may
    listen on all of them at once.
    """
    return "127.0.0.1" if host.startswith("127.") else host


R = TypeVar("R")
_Shape = tuple[Callable[[Any], tuple[Any, ...]], dict[str, int], Callable[..., Any]]
_SHAPES: Final[dict[type, _Shape]] = {}


def replace(record: R, **changes: Any) -> R:
    """Return `record` with `changes`: what dataclasses.replace does for slotted records without a hook, at a tenth of
    its cost.

    Every event of every job comes through here several times. Raises KeyError for a field that it does not have.
    """
    kind = type(record)
    shape = _SHAPES.get(kind) or _shape(kind)
    read, places, make = shape
    values = list(read(record))
    for name, value in changes.items():
        values[places[name]] = value
    made = make(*values)
    made.__class__ = kind
    return cast(R, made)


def _shape(kind: Any) -> _Shape:
    """Return what reads the fields of a `kind`, the place of each field, and what makes one.

    What makes one is a twin class with the same slots that is not frozen: plain assignments cost a fraction of
    object.__setattr__. `replace` then sets the class.
    """
    names = [item.name for item in fields(kind)]
    twin: Callable[..., Any] = dataclass(slots=True)(make_dataclass(kind.__name__, names))
    shape = _SHAPES[kind] = (attrgetter(*names), {name: at for at, name in enumerate(names)}, twin)
    return shape


def to_json(record: Any) -> Any:
    """Return `record` (any record of this module, tuples of them, scalars) as JSON-able dicts, lists and scalars."""
    if isinstance(record, (tuple, list)):
        return [to_json(item) for item in record]
    if isinstance(record, Said):
        return record.to_json()
    names = getattr(type(record), "__dataclass_fields__", None)
    return record if names is None else {name: to_json(getattr(record, name)) for name in names}


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((k, v) for k, v in value)


def verdict_from_json(data: dict[str, Any] | None) -> Verdict | None:
    """Return the Verdict of `to_json`, also one that an earlier version wrote; None for nothing.

    Raises TypeError, KeyError, ValueError or AttributeError for a malformed record.
    """
    if not data:
        return None
    return Verdict(**{**{name: value for name, value in data.items() if name != "message"}, "said": said_in(data)})


def role_from_json(data: dict[str, Any]) -> Role:
    """Return the Role of `to_json`. Raises TypeError, KeyError or ValueError for a malformed record."""
    ports = tuple(PortRequest(**p) for p in data["ports"])
    return Role(**{**data, "resources": Resources(**data["resources"]), "ports": ports})


def assignment_from_json(data: dict[str, Any]) -> Assignment:
    """Return the Assignment of `to_json`. Raises TypeError, KeyError or ValueError for a malformed record."""
    ports = tuple((label, tuple(numbers)) for label, numbers in data["ports"])
    return Assignment(**{**data, "gpus": tuple(data["gpus"]), "ports": ports})


def task_from_json(data: dict[str, Any]) -> Task:
    """Return the Task of `to_json`. Raises TypeError, KeyError or ValueError for a malformed record."""
    return Task(**{**data, "phase": TaskPhase(data["phase"]), "verdict": verdict_from_json(data["verdict"])})


def attempt_from_json(data: dict[str, Any]) -> Attempt:
    """Return the Attempt of `to_json`. Raises TypeError, KeyError or ValueError for a malformed record."""
    return Attempt(
        **{
            **data,
            "phase": Phase(data["phase"]),
            "why": Why(data["why"]) if data["why"] else None,
            "placement": tuple(assignment_from_json(a) for a in data["placement"]),
            "tasks": tuple(task_from_json(t) for t in data["tasks"]),
            "verdict": verdict_from_json(data["verdict"]),
            "rates": rates_from_json(data.get("rates", ())),
        }
    )


def job_from_json(data: dict[str, Any]) -> Job:
    """Return the Job of `to_json`. Raises TypeError, KeyError or ValueError for a malformed record."""
    return Job(
        **{
            **data,
            "roles": tuple(role_from_json(r) for r in data["roles"]),
            "state": JobState(data["state"]),
            "priority": Priority(data["priority"]),
            "policy": Policy(**data["policy"]),
            "tags": tuple(data.get("tags", ())),
            "share": JobShare(data.get("share", JobShare.NONE)),
            "labels": _pairs(data["labels"]),
            "shapes": tuple(tuple(role_from_json(r) for r in shape) for shape in data.get("shapes", ())),
            "node_names": tuple(data.get("node_names", ())),
            "attempt": attempt_from_json(data["attempt"]) if data["attempt"] else None,
            "verdict": verdict_from_json(data["verdict"]),
        }
    )
