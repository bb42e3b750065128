"""A submission as it is read: its document checked, and the job it would be. What a preview, a question and a submit begin with."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from trainmaster.access.roles import Principal
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.records import Job
from trainmaster.dialects.registry import translate
from trainmaster.service.context import Context
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import digest_of, document_of, lower
from trainmaster.spec.placing import FlavorsBy

QUICK: Final = 4096
"""Bytes of a submission that is judged in the event loop; a larger one, which may take longer, in a thread."""
MOST_UNKNOWN: Final = 50
"""Unknown fields around the document that are listed."""
_BODY_KEYS: Final = frozenset({"spec", "dialect", "set", "dry_run", "code_follows"})
_DIALECTS: Final = ("auto", "native", "pai")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A request that passed its checks. `code_follows`: whoever asks will upload the code folder before the submit."""

    spec: JobSpec
    dialect: str
    document: str  # canonical JSON, stored once under its digest
    digest: str
    warnings: tuple[Problem, ...]
    code_follows: bool = False


async def read(ctx: Context, body: Mapping[str, Any]) -> Candidate:
    """Return what a submit body asks for: at once where that takes no time, else from a thread. Raises InvalidSpec."""
    if _quick(body):
        return read_body(body, ctx.scheduling.hosts, ctx.pools.flavors)
    return await asyncio.to_thread(read_body, body, ctx.scheduling.hosts, dict(ctx.pools.flavors))


def _quick(body: Mapping[str, Any]) -> bool:
    """Tell whether a document is small, and says nothing that must be compiled or changed first."""
    spec = body.get("spec")
    if not isinstance(spec, Mapping) or spec.get("metrics") or body.get("set"):
        return False
    try:
        return len(msgspec.json.encode(body)) <= QUICK
    except (UnicodeEncodeError, TypeError):
        return False


def read_body(body: Mapping[str, Any], hosts: int, flavors: FlavorsBy | None = None) -> Candidate:
    """Return what a submit body asks for of a cluster with `hosts` addresses (D7) and these flavors by workspace. Pure.

    Raises InvalidSpec with all problems.
    """
    wrong = _shape_problems(body)
    if wrong:
        raise InvalidSpec("The request is not one to submit a job", remedy="Mend the fields listed.", problems=wrong)
    dialect = body.get("dialect") or "auto"
    translated = translate(body["spec"], dialect, changes=body.get("set"), hosts=hosts)
    spec = check(translated.document, hosts=hosts, flavors=flavors)
    text = document_of(spec)
    return Candidate(
        spec, translated.dialect, text, digest_of(text), tuple(translated.warnings), body.get("code_follows") is True
    )


def _shape_problems(body: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return everything that is wrong with the request around the spec."""
    known = f"Known fields: {', '.join(sorted(_BODY_KEYS))}."
    unknown = sorted(str(name)[:100] for name in body.keys() - _BODY_KEYS)[:MOST_UNKNOWN]
    found = [Problem(name, "unknown field", known) for name in unknown]
    if not isinstance(body.get("spec"), Mapping):
        found.append(Problem("spec", "must be an object", 'Send {"spec": {...}}.'))
    if not isinstance(body.get("set") or {}, Mapping):
        found.append(Problem("set", "must be an object of path: value", 'Send {"roles.0.replicas": 2}.'))
    if (body.get("dialect") or "auto") not in _DIALECTS:
        found.append(Problem("dialect", f"must be one of {', '.join(_DIALECTS)}", "Leave it out."))
    if not isinstance(body.get("code_follows") or False, bool):
        found.append(Problem("code_follows", "must be true or false", "Leave it out."))
    return tuple(found)


def job_of(ctx: Context, candidate: Candidate, who: Principal, job_id: str = "t" + "0" * 32, seq: int = 0) -> Job:
    """Return the job that `who` would submit with `candidate`, in the pool its document means; without an id, one that is never kept."""
    lowered = lower(
        candidate.spec, job_id=job_id, owner=who.name, now=ctx.clock(), seq=seq, digest=candidate.digest,
        dialect=candidate.dialect, limits=ctx.config.limits, flavors=ctx.pools.flavors,
    )  # fmt: skip
    return ctx.pools.placed(lowered)
