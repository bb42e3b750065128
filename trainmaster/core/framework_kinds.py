"""Which frameworks exist and what a job may say about them: the one registry line of each. Data only.

The behaviour lives in `frameworks/` (named here, imported on first use); what checks and lowering must know of one
without importing it - its options, the port its first task needs, the variables it owns - is declared here.
Adding one (deepspeed, horovod, tensorflow, mindspore, paddle...): one module in frameworks/ and one entry in KINDS.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

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
class FrameworkKind:
    """One framework. `target` is ``module:class``; `port` the label of a port that the job's first role must be given.

    `variables` are set by the framework for every task and may not be set by the job. `module`: what its programs
    import.
    """

    kind: str
    target: str
    zh: str
    en: str
    options: dict[str, IntegerOption] = field(default_factory=dict)
    port: str = ""
    variables: frozenset[str] = frozenset()
    module: str = ""


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
        options={
            "processes_per_node": IntegerOption(
                1, 1024, "每个节点的进程数；默认等于加速卡数", "Processes per node; default: one per GPU"
            )
        },
        port="master",
        variables=frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "SLOTS"}),
        module="torch",
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
