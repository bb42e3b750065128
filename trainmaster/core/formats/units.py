"""Sizes and durations as people write them. Pure.

Memory is MiB (int), durations are seconds (float) everywhere inside; these are the only parsers and formatters.
"""

from __future__ import annotations

import re
from typing import Final

from trainmaster.messages import render
from trainmaster.messages.jobs import submitting
from trainmaster.messages.said import Said

_MEMORY_MIB: Final[dict[str, float]] = {
    "": 1,
    "m": 1,
    "mb": 1,
    "mi": 1,
    "mib": 1,
    "k": 1 / 1024,
    "kb": 1 / 1024,
    "ki": 1 / 1024,
    "kib": 1 / 1024,
    "g": 1024,
    "gb": 1024,
    "gi": 1024,
    "gib": 1024,
    "t": 1024 * 1024,
    "tb": 1024 * 1024,
    "ti": 1024 * 1024,
    "tib": 1024 * 1024,
}
_DURATION_S: Final[dict[str, float]] = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST: Final = 64
"""Characters of a text that can be a size or a duration: a longer one is not looked at."""
_NUMBER_UNIT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


class NotRead(ValueError):
    """A text is no size, or no duration. `said`: what is wrong with it; its remedy is what can be written."""

    def __init__(self, said: Said) -> None:
        self.said = said
        super().__init__(f"{render.text(said)}. {render.remedy(said)}".rstrip(". "))

    def __reduce__(self) -> tuple[type[NotRead], tuple[Said]]:
        """Let a clerk hand it on: made again of what was said."""
        return NotRead, (self.said,)


def parse_memory_mib(text: str | int | float) -> int:
    """Return MiB for ``2048``, ``"512MiB"``, ``"2GiB"`` or ``"1.5g"``; a bare number is MiB.

    Raises NotRead naming the accepted forms.
    """
    if isinstance(text, bool):
        raise NotRead(submitting.memory_is_a_number())
    if isinstance(text, (int, float)):
        value = float(text)
    else:
        match = _NUMBER_UNIT.fullmatch(text) if len(text) <= _LONGEST else None
        factor = _MEMORY_MIB.get(match[2].lower()) if match else None
        if match is None or factor is None:
            raise NotRead(submitting.not_a_memory_size(repr(text[:_LONGEST])))
        value = float(match[1]) * factor
    if not 0 <= value < 2**53:
        raise NotRead(submitting.memory_out_of_range())
    return int(value) if value == int(value) else int(value) + 1


def parse_duration_s(text: str | int | float) -> float:
    """Return seconds for ``90``, ``"90s"``, ``"2h"``, ``"1h30m"`` or ``"1d"``; a bare number is seconds.

    Raises NotRead naming the accepted forms.
    """
    if isinstance(text, bool):
        raise NotRead(submitting.duration_is_a_number())
    if isinstance(text, (int, float)):
        value = float(text)
    else:
        value, rest = 0.0, text.strip()
        if not rest:
            raise NotRead(submitting.empty_is_no_duration())
        while rest:
            match = _NUMBER_UNIT.match(rest) if len(text) <= _LONGEST else None
            unit = match[2].lower() if match else ""
            factor = _DURATION_S.get(unit or "s") if match and (unit or match[0] == text.strip()) else None
            if match is None or factor is None:
                raise NotRead(submitting.not_a_duration(repr(text[:_LONGEST])))
            value += float(match[1]) * factor
            rest = rest[match.end() :]
    if not 0 <= value < 2**53:
        raise NotRead(submitting.duration_below_zero())
    return value


def exact_duration(seconds: float) -> str:
    """Return the whole text of `seconds` as `parse_duration_s` reads it, for example ``30d``, ``1h30m`` or ``0s``."""
    parts, rest = [], seconds
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:.0f}{unit}")
    if rest or not parts:
        parts.append(f"{rest:.12f}".rstrip("0").rstrip(".") + "s")
    return "".join(parts)
