"""The command rules (R84, R118-R120): a command as typed is split into words and started, with no shell in between.

So everything that only a shell understands is refused here, with the hint to ask for one. Inside quotes all is allowed:
what stands there goes to the program, which may well be ``bash -c``.
"""

import re
from collections.abc import Iterator
from typing import Final

from trainmaster.core.errors import Problem
from trainmaster.core.words import scan
from trainmaster.spec.job import MAX_COMMAND
from trainmaster.spec.problems import problem

_SIMPLE: Final = re.compile(r"[A-Za-z0-9_./,:@%+-][A-Za-z0-9_./,:@%+= -]*")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

OPERATOR_CODES: Final[dict[str, str]] = {
    "&&": "command_statements", ";": "command_statements", "&": "command_statements", "\n": "command_statements",
    "||": "command_statements", "|": "command_pipe",
    "<": "command_redirect", ">": "command_redirect", ">>": "command_redirect", "<<": "command_redirect",
    ">&": "command_redirect", "&>": "command_redirect", "$(": "command_substitution", "`": "command_substitution",
}  # fmt: skip
_SHOWN: Final = {"\n": "a line end"}


def text_problems(text: str, path: str) -> Iterator[Problem]:
    """Yield what makes `text` unfit for an argument or a variable: control characters, invalid Unicode."""
    if text.isascii() and text.isprintable():
        return
    if _CONTROL.search(text):
        yield problem("control_characters", path)
    try:
        text.encode()
    except UnicodeEncodeError:
        yield problem("not_unicode", path)


def command_problems(command: str | tuple[str, ...], path: str) -> Iterator[Problem]:
    """Yield everything wrong with a command: as typed (a text) or as a list of words. O(length)."""
    words = (command,) if isinstance(command, str) else command
    if not words or not words[0]:
        yield problem("command_empty", path)
        return
    if sum(len(word.encode("utf-8", "replace")) for word in words) > MAX_COMMAND:
        yield problem("too_long", path, maximum=MAX_COMMAND)
        return
    for index, word in enumerate(words):
        yield from text_problems(word, path if isinstance(command, str) else f"{path}.{index}")
    if match := _ASSIGNMENT.match(words[0]):
        yield problem("command_assignment", path, name=match[1])
    if isinstance(command, str) and not _SIMPLE.fullmatch(command):
        yield from _typed_problems(command, path)


def _typed_problems(text: str, path: str) -> Iterator[Problem]:
    found = scan(text)
    if found.error:
        yield problem(f"command_{found.error}", path)
        return
    if found.words and not any(piece.text for piece in found.words[0]):
        yield problem("command_empty", path)
    seen = set()
    for operator in found.operators:
        code = OPERATOR_CODES[operator]
        if code not in seen:
            seen.add(code)
            yield problem(code, path, operator=_SHOWN.get(operator, operator))
