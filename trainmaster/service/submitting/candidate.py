"""What a preview, a question and a submit begin with: the submission read, and the job it would be."""

from collections.abc import Mapping
from typing import Final

import msgspec

from trainmaster.access.roles import Principal
from trainmaster.core.records import Job
from trainmaster.service.context import Context
from trainmaster.service.submitting.reading import Candidate, read_body
from trainmaster.spec.document import Given
from trainmaster.spec.lower import lower

QUICK: Final = 4096
"""Bytes of a submission that is judged in the event loop; a larger one, which may take longer, by a clerk."""


async def read(ctx: Context, body: Given, who: Principal) -> Candidate:
    """Return what a submit body asks for: at once where that takes no time, else from a clerk. Raises InvalidSpec."""
    if _quick(body):
        return read_body(body, ctx.scheduling.hosts, ctx.pools.flavors)
    return await ctx.clerks.do(who.name, read_body, body, ctx.scheduling.hosts, dict(ctx.pools.flavors))


def _quick(body: Given) -> bool:
    """Tell whether a document is small, and says nothing that must be compiled or changed first."""
    spec = body.get("spec")
    if not isinstance(spec, Mapping) or spec.get("metrics") or body.get("set"):
        return False
    try:
        return len(msgspec.json.encode(body)) <= QUICK
    except (UnicodeEncodeError, TypeError):
        return False


def job_of(ctx: Context, candidate: Candidate, who: Principal) -> Job:
    """Return the job that `who` would submit with `candidate`, in the pool its document means; it has no id and no
    number yet.
    """
    lowered = lower(
        candidate.spec,
        job_id="t" + "0" * 32,
        owner=who.name,
        now=ctx.clock(),
        seq=0,
        digest=candidate.digest,
        dialect=candidate.dialect,
        limits=ctx.config.limits,
        flavors=ctx.pools.flavors,
    )
    return ctx.pools.placed(lowered)
