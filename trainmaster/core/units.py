"""Sizes and durations as people write them. Pure.

Memory is MiB (int), durations are seconds (float) everywhere inside; these are the only parsers and formatters.
"""

import re
from typing import Final

_MEMORY_MIB: Final[dict[str, float]] = {
    "": 1, "m": 1, "mb": 1, "mi": 1, "mib": 1,
    "k": 1 / 1024, "kb": 1 / 1024, "ki": 1 / 1024, "kib": 1 / 1024,
    "g": 1024, "gb": 1024, "gi": 1024, "gib": 1024,
    "t": 1024 * 1024, "tb": 1024 * 1024, "ti": 1024 * 1024, "tib": 1024 * 1024,
}  # fmt: skip
_DURATION_S: Final[dict[str, float]] = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST: Final = 64
"""Characters of a text that can be a size or a duration: a longer one is not looked at."""
_NUMBER_UNIT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_memory_mib(text: str | int | float) -> int:
    """Return MiB for ``2048``, ``"512MiB"``, ``"2GiB"`` or ``"1.5g"``; a bare number is MiB.

    Raises ValueError naming the accepted forms.
    """
    if isinstance(text, bool):
        raise ValueError("a memory size is a number of MiB or a text such as 512MiB or 2GiB")
    if isinstance(text, int | float):
        value = float(text)
    else:
        match = _NUMBER_UNIT.fullmatch(text) if len(text) <= _LONGEST else None
        factor = _MEMORY_MIB.get(match[2].lower()) if match else None
        if match is None or factor is None:
            raise ValueError(
                f"{text[:_LONGEST]!r} is not a memory size; write MiB as a number, or a text such as 512MiB or 2GiB"
            )
        value = float(match[1]) * factor
    if not 0 <= value < 2**53:
        raise ValueError("a memory size must be between 0 and 8 PiB")
    return int(value) if value == int(value) else int(value) + 1


def parse_duration_s(text: str | int | float) -> float:
    """Return seconds for ``90``, ``"90s"``, ``"2h"``, ``"1h30m"`` or ``"1d"``; a bare number is seconds.

    Raises ValueError naming the accepted forms.
    """
    if isinstance(text, bool):
        raise ValueError("a duration is a number of seconds or a text such as 30m, 2h or 1h30m")
    if isinstance(text, int | float):
        value = float(text)
    else:
        value, rest = 0.0, text.strip()
        if not rest:
            raise ValueError("an empty text is not a duration; write 30m, 2h or 1h30m")
        while rest:
            match = _NUMBER_UNIT.match(rest) if len(text) <= _LONGEST else None
            unit = match[2].lower() if match else ""
            factor = _DURATION_S.get(unit or "s") if match and (unit or match[0] == text.strip()) else None
            if match is None or factor is None:
                raise ValueError(
                    f"{text[:_LONGEST]!r} is not a duration; write seconds as a number, or 30m, 2h, 1h30m, 1d"
                )
            value += float(match[1]) * factor
            rest = rest[match.end() :]
    if not 0 <= value < 2**53:
        raise ValueError("a duration must be at least 0 seconds")
    return value


def format_memory(mib: int) -> str:
    """Return the shortest exact text of `mib`, for example ``2GiB`` or ``1536MiB``."""
    for unit, size in (("TiB", 1024 * 1024), ("GiB", 1024)):
        if mib >= size and mib % size == 0:
            return f"{mib // size}{unit}"
    return f"{mib}MiB"


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


def format_duration(seconds: float) -> str:
    """Return a short text of `seconds` in its two largest units, for example ``1h 30m``; below a minute ``12.3s``."""
    if seconds < 60:
        return f"{seconds:.1f}s" if seconds < 10 else f"{seconds:.0f}s"
    parts, rest = [], int(seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])
