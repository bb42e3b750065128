"""The simulated platform: jobs that only `reduce` changes, the queue's index and what is held, one pass at a time.

The counterpart of the service's control loop, without ledger and network. Invariant: as there, a job is in the queue
exactly while its state is queued, and an attempt holds its capacity from `placed` until `reaped`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from trainmaster.core.actions import Action, Notify, WakePlanner
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Attempt, Job, Node, replace
from trainmaster.core.reduce import reduce
from trainmaster.core.states import JobState, Phase
from trainmaster.messages.said import Said
from trainmaster.queue.ordering.classes import PendingQueue, placing
from trainmaster.queue.ordering.fairness import Fairness
from trainmaster.queue.ordering.rights import Rights
from trainmaster.queue.ordering.running import Running, usage_of
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.placing.packing import Mix, Recent
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.snapshot import Plan, Snapshot
from trainmaster.simulate.engine import SimulatedEngine

Changed = Callable[[Job | None, Job], None]
"""Told of every change of a job: before, after."""


class World:
    """`engine` answers orders; `changed` hears of every change. Owned by one thread."""

    def __init__(
        self, nodes: Sequence[Node], policy: QueuePolicy, engine: SimulatedEngine, changed: Changed, rights: Rights
    ) -> None:
        self.jobs: dict[str, Job] = {}
        self.queue = PendingQueue()
        self.capacity = Capacity(nodes)
        self.running = Running()
        self.fair = Fairness(policy.fair_half_life_s, rights.weights)
        self.recent = Recent()
        self._mix: Mix = ()
        self.stirred = False  # something changed that may let a waiting job start
        self._nodes = tuple(nodes)
        self._by_name = {node.name: node for node in nodes}
        self._policy, self._engine, self._changed = policy, engine, changed
        self._quotas = rights.quotas(nodes)

    def apply(self, events: Iterable[Event]) -> None:
        """Let events happen, with all that follows from them at the same second. Events of ended jobs do nothing."""
        todo = deque(events)
        while todo:
            event = todo.popleft()
            before = self.jobs.get(event.job)
            if before is None and event.kind is not Kind.SUBMITTED:
                continue
            after, actions = reduce(before, event)
            self._move(before, after)
            for action in actions:
                todo.extend(self._carry_out(action, after, int(event.at)))

    def _carry_out(self, action: Action, job: Job, now: int) -> Iterable[Event]:
        if isinstance(action, WakePlanner):
            self.stirred = True
            return ()
        if isinstance(action, Notify):
            del self.jobs[job.id]
            return ()
        return self._engine.answer(action, job, now)

    def _move(self, before: Job | None, after: Job) -> None:
        self.jobs[after.id] = after
        was = before.state if before is not None else None
        if before is None:
            self.recent.note(after.roles)
        if after.state is JobState.QUEUED:
            if was is not JobState.QUEUED:
                self.queue.add(after)
        elif was is JobState.QUEUED:
            self.queue.remove(after.id)
        attempt = after.attempt
        if attempt is not None and (before is None or before.attempt is not attempt):
            if attempt.phase is Phase.ENDED:
                self._released(attempt_id(after.id, attempt.number), attempt)
            elif attempt.phase is Phase.PLACED:
                self._held(after, attempt)
        self._changed(before, after)

    def _held(self, job: Job, attempt: Attempt) -> None:
        usage = usage_of(job, attempt, self._by_name)
        self.capacity.hold(usage.attempt, job.roles, attempt.placement)
        self.running.add(usage)
        self.fair.change(usage.tenant, usage.held, 1, attempt.created_at)

    def _released(self, key: str, attempt: Attempt) -> None:
        self.capacity.release(key)
        usage = self.running.remove(key)
        if usage is not None and attempt.ended_at is not None:
            self.fair.change(usage.tenant, usage.held, -1, attempt.ended_at)

    def schedule(self, now: int) -> int:
        """Run one pass if anything changed, and again while the policy's limit of starts cuts it short; return how
        many.
        """
        passes = 0
        if self.stirred and self._policy.minds_mix:
            self._mix = self.recent.mix(now)
        while self.stirred and len(self.queue):
            passes += 1
            made = plan(self.snapshot(), now, self._policy)
            self.apply(self._evicted(made, now))
            self.apply(self._placed(made, now))
            self.stirred = made.more or bool(made.evictions)  # other changes were the pass's own starts
        return passes

    @staticmethod
    def _evicted(made: Plan, now: int) -> list[Event]:
        return [
            Event(
                evict.job, Kind.PREEMPTED, now, "scheduler", split_attempt_id(evict.attempt)[1], {"by": evict.for_job}
            )
            for evict in made.evictions
        ]

    def _placed(self, made: Plan, now: int) -> list[Event]:
        return [
            Event(
                start.job,
                Kind.PLACED,
                now,
                "scheduler",
                self.jobs[start.job].attempts_used + 1,
                placing(self.jobs[start.job], start),
            )
            for start in made.starts
        ]

    def snapshot(self) -> Snapshot:
        """Return what a pass may know."""
        return Snapshot(
            self._nodes,
            self.running,
            self.queue.snapshot_classes(),
            capacity=self.capacity,
            quotas=self._quotas,
            fair=self.fair,
            mix=self._mix,
        )

    def set_schedulable(self, name: str, schedulable: bool, why: Said | None = None) -> None:
        """Take a node out of service, or give it back."""
        self._nodes = tuple(
            replace(node, schedulable=schedulable, reason=why) if node.name == name else node for node in self._nodes
        )
        self.capacity.set_nodes(self._nodes)
        self.stirred = True

    def on_node(self, name: str) -> list[Job]:
        """Return the jobs that hold something on the node."""
        held = (job for job in self.jobs.values() if job.state is JobState.ACTIVE and job.attempt is not None)
        return [job for job in held if job.attempt and any(a.node == name for a in job.attempt.placement)]
