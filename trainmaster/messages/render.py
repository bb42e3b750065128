"""Words for what was said, in one language. Pure, and never fails: a code or an argument that is not known is shown as
it is.

A third language is one more file: `add` its texts and remedies by code, and how it writes amounts.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, Final

from trainmaster.messages import amounts
from trainmaster.messages.catalogue import ENTRIES, Message
from trainmaster.messages.said import WORDS, Said

PACKAGES: Final = ("trainmaster.messages", "trainmaster.engines.local.messages", "trainmaster.engines.slurm.messages")
"""Where catalogues lie. An engine has its own."""
LANGUAGES: Final = ["en", "zh"]
"""Those that there are words in; English where a text is missing."""

_WIDE: Final = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
"""A Chinese character or mark: beside it no space sets off a name."""
_FORMATTER: Final = Formatter()


def add(language: str, texts: Mapping[str, str], remedies: Mapping[str, str]) -> None:
    """Add a language: texts and remedies by code; what it lacks is said in English."""
    everything()
    for entry in ENTRIES.values():
        for own, added in ((entry.texts, texts), (entry.remedies, remedies)):
            if entry.code in added:
                own[language] = added[entry.code]
    if language not in LANGUAGES:
        LANGUAGES.append(language)


def everything() -> dict[str, Message]:
    """Return all entries, by code; the catalogues that were not needed yet are read."""
    _read_all()
    return ENTRIES


@lru_cache(maxsize=1)
def _read_all() -> None:
    for package in PACKAGES:
        try:
            folder = importlib.import_module(package).__path__
        except ModuleNotFoundError:  # cluster nodes have no engines, so no catalogues of theirs
            continue
        for module in pkgutil.walk_packages(folder, package + "."):
            importlib.import_module(module.name)


def has_words(code: str) -> bool:
    """Return whether there are words for `code`."""
    return _entry(code) is not None


def text(said: Said, language: str = "en") -> str:
    """Return what was said in words of `language`."""
    if said.code == WORDS:
        return str(said.args.get("text", ""))
    entry = _entry(said.code)
    if entry is None:
        return said.code
    return _filled(entry.texts, said, entry, language)


def remedy(said: Said, language: str = "en") -> str:
    """Return what to do about it, "" where there is nothing."""
    entry = None if said.code == WORDS else _entry(said.code)
    return "" if entry is None else _filled(entry.remedies, said, entry, language)


def _entry(code: str) -> Message | None:
    return ENTRIES.get(code) or everything().get(code)


def _filled(templates: Mapping[str, str], said: Said, entry: Message, language: str) -> str:
    language = language if language in templates else "en"
    parts, places = [], []
    for before, name, how in _parsed(templates[language]):
        parts.append(before)
        if name is not None:
            value = said.args.get(name)
            if isinstance(value, Said) or entry.kinds.get(name) in ("seconds", "role", "platform_role"):
                places.append(len(parts))
            parts.append(_format(value, entry.kinds.get(name, ""), how, language))
    if language == "zh":
        _tighten(parts, places)
    return "".join(parts)


@lru_cache(maxsize=10_000)
def _parsed(template: str) -> list[tuple[str, str | None, str]]:
    """Return the parts of a template: a text, the argument behind it if there is one, and the forms of its noun."""
    return [(before, name, how or "") for before, name, how, _ in _FORMATTER.parse(template)]


def _tighten(parts: list[str], places: Sequence[int]) -> None:
    """Take the space beside what was said elsewhere, durations and roles, at `places`, out of the text around them
    where they begin or end in Chinese.
    """
    for at in places:
        if _WIDE.match(parts[at]):
            parts[at - 1] = parts[at - 1].removesuffix(" ")
        if at + 1 < len(parts) and _WIDE.match(parts[at][-1:]):
            parts[at + 1] = parts[at + 1].removeprefix(" ")


def _format(value: Any, kind: str, how: str, language: str) -> str:
    try:
        if isinstance(value, Said):
            return text(value, language)
        if isinstance(value, (list, tuple)) and kind != "names":
            return amounts.listed([_format(one, kind, how, language) for one in value], language)
        return amounts.format_argument(value, kind, how, language)
    except (TypeError, ValueError, OverflowError):  # an argument of the wrong type: show it as it is
        return str(value)
