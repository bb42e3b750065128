"""Which dialect a document is written in, and its translation. A new one: a module and a line in DIALECTS. Pure."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from trainmaster.core.errors import Problem
from trainmaster.dialects.base import Translation
from trainmaster.spec.check import refusal
from trainmaster.spec.problems import problem

__all__ = ["DIALECTS", "Translation", "dialect_of", "translate"]

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


def translate(document: Mapping[str, Any], dialect: str = "auto", *, hosts: int | None = None) -> Translation:
    """Return the native document of `document`, with warnings. `hosts`: number of host addresses, where known (D7).

    A translated document passes `spec.check.check`; a native one is passed through for it to judge. Raises InvalidSpec
    with every problem, at the paths of the dialect it was written in.
    """
    if not isinstance(document, Mapping):
        raise refusal([problem("not_object", "")])
    name = dialect_of(document) if dialect == "auto" else dialect
    target = DIALECTS.get(name)
    if target is None:
        found: list[Problem] = [problem("unknown_dialect", "dialect", dialect=str(dialect), known=", ".join(DIALECTS))]
        raise refusal(found)
    module, _, function = target.partition(":")
    front_end: Callable[..., Translation] = getattr(import_module(module), function)
    return front_end(document, hosts=hosts)
