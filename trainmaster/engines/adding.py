"""How engines of a kind are added by `tm engine add` and looked at by `tm engine check`: what a kind may say of both.

A kind that says nothing can be added all the same: with the options that all have, and without a look.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from trainmaster.core.config import EngineConfig
from trainmaster.messages import render
from trainmaster.messages.said import Said


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `Examination.labels` says what it is called. `needed` False: jobs run without it.
    `where`: which part of the engine, "" all of it.
    """

    name: str
    ok: bool
    said: Said
    needed: bool = True
    where: str = ""

    @property
    def bad(self) -> bool:
        """Whether no job may be sent before this is mended."""
        return self.needed and not self.ok

    @property
    def text(self) -> str:
        """What was found, in English."""
        return render.text(self.said)

    @property
    def remedy(self) -> str:
        """What to do about it, in English."""
        return render.remedy(self.said)


def nobody_listens(where: str, why: Said) -> None:
    """Take what is told and drop it: nobody watches this look."""


@dataclass(frozen=True, slots=True)
class EngineToAdd:
    """What is to be looked at. `engine`: its settings are those of its kind; its pools, none: all that there are.
    `home`, `data`: the server's. `wait_s`: how long a probe job may wait for its start. `tell`: is given a part of the
    engine and what is waited for there. `containers`: the socket of the server's container runtime, "" for none.
    """

    engine: EngineConfig
    home: str
    data: str
    wait_s: float = 600.0
    tell: Callable[[str, Said], None] = nobody_listens
    containers: str = ""


class Examination(Protocol):
    """One look at one engine. `labels`: what its checks are called, by their names. `pools`: those that it has, once it
    was looked at.
    """

    @property
    def labels(self) -> Mapping[str, Said]: ...

    @property
    def pools(self) -> tuple[str, ...]: ...

    def run(self) -> AsyncIterator[Check]:
        """Yield all checks. Changes nothing there, and leaves nothing behind however it ends."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """One option of `engine add`, for a setting of the kind. `name`: of the option where it is not that of the
    setting.
    """

    setting: str
    help: str
    metavar: str | None = None
    name: str = ""

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + (self.name or self.setting.replace("_", "-"))


@dataclass(frozen=True, slots=True)
class Adding:
    """What a kind says of being added. `examine`: makes the look that is taken before, None: there is none. `example`:
    a command line.

    `places`: the setting that says what each pool is called there, "": nothing does; `place`: what such a name is, in a
    word for the help.
    """

    options: tuple[Option, ...] = ()
    examine: Callable[[EngineToAdd], Examination] | None = None
    example: str = ""
    places: str = ""
    place: str = ""
