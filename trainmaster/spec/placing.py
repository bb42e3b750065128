"""Rules about where a job may run and what its replicas get: flavors, shares of cards, nodes, driver. Pure.

What only the cluster knows (pools, nodes, drivers) is checked by the service's admission; here is what the document and
the flavors of its workspace tell.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from trainmaster.core.cluster import Flavor
from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import rules
from trainmaster.spec.job import JobSpec, Resources
from trainmaster.spec.problems import problem

FlavorsBy = Mapping[str, Mapping[str, Flavor]]
"""Flavors by workspace and name."""

MAX_SHAPES: Final = 64
"""Ways in which the flavors of all roles may combine."""

_WRITTEN_OUT: Final = Resources()


def placing_problems(spec: JobSpec, flavors: FlavorsBy | None) -> Iterator[Problem]:
    """Yield what is wrong with flavors, shares, nodes and driver. `flavors` None: not known here, so not looked up."""
    known = None if flavors is None else flavors.get(spec.workspace, {})
    for index, role in enumerate(spec.roles):
        path = f"roles.{index}"
        if role.resources.gpu_share < 1 and role.resources.gpu != 1:
            yield problem(f"{path}.resources.gpu_share", rules.share_one_card(), role.resources.gpu_share)
        if role.flavors and role.resources != _WRITTEN_OUT:
            yield problem(f"{path}.flavors", rules.flavors_mixed())
        for at, name in enumerate(role.flavors):
            if known is not None and name not in known:
                there = tuple(sorted(known))
                yield problem(
                    f"{path}.flavors.{at}", rules.unknown_flavor(name=name, workspace=spec.workspace, known=there)
                )
    count = prod(max(1, len(set(role.flavors))) for role in spec.roles)
    if count > MAX_SHAPES:
        yield problem("roles", rules.too_many_shapes(count=count, maximum=MAX_SHAPES))
    if spec.driver is not None and spec.nodes:
        yield problem("nodes", rules.nodes_with_driver())
    if spec.driver is not None and not _asks_cards(spec, known):
        yield problem("driver", rules.driver_without_cards(), spec.driver)


def _asks_cards(spec: JobSpec, known: Mapping[str, Flavor] | None) -> bool:
    """Return whether any role may get cards; a flavor that is not known here may have some."""
    named = [name for role in spec.roles for name in role.flavors]
    asked = any(role.resources.gpu for role in spec.roles if not role.flavors)
    return asked or any(known is None or name not in known or known[name].gpu > 0 for name in named)
