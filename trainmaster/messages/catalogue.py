"""How a catalogue is written: a function for each thing that can be said, under its words in both languages.

    @say("There is no job {ref}", "没有任务 {ref}", "List the jobs with: tm list", "用 tm list 列出任务。")
    def no_such_job(ref: str) -> Said: ...

The function's name is the code, which programs may compare and records keep: it is never given another meaning. Its
parameters are the arguments, and their types say how they are shown (`Count`, `Seconds`, `Mib`, `Moment`, `Names`,
`Role`, `PlatformRole`, another `Said`). In a text, ``{n:GPU|GPUs}`` is a count with its noun, in as many forms as the
language has.
Invariant: a code is declared once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from trainmaster.messages.said import Said

if TYPE_CHECKING:
    from typing import ParamSpec

    P = ParamSpec("P")

Count = Annotated[int, "count"]
"""A number of things, shown with its noun."""
Seconds = Annotated[float, "seconds"]
"""A duration."""
Mib = Annotated[float, "mib"]
"""An amount of memory or of a disk, in MiB."""
Moment = Annotated[float, "moment"]
"""A point in time: seconds since the epoch, shown in UTC."""
Role = Annotated[str, "role"]
"""A role in a workspace, by the word that the language has for it."""
PlatformRole = Annotated[str, "platform_role"]
"""A role on the platform, likewise."""
Names = Annotated["list[str] | tuple[str, ...]", "names"]
"""Names one after the other; "none" where there are none."""

_KINDS: Final = {
    "Count": "count",
    "Seconds": "seconds",
    "Mib": "mib",
    "Moment": "moment",
    "Names": "names",
    "Role": "role",
    "PlatformRole": "platform_role",
}


@dataclass(frozen=True)
class Message:
    """One thing that can be said. `texts` and `remedies`: by language; `kinds`: of the arguments that are shown in a
    way of their own.
    """

    code: str
    texts: dict[str, str]
    remedies: dict[str, str]
    kinds: dict[str, str]


ENTRIES: Final[dict[str, Message]] = {}
"""All that was declared so far, by code."""


def say(en: str, zh: str, remedy: str = "", remedy_zh: str = "") -> Callable[[Callable[P, Said]], Callable[P, Said]]:
    """Declare what the function below says: its words, and what to do about it. Raises ValueError for a code that is
    taken.
    """

    def declare(shape: Callable[P, Said]) -> Callable[P, Said]:
        code = shape.__name__
        if code in ENTRIES:
            raise ValueError(f"{code} is declared twice")
        names = _names(shape)
        remedies = {"en": remedy, "zh": remedy_zh}
        ENTRIES[code] = Message(code, {"en": en, "zh": zh}, remedies, _kinds(shape.__annotations__))

        def said(*values: P.args, **named: P.kwargs) -> Said:
            return Said(code, {**dict(zip(names, values)), **named})

        said.__name__, said.__doc__ = code, en
        return said

    return declare


def _names(shape: Any) -> tuple[str, ...]:
    code = shape.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names


def _kinds(annotations: dict[str, Any]) -> dict[str, str]:
    """Return the kinds of the arguments; an annotation may be a text, where it was not evaluated."""
    found = {}
    for name, kind in annotations.items():
        shown = _KINDS.get(kind.partition(" ")[0]) if isinstance(kind, str) else getattr(kind, "__metadata__", ("",))[0]
        if shown and name != "return":
            found[name] = shown
    return found
