"""What a sweep would be: its document read, every entry of it, and everything that is wrong. Changes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.core.errors import InvalidSpec, Problem, problem_from, problem_of
from trainmaster.core.records import Job
from trainmaster.dialects.registry import dialect_of
from trainmaster.messages.jobs import submitting
from trainmaster.messages.jobs import sweeps as said
from trainmaster.service.context import Context
from trainmaster.service.curves.goals import goal_of
from trainmaster.service.submitting.candidate import read
from trainmaster.service.submitting.choosing_pool import with_pool_chosen
from trainmaster.service.submitting.reading import Candidate
from trainmaster.spec.document import Document, Given
from trainmaster.spec.outputs import of_any_name
from trainmaster.spec.parse import apply_set
from trainmaster.spec.sweeps.checking import SweepDocument, read_sweep
from trainmaster.spec.sweeps.sweep import SweepEntry, SweepSpec, entries_of, with_entry

_BODY_KEYS: Final = ("spec", "set", "dialect", "code_follows")
_MOST_UNKNOWN: Final = 50


@dataclass(frozen=True, slots=True)
class PlannedSweep:
    """A sweep that may be submitted. `document`: as it is stored, with the seed that was drawn; `first`: what its first
    entry asks for; `job`: the job that would be, without an id.
    """

    document: Document
    sweep: SweepSpec
    entries: list[SweepEntry]
    bodies: list[Given]
    first: Candidate
    job: Job


async def planned(ctx: Context, body: Given, who: Principal) -> PlannedSweep:
    """Return what a submit body asks for. Raises InvalidSpec with everything that is wrong with the sweep and with its
    first entry, else with the places of entries that should be empty and are not.
    """
    document = _document(body)
    found, problems = read_sweep(document)
    if found is not None:
        found, more = _settled(ctx, found)
        problems += more
    candidate, job = None, None
    try:
        candidate, job = await _first(ctx, document, found if not problems else None, body, who)
        problems += await _refusals(ctx, candidate, job, body, who)
    except InvalidSpec as error:
        problems += error.problems or (problem_from("", error),)
    if problems or found is None or candidate is None or job is None:
        raise InvalidSpec(said.sweep_not_valid(len(problems)), problems=tuple(problems))
    base = {**found.base, "pool": candidate.spec.pool}  # all where the first would start soonest
    entries = entries_of(found.sweep)
    name = str(base["name"])
    specs = [candidate.spec.model_copy(update={"name": f"{name}-{entry.index}"}) for entry in entries]
    if taken := await ctx.admission.taken_places(specs, who):
        problems = [replace(one, path=f"entries.{entries[at].index}.{one.path}") for at, one in taken]
        raise InvalidSpec(said.sweep_not_valid(len(problems)), problems=tuple(problems))
    bodies: list[Given] = [
        {"spec": with_entry(base, found.at, entry, f"{name}-{entry.index}"), "dialect": "native"} for entry in entries
    ]
    sweep = found.sweep.model_dump(mode="json", by_alias=True, exclude_none=True)
    return PlannedSweep({**found.base, "sweep": sweep}, found.sweep, entries, bodies, candidate, job)


def of_entries(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems of a batch at the numbers of entries, which count from 1."""
    return tuple(replace(one, path=_of_entry(one.path)) for one in problems)


def _of_entry(path: str) -> str:
    head, _, rest = path.partition(".")
    number, _, field = rest.partition(".")
    if head != "items" or not number.isdigit():
        return path
    return f"entries.{int(number) + 1}.{field}".rstrip(".")


def _document(body: Given) -> Document:
    """Return the document of a submit body, its changes made. Raises InvalidSpec."""
    unknown = sorted(str(name)[:100] for name in body.keys() - {*_BODY_KEYS})[:_MOST_UNKNOWN]
    wrong = [problem_of(name, submitting.field_around_unknown(_BODY_KEYS)) for name in unknown]
    spec, changes = body.get("spec"), body.get("set") or {}
    if not isinstance(spec, Mapping):
        wrong.append(problem_of("spec", submitting.spec_not_object()))
    elif body.get("dialect") not in (None, "auto", "native") or dialect_of(spec) != "native":
        wrong.append(problem_of("dialect", said.sweep_not_native()))
    if not isinstance(changes, Mapping):
        wrong.append(problem_of("set", submitting.changes_not_object()))
    if wrong or not isinstance(spec, Mapping):
        raise InvalidSpec(submitting.not_a_submission(), problems=tuple(wrong))
    return apply_set(spec, changes) if changes else dict(spec)


def _settled(ctx: Context, found: SweepDocument) -> tuple[SweepDocument, list[Problem]]:
    """Return what a document says with what it leaves open: which values are better, and where the draw begins."""
    sweep, problems = found.sweep, []
    changes: dict[str, object] = {}
    if sweep.metric is not None and sweep.goal is None:
        changes["goal"] = goal_of(sweep.metric)
        if changes["goal"] is None:
            problems.append(problem_of("sweep.goal", said.goal_not_clear(sweep.metric)))
    if sweep.random is not None and sweep.seed is None:
        changes["seed"] = int.from_bytes(ctx.random_bytes(4), "big")
    return replace(found, sweep=sweep.model_copy(update=changes)), problems


async def _first(
    ctx: Context, document: Document, found: SweepDocument | None, body: Given, who: Principal
) -> tuple[Candidate, Job]:
    """Return the first entry, under the name of the sweep; of a sweep that cannot be read, the job that it would be."""
    if found is not None:
        entry = entries_of(found.sweep, 1)[0]
        spec = with_entry(found.base, found.at, entry, "") | {"name": found.base.get("name")}
    else:
        spec = {key: value for key, value in document.items() if key != "sweep"}
    if spec.get("name") is None:
        spec.pop("name", None)
    given: Document = {"spec": spec, "dialect": "native", "code_follows": body.get("code_follows") is True}
    candidate = await read(ctx, given, who)
    return await with_pool_chosen(ctx, candidate, who)


async def _refusals(ctx: Context, candidate: Candidate, job: Job, body: Given, who: Principal) -> list[Problem]:
    """Return what speaks against the first entry beside its document; of the others it is asked when they are taken
    in.
    """
    follows = body.get("code_follows") is True
    outside = await ctx.admission.outside_problems(of_any_name(candidate.spec), who, code_follows=follows)
    found = [*ctx.admission.problems(job, who), *outside, *candidate.refused]
    never = ctx.admission.never_fits(job) if not found else None
    return found if never is None else list(never.problems)
