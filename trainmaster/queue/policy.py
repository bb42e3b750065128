"""The administrator's choices: QueuePolicy, the bounds and meaning of every knob as data, and the named policies. Pure
data.

The policy page and the command line show KNOBS; nothing else may know a bound. Every named policy is a plain value: no
mode of the queue has code of its own. docs/design/queue.md gives the reasons for the defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple

from trainmaster.core.errors import Problem, problem_of
from trainmaster.core.formats.units import exact_duration
from trainmaster.messages.cluster import knobs
from trainmaster.messages.said import Said
from trainmaster.queue.placing.packing import Rule

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """One value per knob; KNOBS says what each means. Times in seconds."""

    ordering: str = "age"
    age_weight: float = 0.75
    age_cap_s: float = 3 * DAY
    fair_weight_s: float = 6 * HOUR
    fair_bound: float = 1.0
    fair_half_life_s: float = 7 * DAY
    backfill: str = "easy"
    packing: Rule = "best-fit"
    packing_rest: Rule | Literal["same"] = "same"
    preemption: str = "off"
    preempt_min_run_s: float = 600.0
    preempt_again_s: float = HOUR
    preempt_most: int = 16
    restart_cost_s: float = 60.0
    max_starts: int = 512

    @property
    def rest_rule(self) -> Rule | None:
        """The rule of `Packing.rest`: None where it is the same as for the whole gang."""
        return None if self.packing_rest == "same" else self.packing_rest

    @property
    def minds_mix(self) -> bool:
        """Whether a pass needs to know what is asked for of late."""
        return "fgd" in (self.packing, self.packing_rest)


Values = Mapping[str, Any]
"""Knobs by name as somebody wrote them."""
Unit = Literal["", "s", "count", "share"]


class Knob(NamedTuple):
    """One field of QueuePolicy: name, title, meaning, unit, and either `choices` or [`least`, `most`]."""

    name: str
    title: Said
    meaning: Said
    unit: Unit = ""
    least: float = 0.0
    most: float = 0.0
    choices: tuple[str, ...] = ()


KNOBS: Final[tuple[Knob, ...]] = (
    Knob("ordering", knobs.knob_ordering(), knobs.knob_ordering_meaning(), choices=("age", "sjf")),
    Knob("age_weight", knobs.knob_age_weight(), knobs.knob_age_weight_meaning(), "", 0.0, 4.0),
    Knob("age_cap_s", knobs.knob_age_cap_s(), knobs.knob_age_cap_s_meaning(), "s", 0.0, 30 * DAY),
    Knob("fair_weight_s", knobs.knob_fair_weight_s(), knobs.knob_fair_weight_s_meaning(), "s", 0.0, 7 * DAY),
    Knob("fair_bound", knobs.knob_fair_bound(), knobs.knob_fair_bound_meaning(), "", 0.0, 10.0),
    Knob(
        "fair_half_life_s", knobs.knob_fair_half_life_s(), knobs.knob_fair_half_life_s_meaning(), "s", HOUR, 365 * DAY
    ),
    Knob("backfill", knobs.knob_backfill(), knobs.knob_backfill_meaning(), choices=("none", "easy", "easy-shortest")),
    Knob("packing", knobs.knob_packing(), knobs.knob_packing_meaning(), choices=("best-fit", "worst-fit", "fgd")),
    Knob(
        "packing_rest",
        knobs.knob_packing_rest(),
        knobs.knob_packing_rest_meaning(),
        choices=("same", "best-fit", "worst-fit", "fgd"),
    ),
    Knob("preemption", knobs.knob_preemption(), knobs.knob_preemption_meaning(), choices=("off", "class", "reclaim")),
    Knob("preempt_min_run_s", knobs.knob_preempt_min_run_s(), knobs.knob_preempt_min_run_s_meaning(), "s", 0.0, DAY),
    Knob("preempt_again_s", knobs.knob_preempt_again_s(), knobs.knob_preempt_again_s_meaning(), "s", 0.0, 30 * DAY),
    Knob("preempt_most", knobs.knob_preempt_most(), knobs.knob_preempt_most_meaning(), "", 1, 1000),
    Knob("restart_cost_s", knobs.knob_restart_cost_s(), knobs.knob_restart_cost_s_meaning(), "s", 0.0, HOUR),
    Knob("max_starts", knobs.knob_max_starts(), knobs.knob_max_starts_meaning(), "", 1, 10_000),
)
"""One for every field of QueuePolicy, in the order shown."""

DEFAULT: Final = QueuePolicy()

NAMED: Final[Mapping[str, QueuePolicy]] = {
    "default": DEFAULT,
    "fifo-strict": QueuePolicy(age_weight=0.0, fair_weight_s=0.0, backfill="none", packing_rest="worst-fit"),
    "sjf-strict": QueuePolicy(
        ordering="sjf", age_weight=0.0, fair_weight_s=0.0, backfill="none", packing_rest="worst-fit"
    ),
    "fifo-easy": QueuePolicy(age_weight=0.0, fair_weight_s=0.0),
}
"""Policies by name. The last three are the reference modes of the literature."""


def problems(values: Values) -> tuple[Problem, ...]:
    """Return everything that is wrong with `values` as fields of a QueuePolicy: unknown names, types, bounds."""
    known = {knob.name: knob for knob in KNOBS}
    found = []
    for name, value in values.items():
        knob = known.get(name)
        if knob is None:
            found.append(problem_of(name, knobs.unknown_knob(tuple(known))))
        elif knob.choices and value not in knob.choices:
            found.append(problem_of(name, knobs.knob_not_one_of(knob.choices), value))
        elif not knob.choices and not _within(knob, value):
            found.append(problem_of(name, _out_of_bounds(knob), value))
    return tuple(found)


def _out_of_bounds(knob: Knob) -> Said:
    least, most, usual = (_written(knob, amount) for amount in (knob.least, knob.most, getattr(DEFAULT, knob.name)))
    if _type(knob.name) is int:
        return knobs.knob_not_whole_number(least, most, usual)
    return (knobs.knob_not_seconds if knob.unit == "s" else knobs.knob_not_number)(least, most, usual)


def _within(knob: Knob, value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, _type(knob.name)) and knob.least <= value <= knob.most


def _written(knob: Knob, amount: float) -> str:
    return exact_duration(amount) if knob.unit == "s" else f"{amount:g}"


def _type(name: str) -> Any:
    return int if isinstance(getattr(DEFAULT, name), int) else int | float


def from_values(values: Values, base: QueuePolicy = DEFAULT) -> QueuePolicy:
    """Return `base` with `values`, which `problems` found nothing wrong with."""
    return QueuePolicy(**{**{f.name: getattr(base, f.name) for f in fields(base)}, **values})
