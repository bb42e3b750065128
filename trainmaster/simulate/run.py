"""`simulate`: runs a workload on machines under a policy and returns one row per job. No wall clock, no chance.

Within one second: what ends, faults, what is submitted, timers, then one pass; seconds at which nothing happens do not
exist. The true run time goes to the engine alone; the queue is told of the limit. Invariant: the same input gives the
same rows.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trainmaster.core.events import Event, Kind
from trainmaster.core.formats.units import NotRead, parse_duration_s
from trainmaster.core.records import Job, Node, Policy
from trainmaster.core.states import JobState
from trainmaster.messages.cluster import simulation
from trainmaster.messages.jobs import tasks
from trainmaster.queue.ordering.rights import Rights
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.rules.never import refusal
from trainmaster.simulate.engine import Agenda, End, SimulatedEngine, Turn, Work
from trainmaster.simulate.workload import Recorded, Workload, limit_s
from trainmaster.simulate.world import World

Progress = Callable[[int, int], None]
"""Told (jobs ended, jobs) now and then."""

TOLD_EVERY: Final = 500


@dataclass(frozen=True, slots=True)
class Fault:
    """A node fails at second `at` and is back `down_s` later; what ran there is lost."""

    at: int
    node: str
    down_s: int


def parse_fault(text: str, nodes: Collection[str]) -> Fault:
    """Return the fault that ``NODE@WHEN+HOW_LONG`` describes, with durations such as ``2d``. Raises NotRead."""
    node, _, times = text.rpartition("@")
    when, plus, how_long = times.partition("+")
    if node not in nodes:
        raise NotRead(simulation.fault_of_no_node(repr(text), sorted(nodes)[:5]))
    if not plus:
        raise NotRead(simulation.fault_without_end(repr(text)))
    return Fault(int(parse_duration_s(when)), node, int(parse_duration_s(how_long)))


@dataclass(slots=True)
class Row:
    """What became of one job. Times in whole seconds; None: it did not come to that. `state`: its last, or ``refused``.

    `wait_s` is all the time it waited, over all attempts; `lost_s` what attempts ran that had to be repeated.
    """

    job: Recorded
    limit_s: int | None
    start_s: int | None = None
    end_s: int | None = None
    wait_s: int = 0
    lost_s: int = 0
    attempts: int = 0
    state: str = "queued"
    nodes: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether it ended after it had run."""
        return self.start_s is not None and self.end_s is not None

    @property
    def run_s(self) -> int:
        """How long its last attempt ran; 0 before it ended."""
        return self.end_s - self.job.submit_s - self.wait_s - self.lost_s if self.end_s is not None else 0


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """The rows in the order of submission, on which machines, under which policy (its name as asked for)."""

    label: str
    nodes: tuple[Node, ...]
    rows: tuple[Row, ...]
    passes: int


@dataclass(frozen=True, slots=True)
class SimulationSetting:
    """What is simulated besides workload and machines. `limits`: a word of workload.LIMITS."""

    policy: QueuePolicy = field(default_factory=QueuePolicy)
    label: str = "default"
    limits: str = "auto"
    start_cost_s: int = 0
    fault_restarts: int = 1000
    faults: tuple[Fault, ...] = ()
    rights: Rights = field(default_factory=Rights)


class Watcher:
    """Sees a run as it goes on, and changes nothing."""

    def submitted(self, world: World, job: Job, now: int) -> None:
        """`job` was taken in; the pass of this second is still to come."""

    def changed(self, before: Job | None, after: Job) -> None:
        """A job moved."""


def simulate(
    workload: Workload,
    nodes: Sequence[Node],
    setting: SimulationSetting,
    progress: Progress | None = None,
    watcher: Watcher | None = None,
) -> SimulationOutcome:
    """Return what becomes of every job of `workload`. A job that could never run is refused, as at a real submit."""
    return _Run(workload, nodes, setting, watcher or Watcher()).run(progress or (lambda done, jobs: None))


class _Submission(NamedTuple):
    seq: int
    job: Recorded


class _Run:
    def __init__(self, workload: Workload, nodes: Sequence[Node], setting: SimulationSetting, watcher: Watcher) -> None:
        self._setting, self._nodes, self._watcher = setting, tuple(nodes), watcher
        told = setting.limits
        self._rows = {job.id: Row(job, limit_s(job, told, workload.has_limits)) for job in workload.jobs}
        self._agenda = Agenda()
        self._ended = 0
        work = {job.id: Work(job.work_s, sum(r.replicas for r in job.roles)) for job in workload.jobs}
        engine = SimulatedEngine(self._agenda, work, setting.start_cost_s)
        self._world = World(nodes, setting.policy, engine, self._changed, setting.rights)
        self._policies: dict[int | None, Policy] = {}
        for seq, job in enumerate(workload.jobs):
            self._agenda.add(job.submit_s, Turn.SUBMIT, _Submission(seq, job))
        for fault in setting.faults:
            self._agenda.add(fault.at, Turn.FAULT, fault)

    def run(self, progress: Progress) -> SimulationOutcome:
        agenda, world, passes, told = self._agenda, self._world, 0, 0
        while len(agenda):
            now = agenda.now
            while (due := agenda.due(now)) is not None:
                self._happen(due.what, now)
            passes += world.schedule(now)
            if self._ended - told >= TOLD_EVERY:
                told = self._ended
                progress(told, len(self._rows))
        progress(self._ended, len(self._rows))
        return SimulationOutcome(self._setting.label, self._nodes, tuple(self._rows.values()), passes)

    def _happen(self, what: object, now: int) -> None:
        if isinstance(what, End):
            job = self._world.jobs.get(what.job)
            if job is not None:
                self._world.apply(SimulatedEngine.ended(job, what.attempt, now))
        elif isinstance(what, _Submission):
            self._submit(what.seq, what.job, now)
        elif isinstance(what, Event):
            self._world.apply((what,))
        elif isinstance(what, Fault):
            self._fail(what, now)

    def _submit(self, seq: int, recorded: Recorded, now: int) -> None:
        row = self._rows[recorded.id]
        if self._never(recorded):
            row.state = "refused"
            self._ended += 1
            return
        limit = row.limit_s
        policy = self._policies.get(limit)
        if policy is None:
            policy = self._policies[limit] = Policy(
                fault_restarts=self._setting.fault_restarts, duration_s=limit, save_model=False
            )
        job = Job(
            id=recorded.id,
            name=recorded.id,
            owner=recorded.owner,
            roles=recorded.roles,
            spec_digest="",
            submitted_at=now,
            seq=seq,
            workspace=recorded.workspace,
            pool=recorded.pool,
            priority=recorded.priority,
            policy=policy,
            preemptible=recorded.preemptible,
            shapes=recorded.shapes,
            node_names=recorded.node_names,
            driver=recorded.driver,
            virtual_cluster=recorded.virtual_cluster,
        )
        self._world.apply((Event(job.id, Kind.SUBMITTED, now, recorded.owner, 0, {"job": job}),))
        self._watcher.submitted(self._world, job, now)

    def _never(self, job: Recorded) -> bool:
        """Return whether these machines could run `job` as none of its shapes."""
        names = frozenset(job.node_names)
        return all(
            refusal(self._world.capacity, fewest(shape), job.pool, names, job.driver) is not None
            for shape in job.shapes or (job.roles,)
        )

    def _fail(self, fault: Fault, now: int) -> None:
        if fault.down_s < 0:  # the end of a fault: the node is back
            self._world.set_schedulable(fault.node, True)
            return
        self._world.set_schedulable(fault.node, False, tasks.node_failed(fault.node))
        self._agenda.add(now + fault.down_s, Turn.TIMER, Fault(now + fault.down_s, fault.node, -1))
        for job in self._world.on_node(fault.node):
            self._world.apply(SimulatedEngine.lost(job, fault.node, now))

    def _changed(self, before: Job | None, after: Job) -> None:
        """Keep the row of a job that moved between queue, machines and its end."""
        self._watcher.changed(before, after)
        if before is None or before.state is after.state:
            return
        row = self._rows[after.id]
        if after.state is JobState.ACTIVE:
            assert after.attempt is not None
            started = int(after.attempt.created_at)
            row.wait_s += started - int(after.queued_at)
            row.start_s = started if row.start_s is None else row.start_s
            row.attempts = after.attempts_used
            row.nodes = tuple(dict.fromkeys(a.node for a in after.attempt.placement))
        elif after.state is JobState.QUEUED and after.attempt is not None:
            row.lost_s += int(after.queued_at) - int(after.attempt.created_at)
        if after.terminal:
            assert after.ended_at is not None
            row.state, row.end_s = after.state.value, int(after.ended_at)
            self._ended += 1
