"""The cheapest changes that would let a waiting job start now (B1). Pure.

Every change is tried on the state in which the pass ended, under the very rules of the pass. Invariant: a job changed as
stated starts in the next pass if nothing else happens.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from trainmaster.core.units import format_duration, format_memory
from trainmaster.queue.elastic import sized
from trainmaster.queue.explain import OWN_SHORTAGE
from trainmaster.queue.failures import Failures
from trainmaster.queue.fit import largest, place, with_resources
from trainmaster.queue.quota import Books, Excess, charges
from trainmaster.queue.reasons import Text
from trainmaster.queue.shortage import WRITTEN
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Reason, Request, Snapshot

LEAST_LIMIT_S = 60.0
"""A shorter limit than this is not suggested."""


class Suggestion(NamedTuple):
    """A change that would let the job start now: field path -> new value, and its sentence. `job`: as it would wait then."""

    message: Text
    change: dict[str, Any]
    job: Pending
    loss: float = 0.0  # share of what was asked for that is given up


def suggest(snapshot: Snapshot, job: Pending, reason: Reason, made: Plan, most: int = 3) -> tuple[Suggestion, ...]:
    """Return up to `most` changes, those that give up least first, each of which alone would let `job` start now.

    Another card model, another pool, a shorter limit that lets it pass the head of the line, less of what is short, fewer
    replicas. Costs O(roles x (log of the numbers asked + card models) + pools) fits.
    """
    if made.room is None or reason.code == "next_pass":
        return ()
    trial = _Trial(snapshot, made)
    found = sorted(_changes(snapshot, job, reason, trial), key=attrgetter("loss"))
    return tuple(found[:most])


class _Trial:
    """The state in which a pass ended, asked about jobs that were not in it."""

    def __init__(self, snapshot: Snapshot, made: Plan) -> None:
        self.snapshot, self.made = snapshot, made
        self._by_name = {node.name: node for node in snapshot.nodes}

    def starts(self, job: Pending) -> bool:
        """Return whether `job` would start, in its place of the line."""
        made, line = self.made, self.made.lines.get(job.pool)
        assert made.room is not None
        assert made.ranking is not None
        books = made.books.get(job.pool) or Books(job.pool, self.snapshot.quotas, {})
        room, unfit = made.room, line.unfit if line is not None else Failures()
        if line is not None and line.head_at is not None:
            turn = made.ranking.place(job, made.ranking.lift(ClassKey.of(job)))
            if turn > line.head_at:
                if line.closed:
                    return False
                if not line.in_time(made.at + job.limit_s):
                    room, unfit = line.behind(room), line.unfit_behind
        for demand in job.request.smallest:
            placed = place(room, demand, unfit)
            if placed is not None:
                held = charges(demand.roles, placed, self._by_name)
                if books.empty or not isinstance(books.judge(job.tenant, held), Excess):
                    return True
        return False


def _changes(snapshot: Snapshot, job: Pending, reason: Reason, trial: _Trial) -> Iterator[Suggestion]:
    yield from _other_pools(snapshot, job, trial)
    yield from _shorter(job, reason, trial)
    if reason.code in OWN_SHORTAGE or reason.code.startswith("quota"):
        for at in range(len(job.roles)):
            yield from _of_role(snapshot, job, at, OWN_SHORTAGE.get(reason.code, "gpu"), trial)


def _other_pools(snapshot: Snapshot, job: Pending, trial: _Trial) -> Iterator[Suggestion]:
    for pool in sorted({node.pool for node in snapshot.nodes if node.schedulable} - {job.pool}):
        moved = replace(job, request=replace(job.request, pool=pool), tenant=job.tenant._replace(cluster=""))
        if trial.starts(moved):
            yield Suggestion(Text(f"改到资源池 {pool}", f"Move it to pool {pool}"), {"pool": pool}, moved)


def _shorter(job: Pending, reason: Reason, trial: _Trial) -> Iterator[Suggestion]:
    """A limit with which it is gone before the head of the line starts."""
    in_s = reason.evidence.get("in_s") if reason.code == "reserved" else None
    if in_s is None or in_s < LEAST_LIMIT_S:
        return
    limit_s = float(math.floor(in_s))
    shorter = replace(job, limit_s=limit_s)
    if trial.starts(shorter):
        words = format_duration(limit_s)
        text = Text(f"时长上限缩短到 {words}", f"Shorten its limit to {words}")
        yield Suggestion(
            text, {"duration": limit_s}, shorter, 0.5 if job.limit_s == math.inf else 1 - limit_s / job.limit_s
        )


def _of_role(snapshot: Snapshot, job: Pending, at: int, field: str, trial: _Trial) -> Iterator[Suggestion]:
    """Yield the changes of role `at` that help: another card model, less of what is short, fewer replicas."""
    role = job.roles[at]

    def changed(**changes: Any) -> Pending:
        return _with_role(
            job, at, sized(role, changes["replicas"]) if "replicas" in changes else with_resources(role, **changes)
        )

    ask = role.resources
    if field == "gpu" and ask.gpu and ask.gpu_type is not None:
        there = {model for node in snapshot.nodes if node.pool == job.pool and node.schedulable for model in node.gpus}
        for model in sorted(there - {ask.gpu_type}):
            other = changed(gpu_type=model)
            if trial.starts(other):
                text = Text(f"角色 {role.name} 改用型号 {model}", f"Use cards of type {model} for role {role.name}")
                yield Suggestion(text, {f"roles.{at}.resources.gpu_type": model}, other)
    asked = int(getattr(ask, field))
    less = largest(lambda amount: trial.starts(changed(**{field: amount})), asked)
    if less is not None:
        words, name = format_memory(less) if field == "memory_mib" else str(less), WRITTEN.get(field, field)
        text = Text(f"角色 {role.name} 的 {name} 降到 {words}", f"Lower {name} of role {role.name} to {words}")
        yield Suggestion(text, {f"roles.{at}.resources.{name}": less}, changed(**{field: less}), 1 - less / asked)
    fewer = largest(lambda count: trial.starts(changed(replicas=count)), role.replicas)
    if fewer is not None:
        text = Text(f"角色 {role.name} 的副本数降到 {fewer}", f"Lower the replicas of role {role.name} to {fewer}")
        yield Suggestion(text, {f"roles.{at}.replicas": fewer}, changed(replicas=fewer), 1 - fewer / role.replicas)


def _with_role(job: Pending, at: int, role: Any) -> Pending:
    request = job.request
    first = (*job.roles[:at], role, *job.roles[at + 1 :])
    return replace(job, request=Request(request.pool, (first, *request.shapes[1:]), request.nodes, request.driver))
