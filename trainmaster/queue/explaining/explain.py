"""Why one waiting job waits, who holds what it lacks, and how many are before it. Pure.

A pass tells how it ended; this module makes the one reason of one job of that when somebody asks, and remembers it per
class. What stands first decides: quota, nodes that are away, what is short, and only then what is kept for the head of
the line. Costs are bounded: a fixed number of fits and one walk over the nodes or the running attempts.
"""

import math
from bisect import bisect_left
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Assignment, Resources
from trainmaster.queue.ordering.classes import joined
from trainmaster.queue.ordering.lanes import Lane, lanes_of
from trainmaster.queue.ordering.order import Place, Ranking
from trainmaster.queue.ordering.quota import Excess, charges
from trainmaster.queue.ordering.ways import models_of, ways
from trainmaster.queue.placing.capacity import Room, within
from trainmaster.queue.placing.failures import Failures
from trainmaster.queue.placing.fit import place
from trainmaster.queue.placing.need import WHOLE
from trainmaster.queue.plan import capacity_of, plan
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.rules.backfill import Line
from trainmaster.queue.rules.shortage import FIELDS, away, plain
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Reason, Request, Snapshot, Start

OWN_SHORTAGE: Final = {f"waiting_{what}": field for what, field in FIELDS.items()}
"""Reasons about free amounts, and the field of Resources that is short."""


def explain(snapshot: Snapshot, job: Pending, made: Plan, *, holders: bool = False) -> Reason:
    """Return the one reason why `job` waits after the plan `made`; with `holders`, also who holds most of what is
    short.
    """
    line = made.lines.get(job.pool)
    if line is None:
        return Reason("next_pass")
    key = ClassKey.of(job)
    reason = made.known.get(key)
    if reason is None:
        reason = made.known[key] = _reason(snapshot, job, made, line)
    if line.head is not None and line.head.job == job.job and line.promise is not None:
        reason = replace(reason, evidence={**reason.evidence, **_time(line, made)})
    field = OWN_SHORTAGE.get(reason.code)
    if field is None or not holders:
        return reason
    wanted = reason.evidence.get("type")
    return replace(reason, evidence={**reason.evidence, "holders": _holders(snapshot, job.request, field, wanted)})


def _reason(snapshot: Snapshot, job: Pending, made: Plan, line: Line) -> Reason:
    room, shortages, books, request = made.room, made.shortages, made.books[job.pool], job.request
    assert room is not None, "a plan with lines has a room"
    assert shortages is not None, "a plan with a room can tell what is short in it"
    handed = job.pool in snapshot.handing
    ends_at = math.inf if handed else made.at + job.limit_s
    models = () if handed else models_of(() if books.empty else snapshot.nodes, job.pool)
    found = ways(ClassKey.of(job), books, models, ends_at, job.job)
    demands = [way.demand for way in found if not isinstance(way.verdict, Excess)]
    if not demands:
        return over_quota(job.pool, next(way.verdict for way in found if isinstance(way.verdict, Excess)))
    if handed:
        return Reason("cluster_full", {"pool": job.pool})
    capacity = snapshot.capacity or capacity_of(snapshot)
    lacking = [shortages.of_cards(demand) for demand in demands]
    if lacking[0] is not None and all(lacking):
        return away(capacity, request) or lacking[0]
    by_name = {} if books.empty else {node.name: node for node in snapshot.nodes}

    def tried(free: Room, unfit: Failures) -> Excess | bool:
        """Whether it could start there; what it would be charged too much for, where only that is in the way."""
        placed = [(demand, place(free, demand, unfit, made.packing)) for demand in demands]
        held = [charges(demand.roles, where, by_name) for demand, where in placed if where is not None]
        judged = [books.judge(job.tenant, each, ends_at, job.job) for each in held]
        over = [verdict for verdict in judged if isinstance(verdict, Excess)]
        return over[0] if over and len(over) == len(judged) else bool(judged)

    now = tried(room, line.unfit)
    if isinstance(now, Excess):
        return over_quota(job.pool, now)
    if not now:
        return away(capacity, request) or shortages.of(demands[0])
    if line.head is None:
        return Reason("next_pass")
    if line.closed:
        return Reason("behind", {"job": line.head.job})
    if not line.in_time(made.at + job.limit_s) and tried(line.behind(room), line.unfit_behind) is not True:
        limit_s = job.limit_s if job.limit_s < math.inf else None
        return Reason("reserved", {"job": line.head.job, "limit_s": limit_s, **_time(line, made)})
    return Reason("next_pass")


def _time(line: Line, made: Plan) -> dict[str, Any]:
    """Return when the head of the line starts: as a time and in so many seconds, None while that cannot be known."""
    at = line.promise.at if line.promise is not None else math.inf
    known = at < math.inf
    return {"at": at if known else None, "in_s": at - made.at if known else None}


def over_quota(pool: str, excess: Excess) -> Reason:
    """Return the reason of a job in `pool` that would be charged too much."""
    data = {
        "account": excess.account.name,
        "kind": excess.account.kind,
        "workspace": excess.account.within,
        "pool": pool,
        "resource": excess.resource,
        "used": excess.used,
        "asks": excess.asks,
        "limit": excess.limit,
    }
    if excess.job is not None:
        return Reason("quota_kept", {**data, "job": excess.job})
    return Reason("quota", data) if excess.lent is None else Reason("quota_lent", {**data, "lent": excess.lent})


def position(snapshot: Snapshot, job: Pending, made: Plan) -> int:
    """Return how many waiting jobs of the same pool come before `job`, borrowing aside. O(classes before it)."""
    ranking = made.ranking
    if ranking is None:
        return 0
    lanes, turn = lanes_of(snapshot.pending).sorted_by(ranking.rule), ranking.place(job)
    return sum(_ahead(lane, ranking, turn) for lane in lanes if lane.key.pool == job.pool)


def _ahead(lane: Lane, ranking: Ranking, turn: Place) -> int:
    """Return how many jobs of a lane stand before a place: none of a class whose first does not."""
    if lane.key.priority != -turn[0]:
        return sum(len(cls.jobs) for _, _, cls in lane.rows) if lane.key.priority > -turn[0] else 0
    offset = ranking.offset(lane.key.tenant)
    before = bisect_left(lane.rows, turn[2:], key=lambda row: (row[0] + offset, row[1]))
    return sum(ranking.ahead(cls, turn) if len(cls.jobs) > 1 else 1 for _, _, cls in islice(lane.rows, before))


class Judged(NamedTuple):
    """One job in one pass: what the pass saw, what it did, and where the job starts or why it waits."""

    job: Pending
    snapshot: Snapshot
    made: Plan
    found: Start | Reason


def preview(snapshot: Snapshot, job: Pending, now: float, policy: QueuePolicy = DEFAULT) -> Judged:
    """Return how a pass would judge `job` if it were submitted now. `snapshot` is left as it is. O(a pass)."""
    seen = replace(snapshot, pending=joined(snapshot.pending, job))
    made = plan(seen, now, policy)
    start = next((start for start in made.starts if start.job == job.job), None)
    return Judged(job, seen, made, start or explain(seen, job, made))


def _holders(
    snapshot: Snapshot, request: Request, field: str, model: str | None, most: int = 5
) -> list[dict[str, Any]]:
    """Return the running jobs that hold most of `field` where `request` may run, largest first; cards only of
    `model`.
    """
    view = request.pool, request.nodes, request.driver
    nodes = {node.name: node for node in snapshot.nodes if within(node, view)}

    def share(ask: Resources, place: Assignment) -> float:
        if field != "gpu":
            return float(getattr(ask, field))
        cards = nodes[place.node].gpus
        return sum(ask.gpu_milli / WHOLE for card in place.gpus if card < len(cards) and model in (None, cards[card]))

    held = []
    for usage in snapshot.running:
        amount = sum(share(usage.roles[a.role].resources, a) for a in usage.placement if a.node in nodes)
        if amount:
            held.append((-amount, usage.job, usage.ends_at))
    held.sort(key=lambda item: item[:2])
    return [
        {"job": job, "holds": plain(-amount), "expires_at": ends if ends < math.inf else None}
        for amount, job, ends in held[:most]
    ]
