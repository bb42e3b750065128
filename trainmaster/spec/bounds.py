"""How much a job's document may hold, judged before anything else looks at it: a pass that costs next to nothing. Pure.

Judging a document costs time for each value and far more for each mistake, so a small request could otherwise ask for
minutes. These bounds are wide: what the models accept keeps to them, and each field has a narrower one of its own.
"""

from collections.abc import Mapping
from typing import Any, Final

from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import form
from trainmaster.spec.problems import problem

MOST_VALUES: Final = 65_536
"""Of a whole document, `extras` aside."""
MOST_KEYS: Final = 1024
MOST_ITEMS: Final = 256
LONGER: Final[Mapping[str, int]] = {"nodes": 4096, "command": 65_536, "before": 65_536, "after": 65_536}
"""Lists, by their key, that may have more items; a command as many words as characters."""
MOST_EXTRAS: Final = 131_072
"""Values in `extras`: as many as fit into the bytes that it may have."""
MOST_CHANGES: Final = 1024
MOST_CHANGED: Final = 65_536
"""Characters of all changes (``--set``) together."""


def oversized(document: Mapping[str, Any]) -> list[Problem]:
    """Return why `document`, of any dialect, is too large to be judged: nothing for most. O(values)."""
    if _small(document):
        return []
    found: list[Problem] = []
    left, left_extras = MOST_VALUES, MOST_EXTRAS
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        size = len(value)
        kind = type(value)  # `is` on the type is faster than isinstance
        keyed = kind is dict or (kind is not list and isinstance(value, Mapping))
        if path.startswith("extras"):
            left_extras -= size
        else:
            left -= size
            most = MOST_KEYS if keyed else LONGER.get(path.rpartition(".")[2], MOST_ITEMS)
            if size > most:
                found.append(problem(path, form.too_many(most)))
                continue
        if left < 0:
            return [problem("", form.too_many_values(MOST_VALUES))]
        if left_extras < 0:
            return [problem("extras", form.too_many_values(MOST_EXTRAS))]
        for key, item in value.items() if keyed else enumerate(value):
            kind = type(item)
            if kind is str or kind is int or kind is float:
                continue
            if kind is dict or kind is list or isinstance(item, tuple | Mapping):
                waiting.append((f"{path}.{key}" if path else str(key), item))
    return found


def _small(document: Mapping[str, Any]) -> bool:
    """Return whether there are fewer values than any bound: true of nearly all, and found in a moment."""
    left = min(MOST_KEYS, MOST_ITEMS)
    waiting: list[Any] = [document]
    for value in waiting:  # the loop visits what it appends
        left -= len(value)
        if left < 0:
            return False
        for item in value.values() if isinstance(value, dict) else value:
            kind = type(item)
            if kind is dict or kind is list:
                waiting.append(item)
            elif kind is not str and isinstance(item, tuple | Mapping):
                return False
    return True


def oversized_changes(changes: Mapping[str, Any]) -> list[Problem]:
    """Return why `changes` of a document (path: value) are too many or too long. O(changes)."""
    if len(changes) > MOST_CHANGES:
        return [problem("set", form.too_many(MOST_CHANGES))]
    length = sum(len(str(path)) + (len(given) if isinstance(given, str) else 0) for path, given in changes.items())
    return [problem("set", form.too_long(MOST_CHANGED))] if length > MOST_CHANGED else []
