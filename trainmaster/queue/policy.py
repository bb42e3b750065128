"""The administrator's choices: QueuePolicy, the bounds and meaning of every knob as data, and the named policies. Pure data.

The policy page and the command line show KNOBS; nothing else may know a bound. Every named policy is a plain value: no
mode of the queue has code of its own. docs/design/queue.md gives the reasons for the defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple

from trainmaster.core.errors import Problem
from trainmaster.core.units import exact_duration
from trainmaster.queue.packing import Rule

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
    """One field of QueuePolicy: names, meanings, unit, and either `choices` or [`least`, `most`]."""

    name: str
    zh: str
    en: str
    zh_meaning: str
    en_meaning: str
    unit: Unit = ""
    least: float = 0.0
    most: float = 0.0
    choices: tuple[str, ...] = ()


KNOBS: Final[tuple[Knob, ...]] = (
    Knob("ordering", "排序", "Order",
         "age：先提交者在前，短任务略提前；sjf：只按时长上限，长任务可能一直等待",
         "age: who came first, with short jobs a little earlier; sjf: by limit alone, long jobs may starve",
         choices=("age", "sjf")),
    Knob("age_weight", "短任务优先程度", "Preference for short jobs",
         "每小时时长上限使任务在队列中后移多少小时；0 为先来先服务",
         "Hours that one hour of limit moves a job back in the line; 0 is first come, first served",
         "", 0.0, 4.0),
    Knob("age_cap_s", "计入的最长时长", "Longest limit that counts",
         "超过此值的时长上限按此值计；与上一项之积是任务最多被推后的时间",
         "Longer limits count as this; times the weight above it is the most that a job is moved back",
         "s", 0.0, 30 * DAY),
    Knob("fair_weight_s", "公平份额的影响", "Weight of fair shares",
         "工作空间用量为其应得份额两倍时，其任务后移的时间；0 为不考虑用量",
         "How far back a workspace's jobs move when it has used twice its share; 0 ignores what was used",
         "s", 0.0, 7 * DAY),
    Knob("fair_bound", "公平份额的上限", "Bound of fair shares",
         "超出应得份额多少倍后不再继续后移",
         "Beyond this many times its share in excess nothing moves back further",
         "", 0.0, 10.0),
    Knob("fair_half_life_s", "用量半衰期", "Half-life of usage",
         "过去的用量每过这么久只算一半", "What was used counts half after this time", "s", HOUR, 365 * DAY),
    Knob("backfill", "回填", "Backfill",
         "none：严格按顺序；easy：后面的任务可先启动，但不得推迟队首；easy-shortest：其中短任务先试",
         "none: strictly in order; easy: later jobs may start if the head is not delayed; easy-shortest: shortest first",
         choices=("none", "easy", "easy-shortest")),
    Knob("packing", "装箱", "Packing",
         "best-fit：放在剩余最少的节点；worst-fit：放在空闲最多的节点；fgd：放在使碎片增加最少的节点",
         "best-fit: on the node left fullest; worst-fit: on the emptiest; fgd: where fragmentation grows least",
         choices=("best-fit", "worst-fit", "fgd")),
    Knob("packing_rest", "余下角色的装箱", "Packing of the rest",
         "任务中要求最高的角色放好后，其余角色如何放置；same：同上",
         "How the other roles of a gang are placed once its hardest is; same: as above",
         choices=("same", "best-fit", "worst-fit", "fgd")),
    Knob("preemption", "抢占", "Preemption",
         "off：从不；class：高优先级可抢占低优先级；reclaim：还可收回借出的配额。只抢占声明可抢占的任务",
         "off: never; class: a higher class may take from a lower; reclaim: owners also get lent quota back. "
         "Only from jobs that allow it",
         choices=("off", "class", "reclaim")),
    Knob("preempt_min_run_s", "抢占前最少运行", "Least run before preemption",
         "运行不足这么久的任务不被抢占", "A job that has run for less is not preempted", "s", 0.0, DAY),
    Knob("preempt_again_s", "再次抢占间隔", "Time between preemptions",
         "同一任务在这段时间内至多被抢占一次", "The same job is preempted at most once in this time", "s", 0.0, 30 * DAY),
    Knob("preempt_most", "单次抢占上限", "Most preemptions at once",
         "一次调度最多抢占的任务数", "Jobs preempted in one pass at most", "", 1, 1000),
    Knob("restart_cost_s", "重启代价", "Cost of a restart",
         "停止后再运行到原处估计损失的时间", "Time lost when a job is stopped and started again, estimated", "s", 0.0, HOUR),
    Knob("max_starts", "单次启动上限", "Most starts at once",
         "一次调度最多启动的任务数，其余在下一次", "Jobs started in one pass at most; the next pass goes on", "", 1, 10_000),
)  # fmt: skip
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
            found.append(Problem(name, "unknown field", f"Known fields: {', '.join(known)}."))
        elif knob.choices and value not in knob.choices:
            found.append(Problem(name, f"must be one of {', '.join(knob.choices)}", "Choose one of them.", value=value))
        elif not knob.choices and not _within(knob, value):
            kind = "a whole number" if _type(name) is int else "a number of seconds" if knob.unit == "s" else "a number"
            least, most, usual = (_written(knob, amount) for amount in (knob.least, knob.most, getattr(DEFAULT, name)))
            found.append(
                Problem(name, f"must be {kind} from {least} to {most}", f"The default is {usual}.", value=value)
            )
    return tuple(found)


def _within(knob: Knob, value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, _type(knob.name)) and knob.least <= value <= knob.most


def _written(knob: Knob, amount: float) -> str:
    return exact_duration(amount) if knob.unit == "s" else f"{amount:g}"


def _type(name: str) -> Any:
    return int if isinstance(getattr(DEFAULT, name), int) else int | float


def from_values(values: Values, base: QueuePolicy = DEFAULT) -> QueuePolicy:
    """Return `base` with `values`, which `problems` found nothing wrong with."""
    return QueuePolicy(**{**{f.name: getattr(base, f.name) for f in fields(base)}, **values})
