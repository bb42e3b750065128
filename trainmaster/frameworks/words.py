"""The words of a command as typed, with `$NAME` and `${NAME}` replaced from a task's environment (R107). Pure.

There is no shell: nothing else is interpreted, a value is never split again, names that are not known stay as they are
(a `bash -c "..."` then sees them), and nothing is replaced inside single quotes or behind a backslash.
"""

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.words import scan

_NAME: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_.~-]*)\})")
_QUOTING: Final = re.compile(r"['\"\\]")


def split(text: str) -> list[str]:
    """Return the words of `text` without replacing anything. Raises ValueError for an open quote."""
    return expand(text, {})


def expand(text: str, env: Mapping[str, str]) -> list[str]:
    """Return the words of `text` with variables of `env` filled in. Raises ValueError for an open quote. O(length)."""
    if not _QUOTING.search(text):
        return [fill(word, env) for word in text.split()]
    found = scan(text)
    if found.error:
        raise ValueError("No closing quotation" if found.error == "quote" else "No escaped character")
    return ["".join(p.text if p.literal else fill(p.text, env) for p in pieces) for pieces in found.words]


def fill(text: str, env: Mapping[str, str]) -> str:
    """Return `text` with every ``$NAME`` and ``${NAME}`` that `env` knows replaced; others are left alone."""
    if "$" not in text or not env:
        return text
    return _NAME.sub(lambda match: env.get(match[1] or match[2], match[0]), text)
