"""Something said: a code and its arguments. Data only; `render` makes words of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

WORDS: Final = "words"
"""The code of what is nobody's of ours to translate: the words of a program, of another system, of a person."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said. `args`: texts, numbers, None, lists of these, and other things said, by name; JSON but for these."""

    code: str
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is kept and sent."""
        return {"code": self.code, "args": {name: _plain(value) for name, value in self.args.items()}}


def words(text: str) -> Said:
    """Return words as they are: of a program, of another system, of a person."""
    return Said(WORDS, {"text": text})


def said_from_json(kept: Mapping[str, Any]) -> Said:
    """Return what `to_json` wrote. Raises KeyError, TypeError, AttributeError for anything else."""
    return Said(str(kept["code"]), {str(name): _read(value) for name, value in kept["args"].items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Said):
        return value.to_json()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _read(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"code", "args"}:
        return said_from_json(value)
    return tuple(_read(one) for one in value) if isinstance(value, list) else value
