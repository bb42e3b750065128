"""Versions of a job (R159, R160): what a person makes of their own job, in the same workspace, is its next version.

A family is named by its first job, which may be deleted. Invariant: two versions that are there never have one number,
for whoever gives one waits until the one before is stored. What is made of somebody else's job begins a family of its
own: who may see that job is its owner's matter.
"""

import asyncio

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import InvalidSpec, NotFound, problem_of
from trainmaster.core.records import Job, replace
from trainmaster.messages.jobs import jobs
from trainmaster.messages.jobs import submitting as said
from trainmaster.service.context import Context
from trainmaster.service.submitting.replacing import VERSION


async def as_version(ctx: Context, job: Job, ref: object, who: Principal) -> Job:
    """Return `job`, about to be submitted by `who`, as the next version of the job with the id `ref`. Raises
    InvalidSpec.
    """
    before = await _named(ctx, ref, who)
    if (before.owner, before.workspace) != (job.owner, job.workspace):
        return job
    family = before.family or before.id
    last = await asyncio.to_thread(ctx.records.last_version, family)
    return replace(job, family=family, family_version=last + 1)


async def _named(ctx: Context, ref: object, who: Principal) -> Job:
    visible = decide(who, "jobs:read").demand()
    if isinstance(ref, str):
        job = ctx.master.live.get(ref)
        if job is not None and visible.covers(job):
            return job
        try:
            return await asyncio.to_thread(ctx.reader.find, visible, ref)
        except NotFound:
            pass
    value = ref if isinstance(ref, str | int | float) else None
    raise InvalidSpec(said.not_a_submission(), problems=(problem_of(VERSION, jobs.no_job(), value),))
