"""What has to be right on our side before a cluster becomes an engine: its section, and what is there already.

The cluster's own side is `engines.slurm.examine`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from trainmaster.answers import ResourcePool
from trainmaster.core.config import MOST_PENDING
from trainmaster.core.layout import Layout
from trainmaster.engines.slurm.checks import Check
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages import checks as saying
from trainmaster.service.settings import Toml

BULK = ("jobs", "models", "uploads")


def section_of(name: str, pools: Mapping[str, str], settings: Toml, most_pending: int) -> Toml:
    """Return the section of a Slurm engine, without what is as by default. `pools`: the partition of each."""
    plain = asdict(SlurmEngineConfig())
    own = {**settings, "partitions": {pool: partition for pool, partition in pools.items() if pool != partition}}
    return {
        "name": name, "kind": "slurm", **({"pools": [*pools]} if pools else {}),
        **({"most_pending": most_pending} if most_pending != MOST_PENDING else {}),
        **{key: value for key, value in own.items() if value and value != plain[key]},
    }  # fmt: skip


def pools_of(given: Iterable[str]) -> dict[str, str]:
    """Return the partition of each pool from ``POOL`` or ``POOL=PARTITION``."""
    return {pool: partition or pool for pool, _, partition in (one.partition("=") for one in given)}


def moving(layout: Layout, data: str) -> Check:
    """Judge whether the data folder can become `data`: what lies in the one that is used now would not be found any more."""
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
