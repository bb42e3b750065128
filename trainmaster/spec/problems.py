"""How a job document's problems are made: of what the catalogues `messages.jobs.form` and `rules` say, cut to what can
be shown. Pure.

Codes are stable: consoles and scripts may compare them. Values are shown as they were given, unless they are long or of
no plain kind.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import isfinite
from typing import Any, Final

from trainmaster.core.errors import Problem, problem_of
from trainmaster.messages.jobs import form
from trainmaster.messages.said import Said

_VALUE_CHARS: Final = 120
LARGEST: Final = 2**63 - 1
"""The largest whole number that a parameter can have, and the smallest with a minus."""


def problem(path: str, said: Said, value: Any = None) -> Problem:
    """Return the problem `said` at the dotted field `path`, which holds `value`; long texts are cut."""
    return problem_of(_short(path), _cut(said), _short(value))


def number_wrong(value: Any) -> Said | None:
    """Return why `value` is a number that no parameter can have: not finite, or a whole one beyond 64 bits."""
    if isinstance(value, float) and not isfinite(value):
        return form.not_finite()
    if isinstance(value, int) and abs(value) > LARGEST:
        return form.too_big(LARGEST) if value > 0 else form.too_small(-LARGEST)
    return None


def _short(value: Any) -> Any:
    """Return `value` when it is small enough to show: a scalar, texts cut."""
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return text if len(text) <= _VALUE_CHARS else text[:_VALUE_CHARS] + "…"
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= LARGEST):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    return None


def _cut(said: Any) -> Any:
    """Return what was said with its texts cut, whatever it is made of."""
    if isinstance(said, Said):
        return Said(said.code, {name: _cut(value) for name, value in said.args.items()})
    if isinstance(said, list | tuple):
        return _first(said)
    return _short(said) if isinstance(said, str) else said


def _first(names: Sequence[Any]) -> tuple[Any, ...]:
    """Return as many of a list's names as have room, and at least one."""
    shown = [_cut(name) for name in names]
    ends = accumulate(len(str(name)) for name in shown)
    fitting = max(1, sum(end <= _VALUE_CHARS for end in ends))
    return tuple(shown) if fitting >= len(shown) else (*shown[:fitting], "…")
