"""The text by which a job is found, kept in its row: everything people wrote of it, in small letters. Pure.

Invariant: it is folded when it is written, as what is looked for is, so that a search is one comparison, and letters
outside of ASCII are found in either case by every database.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, func, or_

from trainmaster.store.finding import grams
from trainmaster.store.tables import job

MOST: Final = 4000
"""Characters of commands and parameters that are kept: of longer ones the beginning is found."""

_WORD: Final = re.compile(r'"([^"]+)"|(\S+)')


class _Role(msgspec.Struct):
    command: str | list[str] = ""
    parameters: dict[str, Any] = {}


class _Document(msgspec.Struct):
    roles: list[_Role] = []


_decode: Final = msgspec.json.Decoder(_Document).decode


def written(names: Iterable[str | None], labels: Iterable[tuple[str, str]], document: str | None) -> str:
    """Return the text of a job: its `names` (the name first, then slug, id, description and owner), its labels as
    `key=value`, and the commands of its stored `document` with their parameters as `--key=value`, as they are run. One
    line each.
    """
    lines = [*(name or "" for name in names), *(f"{key}={value}" for key, value in labels)]
    commands = _commands_text(document) if document else ""
    return "\n".join([*filter(None, map(_plain, lines)), commands]).casefold()


def remarks(tags: Collection[str], note: str) -> str:
    """Return the text of what people said of a job later: its tags and its note. One line each."""
    lines = (*tags, note) if tags or note else ()
    return "\n".join(filter(None, map(_plain, lines))).casefold()


def _plain(text: str) -> str:
    return " ".join(text.replace("\x00", " ").split())


@lru_cache(maxsize=256)  # of what is submitted again, or by the thousand
def _commands_text(document: str) -> str:
    return "\n".join(map(_plain, _commands(document)))[:MOST]


def _commands(document: str) -> Iterator[str]:
    try:
        roles = _decode(document).roles
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return  # whoever reads the document itself says what is the matter with it
    for role in roles:
        command = role.command if isinstance(role.command, str) else " ".join(role.command)
        yield " ".join([command, *(_parameter(key, value) for key, value in role.parameters.items())])


def _parameter(key: str, value: Any) -> str:
    if value is None:
        return f"--{key}"
    return f"--{key}={str(value).lower() if isinstance(value, bool) else value}"


def words_of(q: str) -> list[str]:
    """Return what `q` asks for, folded: its words, and what stands between quotation marks as one. None is part of
    another.
    """
    words = {_plain(quoted or word).casefold() for quoted, word in _WORD.findall(q)}
    return [word for word in sorted(words) if not any(word in other and word != other for other in words)]


def mentioning(word: str) -> ColumnElement[bool]:
    """Return whether a folded `word` stands in the text of a job, or one of its remarks. A word of one or two letters
    or digits is looked for where its name, short name and id begin.
    """
    if grams.is_start(word):
        named = job.c.search.startswith(word, autoescape=True)  # the name is its first line
        slug = func.lower(func.coalesce(job.c.slug, "")).startswith(word, autoescape=True)
        return or_(named, slug, job.c.id.startswith(word, autoescape=True))
    return or_(job.c.search.contains(word, autoescape=True), job.c.remarks.contains(word, autoescape=True))
