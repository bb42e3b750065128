"""Whether a value is one of a hyperparameter: type, range, choices. Pure."""

import math
from typing import Any

from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import form
from trainmaster.messages.said import Said
from trainmaster.spec.algorithms.algorithm import Hyperparameter
from trainmaster.spec.job import scalar_text
from trainmaster.spec.problems import LARGEST, problem


def value_problem(what: Hyperparameter, value: Any, path: str) -> Problem | None:
    """Return what is wrong with `value`, which is not null, at `path`; None: nothing."""
    wrong = _type_problem(what, value) or _range_problem(what, value)
    if wrong is None and what.choices and not any(same(what, value, one) for one in what.choices):
        wrong = form.not_one_of(tuple(scalar_text(one) for one in what.choices if one is not None))
    return None if wrong is None else problem(path, wrong, value)


def same(what: Hyperparameter, one: Any, other: Any) -> bool:
    """Return whether two values are the same to the program: of a number how much it is, else how it is written."""
    if one is None or other is None:
        return one is other
    if what.type in ("int", "float") and not isinstance(one, str | bool) and not isinstance(other, str | bool):
        return bool(one == other)
    return scalar_text(one) == scalar_text(other)


def _type_problem(what: Hyperparameter, value: Any) -> Said | None:
    """Return why `value` has another type. A text may be written as a number, too: the program is given words."""
    if what.type == "str":
        return None
    if what.type == "bool":
        return None if isinstance(value, bool) else form.not_boolean()
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if what.type == "int":
        whole = number and isinstance(value, int)
        return None if whole and abs(value) <= LARGEST else form.not_integer()
    if not number or (isinstance(value, int) and abs(value) > LARGEST):
        return form.not_number()
    return None if math.isfinite(value) else form.not_finite()


def _range_problem(what: Hyperparameter, value: Any) -> Said | None:
    if what.type not in ("int", "float"):
        return None
    if what.min is not None and value < what.min:
        return form.too_small(what.min)
    return form.too_big(what.max) if what.max is not None and value > what.max else None
