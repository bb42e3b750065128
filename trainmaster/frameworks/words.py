"""The words of a command as typed, with `$NAME` and `${NAME}` replaced from a task's environment (R107). Pure.

There is no shell: nothing else is interpreted, a value is never split again, names that are not known stay as they are
(a `bash -c "..."` then sees them), and nothing is replaced inside single quotes or behind a backslash. Nor is more
filled in than a program can be started with: some names in a short command may stand for very long lists of hosts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.formats.words import scan

_NAME: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_.~-]*)\})")
MOST_FILLED: Final = 4 << 20
"""Characters filled in for one task: with more words and variables than 6 MiB Linux starts no program."""
_QUOTING: Final = re.compile(r"['\"\\]")


def split(text: str) -> list[str]:
    """Return the words of `text` without replacing anything. Raises ValueError for an open quote."""
    return expand(text, {})


class TextBudget:
    """How much may still be filled in for one task. `left`: characters."""

    def __init__(self, left: int = MOST_FILLED) -> None:
        self.left = left

    def value(self, name: str, env: Mapping[str, str], otherwise: str) -> str:
        """Return the value of `name`, or `otherwise` when it is not known or there is no room for it."""
        found = env.get(name)
        if found is None or len(found) > self.left:
            return otherwise
        self.left -= len(found)
        return found


def expand(text: str, env: Mapping[str, str], room: TextBudget | None = None) -> list[str]:
    """Return the words of `text` with variables of `env` filled in. Raises ValueError for an open quote. O(length)."""
    room = room or TextBudget()
    if not _QUOTING.search(text):
        return [fill(word, env, room) for word in text.split()]
    found = scan(text)
    if found.error:
        raise ValueError("No closing quotation" if found.error == "quote" else "No escaped character")
    return ["".join(p.text if p.literal else fill(p.text, env, room) for p in pieces) for pieces in found.words]


def fill(text: str, env: Mapping[str, str], room: TextBudget | None = None) -> str:
    """Return `text` with every ``$NAME`` and ``${NAME}`` that `env` knows replaced; others are left alone."""
    if "$" not in text or not env:
        return text
    space = room or TextBudget()
    return _NAME.sub(lambda match: space.value(match[1] or match[2], env, match[0]), text)
