"""The preview without a server (R41): the same checks and the same framework code, on a placement as it could be.

What only a server knows - whether it fits, quotas, paths on its nodes - stays None.
"""

from collections.abc import Mapping
from typing import Any

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.dialects.registry import translate
from trainmaster.frameworks.showing import shown
from trainmaster.sdk.documents import given
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft, effective


def preview(document: Mapping[str, Any], changes: Mapping[str, Any], dialect: str = "auto") -> dict[str, Any]:
    """Return ``{ok, problems, warnings, spec, fits, roles, native}`` of a document. Never raises for a bad document."""
    warnings: tuple[Problem, ...] = ()
    try:
        translated = translate(document, dialect, changes=changes)
        warnings = tuple(translated.warnings)
        spec = check(translated.document)
    except InvalidSpec as error:
        return _answer(False, error.problems or (Problem("", error.message, error.remedy),), warnings, None, [])
    return _answer(True, (), warnings, effective(spec), shown(draft(spec)))


def rehearse(source: Any, changes: Mapping[str, Any] | None = None, dialect: str = "auto") -> dict[str, Any]:
    """Return the preview of what a person holds: a file, a dictionary or a spec object, with its code folder looked at.

    Raises InvalidSpec when it cannot be read.
    """
    said = given(source, changes, dialect)
    return with_folder(preview(said.document, said.changes, dialect), said.folder)


def with_folder(found: dict[str, Any], folder: str | None) -> dict[str, Any]:
    """Return the preview `found` with what of the code folder could not be sent, which only this machine knows."""
    if folder is None:
        return found
    from trainmaster.sdk.pack import folder_problems  # noqa: PLC0415

    wrong = [problem.to_json() for problem in folder_problems(folder)]
    return {**found, "ok": found["ok"] and not wrong, "problems": [*found["problems"], *wrong]}


def _answer(
    ok: bool,
    problems: tuple[Problem, ...],
    warnings: tuple[Problem, ...],
    spec: dict[str, Any] | None,
    roles: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "ok": ok, "problems": [p.to_json() for p in problems], "warnings": [w.to_json() for w in warnings], "spec": spec,
        "fits": None, "roles": roles, "native": None,
    }  # fmt: skip
