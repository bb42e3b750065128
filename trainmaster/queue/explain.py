"""Why one waiting job waits, who holds what it lacks, and the cheapest changes that would let it start now. Pure.

A pass gives one reason per request class; this module makes it the reason of one job, and looks up evidence that is
only wanted when somebody asks. Costs are bounded: one walk over the running attempts, and a fixed number of fits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Role
from trainmaster.core.units import format_memory
from trainmaster.queue.capacity import Room
from trainmaster.queue.classes import class_key
from trainmaster.queue.fit import fit, largest, with_resources
from trainmaster.queue.order import Ordered
from trainmaster.queue.plan import capacity_of, plan
from trainmaster.queue.reasons import Text
from trainmaster.queue.shortage import FIELDS, WRITTEN
from trainmaster.queue.snapshot import Pending, Plan, Reason, RequestClass, Snapshot, Start

OWN_SHORTAGE: Final = {f"waiting_{what}": field for what, field in FIELDS.items()}
"""Reasons about free amounts, and the field of Resources that is short."""


class Suggestion(NamedTuple):
    """A change that would let the job start now: field path -> new value, and its sentence."""

    message: Text
    change: dict[str, Any]


def explain(snapshot: Snapshot, job: Pending, made: Plan) -> Reason:
    """Return the one reason why `job` waits after the plan `made`. O(classes + running tasks)."""
    key = class_key(job.roles, job.pool)
    reason = made.reasons.get(key)
    if reason is None:
        return Reason("next_pass")
    started = {start.job for start in made.starts}
    same = next((cls.jobs for cls in snapshot.pending if cls.key == key), ())
    first = next((other for other in same if other.job not in started), job)
    if first.order < job.order and reason.code != "waiting_nodes":
        return Reason("behind", {"job": first.job})
    field = OWN_SHORTAGE.get(reason.code)
    if field is None:
        return reason
    return replace(reason, evidence={**reason.evidence, "holders": _holders(snapshot, job.pool, field)})


def position(snapshot: Snapshot, job: Pending) -> int:
    """Return how many waiting jobs of the same pool come before `job`. O(classes log jobs)."""
    return sum(_before(cls.jobs, job) for cls in snapshot.pending if cls.jobs and cls.jobs[0].pool == job.pool)


def _before(jobs: Sequence[Pending], job: Pending) -> int:
    return jobs.before(job.order) if isinstance(jobs, Ordered) else sum(other.order < job.order for other in jobs)


def preview(snapshot: Snapshot, job: Pending, now: float) -> Start | Reason:
    """Return where `job` would start if it were submitted now, or why it would wait. `snapshot` is left as it is."""
    key = class_key(job.roles, job.pool)
    made = plan(replace(snapshot, pending=(*snapshot.pending, RequestClass(key, (job,)))), now)
    start = next((start for start in made.starts if start.job == job.job), None)
    return start or explain(snapshot, job, made)


def _holders(snapshot: Snapshot, pool: str, field: str, most: int = 5) -> list[dict[str, Any]]:
    """Return the running jobs that hold most of `field` in `pool`, largest first."""
    names = {node.name for node in snapshot.nodes if node.pool == pool}
    held = []
    for usage in snapshot.running:
        amount = sum(getattr(usage.roles[a.role].resources, field) for a in usage.placement if a.node in names)
        if amount:
            held.append((-amount, usage.job, usage.expires_at))
    held.sort(key=lambda item: item[:2])
    return [{"job": job, "holds": -amount, "expires_at": ends} for amount, job, ends in held[:most]]


def suggest(snapshot: Snapshot, job: Pending, reason: Reason, most: int = 3) -> tuple[Suggestion, ...]:
    """Return up to `most` changes, cheapest first, each of which alone would let `job` start now.

    Only for a job that waits for its own shortage: who waits behind another gains nothing by asking for less.
    Costs O(roles x (log replicas + card models)) fits.
    """
    if reason.code not in OWN_SHORTAGE:
        return ()
    room = snapshot.capacity or capacity_of(snapshot)
    out: list[Suggestion] = []
    for at in sorted(range(len(job.roles)), key=lambda i: -getattr(job.roles[i].resources, OWN_SHORTAGE[reason.code])):
        for suggestion in _changes(room, job, at, reason.code):
            out.append(suggestion)
            if len(out) == most:
                return tuple(out)
    return tuple(out)


def _changes(room: Room, job: Pending, at: int, code: str) -> Iterator[Suggestion]:
    """Yield the changes of role `at` that help: another card model, less of what is short, fewer replicas."""
    role = job.roles[at]
    field = OWN_SHORTAGE[code]

    def fits(changed: Role) -> bool:
        return fit(room, (*job.roles[:at], changed, *job.roles[at + 1 :]), job.pool) is not None

    if field == "gpu" and role.resources.gpu_type is not None:
        models = sorted({model for free in room.nodes_of(job.pool) for model in free.cards} - {role.resources.gpu_type})
        for model in models:
            if fits(with_resources(role, gpu_type=model)):
                text = Text(f"角色 {role.name} 改用型号 {model}", f"Use cards of type {model} for role {role.name}")
                yield Suggestion(text, {f"roles.{at}.resources.gpu_type": model})
    asked = int(getattr(role.resources, field))
    less = largest(lambda amount: fits(with_resources(role, **{field: amount})), asked)
    if less is not None:
        words, name = format_memory(less) if field == "memory_mib" else str(less), WRITTEN.get(field, field)
        text = Text(f"角色 {role.name} 的 {name} 降到 {words}", f"Lower {name} of role {role.name} to {words}")
        yield Suggestion(text, {f"roles.{at}.resources.{name}": less})
    fewer = largest(lambda count: fits(replace(role, replicas=count)), role.replicas)
    if fewer is not None:
        text = Text(f"角色 {role.name} 的副本数降到 {fewer}", f"Lower the replicas of role {role.name} to {fewer}")
        yield Suggestion(text, {f"roles.{at}.replicas": fewer})
