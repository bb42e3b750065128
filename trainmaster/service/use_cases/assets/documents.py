"""The document of a template: judged as a job's is, but not by what is free, left or queued at the moment."""

from collections.abc import Mapping
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.core.cluster import ANY, DEFAULT
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.assets import templates as said
from trainmaster.service.admission.places import place_problems
from trainmaster.service.context import Context
from trainmaster.service.submitting.candidate import job_of, read
from trainmaster.service.submitting.data_folder import without_absent_data
from trainmaster.service.submitting.reading import Candidate
from trainmaster.spec.document import Document, Given
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import digest_of, document_of

NATIVE: Final = ("auto", "native", None)


async def judged(ctx: Context, body: Given, name: str, who: Principal) -> Candidate:
    """Return what a template called `name` would hold of a submit body. A document without a name has the template's;
    a short name (slug) is unique, so that a template has none.

    Raises InvalidSpec with everything that speaks against a job of `who`, but for what another moment may change: what
    is free and queued, what its workspace can pay, how many urgent jobs there are.
    """
    candidate = await without_absent_data(ctx.admission, await read(ctx, _named(body, name), who))
    spec, found = _placed(ctx, candidate, who)
    found = [*candidate.refused, *found, *await ctx.admission.outside_problems(spec, who)]
    if found:
        raise InvalidSpec(said.template_not_valid(), problems=tuple(found))
    kept = candidate.spec.model_copy(update={"slug": None})
    text = document_of(kept)
    return Candidate(kept, candidate.dialect, text, digest_of(text), candidate.warnings)


def _named(body: Given, name: str) -> Given:
    spec = body.get("spec")
    if (
        not isinstance(spec, Mapping)
        or body.get("dialect") not in NATIVE
        or "name" in spec
        or "protocolVersion" in spec
    ):
        return body
    return {**body, "spec": {**spec, "name": name}}


def _placed(ctx: Context, candidate: Candidate, who: Principal) -> tuple[JobSpec, list[Problem]]:
    """Return the document in the pool that it means, and what speaks against it there; for ``pool: any`` in the first
    one that takes it, else in the first.
    """
    spec = candidate.spec
    names = sorted(ctx.pools.pools, key=lambda name: (name != DEFAULT, name)) if spec.pool == ANY else [spec.pool]
    tried = []
    for name in names:
        there = spec.model_copy(update={"pool": name})
        job = job_of(ctx, Candidate(there, candidate.dialect, "", "-", ()), who)
        found = ctx.admission.duration_problems(job.policy.duration_s, "duration")
        found += ctx.admission.priority_problems(job.priority.name.lower(), who, "priority")
        found += [*place_problems(job, ctx.pools, who), *ctx.admission.engine_problems(job)]
        if not found:
            return there, []
        tried.append((there, found))
    return tried[0]


def with_parameters(document: Document, parameters: Given) -> dict[str, object]:
    """Return the changes by path that set `parameters`: in every role that has one of this name, in the first where
    none has.
    """
    roles = document.get("roles") or [{}]
    changes: dict[str, object] = {}
    for name, value in parameters.items():
        having = [at for at, role in enumerate(roles) if name in (role.get("parameters") or {})] or [0]
        escaped = name.replace(".", "\\.")
        changes |= {f"roles.{at}.parameters.{escaped}": value for at in having}
    return changes
