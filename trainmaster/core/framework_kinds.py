"""Which frameworks exist and what a job may say about them: the one registry line of each. Data only.

The behaviour lives in `frameworks/` (named here, imported on first use); what checks and lowering must know of one
without importing it - its options, the port its tasks need, the variables it owns, what names of roles mean to it -
is declared here. Adding one (horovod, jax...): one module in frameworks/ and one entry in KINDS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final, Literal

from trainmaster._compat import dataclass


@dataclass(frozen=True, slots=True)
class IntegerOption:
    """An integer option of a framework with its bounds and its sentence in zh and en."""

    minimum: int
    maximum: int
    zh: str
    en: str

    def to_json(self) -> dict[str, Any]:
        """Return the JSON Schema of the option, with both sentences."""
        text = {"zh": self.zh, "en": self.en}
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum, "title": text}


@dataclass(frozen=True, slots=True)
class RoleTypes:
    """What names of roles mean to a framework whose tasks are of several types.

    A role called as one of `names` is of that type; one role may have any other name and is of the type `plain`.
    `single`: types of one replica. `serving`: types whose tasks never end by themselves. `finishing`: the types that
    train, the first there of which is done last: one of them must be there, and beside tasks that serve its end
    completes the job, unless the job says what does. `leader`: the type that most programs want beside tasks that
    serve; None: no such.
    """

    names: tuple[str, ...]
    plain: str
    single: frozenset[str] = frozenset()
    serving: frozenset[str] = frozenset()
    finishing: tuple[str, ...] = ()
    leader: str | None = None

    def of(self, role: str) -> str:
        """Return the type of the role of this name."""
        return role if role in self.names else self.plain

    def completing(self, roles: Sequence[str]) -> int | None:
        """Return which of `roles` completes a job that does not say so; None: it is done when all of them are."""
        types = [self.of(role) for role in roles]
        if self.serving.isdisjoint(types):
            return None
        return next((types.index(one) for one in self.finishing if one in types), None)


@dataclass(frozen=True, slots=True)
class FrameworkKind:
    """One framework. `target` is ``module:class``; `port` the label of a port that tasks must be given: those of the
    `first` role, or of `every` one.

    `variables` are set by the framework for every task and may not be set by the job. `module`: what its programs
    import. `types`: None where all roles are alike.
    """

    kind: str
    target: str
    zh: str
    en: str
    options: dict[str, IntegerOption] = field(default_factory=dict)
    port: str = ""
    port_of: Literal["first", "every"] = "first"
    variables: frozenset[str] = frozenset()
    module: str = ""
    types: RoleTypes | None = None

    def port_for(self, role: int) -> str:
        """Return the label of the port that the tasks of the role of this number must be given; "" for none."""
        return self.port if role == 0 or self.port_of == "every" else ""


_PROCESSES: Final = {
    "processes_per_node": IntegerOption(
        1, 1024, "每个节点的进程数；默认等于加速卡数", "Processes per node; default: one per GPU"
    )
}

_MEETING: Final = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "SLOTS"})

KINDS: Final[dict[str, FrameworkKind]] = {
    "single": FrameworkKind(
        "single",
        "trainmaster.frameworks.single:Single",
        "无启动器",
        "No launcher",
    ),
    "pytorch": FrameworkKind(
        "pytorch",
        "trainmaster.frameworks.pytorch:PyTorch",
        "PyTorch 分布式",
        "PyTorch distributed",
        options=_PROCESSES,
        port="master",
        variables=_MEETING,
        module="torch",
    ),
    "deepspeed": FrameworkKind(
        "deepspeed",
        "trainmaster.frameworks.deepspeed:DeepSpeed",
        "DeepSpeed",
        "DeepSpeed",
        options=_PROCESSES,
        port="master",
        variables=_MEETING,
        module="deepspeed",
    ),
    "tensorflow": FrameworkKind(
        "tensorflow",
        "trainmaster.frameworks.tensorflow:TensorFlow",
        "TensorFlow 分布式",
        "TensorFlow distributed",
        port="tf",
        port_of="every",
        variables=frozenset({"TF_CONFIG"}),
        module="tensorflow",
        types=RoleTypes(
            names=("chief", "worker", "ps", "evaluator"),
            plain="worker",
            single=frozenset({"chief", "evaluator"}),
            serving=frozenset({"ps"}),
            finishing=("chief", "worker"),
            leader="chief",
        ),
    ),
    "paddle": FrameworkKind(
        "paddle",
        "trainmaster.frameworks.paddle:Paddle",
        "PaddlePaddle 分布式",
        "PaddlePaddle distributed",
        options=_PROCESSES,
        port="master",
        variables=_MEETING,
        module="paddle",
    ),
    "mindspore": FrameworkKind(
        "mindspore",
        "trainmaster.frameworks.mindspore:MindSpore",
        "MindSpore 分布式",
        "MindSpore distributed",
        options=_PROCESSES,
        port="master",
        variables=_MEETING | {"MS_WORKER_NUM", "MS_SCHED_HOST", "MS_SCHED_PORT"},
        module="mindspore",
    ),
}

DEFAULT_KIND: Final = "single"

RESERVED_ENV_PREFIXES: Final = ("PAI_", "VC_", "VK_", "TRAINMASTER_")
RESERVED_ENV: Final = frozenset({"TASKROLE_NAME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"})
"""Variables the platform sets for every task: a job may read them, never set them (R89, R94-R115)."""


def is_reserved(variable: str, kind: str) -> bool:
    """Return whether the platform, or the framework of this kind, sets a variable: a job may not."""
    found = KINDS.get(kind)
    owned = variable in RESERVED_ENV or (found is not None and variable in found.variables)
    return owned or variable.startswith(RESERVED_ENV_PREFIXES)
