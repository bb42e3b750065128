"""What has to be right on our side before a cluster becomes an engine: its section, and what is there already.

The cluster's own side is for its kind to look at (`engines.adding.Examination`).
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Final

from trainmaster.answers import ResourcePool
from trainmaster.core.config import MOST_PENDING
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.adding import Check
from trainmaster.engines.kinds import EngineKind
from trainmaster.messages.cluster import checks as saying
from trainmaster.messages.said import Said
from trainmaster.service.settings import Toml

BULK = ("jobs", "models", "uploads")


LABELS: Final[dict[str, Said]] = {"moving": saying.check_moving(), "jobs": saying.check_jobs()}
"""What the checks made here are called."""


def section_of(kind: EngineKind, name: str, pools: Mapping[str, str], settings: Toml, most_pending: int) -> Toml:
    """Return the section of an engine, without what is as by default. `pools`: what each is called there."""
    plain = asdict(kind.settings())
    own = dict(settings)
    if kind.adding.places:
        own[kind.adding.places] = {pool: place for pool, place in pools.items() if pool != place}
    return {
        "name": name,
        "kind": kind.name,
        **({"pools": [*pools]} if pools else {}),
        **({"most_pending": most_pending} if most_pending != MOST_PENDING else {}),
        **{key: value for key, value in own.items() if value and value != plain[key]},
    }


def pools_of(kind: EngineKind, given: Iterable[str]) -> dict[str, str]:
    """Return what each pool is called there from ``POOL`` or, where the kind says so, ``POOL=PLACE``."""
    if not kind.adding.places:
        return {pool: pool for pool in given}
    return {pool: place or pool for pool, _, place in (one.partition("=") for one in given)}


def moving(layout: Layout, data: str) -> Check:
    """Judge whether the data folder can become `data`: what lies in the one that is used now would not be found any
    more.
    """
    now, then = layout.bulk, os.path.realpath(data) if data else layout.bulk
    there = [name for name in BULK if _filled(os.path.join(now, name))]
    if then == os.path.realpath(now) or not there or all(_filled(os.path.join(then, name)) for name in there):
        return Check("moving", True, saying.data_stays(then))
    return Check("moving", False, saying.data_left_behind(now, there, then))


def _filled(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except OSError:
        return False


def jobs_there(name: str, pools: Iterable[str], known: Iterable[ResourcePool] | None) -> Check:
    """Judge whether jobs are on their way in pools that are to live on the engine `name`. `known`: all pools as the API
    tells of them, None: no server answers.
    """
    wanted = set(pools)
    if known is None:
        return Check("jobs", False, saying.jobs_not_looked_at(), needed=False)
    for one in known:
        if one.name not in wanted or one.engine == name:
            continue
        if count := one.waiting + one.running:
            return Check("jobs", False, saying.jobs_would_be_lost(count, one.name, one.engine))
        if one.nodes:
            return Check("jobs", False, saying.nodes_would_be_left_out(one.name, one.nodes, one.engine))
    return Check("jobs", True, saying.no_jobs_there())
