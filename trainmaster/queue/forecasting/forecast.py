"""When a waiting job starts: the same rules rehearsed on a small copy of the machines with run times drawn from
history.

SAMPLES futures are played. In each every job runs for as long as some job of its owner did (`history`), while
reservations are made by limits as in `plan`. The middle of the starts is the expectation, the tenth from either end the
range, whose upper end `calibration` stretches until it holds as often as is meant, though not beyond what time limits
promise the head of the line. Pure; chance comes from a seed and
the names of the jobs, so that a job keeps its luck from one forecast to the next. Jobs that are yet to come are not
foreseen, nor preemption. Invariant: nothing is foreseen before `now`.
"""

import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from trainmaster.queue.forecasting.future import MANY, SAMPLES, Future, Runs, Scene, WaitingJob, luck
from trainmaster.queue.forecasting.history import History
from trainmaster.queue.forecasting.yard import Gang, Yard, charges_of
from trainmaster.queue.ordering.classes import in_order
from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.ordering.order import Ranking
from trainmaster.queue.ordering.quota import Account, Books, Charges, Quota, asks, charges
from trainmaster.queue.ordering.running import running_of
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.plan import capacity_of
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.snapshot import Pending, Plan, Request, Snapshot, Usage

MOST: Final = 200
"""So many jobs of a pool are foreseen: the first in line."""

_LOW, _MIDDLE, _HIGH = 2, 10, 18  # of SAMPLES sorted starts

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"""Work that pauses now and then, for others to get their turn."""


class Foreseen(NamedTuple):
    """Start of a waiting job: the middle, a tenth and nine tenths of what may happen. Infinite: it cannot be known.

    `latest`: when time limits alone let it start, if it is the head of the line; infinite: nobody can say.
    """

    at: float
    low: float
    high: float
    latest: float = math.inf


def scene_of(
    pool: str,
    now: float,
    room: Room,
    running: Iterable[Usage],
    line: Iterable[Pending],
    policy: QueuePolicy,
    history: History,
    quotas: Mapping[tuple[Account, str], Quota] | None = None,
    held: Mapping[tuple[Account, str, str], int] | None = None,
    seed: int = 0,
) -> Steps[Scene]:
    """Return the scene of `pool`. `room`: what is free; `running`: who holds the rest; `line`: who waits there, in
    order.

    All is taken in before the first pause. Only the first MOST of `line` are looked at. O(nodes + running replicas +
    MOST).
    """
    yard, now_running = Yard(room, pool), tuple(running)
    models = {node.name: node.gpus for node in room.nodes}
    shapes: dict[Request, tuple[tuple[Gang, Charges], ...]] = {}
    waiting = []
    for job in islice(line, MOST):
        request = job.request
        if request not in shapes:
            gangs = (yard.gang(request, demand.roles, room) for demand in request.smallest)
            shapes[request] = tuple((gang, charges_of(gang)) for gang in gangs)
        ways = shapes[request]
        run_s = history.run_s(job.tenant.owner, job.limit_s, 0.0, luck(job.job, seed))
        waiting.append(
            WaitingJob(job.job, ways, frozenset(id(gang) for gang, _ in ways), job.limit_s, job.tenant, run_s)
        )
    rights, held = dict(quotas or {}), dict(held or {}) if quotas else {}
    runs: list[Runs] = []
    for usage in now_running:
        began, limit_s = usage.started_at, usage.ends_at - usage.started_at
        drawn = history.run_s(usage.tenant.owner, limit_s, now - began, luck(usage.job, seed))
        moves, takes = yard.moves(usage.roles, usage.placement, models), usage.held or asks(usage.roles)
        runs.append(Runs(moves, usage.ends_at, [began + run_s for run_s in drawn], usage.tenant, takes))
        if len(runs) % MANY == 0:
            yield
    return Scene(now, yard, tuple(runs), tuple(waiting), lambda: Books(pool, rights, held), policy.backfill != "none")


def scene_after(
    snapshot: Snapshot, made: Plan, pool: str, history: History, policy: QueuePolicy = DEFAULT, seed: int = 0
) -> Scene:
    """Return the scene of `pool` as the pass `made` leaves it, its starts carried out."""
    starts = {start.job: start for start in made.starts}
    ranking = made.ranking or Ranking(policy, Offsets({}))
    nodes = {node.name: node for node in snapshot.nodes}
    line, running = [], [usage for usage in snapshot.running if usage.pool == pool]
    for job in in_order(snapshot.pending, ranking, pool):
        start = starts.get(job.job)
        if start is not None:
            roles, placement = start.roles, start.placement
            held = charges(roles, placement, nodes)
            running.append(
                Usage(job.job, job.job, roles, placement, pool, made.at, made.at + job.limit_s, 0, job.tenant, held)
            )
        else:
            line.append(job)
    room = made.room or snapshot.capacity or capacity_of(snapshot)
    books = running_of(running).held
    return at_once(scene_of(pool, made.at, room, running, line, policy, history, snapshot.quotas, books, seed))


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is foreseen in one pool. `nodes`: where a job starts in the typical future. `endless`: ends are unknown."""

    starts: Mapping[str, Foreseen]
    nodes: Mapping[str, tuple[str, ...]]
    endless: bool


def foresee(scene: Scene, only: str | None = None) -> Steps[Prospect]:
    """Return when each job of the line starts, or only one of it."""
    wanted = {waits.job for waits in scene.line} if only is None else {only}
    starts: dict[str, list[float]] = {job: [] for job in wanted}
    for nth in range(SAMPLES):
        future = Future(scene, nth)
        yield from future.play(wanted)
        for job in wanted:
            starts[job].append(future.starts.get(job, math.inf))
        yield
    typical = Future(scene, SAMPLES)
    head, latest = typical.promised()
    yield from typical.play(wanted)
    found = {}
    for job, times in starts.items():
        times.sort()
        by_limits = latest if job == head else math.inf
        found[job] = Foreseen(times[_MIDDLE], times[_LOW], times[_HIGH], by_limits)
    nodes = {job: scene.yard.names(moves) for job, moves in typical.where.items() if job in wanted}
    return Prospect(found, nodes, typical.endless)


def at_once(steps: Steps[Result]) -> Result:
    """Return the result of what pauses now and then, without any pause."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result
