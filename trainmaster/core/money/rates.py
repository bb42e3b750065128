"""What one machine of a role costs, as an attempt keeps it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainmaster._compat import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """`price`: of one hour of one replica, in millionths of the currency. `flavor`: by which it was chosen, "" where
    resources were written out. `gpu_milli`: thousandths of cards of one replica.
    """

    flavor: str = ""
    price: int = 0
    gpu_milli: int = 0


def rates_from_json(data: Iterable[dict[str, Any]]) -> tuple[Rate, ...]:
    """Return rates as a record or an event keeps them. Raises TypeError for what is malformed."""
    return tuple(Rate(**rate) for rate in data)
