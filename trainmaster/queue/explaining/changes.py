"""What may be changed of a waiting job so that it starts sooner, and how it would wait then. Pure.

Limit and priority change in its place: it keeps its turn. Whatever else it asked for can only be changed in a copy,
which is submitted now, the last of its class, while the first is away. Invariant: `Suggestion.job` is how the service
would have it wait after the change.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Resources, Role
from trainmaster.core.states import Priority
from trainmaster.messages.cluster import queue
from trainmaster.messages.said import Said
from trainmaster.queue.placing.elastic import sized
from trainmaster.queue.placing.fit import with_resources
from trainmaster.queue.snapshot import Pending, Snapshot

LAST: Final = 2**53
"""The number of a job that is submitted after all others."""

DEAR: Final = 0.5
"""What it counts to become more urgent, or to have a limit at all: as much as half of what was asked for. The first
takes one of few rights and puts others off."""

CLASSES: Final = {Priority.URGENT: queue.make_it_urgent(), Priority.VERY_URGENT: queue.make_it_very_urgent()}


class Suggestion(NamedTuple):
    """A change: field path -> new value, and its sentence. `job`: as it would wait then."""

    message: Said
    change: dict[str, Any]
    job: Pending
    loss: float = 0.0  # share of what was asked for that is given up


class Changes:
    """The changes of one job. `now`: when a copy would be submitted; `spent_s`: what is over of the time of its
    limit.
    """

    def __init__(self, job: Pending, now: float, spent_s: float = 0.0) -> None:
        self.job, self._spent_s = job, spent_s
        self.copy = replace(job, order=(now, LAST), limit_s=job.limit_s + spent_s)

    def limit(self, limit_s: float) -> Suggestion:
        """A shorter limit, or one at all."""
        duration_s = limit_s + self._spent_s
        shorter = replace(self.job, limit_s=limit_s)
        if self.job.limit_s == math.inf:
            said, loss = queue.give_it_a_limit(duration_s), DEAR
        else:
            said, loss = queue.shorten_its_limit(duration_s), 1 - duration_s / self.copy.limit_s
        return Suggestion(said, {"duration": duration_s}, shorter, loss)

    def more_urgent(self) -> Iterator[Suggestion]:
        """The next higher class, if there is one."""
        for priority, said in CLASSES.items():
            if priority == self.job.priority + 1:
                change = {"priority": priority.name.lower()}
                yield Suggestion(said, change, replace(self.job, priority=int(priority)), DEAR)

    def elsewhere(self, snapshot: Snapshot) -> Iterator[Suggestion]:
        """Another pool, or another share of one: that of a virtual cluster, or what is assigned to none."""
        job = self.copy
        shares = {(pool, account.name) for account, pool in snapshot.quotas if account.kind == "cluster"}
        shares |= {(node.pool, "") for node in snapshot.nodes if node.schedulable}
        for pool, cluster in sorted(shares - {(job.pool, job.tenant.cluster)}):
            if pool in snapshot.handing:
                continue  # its engine decides the start, so we cannot promise one
            moved = replace(job, request=replace(job.request, pool=pool), tenant=job.tenant._replace(cluster=cluster))
            said = queue.move_to_virtual_cluster(cluster) if cluster else queue.move_to_pool(pool)
            change: dict[str, Any] = {"pool": pool}
            if cluster or job.tenant.cluster:
                change["virtual_cluster"] = cluster or None
            yield Suggestion(said, change, moved)

    def flavors(self, at: int, flavors: Mapping[str, Resources]) -> Iterator[Suggestion]:
        """Every other flavor for role number `at`; for one with cards in any of its ways only those with cards."""
        role, ways = self.job.roles[at], [shape[at] for shape in self.job.request.shapes]
        cards = any(way.resources.gpu for way in ways)
        for name in sorted(flavors.keys() - {way.flavor for way in ways}):
            if cards and not flavors[name].gpu:
                continue  # a job that trains on cards cannot train without
            ask = replace(flavors[name], shm_mib=role.resources.shm_mib)
            other = self._with_role(at, partial(_flavored, name=name, ask=ask))
            said = queue.use_flavor(role.name, name)
            yield Suggestion(said, {f"roles.{at}.flavors": [name]}, other, _given_up(role.resources, ask))

    def models(self, at: int, snapshot: Snapshot) -> Iterator[Suggestion]:
        """Every other card model of its pool for role number `at`, where that asks for one."""
        job, role = self.copy, self.job.roles[at]
        if not role.resources.gpu or role.resources.gpu_type is None:
            return
        there = {model for node in snapshot.nodes if node.pool == job.pool and node.schedulable for model in node.gpus}
        for model in sorted(there - {role.resources.gpu_type}):
            other = self._with_role(at, partial(with_resources, gpu_type=model))
            yield Suggestion(queue.use_card_type(role.name, model), {f"roles.{at}.resources.gpu_type": model}, other)

    def gpus(self, at: int, count: int) -> Suggestion:
        """`count` GPUs for each replica of role number `at`."""
        role = self.job.roles[at]
        said = queue.use_fewer_gpus(role.name, count, role.resources.gpu)
        other = self._with_role(at, lambda each: with_resources(each, gpu=count))
        return Suggestion(said, {f"roles.{at}.resources.gpu": count}, other, 1 - count / role.resources.gpu)

    def replicas(self, at: int, count: int) -> Suggestion:
        """`count` replicas of role number `at`; of an elastic one, as many to start with."""
        role = self.job.roles[at]
        if role.min_replicas is None:
            said = queue.use_fewer_replicas(role.name, count, role.replicas)
            fewer = self._with_role(at, partial(sized, replicas=count))
            return Suggestion(said, {f"roles.{at}.replicas": count}, fewer, 1 - count / role.replicas)
        said = queue.start_with_replicas(role.name, count)
        fewer = self._with_role(at, lambda each: replace(each, min_replicas=count))
        return Suggestion(said, {f"roles.{at}.min_replicas": count}, fewer, 1 - count / role.min_replicas)

    def _with_role(self, at: int, changed: Callable[[Role], Role]) -> Pending:
        """Return the copy with role number `at` changed in every way in which it may run."""
        request = self.copy.request
        shapes = dict.fromkeys((*shape[:at], changed(shape[at]), *shape[at + 1 :]) for shape in request.shapes)
        return replace(self.copy, request=replace(request, shapes=tuple(shapes)))


def _flavored(role: Role, name: str, ask: Resources) -> Role:
    return replace(role, resources=ask, flavor=name)


def _given_up(before: Resources, after: Resources) -> float:
    """Return the largest share of cards, cores or memory that is lost."""
    pairs = (
        (before.gpu * before.gpu_milli, after.gpu * after.gpu_milli),
        (before.cpu, after.cpu),
        (before.memory_mib, after.memory_mib),
    )
    return max(0.0, *(1 - new / old for old, new in pairs if old))
