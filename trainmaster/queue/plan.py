"""`plan(snapshot, now, policy) -> Plan`: who starts now and where, who gives way, and what the first in line is
promised. Pure.

Take the waiting jobs of each pool in order and start what fits, all of a gang or none. The first that does not fit
though the machines in service could carry it is the head of the line: it is promised the nodes and the time at which it
fits if limits are obeyed, and whoever comes after it starts only without delaying that. One that the machines in
service cannot carry (a node is away) holds nobody up. One whose quota is spent claims it before others of its account
do (claims.py) and holds up nobody else. docs/design/queue.md shows why nobody starves.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from trainmaster.core.records import Assignment, Role
from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.ordering.lanes import Lane, LineUp, lanes_of
from trainmaster.queue.ordering.order import Place, Ranking
from trainmaster.queue.ordering.quota import BORROWS, OWN, Books, Excess, charges
from trainmaster.queue.ordering.running import running_of
from trainmaster.queue.ordering.ways import Way, claim, models_of, of_model, ruled_out, ways
from trainmaster.queue.placing.capacity import Capacity, Held, Room, holding
from trainmaster.queue.placing.elastic import largest_size
from trainmaster.queue.placing.failures import Demand, Failures
from trainmaster.queue.placing.fit import place
from trainmaster.queue.placing.packing import Packing
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.rules.backfill import Line, Promise, rehearse
from trainmaster.queue.rules.handing import hand_over
from trainmaster.queue.rules.hopeless import LanesByModel
from trainmaster.queue.rules.preempt import give_way
from trainmaster.queue.rules.shortage import Shortages, away
from trainmaster.queue.snapshot import (
    ClassKey,
    Evict,
    Pending,
    Plan,
    Request,
    Snapshot,
    Start,
    Tenant,
    Usage,
)

STARTED: Final = "started"
SETTLED: Final = "settled"
EVERY: Final = 128
"""After so many that cannot start it is asked whether anybody of their kind still can."""

SHORTEST: Final = QueuePolicy(ordering="sjf")


def plan(snapshot: Snapshot, now: float, policy: QueuePolicy = DEFAULT) -> Plan:
    """Return what to do now. `snapshot` is left as it is. Equal snapshots, times and policies give equal plans.

    O(classes log classes + starts x fit + releases): a class that is known not to fit costs a look-up, not a fit.
    """
    return _Pass(snapshot, now, policy).run()


def capacity_of(snapshot: Snapshot) -> Capacity:
    """Return what is free in `snapshot`, added up from its running attempts. O(nodes + running tasks)."""
    capacity = Capacity(snapshot.nodes, snapshot.port_first, snapshot.port_last, snapshot.busy_ports)
    for usage in snapshot.running:
        capacity.hold(usage.attempt, usage.roles, usage.placement)
    return capacity


def ranking_of(snapshot: Snapshot, now: float, policy: QueuePolicy, tenants: Iterable[Tenant]) -> Ranking:
    """Return the order of the jobs of `tenants`. O(nodes + tenants)."""
    if snapshot.fair is None or not policy.fair_weight_s:
        return Ranking(policy, Offsets({}))
    total = {
        "gpu": 1000 * sum(len(node.gpus) for node in snapshot.nodes),
        "cpu": int(1000 * sum(node.cpu for node in snapshot.nodes)),
        "memory_mib": sum(node.memory_mib for node in snapshot.nodes),
    }
    return Ranking(policy, snapshot.fair.offsets(tenants, total, now, policy))


class _Pass:
    """One pass over all pools. `room`: what is free beside this pass's starts; the capacity itself until the first."""

    def __init__(self, snapshot: Snapshot, now: float, policy: QueuePolicy) -> None:
        self.snapshot, self.now, self.policy = snapshot, now, policy
        self.packing = Packing(policy.packing, policy.rest_rule, snapshot.mix)
        self.capacity = snapshot.capacity or capacity_of(snapshot)
        self.running = running_of(snapshot.running)
        self.lanes = lanes_of(snapshot.pending)
        self.ranking = ranking_of(snapshot, now, policy, self.lanes.tenants)
        self.by_name = {node.name: node for node in snapshot.nodes} if snapshot.quotas else {}
        self.room: Room = self.capacity
        self.starts: list[Start] = []
        self.evictions: list[Evict] = []
        self.lines: dict[str, Line] = {}
        self._books: dict[str, Books] = {}

    def run(self) -> Plan:
        """Do all pools, by name."""
        pools: dict[str, list[Lane]] = {}
        for lane in self.lanes.sorted_by(self.ranking.rule):
            pools.setdefault(lane.key.pool, []).append(lane)
        more = False
        for pool in sorted(pools):
            line = self.lines[pool] = Line(pool, Failures(self.capacity.unfit))
            if not self._do(line, pools[pool]):
                more = True
                break
        promised = (line.reservation for line in self.lines.values())
        return Plan(
            starts=tuple(self.starts),
            evictions=tuple(self.evictions),
            reservations=tuple(each for each in promised if each is not None),
            more=more,
            at=self.now,
            room=self.room,
            lines=self.lines,
            books=self._books,
            ranking=self.ranking,
            shortages=Shortages(self.room),
            packing=self.packing,
        )

    def _do(self, line: Line, lanes: list[Lane]) -> bool:
        """Do one pool; return False when the pass ended at its limit of starts."""
        left = self.snapshot.handing.get(line.pool)
        if left is None:
            return _PoolPass(self, line).run(lanes)
        most = self.policy.max_starts - len(self.starts)
        handed = hand_over(lanes, self.ranking, self.books(line.pool), min(left, most), self.now)
        self.starts += handed
        return left <= most or len(handed) < most

    def books(self, pool: str) -> Books:
        """Return what the accounts of `pool` hold by now."""
        if pool not in self._books:
            releases = partial(self.running.releases, pool)
            self._books[pool] = Books(pool, self.snapshot.quotas, self.running.held, releases)
        return self._books[pool]

    def take(self, start: Start) -> tuple[Held, ...]:
        """Note a start and return what it takes."""
        if self.room is self.capacity:
            self.room = self.capacity.fork()
        taken = holding(start.roles, start.placement)
        self.room.take_held(taken)
        self.starts.append(start)
        return taken

    def held_by(self, usage: Usage) -> tuple[Held, ...]:
        """Return what an attempt gives back when it ends."""
        return self.capacity.holding_of(usage.attempt) or holding(usage.roles, usage.placement)


class _PoolPass:
    """The part of a pass that concerns one pool."""

    def __init__(self, work: _Pass, line: Line) -> None:
        self.work, self.line, self.books = work, line, work.books(line.pool)
        self.mine: list[Usage] = []  # what this pass started before there was a head
        self.models = models_of(() if self.books.empty else work.snapshot.nodes, line.pool)

    def run(self, lanes: list[Lane]) -> bool:
        """Consider every class; return False when the pass ended at its limit of starts."""
        work, line, settled = self.work, self.line, 0
        waiting = LineUp(work.ranking, lanes)
        kinds: LanesByModel | None = None
        while waiting and not line.closed:
            if len(work.starts) >= work.policy.max_starts:
                return False
            turn, cls, job = waiting.first
            had_head = line.head is not None
            verdict = self._consider(cls.key, job, turn)
            if verdict == STARTED:
                waiting.started()
            elif verdict == BORROWS:
                waiting.borrows()
            else:
                waiting.settled()
                settled += 1
                if line.head is not None and (not had_head or not settled % EVERY):
                    kinds = kinds or LanesByModel(waiting.cursors, work.now, line)
                    kinds.close_hopeless(work.room, work.packing)
            if work.policy.backfill == "easy-shortest" and line.head is not None and not had_head:
                waiting.rank_by(Ranking(SHORTEST, Offsets({})))
        return True

    def _consider(self, key: ClassKey, job: Pending, turn: Place) -> str:
        """Start `job`, or say what becomes of its class: SETTLED, or BORROWS when it has a turn after the others',
        too.
        """
        work, line, request = self.work, self.line, key.request
        ends_at = work.now + key.limit_s
        late = line.head is not job and not line.in_time(ends_at)
        unfit = line.unfit_behind if late else line.unfit
        if line.head is not None and ruled_out(key, self.books, self.models, unfit):
            return SETTLED
        found = ways(key, self.books, self.models, ends_at, job.job)
        right = (OWN, BORROWS) if turn[1] else (OWN,)
        fine = [way for way in found if way.verdict in right]
        started, lent, lacks = self._start(key, job, fine, right, late=late)
        if started:
            return STARTED
        if (
            line.head is None
            and away(work.capacity, request) is None
            and not self._becomes_head(job, turn, fine, right, lacks=lacks)
        ):
            claim(self.books, job, found, work.now)
        lent = lent or any(way.verdict == BORROWS for way in found)
        if lent and line.closed and not turn[1]:  # all who could go before the borrowers are blocked: borrow now
            both = (OWN, BORROWS)
            if self._start(key, job, [way for way in found if way.verdict in both], both, late=False)[0]:
                return STARTED
        return BORROWS if lent and not turn[1] else SETTLED

    def _start(
        self, key: ClassKey, job: Pending, fine: Sequence[Way], right: Sequence[str], *, late: bool
    ) -> tuple[bool, bool, bool]:
        """Start `job` in the first of the ways `fine` that fits; return (started, it would have to borrow, it lacks
        nodes).

        What fits may still be of cards that the quotas bar: then it lacks nodes only for its other ways.
        """
        request, lent, lacks = key.request, False, set[int]()

        def attempt(roles: tuple[Role, ...]) -> tuple[Assignment, ...] | None:
            nonlocal lent
            lacks.discard(at)  # forget larger sizes: what counts is the smallest, tried last
            for model in models:
                placement = self._fit(request, at, of_model(roles, model), late=late)
                if placement is None:  # with several roles, another model may still fit
                    lacks.add(at)
                    continue
                verdict = self._judged(job, roles, placement, self.work.now)
                if verdict in right:
                    return placement
                lent = lent or verdict == BORROWS
            return None

        for at in dict.fromkeys(way.shape for way in fine):
            models = [way.model for way in fine if way.shape == at]
            found = largest_size(request.shapes[at], attempt)
            if found is not None:
                self._take(key, job, Start(job.job, found[1], found[0], at))
                return True, False, False
        return False, lent, bool(lacks)

    def _fit(self, request: Request, at: int, roles: tuple[Role, ...], *, late: bool) -> tuple[Assignment, ...] | None:
        work, line = self.work, self.line
        demand = request.smallest[at]
        if demand.roles != roles:
            demand = Demand.of(roles, request.pool, request.nodes, request.driver)
        if late:
            return place(line.behind(work.room), demand, line.unfit_behind, work.packing)
        unfit = work.capacity.unfit if work.room is work.capacity else line.unfit
        return place(work.room, demand, unfit, work.packing)

    def _take(self, key: ClassKey, job: Pending, start: Start) -> None:
        work, line = self.work, self.line
        ends_at = work.now + key.limit_s
        if line.head is job:
            line.clear()
        line.took(work.take(start), ends_at)
        if not self.books.empty:
            self.books.start(job.job, key.tenant, charges(start.roles, start.placement, work.by_name), ends_at)
        if line.head is None:
            usage = Usage(start.job, start.job, start.roles, start.placement, line.pool, work.now, ends_at)
            self.mine.append(usage)

    def _becomes_head(
        self, job: Pending, turn: Place, fine: Sequence[Way], right: Sequence[str], *, lacks: bool
    ) -> bool:
        """Promise `job` the time and the nodes at which it can start in one of the ways `fine`, if it can. `lacks`: it
        lacks nodes.
        """
        work, line = self.work, self.line
        if work.policy.backfill == "none":
            if lacks:
                line.head, line.head_at, line.closed = job, turn, True
            return lacks
        running = work.running.releases(line.pool)
        releases = running.copy() if self.mine else running
        for usage in self.mine:
            insort(releases, usage, key=_END)
        demands = [way.demand for way in fine]

        def allowed(promise: Promise) -> bool:
            return self._promised(job, promise) in right

        promise = rehearse(work.room, demands, releases, work.now, work.held_by, work.packing, allowed)
        if promise is None:
            return False  # no release gives it back: a stranger's port, the quota of a card model
        line.head, line.head_at, line.promise = job, turn, promise
        far = promise.at - work.now > work.policy.restart_cost_s
        if work.policy.preemption != "off" and far and self._promised(job, promise) == OWN:
            most = work.policy.preempt_most - len(work.evictions)
            evicted, sooner = give_way(
                job, demands, work.room, running, self.books, work.held_by, work.now, work.policy, work.packing, most
            )
            if sooner is not None and self._promised(job, sooner) == OWN:
                work.evictions += evicted
                line.promise = promise = sooner
        if not self.books.empty:
            held = charges(promise.roles, promise.placement, work.by_name)
            self.books.keep(job.job, job.tenant, held, work.now, promise.at + job.limit_s)
        return True

    def _judged(
        self, job: Pending, roles: tuple[Role, ...], placement: Sequence[Assignment], at: float
    ) -> str | Excess:
        """Return what the quotas say to `job` if it starts so at `at`, with the card models that it gets."""
        if self.books.empty:
            return OWN
        wanted = charges(roles, placement, self.work.by_name)
        return self.books.judge(job.tenant, wanted, at + job.limit_s, job.job)

    def _promised(self, job: Pending, promise: Promise) -> str | Excess:
        return self._judged(job, promise.roles, promise.placement, promise.at)


_END = attrgetter("ends_at", "started_at", "attempt")
