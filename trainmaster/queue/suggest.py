"""The cheapest changes that would let a waiting job start now (B1). Pure.

Every change is tried on the state in which the pass ended, under the very rules of the pass. Invariant: a job changed as
stated starts in the next pass if nothing else happens.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from trainmaster.core.records import Resources, Role
from trainmaster.core.units import format_duration, format_memory
from trainmaster.queue.elastic import sized
from trainmaster.queue.explain import OWN_SHORTAGE
from trainmaster.queue.failures import Failures
from trainmaster.queue.fit import largest, place, with_resources
from trainmaster.queue.quota import BORROWS, OWN, Books, charges
from trainmaster.queue.reasons import Text
from trainmaster.queue.running import running_of
from trainmaster.queue.shortage import WRITTEN
from trainmaster.queue.snapshot import Pending, Plan, Reason, Snapshot

LEAST_LIMIT_S = 60.0
"""A shorter limit than this is not suggested."""

DECIDING_S = 60.0
"""What a person has for reading a suggestion and applying it: meanwhile the start of the head of the line comes nearer."""


class Suggestion(NamedTuple):
    """A change that would let the job start now: field path -> new value, and its sentence. `job`: as it would wait then."""

    message: Text
    change: dict[str, Any]
    job: Pending
    loss: float = 0.0  # share of what was asked for that is given up


def suggest(
    snapshot: Snapshot, job: Pending, reason: Reason, made: Plan, flavors: Mapping[str, Resources] | None = None
) -> tuple[Suggestion, ...]:
    """Return changes, those that give up least first, each of which alone would let `job` start now.

    Another pool or virtual cluster, a shorter limit that lets it pass the head of the line, and by role another flavor of
    `flavors`, another card model, less of what is short, fewer replicas. A role with a flavor is changed as a whole.
    Costs O(roles x (log of the numbers asked + card models + flavors) + pools + virtual clusters) fits.
    """
    if made.room is None or reason.code == "next_pass":
        return ()
    trial = _Trial(snapshot, made)
    return tuple(sorted(_changes(snapshot, job, reason, trial, flavors or {}), key=attrgetter("loss")))


class _Trial:
    """The state in which a pass ended, asked about jobs that were not in it."""

    def __init__(self, snapshot: Snapshot, made: Plan) -> None:
        self.snapshot, self.made = snapshot, made
        self._by_name = {node.name: node for node in snapshot.nodes}

    def starts(self, job: Pending) -> bool:
        """Return whether `job` would start, in its place of the line; who borrows comes behind those of its class."""
        return self._starts(job, borrows=False) or (bool(self.snapshot.quotas) and self._starts(job, borrows=True))

    def _starts(self, job: Pending, *, borrows: bool) -> bool:
        made, line = self.made, self.made.lines.get(job.pool)
        assert made.room is not None
        assert made.ranking is not None
        room, unfit = made.room, line.unfit if line is not None else Failures()
        if line is not None and line.head_at is not None:
            turn = made.ranking.place(job, borrows)
            if turn > line.head_at:
                if line.closed:
                    return False
                if not line.in_time(made.at + job.limit_s):
                    room, unfit = line.behind(room), line.unfit_behind
        books, right = self._books(job.pool), (OWN, BORROWS) if borrows else (OWN,)
        for demand in job.request.smallest:
            placed = place(room, demand, unfit, made.packing)
            if placed is not None and books.judge(job.tenant, charges(demand.roles, placed, self._by_name)) in right:
                return True
        return False

    def _books(self, pool: str) -> Books:
        """Return what the accounts of a pool hold; the pass has looked at pools only where somebody waits."""
        books = self.made.books.get(pool)
        return books or Books(pool, self.snapshot.quotas, running_of(self.snapshot.running).held)


def _changes(
    snapshot: Snapshot, job: Pending, reason: Reason, trial: _Trial, flavors: Mapping[str, Resources]
) -> Iterator[Suggestion]:
    yield from _elsewhere(snapshot, job, trial)
    yield from _shorter(job, reason, trial)
    field = OWN_SHORTAGE.get(reason.code)
    if reason.code in ("quota", "quota_lent"):
        field = reason.evidence["resource"].partition(":")[0]
    for at, role in enumerate(job.roles):
        if role.flavor is not None:
            yield from _other_flavors(job, at, flavors, trial)
        elif field is not None:
            yield from _less(snapshot, job, at, field, trial)
        if field is not None:
            yield from _fewer(job, at, trial)


def _elsewhere(snapshot: Snapshot, job: Pending, trial: _Trial) -> Iterator[Suggestion]:
    """Another pool, or another share of one: that of a virtual cluster, or what is assigned to none."""
    shares = {(pool, account.name) for account, pool in snapshot.quotas if account.kind == "cluster"}
    shares |= {(node.pool, "") for node in snapshot.nodes if node.schedulable}
    for pool, cluster in sorted(shares - {(job.pool, job.tenant.cluster)}):
        moved = replace(job, request=replace(job.request, pool=pool), tenant=job.tenant._replace(cluster=cluster))
        if trial.starts(moved):
            name = cluster or pool
            words = ("虚拟集群", "virtual cluster") if cluster else ("资源池", "pool")
            change: dict[str, Any] = {"pool": pool}
            if cluster or job.tenant.cluster:
                change["virtual_cluster"] = cluster or None
            yield Suggestion(Text(f"改到{words[0]} {name}", f"Move it to {words[1]} {name}"), change, moved)


def _shorter(job: Pending, reason: Reason, trial: _Trial) -> Iterator[Suggestion]:
    """A limit with which it is gone before the head of the line starts."""
    in_s = reason.evidence.get("in_s") if reason.code == "reserved" else None
    if in_s is None or in_s - DECIDING_S < LEAST_LIMIT_S:
        return
    limit_s = float(math.floor(in_s - DECIDING_S))
    shorter = replace(job, limit_s=limit_s)
    if trial.starts(shorter):
        words = format_duration(limit_s)
        loss = 0.5 if job.limit_s == math.inf else 1 - limit_s / job.limit_s
        text = Text(f"时长上限缩短到 {words}", f"Shorten its limit to {words}")
        yield Suggestion(text, {"duration": limit_s}, shorter, loss)


def _other_flavors(job: Pending, at: int, flavors: Mapping[str, Resources], trial: _Trial) -> Iterator[Suggestion]:
    role, known = job.roles[at], {shape[at].flavor for shape in job.request.shapes}
    for name in sorted(flavors.keys() - known):
        ask = replace(flavors[name], shm_mib=role.resources.shm_mib)
        other = _with_role(job, at, lambda each, ask=ask, name=name: replace(each, resources=ask, flavor=name))  # type: ignore[misc]
        if trial.starts(other):
            text = Text(f"角色 {role.name} 改用规格 {name}", f"Use flavor {name} for role {role.name}")
            yield Suggestion(text, {f"roles.{at}.flavors": [name]}, other, _given_up(role.resources, ask))


def _given_up(before: Resources, after: Resources) -> float:
    """Return the largest share of cards, cores or memory that is lost."""
    pairs = (
        (before.gpu * before.gpu_milli, after.gpu * after.gpu_milli),
        (before.cpu, after.cpu),
        (before.memory_mib, after.memory_mib),
    )
    return max(0.0, *(1 - new / old for old, new in pairs if old))


def _less(snapshot: Snapshot, job: Pending, at: int, field: str, trial: _Trial) -> Iterator[Suggestion]:
    """Another card model for role `at`, or less of what is short."""
    role = job.roles[at]

    def changed(**changes: Any) -> Pending:
        return _with_role(job, at, lambda each: with_resources(each, **changes))

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


def _fewer(job: Pending, at: int, trial: _Trial) -> Iterator[Suggestion]:
    """Fewer replicas of role `at`; of an elastic one, fewer to start with."""
    role = job.roles[at]
    least = role.min_replicas or role.replicas

    def changed(count: int) -> Pending:
        return _with_role(
            job, at, lambda each: sized(each, count) if each.min_replicas is None else replace(each, min_replicas=count)
        )

    fewer = largest(lambda count: trial.starts(changed(count)), least)
    if fewer is None:
        return
    loss = 1 - fewer / least
    if role.min_replicas is None:
        text = Text(f"角色 {role.name} 的副本数降到 {fewer}", f"Lower the replicas of role {role.name} to {fewer}")
        yield Suggestion(text, {f"roles.{at}.replicas": fewer}, changed(fewer), loss)
    else:
        text = Text(f"允许角色 {role.name} 以 {fewer} 个副本启动", f"Let role {role.name} start with {fewer} replicas")
        yield Suggestion(text, {f"roles.{at}.min_replicas": fewer}, changed(fewer), loss)


def _with_role(job: Pending, at: int, changed: Callable[[Role], Role]) -> Pending:
    """Return `job` with role number `at` changed in every way in which it may run."""
    request = job.request
    shapes = dict.fromkeys((*shape[:at], changed(shape[at]), *shape[at + 1 :]) for shape in request.shapes)
    return replace(job, request=replace(request, shapes=tuple(shapes)))
