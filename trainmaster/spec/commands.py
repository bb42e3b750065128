"""The command rules (R84, R118-R120): a command as typed is split into words and started, with no shell in between.

So everything that only a shell understands is refused here, with the hint to ask for one. Inside quotes all is allowed:
what stands there goes to the program, which may well be ``bash -c``.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from trainmaster.core.errors import Problem
from trainmaster.core.formats.words import scan
from trainmaster.messages.jobs import form, rules
from trainmaster.messages.said import Said
from trainmaster.spec.job import MAX_COMMAND
from trainmaster.spec.problems import problem

_SIMPLE: Final = re.compile(r"[A-Za-z0-9_./,:@%+-][A-Za-z0-9_./,:@%+= -]*")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

OPERATORS: Final[dict[str, Callable[[str | Said], Said]]] = {
    **dict.fromkeys(("&&", "||", ";", "&", "\n"), rules.command_statements),
    "|": rules.command_pipe,
    **dict.fromkeys(("<", ">", ">>", "<<", ">&", "&>"), rules.command_redirect),
    **dict.fromkeys(("$(", "`"), rules.command_substitution),
}
"""What is said of each operator that only a shell understands."""
_SHOWN: Final = {"\n": rules.line_end()}
_OPEN: Final = {"quote": rules.command_quote(), "escape": rules.command_escape()}
"""What is said of a text that cannot be split into words."""


def text_problems(text: str, path: str) -> Iterator[Problem]:
    """Yield what makes `text` unfit for an argument or a variable: control characters, invalid Unicode."""
    if text.isascii() and text.isprintable():
        return
    if _CONTROL.search(text):
        yield problem(path, form.control_characters())
    try:
        text.encode()
    except UnicodeEncodeError:
        yield problem(path, form.not_unicode())


def command_problems(command: str | tuple[str, ...], path: str) -> Iterator[Problem]:
    """Yield everything wrong with a command: as typed (a text) or as a list of words. O(length)."""
    words = (command,) if isinstance(command, str) else command
    if not words or not words[0]:
        yield problem(path, rules.command_empty())
        return
    if sum(len(word.encode("utf-8", "replace")) for word in words) > MAX_COMMAND:
        yield problem(path, form.too_long(MAX_COMMAND))
        return
    for index, word in enumerate(words):
        yield from text_problems(word, path if isinstance(command, str) else f"{path}.{index}")
    if match := _ASSIGNMENT.match(words[0]):
        yield problem(path, rules.command_assignment(match[1]))
    if isinstance(command, str) and not _SIMPLE.fullmatch(command):
        yield from _typed_problems(command, path)


def _typed_problems(text: str, path: str) -> Iterator[Problem]:
    found = scan(text)
    if found.error:
        yield problem(path, _OPEN[found.error])
        return
    if found.words and not any(piece.text for piece in found.words[0]):
        yield problem(path, rules.command_empty())
    seen = set()
    for operator in found.operators:
        said = OPERATORS[operator]
        if said not in seen:
            seen.add(said)
            yield problem(path, said(_SHOWN.get(operator, operator)))
