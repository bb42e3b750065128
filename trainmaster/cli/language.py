"""The language of the terminal, and how the command line's own words are written: English and Chinese side by side.

What is printed is neither kept nor sent, so it needs no code as a message does: `words` stands where it is printed. A
language is chosen once for a run, before the commands are made, since their helps are words, too.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

from trainmaster.messages import amounts

Language = Literal["en", "zh"]

LANG: Final = "--lang"
VALUED: Final = ("--home", "--url", "--token", "--ca", LANG)
"""The global options, each of which is followed by its value."""


class InBoth(Protocol):
    """What the server says to everybody, in both languages."""

    @property
    def en(self) -> str:
        """In English."""

    @property
    def zh(self) -> str:
        """In Chinese."""


def language(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> Language:
    """Return the language of whoever sits at the terminal: --lang, else TRAINMASTER_LANG, else the locale. English
    where none of them is Chinese.
    """
    given = _given(sys.argv[1:] if arguments is None else arguments)
    named = (given, *map(environ.get, ("TRAINMASTER_LANG", "LC_ALL", "LC_MESSAGES", "LANG")))
    return "zh" if (next(filter(None, named), "") or "").lower().startswith("zh") else "en"


def _given(arguments: Sequence[str]) -> str:
    """Return the value of --lang before the command, "" where there is none."""
    rest = iter(arguments)
    for word in rest:
        name, _, value = word.partition("=")
        if not word.startswith("-"):
            break
        if name in VALUED:
            value = value or next(rest, "")
            if name == LANG:
                return value
    return ""


def money(amount: str) -> str:
    """Return an amount of money as people read it: with two digits behind the point, and with all where two would read
    as nothing; JSON and CSV have all digits.
    """
    from trainmaster.core.money.amounts import read_amount, shown_amount

    any_sum = 10**36
    return shown_amount(read_amount(amount, any_sum, -any_sum))


def role_in_words(role: str, kind: str = "role") -> str:
    """Return a role in a workspace, or one on the platform (`kind`: platform_role), in the language of the terminal."""
    from trainmaster.messages.amounts import format_argument

    return format_argument(role, kind, "", language())


def words(en: str, zh: str) -> str:
    """Return what is printed, in the language of the terminal."""
    return zh if language() == "zh" else en


def told(text: InBoth) -> str:
    """Return what the server says, in the language of the terminal."""
    return words(text.en, text.zh)


def counted(number: int, one: str, many: str, zh: str) -> str:
    """Return a number with its noun: the English for one and for many, the Chinese with its measure word."""
    return words(f"{number:,} {one if number == 1 else many}", f"{number} {zh}")


def spaced(*texts: str) -> str:
    """Return sentences one after the other: with a space between them in English."""
    return words(" ", "").join(filter(None, texts))


def duration(seconds: float) -> str:
    """Return a short text of `seconds`: ``12h 5m``, ``12 小时 5 分``."""
    return amounts.duration(seconds, language())


def memory(mib: float) -> str:
    """Return an amount of memory in the unit that suits it, to three digits: ``512 MiB``, ``1.5 TiB``."""
    for unit, size in (("PiB", 2.0**30), ("TiB", 2.0**20), ("GiB", 2.0**10)):
        if mib >= size:
            return f"{mib / size:.3g} {unit}"
    return f"{mib:.3g} MiB"


def used_memory(used: float, total: float) -> str:
    """Return how much of an amount of memory is used, in the unit of the whole: ``0.5/1.5 TiB``."""
    shown, unit = memory(total).split(" ")
    size = (total / float(shown)) if float(shown) else 1.0
    return f"{round(used / size, 0 if unit == 'MiB' else 1):g}/{shown} {unit}"
