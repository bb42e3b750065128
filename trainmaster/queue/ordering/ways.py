"""The ways in which one request may run, and what the quotas say to each. Pure.

A shape (R161) that asks for cards of any model is one way as long as nobody counts models. Where a quota does, it is
also one way per model: what the packing would choose may be barred while another model is free.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trainmaster.core.records import Node, Role, replace
from trainmaster.queue.ordering.quota import BORROWS, OWN, Books, Excess, asks
from trainmaster.queue.placing.failures import Demand, Failures
from trainmaster.queue.snapshot import ClassKey, Pending, Request


class Way(NamedTuple):
    """Shape number `shape` at its smallest, with cards of any model all of `model`, None: as they come."""

    shape: int
    model: str | None
    demand: Demand
    verdict: str | Excess


def ways(key: ClassKey, books: Books, models: Sequence[str], ends_at: float, job: str) -> list[Way]:
    """Return the ways to run `job`, of class `key`, in the order tried. `models`: those of its pool."""
    if books.empty:
        return [Way(shape, None, demand, OWN) for shape, demand in enumerate(key.request.smallest)]
    tenant, found = key.tenant, []
    for shape, model, demand in _demands(key.request, models if books.models(tenant) else ()):
        found.append(Way(shape, model, demand, books.judge(tenant, asks(demand.roles), ends_at, job)))
    return found


def ruled_out(key: ClassKey, books: Books, models: Sequence[str], unfit: Failures) -> bool:
    """Return whether no way to run a job of class `key` fits.

    A role that does not fit with cards of any model does not with those of one: its fit is complete. Several roles may.
    """
    demands = key.request.smallest
    if not all(map(unfit.rules_out, demands)):
        return False
    if not models or all(len(demand.roles) == 1 for demand in demands) or not books.models(key.tenant):
        return True
    return all(unfit.rules_out(demand) for _, _, demand in _demands(key.request, models))


def claim(books: Books, job: Pending, found: Iterable[Way], now: float) -> None:
    """Let `job`, which waits for quota, have it before those who come later, for the first of its ways that is its
    right.
    """
    for way in found:
        short = way.verdict == BORROWS or (isinstance(way.verdict, Excess) and way.verdict.job is None)
        if short and books.claim(job.job, job.tenant, asks(way.demand.roles), now):
            return


def models_of(nodes: Iterable[Node], pool: str) -> list[str]:
    """Return the card models of a pool."""
    return sorted({model for node in nodes if node.pool == pool for model in node.gpus})


def _demands(request: Request, models: Sequence[str]) -> Iterator[tuple[int, str | None, Demand]]:
    for at, demand in enumerate(request.smallest):
        yield at, None, demand
        for model in models if any(map(_any_model, demand.roles)) else ():
            yield at, model, Demand.of(of_model(demand.roles, model), request.pool, request.nodes, request.driver)


def of_model(roles: tuple[Role, ...], model: str | None) -> tuple[Role, ...]:
    """Return `roles` with cards of any model all of `model`; None: as they are."""
    if model is None:
        return roles
    return tuple(
        replace(role, resources=replace(role.resources, gpu_type=model)) if _any_model(role) else role for role in roles
    )


def _any_model(role: Role) -> bool:
    return bool(role.resources.gpu) and role.resources.gpu_type is None
