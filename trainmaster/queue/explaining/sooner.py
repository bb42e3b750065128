"""Changes that do not let a waiting job start now but may well bring its start forward. Pure.

They are guesses: a fixed few, plain ones, that the service plays in the futures of the forecast before it names any.
"""

import math
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Final

from trainmaster.core.records import Resources
from trainmaster.queue.explaining.changes import Changes, Suggestion
from trainmaster.queue.forecasting.forecast import Steps
from trainmaster.queue.forecasting.future import SAMPLES, Future, Scene
from trainmaster.queue.snapshot import Snapshot

DAY_S: Final = 86400.0
"""The limit that is tried for a job without one."""

MINUTE_S: Final = 60.0

LEAST_GAIN_S, LEAST_SHARE = 300.0, 0.2
"""A start is clearly sooner when it saves so much of the wait, and that share of it."""


def promising(snapshot: Snapshot, changes: Changes, flavors: Mapping[str, Resources]) -> list[Suggestion]:
    """Return what is worth trying, those that give up least first.

    A higher class, half of the limit, any other pool or virtual cluster, and by role any other flavor or card model,
    half of the cards, half of the replicas.
    """
    return sorted(_promising(snapshot, changes, flavors), key=attrgetter("loss"))


def clearly_sooner(at: float, before: float, now: float) -> bool:
    """Return whether to start at `at` instead of `before` (infinite: unknown) is worth a change."""
    return at < math.inf and before - at >= max(
        LEAST_GAIN_S, LEAST_SHARE * (before - now) if before < math.inf else 0.0
    )


def typical(scene: Scene, job: str) -> Steps[float]:
    """Return when `job` starts in the one future in which everybody runs as long as is typical; infinite: not known."""
    future = Future(scene, SAMPLES)
    yield from future.play({job})
    return future.starts.get(job, math.inf)


def _promising(snapshot: Snapshot, changes: Changes, flavors: Mapping[str, Resources]) -> Iterator[Suggestion]:
    yield from changes.elsewhere(snapshot)
    for at, role in enumerate(changes.job.roles):
        if role.flavor is not None:
            yield from changes.flavors(at, flavors)
        else:
            yield from changes.models(at, snapshot)
            if role.resources.gpu > 1:
                yield changes.gpus(at, role.resources.gpu // 2)
        least = role.min_replicas or role.replicas
        if least > 1:
            yield changes.replicas(at, least // 2)
    half_s = min(changes.job.limit_s / 2, DAY_S) // MINUTE_S * MINUTE_S
    if half_s > 0:
        yield changes.limit(half_s)
    yield from changes.more_urgent()
