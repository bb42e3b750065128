"""A submission as it is read, its document checked, and as a preview writes it. Pure: done in the server, or by a
clerk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.launch import Mount, RolePreview
from trainmaster.core.records import Assignment, Job
from trainmaster.dialects.registry import as_written, translate
from trainmaster.frameworks.showing import preview_roles
from trainmaster.messages.jobs import submitting, sweeps
from trainmaster.service.submitting.algorithms import KnownAlgorithms, checked
from trainmaster.spec.document import Document, Given
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import digest_of, document_of, effective, supposed
from trainmaster.spec.placing import FlavorsBy
from trainmaster.spec.semantics import advice

MOST_UNKNOWN: Final = 50
"""Unknown fields around the document that are listed."""
_BODY_KEYS: Final = frozenset({"spec", "dialect", "set", "dry_run", "code_follows"})
_DIALECTS: Final = ("auto", "native", "pai")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A request that passed its checks. `code_follows`: whoever asks will upload the code folder before the submit.

    `refused`: what its algorithm does not take, and what the engine of its pool cannot do of it, once that is known.
    """

    spec: JobSpec
    dialect: str
    document: str  # canonical JSON, stored once under its digest
    digest: str
    warnings: tuple[Problem, ...]
    code_follows: bool = False
    refused: tuple[Problem, ...] = ()


def read_body(
    body: Given, hosts: int, flavors: FlavorsBy | None = None, known: KnownAlgorithms | None = None
) -> Candidate:
    """Return what a submit body asks for of a cluster with `hosts` addresses (D7) and these flavors by workspace.
    `known`: the algorithms that may be named; None: the document has all that its algorithm says. Pure.

    Raises InvalidSpec with all problems.
    """
    wrong = _shape_problems(body)
    if wrong:
        raise InvalidSpec(submitting.not_a_submission(), problems=wrong)
    dialect = body.get("dialect") or "auto"
    if "sweep" in body["spec"]:
        problem = problem_of("sweep", sweeps.sweep_in_a_job())
        raise InvalidSpec(submitting.job_not_valid(1), problems=(problem,))
    translated = translate(body["spec"], dialect, changes=body.get("set"), hosts=hosts)
    spec, refused = checked(translated.document, hosts, flavors, known)
    text = document_of(spec)
    seldom_meant = (as_written(one, translated.dialect) for one in advice(spec))
    follows, warnings = body.get("code_follows") is True, (*translated.warnings, *seldom_meant)
    return Candidate(spec, translated.dialect, text, digest_of(text), warnings, follows, refused)


def read_each(
    bodies: Sequence[Given], hosts: int, flavors: FlavorsBy | None = None, known: KnownAlgorithms | None = None
) -> list[Candidate | InvalidSpec]:
    """Return of each what it asks for, or what is wrong with it."""
    found: list[Candidate | InvalidSpec] = []
    for body in bodies:
        try:
            found.append(read_body(body, hosts, flavors, known))
        except InvalidSpec as error:
            found.append(error)
    return found


def _shape_problems(body: Given) -> tuple[Problem, ...]:
    """Return everything that is wrong with the request around the spec."""
    unknown = sorted(str(name)[:100] for name in body.keys() - _BODY_KEYS)[:MOST_UNKNOWN]
    found = [problem_of(name, submitting.field_around_unknown(sorted(_BODY_KEYS))) for name in unknown]
    if not isinstance(body.get("spec"), Mapping):
        found.append(problem_of("spec", submitting.spec_not_object()))
    if not isinstance(body.get("set") or {}, Mapping):
        found.append(problem_of("set", submitting.changes_not_object()))
    if (body.get("dialect") or "auto") not in _DIALECTS:
        found.append(problem_of("dialect", submitting.no_such_dialect(_DIALECTS)))
    if not isinstance(body.get("code_follows") or False, bool):
        found.append(problem_of("code_follows", submitting.code_follows_not_boolean()))
    return tuple(found)


def written(
    job: Job, spec: JobSpec, placement: tuple[Assignment, ...] | None, mounts: tuple[Mount, ...], at: float
) -> tuple[Document, list[RolePreview]]:
    """Return the parts of a preview that are as large as the job: the whole document, and what each task would run."""
    return effective(spec), preview_roles(supposed(job, spec, placement, mounts, at))
