"""Something said: a code and its arguments. Data only; `render` makes words of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from trainmaster._compat import dataclass

WORDS: Final = "words"
"""The code of what is nobody's of ours to translate: the words of a program, of another system, of a person."""


DEEPEST: Final = 16
"""Levels of what is said inside something else that is said; what the platform says has four."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said. `args`: texts, numbers, None, lists of these, and other things said, by name; JSON but for
    these.
    """

    code: str
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is kept and sent."""
        return {"code": self.code, "args": {name: _plain(value) for name, value in self.args.items()}}


def verbatim(text: str) -> Said:
    """Return words as they are: of a program, of another system, of a person."""
    return Said(WORDS, {"text": text})


def said_from_json(kept: Mapping[str, Any], depth: int = DEEPEST) -> Said:
    """Return what `to_json` wrote. Raises KeyError, TypeError, AttributeError for anything else, and ValueError for
    what is told in more than `depth` levels: who writes it may be a task, and whoever reads it goes as deep.
    """
    if depth <= 0:
        raise ValueError(f"more than {DEEPEST} things said inside one another")
    return Said(str(kept["code"]), {str(name): _read(value, depth - 1) for name, value in kept["args"].items()})


def said_in(kept: Mapping[str, Any]) -> Said | None:
    """Return what a record keeps under ``said``; else the words of a person, or of an earlier version, in it; None:
    nothing.

    Raises KeyError, TypeError, AttributeError, ValueError where it is not what `to_json` wrote.
    """
    if kept.get("said") is not None:
        return said_from_json(kept["said"])
    text = kept.get("reason") or kept.get("message")
    return verbatim(str(text)) if text else None


def _plain(value: Any) -> Any:
    if isinstance(value, Said):
        return value.to_json()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _read(value: Any, depth: int) -> Any:
    if isinstance(value, dict) and value.keys() == {"code", "args"}:
        return said_from_json(value, depth)
    if isinstance(value, list) and depth <= 0:
        raise ValueError(f"more than {DEEPEST} lists inside one another")
    return tuple(_read(one, depth - 1) for one in value) if isinstance(value, list) else value
