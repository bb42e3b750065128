"""What every dialect hands on: the native document and what its writer should know. Data."""

from dataclasses import dataclass
from typing import Any

from trainmaster.core.errors import Problem


@dataclass(frozen=True, slots=True)
class Translation:
    """A native document, the dialect it came from, and warnings: things that are not wrong but may surprise.

    What depends on where the job runs is not among them: its engine says that (engines/findings.py).
    """

    document: dict[str, Any]
    dialect: str
    warnings: tuple[Problem, ...] = ()
