"""Numbers, durations, sizes, points in time and lists as people read them. Pure.

English and Chinese are written here, for the agent has no package; any other language by Babel (CLDR).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

_NONE: Final = {"en": "none", "zh": "无"}
_JOINT: Final = {"en": ", ", "zh": "、"}
_ROLES: Final = {"zh": {"owner": "所有者", "admin": "管理员", "member": "成员", "viewer": "访客", "user": "普通用户"}}
_OF_PLATFORM: Final = {"zh": {"admin": "平台管理员"}}
"""The roles that have another word on the platform than in a workspace."""
_SIZES: Final = (86400, 3600, 60, 1)
_UNITS: Final = {"en": ("d", "h", "m", "s"), "zh": (" 天", " 小时", " 分", " 秒")}
"""How days, hours, minutes and seconds are written behind their number."""
_CATEGORIES: Final[tuple[str, ...]] = ("zero", "one", "two", "few", "many", "other")
"""The plural categories in CLDR's order; a language has some of them."""


def format_argument(value: Any, kind: str, how: str, language: str) -> str:
    """Return an argument in words. `kind`: count, seconds, mib, moment, names, role, platform_role, or ""; `how`: the
    forms of a count's noun.

    Raises TypeError, ValueError, OverflowError for what is not of its kind.
    """
    if kind == "count":
        return counted(int(value), how, language)
    if kind == "seconds":
        return duration(float(value), language)
    if kind == "mib":
        return memory(float(value))
    if kind == "moment":
        return moment(float(value))
    if kind == "names":
        return listed([str(name) for name in value], language)
    if kind in ("role", "platform_role"):
        known = _ROLES.get(language, {}) | (_OF_PLATFORM.get(language, {}) if kind == "platform_role" else {})
        return known.get(str(value), str(value))
    if value is None:
        return _NONE.get(language, _NONE["en"])
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else f"{value:g}"
    return str(value)


def counted(number: int, forms: str, language: str) -> str:
    """Return a number with its noun. `forms`: of the noun, by the language's plural categories in CLDR's order; "":
    none.
    """
    shown_number = f"{number:,}" if abs(number) >= 1000 and language != "zh" else str(number)
    if not forms:
        return shown_number
    nouns = forms.split("|")
    return f"{shown_number} {nouns[min(_form(number, language), len(nouns) - 1)]}"


def _form(number: int, language: str) -> int:
    """Return which of a noun's forms goes with a number."""
    if language in ("en", "zh"):
        return 0 if number == 1 or language == "zh" else 1
    from babel import Locale  # noqa: PLC0415 (only who adds a language needs it)

    rule = Locale.parse(language).plural_form
    return [name for name in _CATEGORIES if name in rule.tags or name == "other"].index(str(rule(number)))


def memory(mib: float) -> str:
    """Return the shortest exact text of whole MiB, for example ``2GiB`` or ``1536MiB``."""
    whole = int(mib)
    for unit, size in (("TiB", 1024 * 1024), ("GiB", 1024)):
        if whole >= size and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}MiB"


def duration(seconds: float, language: str = "en") -> str:
    """Return a short text of `seconds` in its largest unit and the next smaller one, which is left out where it is 0,
    for example ``12h 5m`` and ``12 小时 5 分``; below ten seconds with a tenth. Like a clock it never shows what
    has not passed yet: 19.9 seconds are ``19s``, as the console says them.
    """
    units = _UNITS.get(language, _UNITS["en"])
    if seconds < 60:
        if 0 < seconds < 0.1:
            return f"<0.1{units[-1]}"
        return f"{int(seconds * 10) / 10 if seconds < 10 else int(seconds):g}{units[-1]}"
    counts, rest = [], int(seconds)
    for size in _SIZES:
        count, rest = divmod(rest, size)
        counts.append(count)
    first = next(at for at, count in enumerate(counts) if count)
    parts = [f"{count}{unit}" for count, unit in zip(counts[first : first + 2], units[first:]) if count]
    said = " ".join(parts)
    return f"{said}钟" if said.endswith("分") and len(parts) == 1 else said  # "10 分" alone reads as ten points


def moment(at: float) -> str:
    """Return a point in time to the minute, in UTC."""
    return f"{datetime.fromtimestamp(at, timezone.utc):%Y-%m-%d %H:%M} UTC"


def listed(texts: Sequence[str], language: str) -> str:
    """Return texts one after the other, "none" where there are none."""
    return _JOINT.get(language, ", ").join(texts) or _NONE.get(language, _NONE["en"])
