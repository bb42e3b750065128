"""Between the pure queue and the live jobs: keeps what waits and what is held, asks `plan`, answers "why does it
wait?".

Invariant: a job is in the queue exactly while its state is queued; an attempt holds its capacity from `placed` until
`reaped`. Both follow from one method, `moved`, that sees every change.
"""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from trainmaster.answers import ReasonView
from trainmaster.core.config import LocalConfig
from trainmaster.core.events import Event, Kind
from trainmaster.core.ids import attempt_id, split_attempt_id
from trainmaster.core.records import Assignment, Attempt, Job, Node, Resources, Role, port_space
from trainmaster.core.states import JobState, Phase
from trainmaster.queue.explaining.changes import LAST, Changes, Suggestion
from trainmaster.queue.explaining.explain import Judged, explain, position, preview
from trainmaster.queue.explaining.reasons import NameOf, without_names
from trainmaster.queue.explaining.sooner import promising
from trainmaster.queue.explaining.suggest import suggest
from trainmaster.queue.ordering.classes import PendingQueue, in_order, joined, pending_of, placing, without
from trainmaster.queue.ordering.fairness import Fairness, Offsets
from trainmaster.queue.ordering.order import Ranking
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.ordering.running import Running, usage_of
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.placing.elastic import fewest
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.need import ALL
from trainmaster.queue.placing.packing import Mix, Recent
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.rules.never import asking, refusal, remember
from trainmaster.queue.snapshot import Pending, Plan, Reason, Snapshot, Start
from trainmaster.service.scheduling.busy_ports import AGAIN_S, BusyPorts, first_for
from trainmaster.service.scheduling.pausing import Pausing
from trainmaster.service.scheduling.reasons import view_reason
from trainmaster.service.scheduling.turns import SweepTurns

SHARES_S: Final = 60.0
"""Shares move with time, and with them the order: after so long a pass is made though nothing else changed. Who could
start by that waits a minute longer at most, little beside the hours by which shares move it; a pass a minute is next to
nothing."""

SMALL: Final = 256
"""Tasks and ports of a job that is judged in the loop's thread."""

Aside = Callable[[Callable[[], Reason | None]], Awaitable[Reason | None]]
"""Has something done in another process."""


class Scheduling:
    """One object per server; all methods in the loop's thread."""

    def __init__(self, config: LocalConfig, home: str, next_attempt: Callable[[str], int]) -> None:
        self._config, self._home, self._next_attempt = config, home, next_attempt
        self._plan, self.policy = Plan(), DEFAULT
        self.quotas: Mapping[tuple[Account, str], Quota] = {}
        self._weights: Mapping[str, float] = {}
        self._recent = Recent()
        self._mix: Mix = ()
        self._flexible: dict[str, Job] = {}  # waiting jobs that may run as one of several shapes
        self._busy = BusyPorts()
        self.again_s: float | None = None
        """In how many seconds another pass is wanted though nothing changes, as of the last one: 0 at once, None
        never.
        """
        self.nodes: dict[str, Node] = {}
        self._machines: tuple[Node, ...] = ()  # the same
        self.fair = Fairness(self.policy.fair_half_life_s)
        self._clusters: Mapping[str, int] = {}
        self._begin()

    def _begin(self) -> None:
        self.queue, self.running, self.pausing, self.turns = PendingQueue(), Running(), Pausing(), SweepTurns()
        self._planned: tuple[object, ...] | None = None  # all that the last pass depended on, but for the time
        self.fair = Fairness(self.policy.fair_half_life_s, self._weights, self.fair.past_json())
        self.capacity = self._empty_capacity()
        self._flexible.clear()
        self._there: Counter[str] = Counter()  # by pool: attempts placed nowhere yet

    def _empty_capacity(self) -> Capacity:
        first, last = self._config.port_first, self._config.port_last
        capacity = Capacity(self.nodes.values(), first, last)
        capacity.port_begin = first_for(self._home, first, last)
        return capacity

    def set_nodes(self, nodes: Iterable[Node]) -> None:
        """Replace the machines."""
        self.nodes = {node.name: node for node in nodes}
        self._machines = tuple(self.nodes.values())
        self.capacity.set_nodes(self._machines)

    def set_rules(
        self, policy: QueuePolicy, quotas: Mapping[tuple[Account, str], Quota], weights: Mapping[str, float]
    ) -> None:
        """Let these hold from the next pass on. `weights`: of workspaces, relative to one another."""
        self.policy, self.quotas, self._weights = policy, quotas, weights
        self.fair.half_life_s, self.fair.weights = policy.fair_half_life_s, dict(weights)

    def set_clusters(self, most: Mapping[str, int]) -> None:
        """Name the pools whose engine decides order and places itself, and how many may wait in each at a time."""
        self._clusters = most

    def places(self, pool: str) -> bool:
        """Return whether nodes are chosen here for the jobs of `pool`, and not by its engine."""
        return pool not in self._clusters

    @property
    def hosts(self) -> int:
        """Number of machines whose ports are counted apart."""
        return len({port_space(node.host) for node in self.nodes.values()})

    def restore(self, jobs: Iterable[Job], asked: Iterable[Sequence[Role]]) -> None:
        """Begin anew from the live jobs the ledger holds; what was used until now stays.

        `asked`: the gangs submitted last, ended or not, oldest first.
        """
        self._begin()
        for job in jobs:
            self.moved(None, job)
        self._recent = Recent(asked)

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job."""
        if before is None:
            self._recent.note(after.roles)
        was = before.state if before is not None else None
        if after.state is JobState.QUEUED:
            if was is not JobState.QUEUED or before is None or _turn(before) != _turn(after):
                self._wait(after)
                if after.shapes or any(role.min_replicas is not None for role in after.roles):
                    self._flexible[after.id] = after
        elif was is JobState.QUEUED:
            self._flexible.pop(after.id, None)
            self.queue.remove(after.id)
            self.pausing.remove(after.id)
        if after.sweep_most and after.state is not JobState.QUEUED and after.state is not was:
            self._next_turns(after)
        attempt = after.attempt
        if attempt is None or (before is not None and before.attempt is attempt and before.policy is after.policy):
            return
        if attempt.phase is Phase.ENDED:
            self._released(attempt_id(after.id, attempt.number), attempt)
        elif after.state is JobState.ACTIVE:
            self._held(before, after, attempt)

    def _wait(self, job: Job) -> None:
        if job.pause_s:
            self.queue.remove(job.id)
            self.pausing.add(job)
            self._next_turns(job)
        elif not self.turns.holds(job):
            self.queue.add(job)

    def _next_turns(self, job: Job) -> None:
        for one in self.turns.moved(job):
            self.queue.add(one)

    def _held(self, before: Job | None, after: Job, attempt: Attempt) -> None:
        key = attempt_id(after.id, attempt.number)
        known = self.running.get(key)
        if known is None:
            self.capacity.hold(key, after.roles, attempt.placement)
            self._there[after.pool] += _nowhere(attempt.placement)
        elif known.placement is not attempt.placement:
            self.capacity.release(key)
            self.capacity.hold(key, after.roles, attempt.placement)
            self._there[after.pool] -= _nowhere(known.placement)
        elif before is not None and _ends(before) == _ends(after):
            return
        usage = usage_of(after, attempt, self.nodes)
        self.running.add(usage)
        if known is None:
            self.fair.change(usage.tenant, usage.held, 1, attempt.created_at)

    def _released(self, key: str, attempt: Attempt) -> None:
        self.capacity.release(key)
        usage = self.running.remove(key)
        if usage is not None:
            self._there[usage.pool] -= _nowhere(usage.placement)
            ended_at = attempt.ended_at if attempt.ended_at is not None else attempt.created_at
            self.fair.change(usage.tenant, usage.held, -1, ended_at)

    # -- decide ------------------------------------------------------------------------------------------------

    def schedule(self, now: float) -> list[Event]:
        """Run one pass; return a `preempted` event per eviction and a `placed` event per start.

        Nothing is done when nothing changed since the last one and time alone lets nobody start. It may where running
        jobs may be preempted after a while, where a port may have become free, and, looked at every SHARES_S, where
        shares decide the order. `again_s` says when to call next.
        """
        self.again_s = None
        for job in self.pausing.over(now):
            self.queue.add(job)
        if (paused_until := self.pausing.next_at()) is not None:
            self._again_in(paused_until - now)
        if not len(self.queue):
            self._plan = Plan(at=now)
            return []
        facts = (
            self._handing,
            self.queue.changes,
            self.running.changes,
            self.capacity.changes,
            self.policy,
            self.quotas,
            self._weights,
        )
        timely = self.policy.preemption != "off" or bool(self.capacity.busy_ports)
        moves = self.policy.fair_weight_s > 0  # shares do, and the order with them
        again_s = self._plan.at + SHARES_S - now
        if facts == self._planned and not timely and not (moves and again_s <= 0):
            if moves:
                self._again_in(again_s)
            return []
        if self.policy.minds_mix:
            self._mix = self._recent.mix(now)
        self._plan = made = self._plan_on_free_ports(now)
        self._planned = facts
        if moves:
            self._again_in(SHARES_S)
        out = []
        for evict in made.evictions:
            number = split_attempt_id(evict.attempt)[1]
            out.append(
                Event(evict.job, Kind.PREEMPTED, now, "scheduler", number, {"by": evict.for_job, "reason": evict.why})
            )
        for start in made.starts:
            data = placing(self._flexible.get(start.job), start)
            out.append(Event(start.job, Kind.PLACED, now, "scheduler", self._next_attempt(start.job), data))
        if made.more:
            self.again_s = 0.0
        return out

    def _again_in(self, seconds: float) -> None:
        self.again_s = min(seconds, math.inf if self.again_s is None else self.again_s)

    def _plan_on_free_ports(self, now: float) -> Plan:
        """Plan again around every port that something outside the platform turns out to listen on."""
        self.capacity.set_busy_ports(self._busy.busy_at(now))
        made = plan(self._snapshot(), now, self.policy)
        while self._busy.look((start.placement for start in made.starts), now):
            self.capacity.set_busy_ports(self._busy.busy_at(now))
            made = plan(self._snapshot(), now, self.policy)
        if self.capacity.busy_ports and any(
            role.ports for cls in self.queue.snapshot_classes() for role in cls.key.request.shapes[0]
        ):
            self._again_in(AGAIN_S)
        return made

    @property
    def planned_at(self) -> float:
        """When the last pass was made; 0 before the first."""
        return self._plan.at

    def line(
        self, pool: str | None = None, also: Pending | None = None, gone: Collection[str] = (), made: Plan | None = None
    ) -> Iterator[Pending]:
        """Yield what waits in the order of the last pass, borrowing aside. Not to be changed meanwhile. O(log lanes)
        each.

        `pool`: only there. `also`: one more, as if it were in the queue; `gone`: ids of others who are, as if they were
        not; `made`: in the order of this pass.
        """
        classes = self.queue.snapshot_classes()
        if also is not None:
            classes = joined(classes, also)
        ranking = (made or self._plan).ranking or Ranking(self.policy, Offsets({}))
        line = in_order(classes, ranking, pool)
        return (one for one in line if one is also or one.job not in gone) if gone else line

    @property
    def _handing(self) -> Mapping[str, int]:
        """By pool: how many more may be handed over to an engine that decides itself."""
        return {pool: max(0, most - self._there[pool]) for pool, most in self._clusters.items()}

    def _snapshot(self) -> Snapshot:
        return Snapshot(
            nodes=self._machines,
            running=self.running,
            pending=self.queue.snapshot_classes(),
            port_first=self._config.port_first,
            port_last=self._config.port_last,
            capacity=self.capacity,
            quotas=self.quotas,
            fair=self.fair,
            mix=self._mix,
            handing=self._handing,
        )

    # -- explain -----------------------------------------------------------------------------------------------

    def reason(self, job: Job, name_of: NameOf, ahead: int | None = None) -> ReasonView | None:
        """Return why `job` waits, None when it does not. Cheap enough for every row of a list.

        `ahead`: how many come before it in its pool, where that is known already. Whom `name_of` gives no name of the
        job is told no word of it.
        """
        pending = self.queue.get(job.id)
        if pending is None:
            return None
        snapshot = self._snapshot()
        before = position(snapshot, pending, self._plan) if ahead is None else ahead
        why = explain(snapshot, pending, self._plan)
        if name_of(job.id).name is None:
            why = without_names(why, [role.name for role in job.roles])
        return view_reason(why, before, name_of)

    def judged(self, job: Job) -> Judged | None:
        """Return how the last pass judged `job`, with who holds most of what it lacks; None when it does not wait."""
        pending = self.queue.get(job.id)
        if pending is None:
            return None
        snapshot = self._snapshot()
        return Judged(pending, snapshot, self._plan, explain(snapshot, pending, self._plan, holders=True))

    def would_start(self, job: Job, instead_of: Job | None = None) -> Judged:
        """Return how a pass would judge `job` if it were submitted now, the last of its equals, and `instead_of` did
        not wait.

        O(a pass).
        """
        snapshot = self._snapshot()
        first = self.queue.get(instead_of.id) if instead_of is not None else None
        if first is not None:
            snapshot = replace(snapshot, pending=without(snapshot.pending, first))
        return preview(snapshot, pending_of(replace(job, seq=LAST)), job.submitted_at, self.policy)

    def helping(
        self, judged: Judged, flavors: Mapping[str, Resources], spent_s: float
    ) -> tuple[Iterable[Suggestion], Iterable[Suggestion]]:
        """Return the changes with which who waits would start now, and those that may well bring its start forward
        (B1).

        Those that give up least first. `flavors`: those that its roles may have; `spent_s`: what is over of the time of
        its limit.
        """
        job, snapshot, made, why = judged
        if isinstance(why, Start) or not self.places(job.pool):
            return (), ()
        now = suggest(snapshot, job, why, made, flavors, self.policy, spent_s)
        return now, promising(snapshot, Changes(job, made.at, spent_s), flavors)

    def imagined(self, job: Job) -> tuple[Assignment, ...]:
        """Return where `job` would run if nothing else did; empty when it could not even then, or is not ours to
        say.
        """
        if job.pool in self._clusters:
            return ()
        return fit(self.capacity.empty(), job.roles, job.pool, ALL, frozenset(job.node_names), job.driver) or ()

    async def consider(self, job: Job, aside: Aside) -> None:
        """Find out `aside` what `refusal` will say of a large job: of many roles of many tasks, that takes seconds."""
        if job.pool in self._clusters or sum(role.replicas * (1 + len(role.ports)) for role in job.roles) <= SMALL:
            return
        capacity, names = self.capacity, frozenset(job.node_names)
        empty = capacity.empty()
        for shape in job.shapes or (job.roles,):
            asked = fewest(shape), job.pool, names, job.driver
            ask = asking(capacity, *asked)
            found = await aside(ask) if ask is not None else None
            if ask is not None and capacity.empty() is empty:  # else the machines changed meanwhile: `refusal` will ask
                remember(capacity, *asked, found)

    def refusal(self, job: Job) -> Reason | None:
        """Return why no state of this cluster could ever run `job`, None when one could, or when its engine decides
        itself.
        """
        if job.pool in self._clusters:
            return None
        shapes = job.shapes or (job.roles,)
        names = frozenset(job.node_names)
        found = [refusal(self.capacity, fewest(shape), job.pool, names, job.driver) for shape in shapes]
        return None if None in found else found[0]


def _nowhere(placement: Sequence[Assignment]) -> bool:
    return not placement[0].node


def _turn(job: Job) -> tuple[object, ...]:
    """What decides the turn of a waiting job and may change while it waits."""
    return job.priority, job.policy.duration_s, job.queued_at


def _ends(job: Job) -> tuple[object, ...]:
    """What decides when a live attempt ends."""
    attempt = job.attempt
    if attempt is None:
        return ()
    return job.expires_at, job.policy.duration_s, attempt.draining_at, attempt.retained_at, job.priority
