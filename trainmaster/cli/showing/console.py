"""Where everything is printed: texts with colours on a terminal, JSON, errors, findings. Only this room knows rich."""

import codecs
import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from trainmaster.cli.language import language, words
from trainmaster.core.errors import Problem, TrainmasterError
from trainmaster.core.formats.terminal import visible
from trainmaster.messages import render

if TYPE_CHECKING:
    from rich.console import Console

_UNSAID: Final = re.compile("[\x7f-\x9f]")
"""Control characters that JSON need not escape, and that a terminal obeys."""
TONES: Final[dict[str, str]] = {
    "grey": "bright_black",
    "blue": "bright_blue",
    "green": "green",
    "red": "red",
    "amber": "yellow",
    "violet": "magenta",
}
"""The console's tones as a terminal has them."""
_MARKS: Final = {"ok": "green", "warning": "amber", "bad": "red"}


def emit_json(value: Any) -> None:
    """Print `value` as JSON; answers in it as the API gives them."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=plain)
    print(_UNSAID.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_lines(blocks: Iterable[bytes]) -> None:
    """Print text that comes in blocks of any size, as it comes. What a terminal obeys is escaped, as in `emit_json`."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for block in blocks:
        sys.stdout.write(_UNSAID.sub(lambda found: f"\\u{ord(found[0]):04x}", decoder.decode(block)))


def plain(value: Any) -> Any:
    """Return an answer as the JSON that the API gives; of anything else its text."""
    import msgspec

    return msgspec.to_builtins(value, str_keys=True, enc_hook=str)


def console(stderr: bool = False) -> "Console":
    """Return rich's console; it has colours on a terminal, where NO_COLOR does not forbid them."""
    from rich.console import Console

    return Console(file=sys.stderr if stderr else sys.stdout, highlight=False, emoji=False)


def say(text: str, stderr: bool = False) -> None:
    """Print a text with rich's markup, on as many lines as it has: a terminal breaks what is too long for it."""
    console(stderr).print(text, soft_wrap=True)


def e(text: Any) -> str:
    """Return what others wrote as markup that shows it, without anything that a terminal obeys."""
    from rich.markup import escape

    return escape(visible(text))


def toned(text: str, tone: str) -> str:
    """Return `text` as markup in one of the tones."""
    return f"[{TONES[tone]}]{e(text)}[/]"


def show_error(error: TrainmasterError, prefix: str = "") -> None:
    """Print an error with all its problems and remedies to standard error."""
    title, remedy = in_words(error)
    say(f"[bold red]{words('error', '错误')}[/] {e(prefix + title)}", stderr=True)
    for problem in error.problems:
        rule, better = _problem_in_words(problem)
        where = f"[bold]{e(problem.path)}[/]: " if problem.path else ""
        say(f"  {where}{e(rule)}", stderr=True)
        if better and better != remedy:
            say(f"    [dim]{e(better)}[/]", stderr=True)
    if remedy:
        say(f"[dim]{e(remedy)}[/]", stderr=True)


def show_refused(text: str, command: str) -> None:
    """Print that a command line was not understood, and where its help is."""
    say(f"[bold red]{words('error', '错误')}[/] {e(text)}", stderr=True)
    say(f"[dim]{e(words(f'See: {command} --help', f'参见：{command} --help'))}[/]", stderr=True)


def in_words(error: TrainmasterError) -> tuple[str, str]:
    """Return (title, remedy): as the server said them, who was asked for this language; else from the catalogue."""
    if error.told is not None:
        return error.told
    return render.text(error.said, language()), error.remedy and (render.remedy(error.said, language()) or error.remedy)


def _problem_in_words(problem: Problem) -> tuple[str, str]:
    if problem.args is None or not render.has_words(problem.code):
        return problem.rule, problem.remedy
    return render.text(problem.said, language()), render.remedy(problem.said, language())


def finding(mark: str, name: str, detail: str, remedy: str = "", *, width: int = 10) -> None:
    """Print one thing that was looked at: ok, warning (works, with less) or bad; below it the remedy. `width`: of the
    name, in cells.
    """
    from rich.cells import cell_len

    shown = words(*{"ok": ("ok", "正常"), "warning": ("warning", "注意"), "bad": ("bad", "异常")}[mark])
    first, second = (text + " " * (size - cell_len(text)) for text, size in ((shown, 8), (name, width)))
    say(f"{toned(first, _MARKS[mark])}[bold]{e(second)}[/] {e(detail)}")
    if remedy:
        say(f"{'':{width + 9}}[dim]{e(remedy)}[/]")
