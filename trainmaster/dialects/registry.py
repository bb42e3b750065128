"""Which dialect a document is written in, and its translation. A new one: a module and a line in DIALECTS. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, Final

from trainmaster.core.errors import Problem
from trainmaster.dialects.base import Translation
from trainmaster.messages.jobs import form
from trainmaster.spec.check import refusal
from trainmaster.spec.parse import apply_set
from trainmaster.spec.problems import problem

__all__ = ["DIALECTS", "Translation", "as_written", "dialect_of", "local_code", "translate", "with_upload"]

DIALECTS: Final[dict[str, str]] = {
    "native": "trainmaster.dialects.native:translate",
    "pai": "trainmaster.dialects.pai:translate",
}
"""Name and ``module:function``; modules are imported on first use."""

_MARKS: Final[dict[str, frozenset[str]]] = {"pai": frozenset({"jobName", "taskRoles", "protocolVersion"})}
"""A document with one of these keys is written in that dialect."""


def dialect_of(document: Mapping[str, Any]) -> str:
    """Return the dialect that the keys of `document` show; native when nothing speaks for another."""
    return next((name for name, marks in _MARKS.items() if not marks.isdisjoint(document)), "native")


def translate(
    document: Mapping[str, Any],
    dialect: str = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    hosts: int | None = None,
) -> Translation:
    """Return the native document of `document`, with warnings. `hosts`: number of host addresses, where known (D7).

    `changes`: as `apply_set` takes them; a path that begins with a field of the dialect is one of the document, any
    other one of the native document. A translated document without such passes `spec.check.check`; a native one is
    passed through for it to judge. Raises InvalidSpec with every problem, at the paths of the dialect it was written
    in.
    """
    if not isinstance(document, Mapping):
        raise refusal([problem("", form.not_object())])
    name = dialect_of(document) if dialect == "auto" else dialect
    target = DIALECTS.get(name)
    if target is None:
        found: list[Problem] = [problem("dialect", form.unknown_dialect(dialect=str(dialect), known=tuple(DIALECTS)))]
        raise refusal(found)
    written_in, front_end = _loaded(target)
    if not changes:
        return front_end(document, hosts=hosts)
    before = {path: value for path, value in changes.items() if written_in.knows(path.partition(".")[0])}
    after = {path: value for path, value in changes.items() if path not in before}
    translated = front_end(apply_set(document, before) if before else document, hosts=hosts)
    return replace(translated, document=apply_set(translated.document, after)) if after else translated


def as_written(item: Problem, dialect: str) -> Problem:
    """Return `item`, found in the native document, at the field of the document that was written in `dialect`."""
    found: Problem = _loaded(DIALECTS[dialect])[0].as_written(item)
    return found


def local_code(document: Mapping[str, Any], dialect: str = "auto") -> str | None:
    """Return what `document` names as the folder of its code on the machine of whoever holds it; None when it names
    none.
    """
    written_in = _module(document, dialect)
    found: str | None = written_in.local_code(document) if written_in is not None else None
    return found


def with_upload(document: Mapping[str, Any], upload: str, dialect: str = "auto") -> dict[str, Any]:
    """Return `document` with its code in the `upload` of that name."""
    written_in = _module(document, dialect)
    return {**document, **(written_in.uploaded(upload) if written_in is not None else {})}


def _module(document: Mapping[str, Any], dialect: str) -> Any:
    target = DIALECTS.get(dialect_of(document) if dialect == "auto" else dialect)
    return None if target is None else _loaded(target)[0]


@cache
def _loaded(target: str) -> tuple[Any, Callable[..., Translation]]:
    module, _, function = target.partition(":")
    written_in = import_module(module)
    return written_in, getattr(written_in, function)
