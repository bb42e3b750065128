"""The pool of a job that leaves it to the platform (``pool: any``): where it would start first. Settled once, when it
is submitted. Whichever pool it is, its engine then says what it does not carry out.

Every pool is asked what "would it queue?" asks, each through its own engine. A start now comes before one that is
foreseen, that before one that is not; of equals the first by name with `default` before all. Later the job stays where
it is: it has its place in one line.
"""

import asyncio
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.core.cluster import ANY, DEFAULT
from trainmaster.core.errors import InvalidSpec, Problem, Unavailable, problem_from, problem_of
from trainmaster.core.records import Job
from trainmaster.messages.jobs import rules, submitting
from trainmaster.queue.snapshot import Start
from trainmaster.service.context import Context
from trainmaster.service.submitting.candidate import QUICK, job_of
from trainmaster.service.submitting.data_folder import without_absent_data
from trainmaster.service.submitting.estimates import Outlook, with_engine
from trainmaster.service.submitting.image import with_image
from trainmaster.service.submitting.reading import Candidate
from trainmaster.spec.lower import digest_of, document_of

_SURE: Final = ("now", "queue")

Turn = tuple[int, float]
"""How soon a pool would start a job: 0 for now, and when, in epoch seconds."""


async def with_pool_chosen(
    ctx: Context, candidate: Candidate, who: Principal, instead_of: Job | None = None
) -> tuple[Candidate, Job]:
    """Return `candidate` with a pool, and a warning that says which and why if it was chosen here; with what the engine
    of the pool does not carry out; without a data folder of OpenPAI's that is not here, with the versions of its data
    sets and models. And the job it would be, without an id. What takes long to know of a large job is known afterwards.
    `instead_of`: a waiting job that is taken to be gone.

    Raises InvalidSpec with what speaks against each pool when none can take the job, or for an image that is not there.
    """
    candidate = await with_image(ctx, await without_absent_data(ctx.admission, candidate), who)
    candidate = await _with_versions(ctx, candidate, who)
    if candidate.spec.pool != ANY:
        job = job_of(ctx, candidate, who)
        if len(candidate.document) > QUICK or any(role.replicas > 1 for role in candidate.spec.roles):
            await ctx.scheduling.consider(job, partial(ctx.clerks.do, who.name))
        return _heard(ctx, candidate, job), job
    names = sorted(ctx.pools.pools, key=lambda name: (name != DEFAULT, name))
    tried = [_in_pool(ctx, candidate, name, who) for name in names]
    answers = await asyncio.gather(*(_turn(ctx, one, job, who, instead_of) for one, job in tried))
    turns = [(answer, at) for at, answer in enumerate(answers) if isinstance(answer, tuple)]
    if not turns:
        raise InvalidSpec(submitting.no_pool_takes_it(), problems=_distinct(answers))
    (sure, when), at = min(turns)
    chosen = rules.pool_now if sure == 0 else rules.pool_first if when < math.inf else rules.pool_waits
    there, job = tried[at]
    return replace(there, warnings=(problem_of("pool", chosen(names[at])), *there.warnings)), job


async def _with_versions(ctx: Context, candidate: Candidate, who: Principal) -> Candidate:
    """Return `candidate` with the version of each data set and model that it names: settled here, once."""
    spec = await ctx.admission.with_versions(candidate.spec, who)
    if spec is candidate.spec:
        return candidate
    text = document_of(spec)
    return replace(candidate, spec=spec, document=text, digest=digest_of(text))


def _heard(ctx: Context, candidate: Candidate, job: Job) -> Candidate:
    """Return `candidate` with what the engine of the pool of `job` says of it."""
    found = ctx.admission.gang_findings(job, candidate.spec)
    if not found.problems and not found.warnings:
        return candidate
    refused = (*candidate.refused, *found.problems)
    return replace(candidate, warnings=(*candidate.warnings, *found.warnings), refused=refused)


def _in_pool(ctx: Context, candidate: Candidate, pool: str, who: Principal) -> tuple[Candidate, Job]:
    """Return `candidate` as it would be in `pool`, and the job that it would be there."""
    spec = candidate.spec.model_copy(update={"pool": pool})
    text = document_of(spec)
    there = replace(candidate, spec=spec, document=text, digest=digest_of(text))
    job = job_of(ctx, there, who)
    return _heard(ctx, there, job), job


async def _turn(
    ctx: Context, candidate: Candidate, job: Job, who: Principal, instead_of: Job | None
) -> Turn | list[Problem]:
    """Return how soon the job would start where it is now, or everything that speaks against it there."""
    await ctx.scheduling.consider(job, partial(ctx.clerks.do, who.name))
    found = [*ctx.admission.problems(job, who, instead_of), *candidate.refused, *await _stranger(ctx, job)]
    never = ctx.admission.never_fits(job)
    if found or never is not None:
        return [*found, *(never.problems if never is not None else ())]
    judged = ctx.scheduling.would_start(job, instead_of)
    gone = () if instead_of is None else (instead_of.id,)
    starts = isinstance(judged.found, Start)
    forecast = None if starts else await ctx.forecasts.would(judged, ctx.clock(), gone)
    ours = Outlook("now" if starts else "queue", None, forecast)
    outlook, refused = await with_engine(ctx, job, candidate.spec, ours)
    if refused is not None:
        return [refused]
    at = None if outlook.forecast is None else outlook.forecast.at
    return _SURE.index(outlook.when), 0.0 if outlook.when == "now" else math.inf if at is None else at


async def _stranger(ctx: Context, job: Job) -> list[Problem]:
    """Return what speaks against its owner there."""
    checks_owners = ctx.engines.abilities(ctx.engines.of(job.pool)).checks_owners
    try:
        found = None if checks_owners is None else await checks_owners.owner_problem(job.owner)
    except Unavailable as error:
        found = problem_from("pool", error)
    return [] if found is None else [found]


def _distinct(answers: Iterable[Turn | list[Problem]]) -> tuple[Problem, ...]:
    found = {(one.path, one.rule): one for answer in answers if isinstance(answer, list) for one in answer}
    return tuple(found.values())
