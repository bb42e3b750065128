"""The queue's policy for administrators: every knob with its bounds and what it means. Data, and the checks on it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, Literal

from trainmaster.core.errors import Problem
from trainmaster.queue.snapshot import QueuePolicy
from trainmaster.service.views import two
from trainmaster.spec.problems import problem


@dataclass(frozen=True, slots=True)
class Knob:
    """One field of QueuePolicy. `choices` empty: a number between the bounds, or a switch."""

    name: str
    title: tuple[str, str]
    meaning: tuple[str, str]
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: Literal["", "s", "count", "share"] = ""

    def view(self, value: Any) -> dict[str, Any]:
        """Return the knob with its value."""
        return {
            "name": self.name, "title": two(self.title), "meaning": two(self.meaning), "unit": self.unit, "value": value,
            "default": self.default, "minimum": self.minimum, "maximum": self.maximum, "choices": list(self.choices),
        }  # fmt: skip

    def problem(self, value: Any) -> Problem | None:
        """Return what is wrong with a value for this knob."""
        path = f"values.{self.name}"
        if self.choices:
            allowed = ", ".join(self.choices)
            return None if value in self.choices else problem("not_one_of", path, value=value, allowed=allowed)
        if isinstance(self.default, bool):
            return None if isinstance(value, bool) else problem("not_boolean", path, value=value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return problem("not_number", path, value=value)
        if not isfinite(value):
            return problem("not_finite", path)
        if isinstance(self.default, int) and value != int(value):
            return problem("not_integer", path, value=value)
        if self.minimum is not None and value < self.minimum:
            return problem("too_small", path, value=value, minimum=self.minimum)
        if self.maximum is not None and value > self.maximum:
            return problem("too_big", path, value=value, maximum=self.maximum)
        return None


KNOBS: Final = (
    Knob(
        "max_starts", ("每轮最多启动的任务数", "Most starts of one pass"),
        ("一轮规划最多启动这么多任务，其余的紧接着在下一轮启动；较小的值使其他请求更快得到答复。",
         "One pass starts at most so many jobs; the others follow in the next pass at once. Fewer: requests wait less."),
        QueuePolicy().max_starts, 1, 10_000, unit="count",
    ),
)  # fmt: skip

_BY_NAME: Final = {knob.name: knob for knob in KNOBS}


def value_problems(values: Mapping[str, Any]) -> list[Problem]:
    """Return everything that is wrong with new values by knob; None (the default again) is always right."""
    found = []
    for name, value in values.items():
        knob = _BY_NAME.get(name)
        if knob is None:
            found.append(problem("unknown_key", f"values.{name}", field=name))
        elif value is not None and (wrong := knob.problem(value)) is not None:
            found.append(wrong)
    return found


def policy_of(values: Mapping[str, Any]) -> QueuePolicy:
    """Return the policy with these values; a stored value that no knob has any more is passed over."""
    good = {name: value for name, value in values.items() if name in _BY_NAME and _BY_NAME[name].problem(value) is None}
    return QueuePolicy(**{name: type(_BY_NAME[name].default)(value) for name, value in good.items()})
