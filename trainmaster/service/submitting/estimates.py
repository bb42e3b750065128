"""When a job that is not submitted would start in a queue that is not ours: what its engine says, as previews show it.

Our queue comes first: a job that permission, quotas or limits keep from being handed over waits here, whatever the
engine foresees. Knows no kind of engine. Invariant: an engine that is silent keeps nobody waiting longer than
PATIENCE_S, and that it is silent is said.
"""

import asyncio
from dataclasses import replace
from typing import Final, NamedTuple

from trainmaster.answers import ForecastView, ReasonView, When
from trainmaster.core.errors import Problem, Unavailable
from trainmaster.core.launch import Gang
from trainmaster.core.records import Assignment, Job, unplaced
from trainmaster.engines.base import Refused, Waiting
from trainmaster.messages.jobs import rules
from trainmaster.messages.server import server
from trainmaster.service.context import Context
from trainmaster.service.control.launching import mounts
from trainmaster.service.scheduling.waits import forecast_view, reason_view
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import supposed
from trainmaster.spec.problems import problem

PATIENCE_S: Final = 5.0
"""How long an engine may think about a job that is not submitted."""
NOW_S: Final = 15.0
"""A start that is no further away is now: engines look into their queues that often."""


class Outlook(NamedTuple):
    """Whether a job would start now, why not, and when else."""

    when: When
    reason: ReasonView | None = None
    forecast: ForecastView | None = None


def gang_of(ctx: Context, job: Job, spec: JobSpec, placement: tuple[Assignment, ...]) -> Gang:
    """Return what an engine would be asked for a job that is not submitted."""
    gang = supposed(job, spec, placement, mounts(spec, ctx.layout, ctx.versions), ctx.clock())
    key = ctx.images.key(job.workspace, gang.environment) if gang.environment else None
    return replace(gang, environment=key) if key is not None else gang


async def with_engine(ctx: Context, job: Job, spec: JobSpec, ours: Outlook) -> tuple[Outlook, Problem | None]:
    """Return `ours`, what our queue says of `job`, together with what the engine of its pool foresees; and why it would
    refuse it.
    """
    engine = ctx.engines.of(job.pool)
    estimates = ctx.engines.abilities(engine).estimates
    if estimates is None:
        return ours, None
    try:
        async with asyncio.timeout(PATIENCE_S):
            ctx.engines.up(engine)
            said: Waiting | Refused = await estimates.estimate(gang_of(ctx, job, spec, unplaced(job.roles)))
    except (Unavailable, TimeoutError) as error:
        why = error.said if isinstance(error, Unavailable) else server.cluster_not_in_time()
        said = Waiting("", "cluster_silent", why, ctx.clock())
    if isinstance(said, Refused):
        refused = problem("", rules.cluster_refused(engine=engine.name, said=said.said))
        reason = reason_view(Waiting("", refused.code, said.said, said.at), engine.name)
        return Outlook("never", reason), refused
    if ours.when != "now":
        return ours, None
    return _expected(said, engine.name, ctx.clock()), None


def _expected(said: Waiting, engine: str, now: float) -> Outlook:
    """Return the outlook of a job that would be handed over now."""
    forecast = forecast_view(said, engine)
    if said.starts_at is not None and said.starts_at <= now + NOW_S:
        return Outlook("now", None, forecast)
    return Outlook("queue", reason_view(said, engine), forecast)
