"""The preview without a server (R41): the same checks and the same framework code, on a placement as it could be.

What only a server knows - whether it fits, quotas, paths on its nodes - stays None.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from trainmaster import answers
from trainmaster.answers import problem_item
from trainmaster.core.errors import InvalidSpec, Problem, problem_from, problem_of
from trainmaster.core.launch import RolePreview
from trainmaster.dialects.registry import as_written, translate
from trainmaster.frameworks.showing import preview_roles
from trainmaster.messages.assets import algorithms
from trainmaster.sdk.documents import read_document
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec
from trainmaster.spec.algorithms.filling import filled
from trainmaster.spec.check import check
from trainmaster.spec.document import Document, FieldChanges
from trainmaster.spec.lower import draft, effective
from trainmaster.spec.semantics import advice


def preview(document: Document, changes: FieldChanges, dialect: str = "auto") -> answers.PreviewView:
    """Return what is found of a document without asking anybody. Never raises for a bad document."""
    warnings: tuple[Problem, ...] = ()
    try:
        translated = translate(document, dialect, changes=changes)
        warnings = tuple(translated.warnings)
        native = translated.document
        if isinstance(named := native.get("algorithm"), str):
            native = filled(native, AlgorithmSpec(command="..."), named)
            warnings += (problem_of("algorithm", algorithms.algorithm_not_known_here(named)),)
        spec = check(native)
        warnings += tuple(as_written(one, translated.dialect) for one in advice(spec))
    except InvalidSpec as error:
        return _answer(error.problems or (problem_from("", error),), warnings)
    return _answer((), warnings, effective(spec), preview_roles(draft(spec)))


def rehearse(source: Any, changes: FieldChanges | None = None, dialect: str = "auto") -> answers.PreviewView:
    """Return the preview of what a person holds: a file, a dictionary or a spec object, with its code folder looked at.

    Raises InvalidSpec when it cannot be read.
    """
    said = read_document(source, changes, dialect)
    return with_folder(preview(said.document, said.changes, dialect), said.folder)


def with_folder(found: answers.PreviewView, folder: str | None) -> answers.PreviewView:
    """Return the preview `found` with what of the code folder could not be sent, which only this machine knows."""
    if folder is None:
        return found
    from trainmaster.sdk.pack import folder_problems  # noqa: PLC0415

    wrong = [problem_item(problem) for problem in folder_problems(folder)]
    return replace(found, ok=found.ok and not wrong, problems=[*found.problems, *wrong])


def _answer(
    problems: Iterable[Problem],
    warnings: Iterable[Problem],
    spec: Document | None = None,
    roles: Iterable[RolePreview] = (),
) -> answers.PreviewView:
    wrong = [problem_item(problem) for problem in problems]
    return answers.PreviewView(
        ok=not wrong,
        problems=wrong,
        warnings=[problem_item(warning) for warning in warnings],
        spec=spec,
        fits=None,
        roles=[*roles],
        native=None,
    )
