"""Builders and histories for tests: say what matters, leave the rest to defaults.

    job("a").role("worker", 4, gpu=1).retries(2).done()
    node("n1", gpus=4)
    Story(job("a").done()).placed().to_running().exits(0).expect(Save).saved().expect(Reap).reaped().nothing_else()

Pure: ids, times and numbers are derived from what is given, so the same lines build the same records.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Self

from trainmaster.core.actions import Action, WakePlanner
from trainmaster.core.events import Event, Kind
from trainmaster.core.launch import Gang, RoleCommand
from trainmaster.core.records import Assignment, Job, Node, PortRequest, Resources, Role, to_json
from trainmaster.core.reduce import reduce
from trainmaster.core.states import JobState, Phase, Priority, TaskPhase
from trainmaster.queue.ordering.classes import PendingQueue
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.snapshot import Snapshot

EPOCH = 1_700_000_000.0
"""When every story begins."""


def job_id(name: str) -> str:
    """Return the job id of the test job `name`: the same name has the same id."""
    return "t" + sha256(name.encode()).hexdigest()[:32]


class JobBuilder:
    """Collects what a test says about a job; `done` returns the Job."""

    def __init__(self, name: str) -> None:
        self._job = Job(
            id=job_id(name), name=name, owner="ann", roles=(), spec_digest="sha256:" + "0" * 64, submitted_at=EPOCH
        )

    def role(
        self,
        name: str = "worker",
        replicas: int = 1,
        *,
        cpu: float = 1.0,
        memory_mib: int = 1024,
        gpu: int = 0,
        gpu_type: str | None = None,
        ports: Sequence[PortRequest] = (),
        **rules: Any,
    ) -> Self:
        """Add a role. `rules`: min_succeeded, min_failed, main, ends_job."""
        resources = Resources(cpu, memory_mib, gpu, gpu_type)
        role = Role(name, replicas, resources, tuple(ports), **rules)
        return self.fields(roles=(*self._job.roles, role))

    def policy(self, **fields: Any) -> Self:
        """Set fields of the policy, for example retries=2, duration_s=60."""
        return self.fields(policy=replace(self._job.policy, **fields))

    def retries(self, count: int) -> Self:
        """Allow `count` new attempts after the command failed."""
        return self.policy(retries=count)

    def fault_restarts(self, count: int) -> Self:
        """Allow `count` new attempts after the platform lost tasks."""
        return self.policy(fault_restarts=count)

    def fields(self, **fields: Any) -> Self:
        """Set any fields of the Job."""
        self._job = replace(self._job, **fields)
        return self

    def seq(self, seq: int) -> Self:
        """Set the submit order."""
        return self.fields(seq=seq)

    def priority(self, priority: Priority) -> Self:
        """Set the priority class."""
        return self.fields(priority=priority)

    def done(self) -> Job:
        """Return the job; without any role it has one of one replica."""
        if not self._job.roles:
            self.role()
        return self._job


def job(name: str = "a") -> JobBuilder:
    """Begin a job."""
    return JobBuilder(name)


def node(
    name: str = "n1", *, cpu: float = 8.0, memory_mib: int = 16384, gpus: int = 0, model: str = "A100", **fields: Any
) -> Node:
    """Return a node with `gpus` cards of one model; its address follows from its name."""
    fields.setdefault("host", "10.0.0." + ("".join(c for c in name if c.isdigit()) or "1"))
    return Node(name=name, cpu=cpu, memory_mib=memory_mib, gpus=(model,) * gpus, **fields)


def placement(what: Job, *nodes: Node) -> tuple[Assignment, ...]:
    """Return a placement of all replicas, round-robin over `nodes` (default: one), cards and ports counted upwards."""
    where = nodes or (node(),)
    cards = dict.fromkeys((n.name for n in where), 0)
    ports = dict.fromkeys((n.host for n in where), 21000)
    out: list[Assignment] = []
    for role_index, role in enumerate(what.roles):
        for index in range(role.replicas):
            at = where[len(out) % len(where)]
            first, cards[at.name] = cards[at.name], cards[at.name] + role.resources.gpu
            given = []
            for request in role.ports:
                begin = request.begin_at or ports[at.host]
                given.append((request.label, tuple(range(begin, begin + request.count))))
                ports[at.host] = max(ports[at.host], begin + request.count)
            gpus = tuple(range(first, cards[at.name]))
            out.append(Assignment(role_index, index, at.name, at.host, gpus, tuple(given)))
    return tuple(out)


def gang(what: Job, *nodes: Node, attempt: int = 1, command: str = "true") -> Gang:
    """Return attempt `attempt` of `what` as an engine sees it; every role runs `command`."""
    commands = tuple(RoleCommand(text=command) for _ in what.roles)
    where = placement(what, *nodes)
    return Gang(what.id, attempt, what.name, what.owner, what.framework, what.roles, commands, where)


def waiting(*jobs: Job) -> PendingQueue:
    """Return a queue in which `jobs` wait; those without a sequence number get one in the order given."""
    queue = PendingQueue()
    for number, what in enumerate(jobs, start=1):
        queue.add(what if what.seq else replace(what, seq=number))
    return queue


def snapshot(nodes: Sequence[Node], *jobs: Job, capacity: Capacity | None = None) -> Snapshot:
    """Return what the planner sees: `jobs` wait for `nodes`, on which nothing runs unless `capacity` says so."""
    return Snapshot(tuple(nodes), (), waiting(*jobs).snapshot_classes(), capacity=capacity)


class Story:
    """A job and what happens to it. Every step applies one event; `expect` compares the orders since the last one."""

    def __init__(self, what: Job, *nodes: Node) -> None:
        submitted = Event(what.id, Kind.SUBMITTED, EPOCH, what.owner, data={"job": to_json(what)})
        self.job, first = reduce(None, submitted)
        self.now, self.nodes = EPOCH, nodes
        self.events = [submitted]
        self.orders: list[Action] = [order for order in first if not isinstance(order, WakePlanner)]

    def happens(self, kind: Kind, *, attempt: int | None = None, after: float = 1.0, **data: Any) -> Self:
        """Apply one event, `after` seconds later, about the current attempt unless another is named."""
        self.now += after
        number = self.job.attempts_used if attempt is None else attempt
        event = Event(self.job.id, kind, self.now, "system", number, data)
        self.job, orders = reduce(self.job, event)
        self.events.append(event)
        self.orders += [order for order in orders if not isinstance(order, WakePlanner)]
        return self

    def placed(self) -> Self:
        """The planner starts the next attempt on the story's nodes."""
        where = to_json(placement(self.job, *self.nodes))
        return self.happens(Kind.PLACED, attempt=self.job.attempts_used + 1, placement=where)

    def to_running(self) -> Self:
        """Place it unless it is, then pre-check, stage, launch, and report every task running."""
        if self.job.state is JobState.QUEUED:
            self.placed()
        self.happens(Kind.CHECKED).happens(Kind.STAGED).happens(Kind.STARTED)
        assert self.job.attempt is not None
        for task in self.job.attempt.tasks:
            self.happens(Kind.TASK_RUNNING, role=task.role, index=task.index)
        self.orders.clear()
        return self

    def exits(self, code: int = 0, *, role: int = 0, index: int = 0) -> Self:
        """One task ends with an exit code."""
        return self.happens(Kind.TASK_EXITED, role=role, index=index, exit_code=code)

    def all_exit(self, code: int = 0) -> Self:
        """Every task that has not ended ends with `code`, until the attempt is no longer running."""
        assert self.job.attempt is not None
        for task in self.job.attempt.tasks:
            if not task.ended and self.job.attempt.phase is Phase.RUNNING:
                self.exits(code, role=task.role, index=task.index)
        return self

    def lost(self, *, role: int = 0, index: int = 0) -> Self:
        """One task disappears."""
        return self.happens(Kind.TASK_LOST, role=role, index=index, reason="the agent does not know it")

    def stop(self) -> Self:
        """The owner asks for a stop."""
        return self.happens(Kind.STOP_REQUESTED)

    def saved(self, model: str | None = "m1@1") -> Self:
        """The outputs are saved."""
        return self.happens(Kind.SAVED, model=model, files=1, size_bytes=1)

    def reaped(self) -> Self:
        """The engine confirms that nothing is left."""
        return self.happens(Kind.REAPED)

    def expect(self, *kinds: type[Action]) -> Self:
        """Assert the kinds of the orders given since the last `expect` (waking the planner aside)."""
        given = [type(order).__name__ for order in self.orders]
        assert given == [kind.__name__ for kind in kinds], given
        self.orders.clear()
        return self

    def nothing_else(self) -> Self:
        """Assert that no order is left unmentioned."""
        return self.expect()

    def is_now(self, state: JobState, phase: Phase | None = None) -> Self:
        """Assert the job's state and, when given, its attempt's phase."""
        assert self.job.state is state, self.job
        if phase is not None:
            assert self.job.attempt is not None
            assert self.job.attempt.phase is phase, self.job.attempt
        return self

    def phases(self) -> list[TaskPhase]:
        """Return the phases of the current attempt's tasks."""
        assert self.job.attempt is not None
        return [task.phase for task in self.job.attempt.tasks]
