"""What Python 3.9 and 3.10 lack, which a compute node may have: the same names, with all that matters there.

On a newer version they are the standard library's own: nothing costs anything, and checkers know what they are.
Invariant: what is here changes nothing outside of itself, and imports nothing of ours.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import Any

__all__ = ["StrEnum", "dataclass"]

if sys.version_info >= (3, 10):
    from dataclasses import dataclass
else:

    def dataclass(cls: Any = None, *, slots: bool = False, **options: Any) -> Any:
        """Make a dataclass without `slots`: they save memory, and a node holds a handful of records."""
        return dataclasses.dataclass(cls, **options)


if sys.version_info >= (3, 11):
    from enum import StrEnum
else:

    class StrEnum(str, enum.Enum):
        """A text that is a member of an enumeration."""

        __str__ = str.__str__
