"""What every command needs: the global options, and the client they lead to."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeVar

import typer

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

T = TypeVar("T")
Jobs = Annotated[
    list[str], typer.Argument(metavar="JOB...", help="Ids, unique beginnings of ids (4 or more characters), or slugs.")
]
OneJob = Annotated[str, typer.Argument(metavar="JOB", help="An id, a unique beginning of one, or a slug.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@dataclass(slots=True)
class Options:
    """The global options of this run."""

    home: str | None = None
    url: str | None = None
    token: str | None = None


OPTIONS = Options()


def client() -> "Client":
    """Return the client of the server that the options name. Raises Unavailable."""
    from trainmaster.sdk.client import Client

    # A URL, also that of TRAINMASTER_URL, wins: the home is only a place to look for one.
    return Client(url=OPTIONS.url, token=OPTIONS.token, home=None if OPTIONS.url else OPTIONS.home)


def home() -> str:
    """Return the home folder of this machine's server."""
    from trainmaster.sdk.find import home_folder

    return home_folder(OPTIONS.home)


def language() -> Literal["zh", "en"]:
    """Return the language of whoever sits at the terminal, by the first of LC_ALL, LC_MESSAGES and LANG that is set."""
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if named.startswith("zh") else "en"


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""


def demand_known(kind: Literal["engine", "pool", "workspace"], name: str, there: Iterable[Named]) -> None:
    """Let pass the name of one that is `there`. Raises NotFound saying which there are."""
    from trainmaster.core.errors import NotFound
    from trainmaster.messages.cluster.cluster import pool_not_found, workspace_not_found
    from trainmaster.messages.server.client import engine_not_found

    not_found = {"engine": engine_not_found, "pool": pool_not_found, "workspace": workspace_not_found}
    names = [one.name for one in there]
    if name not in names:
        raise NotFound(not_found[kind](name, names))


def each(refs: Iterable[str], act: Callable[[str], T]) -> tuple[list[T], bool]:
    """Run `act` on every ref; return (results, all went well). What is refused is said and does not stop the others."""
    from trainmaster.cli.render import show_error
    from trainmaster.core.errors import TrainmasterError

    results, good = [], True
    for ref in refs:
        try:
            results.append(act(ref))
        except TrainmasterError as error:
            show_error(error, prefix=f"{ref}: ")
            good = False
    return results, good
