"""Other quotas, shares and weights to simulate, from what people write: ``vision@big:gpu=8:16``, ``vision=2``.

Amounts are written as for `tm workspace set`. What is changed replaces that one quota, share or weight; everything else
stays.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from trainmaster.core.cluster import DEFAULT, RESOURCES, Limit, Limits, VirtualCluster, Workspace
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.cluster import simulation
from trainmaster.messages.said import Said
from trainmaster.queue.ordering.rights import Rights
from trainmaster.simulate.compare import Variation
from trainmaster.simulate.workload import Workload


def changed_rights(
    quotas: Iterable[str], shares: Iterable[str], weights: Iterable[str], work: Workload, rights: Rights
) -> Iterator[Variation]:
    """Yield a change for each text. `rights`: what holds without. Raises InvalidSpec for what is written wrong or fits
    nobody.

    A workspace must have jobs in `work` or be known; so must a virtual cluster.
    """
    workspaces = {job.workspace for job in work.jobs} | {one.name for one in rights.workspaces}
    clusters = {one.name for one in rights.virtual_clusters} | {job.virtual_cluster for job in work.jobs} - {None}
    for text in quotas:
        name, pool, limits = _limits(text)
        yield _quota(text, _known(text, name, workspaces, simulation.workspace_not_simulated), pool or DEFAULT, limits)
    for text in shares:
        name, pool, limits = _limits(text)
        yield _share(text, _known(text, name, clusters, simulation.virtual_cluster_not_simulated), pool, limits)
    for text in weights:
        name, _, weight = text.rpartition("=")
        yield _weight(
            text,
            _known(text, name, workspaces, simulation.workspace_not_simulated),
            _amount(text, weight, above_zero=True),
        )


def _quota(text: str, name: str, pool: str, limits: Limits) -> Variation:
    def changed(rights: Rights) -> Rights:
        had = _workspace(rights, name)
        return rights.but([replace(had, quotas={**had.quotas, pool: limits})])

    return Variation(f", {text}", rights=changed)


def _weight(text: str, name: str, weight: float) -> Variation:
    return Variation(
        f", weight {text}", rights=lambda rights: rights.but([replace(_workspace(rights, name), weight=weight)])
    )


def _share(text: str, name: str, pool: str, limits: Limits) -> Variation:
    def changed(rights: Rights) -> Rights:
        had = next((one for one in rights.virtual_clusters if one.name == name), VirtualCluster(name))
        return rights.but(virtual_clusters=[replace(had, pool=pool or had.pool, share=limits)])

    return Variation(f", share {text}", rights=changed)


def _workspace(rights: Rights, name: str) -> Workspace:
    return next((one for one in rights.workspaces if one.name == name), Workspace(name))


def _limits(text: str) -> tuple[str, str, Limits]:
    """Return the name, the pool ("": not said), and what is written of amounts."""
    whose, _, said = text.partition(":")
    name, _, pool = whose.partition("@")
    limits = {}
    for pair in said.split(","):
        resource, _, amounts = (part.strip() for part in pair.rpartition("="))
        nominal, colon, cap = amounts.partition(":")
        if resource not in RESOURCES and not (resource.startswith("gpu:") and resource != "gpu:"):
            raise _wrong(text, simulation.no_such_resource(repr(resource), [*RESOURCES]))
        limit = limits[resource] = Limit(_amount(text, nominal), _amount(text, cap) if colon else None)
        if limit.cap is not None and limit.cap < limit.nominal:
            raise _wrong(text, simulation.cap_below_guarantee(cap, resource))
    return name, pool, limits


def _amount(text: str, written: str, *, above_zero: bool = False) -> float:
    try:
        amount = float(written)
    except ValueError:
        raise _wrong(text, simulation.rights_not_a_number(repr(written))) from None
    if not (amount > 0 if above_zero else amount >= 0) or amount == math.inf:
        raise _wrong(text, simulation.rights_out_of_bounds(written))
    return amount


def _known(text: str, name: str, known: Collection[str | None], unknown: Callable[[str, list[str]], Said]) -> str:
    if name not in known:
        raise _wrong(text, unknown(repr(name), sorted(filter(None, known))))
    return name


def _wrong(text: str, why: Said) -> InvalidSpec:
    return InvalidSpec(simulation.rights_not_valid(text, why), problems=(problem_of("rights", why),))
