"""What a preview, a question and a submit begin with: the submission read, and the job it would be."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.records import Job
from trainmaster.dialects.registry import dialect_of
from trainmaster.service.context import Context
from trainmaster.service.submitting.named_algorithms import algorithms_named
from trainmaster.service.submitting.reading import Candidate, read_body
from trainmaster.spec.document import Given
from trainmaster.spec.lower import lower

QUICK: Final = 4096
"""Bytes of a submission that is judged in the event loop; a larger one, which may take longer, by a clerk."""


async def read(ctx: Context, body: Given, who: Principal) -> Candidate:
    """Return what a submit body asks for: at once where that takes no time, else from a clerk. Raises InvalidSpec."""
    body = placed(body, only_workspace(who))
    known = await algorithms_named(ctx.versions, [body], who)
    if _quick(body):
        return read_body(body, ctx.scheduling.hosts, ctx.pools.flavors, known)
    return await ctx.clerks.do(who.name, read_body, body, ctx.scheduling.hosts, dict(ctx.pools.flavors), known)


async def warned(ctx: Context, candidate: Candidate, who: Principal) -> Candidate:
    """Return `candidate` with what is worth knowing of it outside the platform. At most seconds."""
    found = await ctx.admission.outside_warnings(candidate.spec, who)
    return replace(candidate, warnings=(*candidate.warnings, *found)) if found else candidate


def only_workspace(who: Principal) -> str | None:
    """Return the workspace that a document of `who` means that names none: None, which is `default`, but for who may
    submit into exactly one other.
    """
    if decide(who, "jobs:submit", InWorkspace(DEFAULT)).allowed:
        return None
    mine = [name for name, _ in who.memberships if decide(who, "jobs:submit", InWorkspace(name)).allowed]
    return mine[0] if len(mine) == 1 else None


def placed(body: Given, workspace: str | None) -> Given:
    """Return a submit body whose document names `workspace` where it names none itself."""
    spec = body.get("spec")
    if workspace is None or not isinstance(spec, Mapping) or "workspace" in spec:
        return body
    changes = body.get("set")
    if isinstance(changes, Mapping) and "workspace" in changes:
        return body
    if dialect_of(spec) != "native" or body.get("dialect") not in (None, "auto", "native"):
        return body
    return {**body, "spec": {**spec, "workspace": workspace}}


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
