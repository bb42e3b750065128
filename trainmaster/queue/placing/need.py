"""What one replica asks for, in the exact units of the queue. Pure."""

import math
from functools import lru_cache
from typing import Final, NamedTuple

from trainmaster.core.records import PortRequest, Role

Kinds = frozenset[str]
ALL: Final[Kinds] = frozenset({"gpu", "cpu", "memory", "ports"})
"""What a fit respects. Asking with fewer kinds tells which one is short."""

WHOLE: Final = 1000
"""Thousandths of a card that nobody shares."""


NOTHING: Final = -(1 << 62)
"""Asking a node for none of a resource is asking for this much: one that is overdrawn still has it."""


@lru_cache(maxsize=65536)
def millicores(cpu: float) -> int:
    """Return `cpu` cores in thousandths, rounded up; the noise of binary fractions is not rounded up."""
    return math.ceil(round(cpu * 1000, 6))


class Need(NamedTuple):
    """What one replica asks for, reduced to the kinds that count: thousandths of a core, MiB, cards of `model`.

    `milli`: thousandths of each card. `model` None: cards of any model, or no cards.
    """

    cpu: int
    memory_mib: int
    gpu: int
    milli: int
    model: str | None
    ports: tuple[PortRequest, ...]

    @classmethod
    def of(cls, role: Role, kinds: Kinds = ALL) -> "Need":
        """Return what a replica of `role` asks for."""
        ask = role.resources
        return cls(
            millicores(ask.cpu) if "cpu" in kinds else 0,
            ask.memory_mib if "memory" in kinds else 0,
            ask.gpu if "gpu" in kinds else 0,
            ask.gpu_milli,
            ask.gpu_type if ask.gpu else None,
            role.ports if "ports" in kinds else (),
        )

    @property
    def fixed(self) -> bool:
        """True when a port is fixed: one such replica per host."""
        return any(port.begin_at for port in self.ports)
