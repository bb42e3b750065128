"""The labels of a job as one text, made to be searched: \\x1e key \\x1f value \\x1e key \\x1f value \\x1e. Pure.

Neither of the two characters can be part of a label (`spec.job.CLEAN`), so the text says the same as the labels, and a
search for a part of a key or of a value finds nothing else. A job without labels has the empty text.
"""

import re
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement

from trainmaster.store.tables import job

_NEXT: Final = "\x1e"
_IS: Final = "\x1f"
_FOREIGN: Final = {ord(_NEXT): "\x1d", ord(_IS): "\x1d"}  # labels hold none of the three characters
_FILTER: Final = re.compile(r'(?:^|(?<=\s))label:((?:[^\s"]|"[^"]*")+)', re.IGNORECASE)


def written(labels: Sequence[tuple[str, str]]) -> str:
    """Return the text of `labels`."""
    return "".join(f"{_NEXT}{key}{_IS}{value}" for key, value in labels) + _NEXT if labels else ""


def read(text: str) -> list[list[str]]:
    """Return the pairs that `text` was written of; for any other text pairs that are none."""
    return [pair.split(_IS) for pair in text.split(_NEXT)[1:-1]]


def tags_written(tags: Sequence[str]) -> str:
    """Return the text of `tags`: \\x1e tag \\x1e tag \\x1e."""
    return "".join(f"{_NEXT}{tag}" for tag in tags) + _NEXT if tags else ""


def tags_read(text: str) -> list[str]:
    """Return the tags that `text` was written of."""
    return text.split(_NEXT)[1:-1]


def tagged(tag: str) -> ColumnElement[bool]:
    """Return whether a job has this tag. Upper and lower case are the same."""
    return job.c.tags.icontains(f"{_NEXT}{tag}{_NEXT}", autoescape=True)


def parted(q: str) -> tuple[str, list[str]]:
    """Return the words of a search, and its filters by label: what stands behind each `label:`, without its quotes."""
    q = q.translate(_FOREIGN)
    wanted = [found.replace('"', "") for found in _FILTER.findall(q)]
    return (" ".join(_FILTER.sub("", q).split()) if wanted else q), wanted


def having(label: str) -> ColumnElement[bool]:
    """Return whether a job has this label: `key`, or `key=value`. The first "=" parts them. Upper and lower case are
    the same.
    """
    key, given, value = label.partition("=")
    return job.c.labels.icontains(
        f"{_NEXT}{key}{_IS}{value}{_NEXT}" if given else f"{_NEXT}{key}{_IS}", autoescape=True
    )


def has_all(text: str, wanted: Sequence[str]) -> bool:
    """Return whether the labels that `text` was written of are all `wanted`, as `having` says it of a row."""
    held = [(key.lower(), value.lower()) for key, value in read(text)] if wanted else []
    for one in wanted:
        key, given, value = one.lower().partition("=")
        if not any(name == key and (not given or held_value == value) for name, held_value in held):
            return False
    return True
